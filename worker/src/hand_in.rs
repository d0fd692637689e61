//! Carrying finished games to the coordinator, while the player thread goes on.

use std::sync::Arc;

use ludus_proto::status::{describe, is_transient};
use ludus_proto::v1::{SubmitReply, SubmitRequest};
use tokio::sync::mpsc;
use tracing::Instrument;

use crate::backoff::Backoff;
use crate::hand::{Desk, Finished, HeldLease, Rest};
use crate::leases::release;

/// Games of one submission, when batches had to wait: well below the 16 MiB that the coordinator takes in a message.
const MOST_GAMES: usize = 512;

/// Hands in everything that comes from the player thread, in order, until that ends.
pub(crate) async fn hand_in(desk: &Desk, mut finished: mpsc::Receiver<Finished>) {
    let mut ahead = None;
    loop {
        let next = match ahead.take() {
            Some(parcel) => Some(parcel),
            None => finished.recv().await,
        };
        let Some(mut parcel) = next else { return };
        ahead = gather(&mut parcel, &mut finished);
        let delivery = deliver(desk, &parcel);
        if desk.hard_stop.run_until_cancelled(delivery).await.is_none() && !parcel.is_empty() {
            desk.warn_once(
                "games lost",
                "the coordinator is away and the worker must stop; others will play them",
            );
        }
    }
}

/// Adds to `parcel` what else of its lease is already waiting. Returns the first that is of another.
fn gather(parcel: &mut Finished, finished: &mut mpsc::Receiver<Finished>) -> Option<Finished> {
    while parcel.rest == Rest::Coming && parcel.games.len() < MOST_GAMES {
        let mut next = finished.try_recv().ok()?;
        if !Arc::ptr_eq(&next.lease, &parcel.lease) {
            return Some(next);
        }
        parcel.games.append(&mut next.games);
        parcel.unplayable.append(&mut next.unplayable);
        parcel.rest = next.rest;
    }
    None
}

async fn deliver(desk: &Desk, parcel: &Finished) {
    let held = &parcel.lease;
    if !parcel.is_empty() && !held.is_over() {
        submit(desk, parcel).instrument(held.span.clone()).await;
    }
    if parcel.rest == Rest::GivenBack && !held.is_over() {
        release(desk, held.lease.id, held.lease.token).await;
    }
}

/// Submits until the coordinator has answered. Repeating does no harm: it takes each game once.
async fn submit(desk: &Desk, parcel: &Finished) {
    let held = &parcel.lease;
    let request = SubmitRequest {
        lease_id: held.lease.id,
        token: held.lease.token,
        worker: desk.worker.clone(),
        games: parcel.games.clone(),
        unplayable: parcel.unplayable.clone(),
    };
    let mut backoff = Backoff::for_calls();
    loop {
        match desk.link.submit(request.clone()).await {
            Ok(reply) => {
                desk.coordinator_answers();
                return note(desk, held, reply);
            }
            Err(status) if is_transient(&status) => {
                desk.coordinator_away("handing games in", &status);
                tokio::time::sleep(backoff.next()).await;
            }
            Err(status) => {
                // The whole submission is unwanted, now and for ever: so is the rest of its lease.
                held.end();
                desk.stats.handed_in(0, 0, parcel.games.len() as u64);
                return desk.warn_once("submission refused", &describe(&status));
            }
        }
    }
}

fn note(desk: &Desk, held: &HeldLease, reply: SubmitReply) {
    desk.stats.handed_in(
        u64::from(reply.accepted),
        u64::from(reply.repeated_games),
        reply.refused.len() as u64,
    );
    // Never played again: a game is a function of its number, so it would be refused again.
    for refusal in &reply.refused {
        desk.warn_once(
            &format!("game refused ({})", refusal.reason),
            &format!("series {} number {}: {}", held.series_id(), refusal.number, refusal.detail),
        );
    }
    if reply.lease_over {
        held.end();
    }
}
