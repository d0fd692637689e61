//! Asking the coordinator for work.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ludus_players::arena::{Seating, Source};
use ludus_players::weight_file::Digest;
use ludus_proto::status::{describe, is_transient};
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{AcquireRequest, Lease, PlayableGame, PlayerRef, ReleaseRequest};
use tokio::sync::mpsc;

use crate::WorkerError;
use crate::backoff::{Backoff, jittered};
use crate::hand::{Desk, HeldLease};
use crate::weight_cache::FetchError;

/// A lease that this worker cannot play.
#[derive(Debug, thiserror::Error)]
enum Unplayable {
    #[error("unknown game: {game} is not among the games of this worker")]
    Game { game: String },
    #[error(
        "other rules: {game} has revision {theirs} at the coordinator and {ours} here; use the same build"
    )]
    Revision { game: String, ours: u32, theirs: u32 },
    #[error("malformed lease: {0}")]
    Malformed(&'static str),
    #[error(transparent)]
    Weights(#[from] FetchError),
}

/// Gets one lease for each wish (its rate in self-play games a second, 0 while unknown) that comes from the player thread.
pub(crate) async fn take(
    desk: &Desk,
    mut wanted: mpsc::Receiver<f64>,
    deal: mpsc::Sender<Arc<HeldLease>>,
) -> Result<(), WorkerError> {
    // Leases that cannot be played come back at once, so this grows on its own, apart from calls that fail.
    let mut unplayable = Backoff::between(Duration::from_millis(500), Duration::from_secs(30));
    while let Some(Some(rate)) = desk.stop.run_until_cancelled(wanted.recv()).await {
        loop {
            let Some(lease) = acquire(desk, rate).await? else { return Ok(()) };
            let (id, token) = (lease.id, lease.token);
            let gathered = desk.stop.run_until_cancelled(gather(desk, lease)).await;
            match gathered {
                Some(Ok(held)) => {
                    unplayable.reset();
                    desk.stats.took_lease();
                    if let Err(mpsc::error::SendError(held)) = deal.send(Arc::new(held)).await {
                        // The player thread is gone; `hand::run` says why.
                        release(desk, held.lease.id, held.lease.token).await;
                        return Ok(());
                    }
                    break;
                }
                Some(Err(error)) => {
                    let text = error.to_string();
                    desk.warn_once(text.split(':').next().unwrap_or_default(), &text);
                    desk.stats.waits_for(text);
                    release(desk, id, token).await;
                    pause(desk, unplayable.next()).await;
                }
                None => {
                    release(desk, id, token).await;
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// The next lease; `None` when the worker stops first.
async fn acquire(desk: &Desk, rate: f64) -> Result<Option<Lease>, WorkerError> {
    let mut backoff = Backoff::for_calls();
    while !desk.stop.is_cancelled() {
        let request = AcquireRequest {
            worker: desk.worker.clone(),
            engine: env!("CARGO_PKG_VERSION").into(),
            games: playable(desk),
            games_per_second: rate,
        };
        // Not broken off at `stop`: the answer may be a lease, which would then be nobody's until it expires.
        let Some(answer) = desk.hard_stop.run_until_cancelled(desk.link.acquire(request)).await else {
            return Ok(None);
        };
        if answer.is_ok() {
            desk.coordinator_answers();
        }
        match answer.map(|reply| reply.answer) {
            Ok(Some(Answer::Lease(lease))) if desk.stop.is_cancelled() => {
                release(desk, lease.id, lease.token).await;
            }
            Ok(Some(Answer::Lease(lease))) => return Ok(Some(lease)),
            Ok(Some(Answer::Wait(wait))) => {
                backoff.reset();
                desk.stats.waits_for(wait.reason);
                pause(desk, jittered(Duration::from_millis(u64::from(wait.milliseconds.max(10))))).await;
            }
            Ok(None) => {
                return Err(WorkerError::Refused {
                    url: desk.link.url().into(),
                    reason: "it answers with something newer than this worker knows; update the worker"
                        .into(),
                });
            }
            Err(status) if is_transient(&status) => {
                desk.coordinator_away("asking for a lease", &status);
                pause(desk, backoff.next()).await;
            }
            Err(status) => {
                return Err(WorkerError::Refused { url: desk.link.url().into(), reason: describe(&status) });
            }
        }
    }
    Ok(None)
}

fn playable(desk: &Desk) -> Vec<PlayableGame> {
    let arenas = desk.registry.games().into_iter().filter_map(|game| desk.registry.find(game));
    arenas.map(|arena| PlayableGame { name: arena.game().into(), revision: arena.revision() }).collect()
}

/// Everything the lease needs: its game, and the weights it names.
async fn gather(desk: &Desk, lease: Lease) -> Result<HeldLease, Unplayable> {
    let arena =
        desk.registry.find(&lease.game).ok_or_else(|| Unplayable::Game { game: lease.game.clone() })?;
    if arena.revision() != lease.revision {
        return Err(Unplayable::Revision {
            game: lease.game,
            ours: arena.revision(),
            theirs: lease.revision,
        });
    }
    if lease.series.is_none() {
        return Err(Unplayable::Malformed("it has no series"));
    }
    let span = tracing::info_span!(
        "lease",
        lease = lease.id,
        run = lease.run,
        first = lease.first,
        games = lease.count
    );
    let [first, second] = &lease.players[..] else {
        return Err(Unplayable::Malformed("it does not have two players"));
    };
    let seats = [seat(desk, first).await?, seat(desk, second).await?];
    Ok(HeldLease { arena: arena.clone(), seats, span, over: AtomicBool::new(false), lease })
}

async fn seat(desk: &Desk, player: &PlayerRef) -> Result<Seating, Unplayable> {
    let source = match &player.who {
        Some(Who::Baseline(name)) => Source::Baseline(name.clone()),
        Some(Who::Weights(sha256)) => {
            let digest = sha256[..]
                .try_into()
                .map(Digest)
                .map_err(|_| Unplayable::Malformed("the sha256 of its weights does not have 32 bytes"))?;
            Source::Weights { digest, file: desk.weights.get(digest, &desk.link).await? }
        }
        None => return Err(Unplayable::Malformed("a player is neither a baseline nor weights")),
    };
    Ok(Seating { source, plies: player.plies })
}

/// Gives a lease back. Tried once: without it the lease expires by itself.
pub(crate) async fn release(desk: &Desk, lease_id: u64, token: u64) {
    let call = desk.link.release(ReleaseRequest { lease_id, token });
    if let Some(Err(status)) = desk.hard_stop.run_until_cancelled(call).await {
        tracing::debug!(lease_id, "not released, so it will expire: {}", describe(&status));
    }
}

async fn pause(desk: &Desk, time: Duration) {
    desk.stop.run_until_cancelled(tokio::time::sleep(time)).await;
}
