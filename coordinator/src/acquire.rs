//! Handing out games.

use ludus_players::weight_file::Digest;
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::{AcquireRequest, FetchWeightsRequest, Lease, ReleaseRequest, SeriesKind, Wait};

use crate::CoordinatorError;
use crate::book::{Book, Run, Series};
use crate::coordinator::Shared;
use crate::leases::{Issue, LeaseId, Millis};
use crate::phases::{self, LEARNING};
use crate::roster::Portion;
use crate::series::{gate_players, self_players, untrained};
use crate::store::write::Writer;
use crate::tokens::Caller;
use crate::turns::{Offer, Work};

/// How long a worker waits that finds nothing to do.
const WAIT_MILLISECONDS: u32 = 500;
/// Most games that a worker may say it plays.
const MOST_PLAYABLE: usize = 1000;
/// Share of the learning games' time for games of earlier phases that got lost, where their kind has none of its own
/// any more. They are few.
const LOST_SHARE: f64 = 0.05;

impl Shared {
    /// Games for a worker, or why there are none.
    pub(crate) fn acquire(
        &self,
        caller: Caller,
        request: &AcquireRequest,
        now: Millis,
    ) -> Result<Answer, CoordinatorError> {
        check_worker_name(&request.worker)?;
        if request.games.len() > MOST_PLAYABLE {
            return Err(CoordinatorError::Request(format!("a worker plays at most {MOST_PLAYABLE} games")));
        }
        let mut state = self.lock()?;
        state.book().tokens.still_stands(caller)?;
        state.roster.greet(&request.worker, now);
        state.roster.introduce(&request.worker, &request.engine);
        let (offers, why_not) = offers(state.book(), request, now)?;
        for offer in state.turns.order(offers) {
            let Some(run) = state.book().runs.get(&offer.work.run()) else { continue };
            let (leases, phase) = (run.config.leases.clone(), phase_of(run, offer.work));
            let work = (offer.work, phase);
            let portion = state.roster.portion(&request.worker, work, request.games_per_second, &leases);
            let issue = Issue {
                // SQLite's integers have a sign.
                token: rand::random::<u64>() >> 1,
                holder: request.worker.clone(),
                owner: caller.token(),
                since: now,
                deadline: now + Millis::from(leases.ttl_seconds) * 1000,
            };
            let granted = state.step(|book, writer| grant(book, writer, offer.work, portion, issue))?;
            if let Some(lease) = granted {
                let games = f64::from(lease.count) - lease.done.len() as f64;
                state.turns.served(offer, portion.seconds(games, &leases));
                return Ok(Answer::Lease(lease));
            }
        }
        Ok(Answer::Wait(Wait { milliseconds: WAIT_MILLISECONDS, reason: why_not }))
    }

    /// Takes a lease back from the worker that holds it.
    pub(crate) fn release(&self, caller: Caller, request: &ReleaseRequest) -> Result<(), CoordinatorError> {
        let mut state = self.lock()?;
        let holds = |series: &Series| {
            series.book.blocks().get(&request.lease_id).is_some_and(|block| block.is_open_to(caller.token()))
        };
        if !state.book().runs.values().flat_map(Run::series).any(holds) {
            return Ok(());
        }
        state.step(|book, writer| {
            for series in book.runs.values_mut().flat_map(Run::series_mut).filter(|series| holds(series)) {
                series.book.release(request.lease_id, request.token);
                writer.series(series, request.lease_id)?;
            }
            Ok(())
        })
    }

    /// The bytes of a weight file.
    pub(crate) fn fetch_weights(&self, request: &FetchWeightsRequest) -> Result<Vec<u8>, CoordinatorError> {
        let sha256 = <[u8; 32]>::try_from(&request.sha256[..])
            .map_err(|_| CoordinatorError::Request("a sha256 sum has 32 bytes".into()))?;
        self.weights.read(Digest(sha256))
    }
}

/// Names appear in logs and tables.
pub(crate) fn check_worker_name(name: &str) -> Result<(), CoordinatorError> {
    if (1..=128).contains(&name.len()) && !name.contains(char::is_control) {
        return Ok(());
    }
    Err(CoordinatorError::Request(
        "a worker's name has 1 to 128 characters, none of them a control character".into(),
    ))
}

/// The phase whose pace a lease is measured by. Gates are the same in all.
fn phase_of(run: &Run, work: Work) -> u32 {
    if work.kind() == SeriesKind::Gate { 0 } else { run.phase() }
}

/// What this worker could do, and why there is not more.
fn offers(
    book: &Book,
    request: &AcquireRequest,
    now: Millis,
) -> Result<(Vec<Offer>, String), CoordinatorError> {
    let mut offers = Vec::new();
    let mut why_not = "no run is active".to_owned();
    let mut mismatch = None;
    let mut playable = false;
    for run in book.runs.values().filter(|run| run.active) {
        let game = &run.config.game;
        match request.games.iter().find(|playable| playable.name == *game) {
            None if !playable => {
                why_not = format!("no active run plays a game that this worker knows ({game} is played)")
            }
            None => {}
            Some(has) if has.revision != run.revision => {
                mismatch = Some(CoordinatorError::WorkerRevision {
                    game: game.clone(),
                    run: run.name.clone(),
                    has: has.revision,
                    wanted: run.revision,
                });
            }
            Some(_) => {
                playable = true;
                let share = run.config.gate.share;
                if gate_has_games(run, now) {
                    offers.push(Offer { work: Work::Gate(run.id), share });
                }
                if let Some(reason) = learning_waits(run, now) {
                    why_not = format!("run {}: {reason}", run.name);
                    continue;
                }
                for kind in LEARNING {
                    if let Some(of_learning) = learning_share(run, kind, now) {
                        let share = (1.0 - share) * of_learning;
                        offers.push(Offer { work: Work::of(run.id, kind), share });
                    }
                }
            }
        }
    }
    match mismatch {
        Some(mismatch) if !playable => Err(mismatch),
        _ => Ok((offers, why_not)),
    }
}

/// Why no games to learn from are handed out, if none are.
fn learning_waits(run: &Run, now: Millis) -> Option<String> {
    if run.latest() == 0 {
        return Some("the trainer has not published its first weights yet".into());
    }
    let full = learning_room(run) == 0 && !LEARNING.iter().any(|&kind| has_lost(run, kind, now));
    full.then(|| {
        let (behind, out) = (run.backlog(), run.accounting().leased);
        let limit = learning_limit(run);
        format!("the trainer is {behind} games behind and {out} more are out; the limit is {limit}")
    })
}

/// Most games that may be out or wait for the trainer. Weights that have learnt nothing are followed by better ones as
/// soon as games for these have been learnt, so what is played before in great numbers would only hold these up.
fn learning_limit(run: &Run) -> u64 {
    let limit = run.config.leases.backlog_games;
    if untrained(run) { limit.min(run.config.phase(run.phase()).publish_games) } else { limit }
}

/// How many new games to learn from may be handed out; none before there is room for more than a few, and an even number,
/// so that pairs stay together.
fn learning_room(run: &Run) -> u64 {
    let limit = learning_limit(run);
    let room = limit.saturating_sub(run.backlog() + run.accounting().leased);
    match room {
        few if few <= limit / 8 => 0,
        1 => 1,
        room => room - room % 2,
    }
}

/// Whether there are games of a kind that were handed out and got lost.
fn has_lost(run: &Run, kind: SeriesKind, now: Millis) -> bool {
    let series = run.learning.iter().filter(|series| series.settings.kind() == kind);
    series.flat_map(|series| series.book.blocks().values()).any(|block| block.is_free(now))
}

/// The share of a kind of games to learn from; `None` when there are none to be played.
fn learning_share(run: &Run, kind: SeriesKind, now: Millis) -> Option<f64> {
    let share = phases::share(run, kind);
    if share > 0.0 { Some(share) } else { has_lost(run, kind, now).then_some(LOST_SHARE) }
}

/// Whether there are games of the gate to be played: missing ones, or new ones within the pair limit.
fn gate_has_games(run: &Run, now: Millis) -> bool {
    run.gate.as_ref().is_some_and(|gate| {
        let book = &gate.series.book;
        gate.benchmark.is_some()
            && (book.next() < 2 * gate.fold.rule().limit_pairs
                || book.blocks().values().any(|block| block.is_free(now)))
    })
}

/// Issues a block of `work` again, or a new one. `None` when there is nothing left.
fn grant(
    book: &mut Book,
    writer: &Writer<'_>,
    work: Work,
    portion: Portion,
    issue: Issue,
) -> rusqlite::Result<Option<Lease>> {
    let Some(run) = book.runs.get_mut(&work.run()) else { return Ok(None) };
    let (players, room) = match (work.kind(), &run.gate) {
        (SeriesKind::Gate, Some(gate)) => {
            let limit = 2 * gate.fold.rule().limit_pairs;
            (gate_players(run, gate), limit.saturating_sub(gate.series.book.next()))
        }
        (SeriesKind::Gate, None) => return Ok(None),
        (kind, _) => {
            let newest = run.learning.iter().rfind(|series| series.settings.kind() == kind);
            (newest.and_then(|series| self_players(run, &series.settings)), learning_room(run))
        }
    };
    let phase = run.phase();
    // Those of earlier phases come first and hand out nothing new.
    let mut series: Vec<&mut Series> = match (work.kind(), &mut run.gate) {
        (SeriesKind::Gate, Some(gate)) => vec![&mut gate.series],
        (kind, _) => run.learning.iter_mut().filter(|series| series.settings.kind() == kind).collect(),
    };
    let again = series
        .iter_mut()
        .enumerate()
        .find_map(|(place, series)| Some((place, series.book.reissue(issue.clone())?)));
    let (place, lease) = match again {
        Some(again) => again,
        None => {
            let newest = series.len().checked_sub(1);
            let holds =
                |place: &usize| work.kind() == SeriesKind::Gate || series[*place].settings.phase == phase;
            let (Some(place), Some(players)) = (newest.filter(holds), players) else { return Ok(None) };
            let series = &mut series[place].book;
            let count = portion.games.min(u32::try_from(room).unwrap_or(u32::MAX));
            let lease = book.next_lease;
            if !series.issue(lease, count, players, issue) {
                return Ok(None);
            }
            book.next_lease += 1;
            writer.next_lease(book.next_lease)?;
            (place, lease)
        }
    };
    writer.series(series[place], lease)?;
    let series = series[place].settings.id;
    Ok(describe(run, series, lease))
}

/// The lease as the worker sees it.
fn describe(run: &Run, series: u64, lease: LeaseId) -> Option<Lease> {
    let series = run.series().find(|found| found.settings.id == series)?;
    let block = series.book.blocks().get(&lease)?;
    Some(Lease {
        id: lease,
        token: block.issue.token,
        run: run.name.clone(),
        game: run.config.game.clone(),
        revision: run.revision,
        series: Some(series.settings),
        players: block.players.to_vec(),
        first: block.first,
        count: block.count,
        done: block.done(),
        ttl_seconds: run.config.leases.ttl_seconds,
    })
}
