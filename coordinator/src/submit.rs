//! Taking games: checks, book-keeping, and what follows from them.

use ludus_players::arena::Arena;
use ludus_proto::v1::{
    GameBatch, GameRecord, Refusal, Series as SeriesSettings, SeriesKind, SubmitReply, SubmitRequest,
};
use prost::Message;
use rusqlite::Result;
use tracing::field::Empty;

use crate::CoordinatorError;
use crate::acquire::check_worker_name;
use crate::audit::Sampler;
use crate::book::{Book, GateMatch, NO_RUN, Players, Run, RunId, Series};
use crate::coordinator::Shared;
use crate::gate::Verdict;
use crate::gatekeeper;
use crate::leases::{Block, LeaseId, Millis, Outcome, SeriesBook};
use crate::store::tokens::{Origin, Sample};
use crate::store::write::{GateGame, Writer};
use crate::tokens::{Caller, TokenId};
use crate::turns::Work;
use crate::watch::kept;
use crate::{people, phases};

/// Most games in one submission.
const MOST_GAMES: usize = 65_536;
/// Uncompressed size of a stream entry, in bytes, unless a single game is larger. Compressed, entries are then a few
/// kilobytes, which is where Redis is at its best.
const ENTRY_BYTES: usize = 16 << 10;
/// How hard entries are compressed: zstd's default.
const ZSTD_LEVEL: i32 = 3;

/// What a submission is for.
struct Purpose {
    run: RunId,
    series: SeriesSettings,
    /// The block as it is before the submission.
    block: Block<Players>,
}

/// A submission whose games were checked.
struct Checked<'r> {
    lease: LeaseId,
    token: u64,
    games: Vec<&'r GameRecord>,
    unplayable: Vec<u64>,
    refused: Vec<Refusal>,
    /// Games of the block that were taken earlier.
    repeated: u32,
}

/// What a step did with a submission.
#[derive(Default)]
struct Taken {
    accepted: u32,
    repeated: u32,
    lease_over: bool,
    /// Something lies in the outbox.
    posted: bool,
    /// A game waits for its audit.
    sampled: bool,
    verdict: Option<Verdict>,
    /// The lease was completed by its holder: name, games, since when.
    completed: Option<(String, u32, Millis)>,
}

impl Shared {
    /// Takes the games of a submission. When it returns, what it says about them is on the disk.
    pub(crate) fn submit(
        &self,
        caller: Caller,
        request: &SubmitRequest,
        now: Millis,
    ) -> Result<SubmitReply, CoordinatorError> {
        check_worker_name(&request.worker)?;
        if request.games.len() + request.unplayable.len() > MOST_GAMES {
            return Err(CoordinatorError::Request(format!("a submission has at most {MOST_GAMES} games")));
        }
        let (purpose, arena) = {
            let mut state = self.lock()?;
            state.roster.greet(&request.worker, now);
            match find(state.book(), request.lease_id) {
                Some((run, purpose)) => (purpose, self.arena(run)?.clone()),
                None => {
                    drop(state);
                    return self.submit_closed(caller, request);
                }
            }
        };
        if !purpose.block.is_open_to(caller.token()) {
            return self.submit_foreign(caller, request, purpose.run);
        }
        // Replaying games takes time, so it is done without the lock.
        let checked = check(request, &purpose, arena.as_ref());

        let mut state = self.lock()?;
        // It may have been revoked while we checked.
        state.book().tokens.still_stands(caller)?;
        let mut sampler = std::mem::take(&mut state.sampler);
        let run = state.book().runs.get(&purpose.run).map_or_else(String::new, |run| run.name.clone());
        let is_gate = purpose.series.kind() == SeriesKind::Gate;
        let gate = is_gate.then(|| tracing::info_span!("gate", run, verdict = Empty).entered());
        let taken = state.step(|book, writer| {
            take(book, writer, caller, &mut sampler, &purpose, &checked, arena.max_points(), now)
        });
        state.sampler = sampler;
        let taken = taken?;
        if let Some((holder, games, since)) = &taken.completed {
            let work = Work::of(purpose.run, purpose.series.kind());
            state.roster.timed(holder, (work, purpose.series.phase), *games, now.saturating_sub(*since));
        }
        let refused = checked.refused.len() as u64;
        state.roster.handed_in(&request.worker, taken.accepted.into(), refused, now);
        drop(state);
        if taken.posted {
            self.outbox_bell.notify_one();
        }
        if taken.sampled {
            self.audit_bell.notify_one();
        }
        if let Some(verdict) = taken.verdict {
            tracing::info!(run, verdict = verdict.as_str(), "a gate is decided");
            if let Some(span) = &gate {
                span.record("verdict", verdict.as_str());
            }
            self.gate_bell.notify_one();
        }
        Ok(SubmitReply {
            accepted: taken.accepted,
            repeated_games: checked.repeated + taken.repeated,
            refused: checked.refused,
            lease_over: taken.lease_over,
        })
    }

    /// A submission under a lease that is not open. If it once was, all its games were taken or are void: a repeat,
    /// which is fine. If it never was, nobody asked for these games.
    fn submit_closed(
        &self,
        caller: Caller,
        request: &SubmitRequest,
    ) -> Result<SubmitReply, CoordinatorError> {
        let mut state = self.lock()?;
        let known = (1..state.book().next_lease).contains(&request.lease_id);
        let count = request.games.len() as u32;
        if known || count == 0 {
            return Ok(SubmitReply { repeated_games: count, lease_over: true, ..SubmitReply::default() });
        }
        let reason = "unknown-lease";
        state.step(|book, writer| {
            *book.strays.entry(reason.into()).or_default() += u64::from(count);
            writer.refused(NO_RUN, reason, count.into())?;
            people::fault(book, writer, caller.token(), count.into(), reason)
        })?;
        Ok(refuse_all(request, reason, &format!("lease {} was never issued", request.lease_id)))
    }

    /// A submission under a lease that was never issued to this token. Counted once against it, for its holder may have
    /// been given another token in between.
    fn submit_foreign(
        &self,
        caller: Caller,
        request: &SubmitRequest,
        run: RunId,
    ) -> Result<SubmitReply, CoordinatorError> {
        let reason = "not-your-lease";
        let count = request.games.len() as u64;
        self.lock()?.step(|book, writer| {
            if let Some(run) = book.runs.get_mut(&run) {
                *run.refusals.entry(reason.into()).or_default() += count;
            }
            writer.refused(run, reason, count)?;
            people::fault(book, writer, caller.token(), 1, reason)
        })?;
        Ok(refuse_all(request, reason, &format!("lease {} was issued to another token", request.lease_id)))
    }
}

fn refuse_all(request: &SubmitRequest, reason: &str, detail: &str) -> SubmitReply {
    let refuse =
        |game: &GameRecord| Refusal { number: game.number, reason: reason.into(), detail: detail.into() };
    let refused = request.games.iter().map(refuse).collect();
    SubmitReply { refused, lease_over: true, ..SubmitReply::default() }
}

/// The run of an open lease, and what it is for.
fn find(book: &Book, lease: LeaseId) -> Option<(&Run, Purpose)> {
    book.runs.values().find_map(|run| {
        run.series().find_map(|series| {
            let block = series.book.blocks().get(&lease)?.clone();
            Some((run, Purpose { run: run.id, series: series.settings, block }))
        })
    })
}

/// Sorts a submission into games to be taken, repeats, and games that are refused and why.
fn check<'r>(request: &'r SubmitRequest, purpose: &Purpose, arena: &dyn Arena) -> Checked<'r> {
    let Purpose { series, block, .. } = purpose;
    let mut checked = Checked {
        lease: request.lease_id,
        token: request.token,
        games: Vec::with_capacity(request.games.len()),
        unplayable: Vec::new(),
        refused: Vec::new(),
        repeated: 0,
    };
    let outside = |number: u64| Refusal {
        number,
        reason: "outside-lease".into(),
        detail: format!("lease {} has the {} games from {} on", request.lease_id, block.count, block.first),
    };
    for game in &request.games {
        if !block.contains(game.number) {
            checked.refused.push(outside(game.number));
        } else if !block.wants(game.number) {
            checked.repeated += 1;
        } else {
            match arena.check(series, &block.players, game) {
                Ok(_) => checked.games.push(game),
                Err(violation) => checked.refused.push(Refusal {
                    number: game.number,
                    reason: violation.reason.into(),
                    detail: violation.detail,
                }),
            }
        }
    }
    for &number in &request.unplayable {
        match block.contains(number) {
            true => checked.unplayable.push(number),
            false => checked.refused.push(outside(number)),
        }
    }
    checked
}

/// The step: book-keeping, then what the games are for.
#[expect(clippy::too_many_arguments, reason = "one step, and all it depends on")]
fn take(
    book: &mut Book,
    writer: &Writer<'_>,
    caller: Caller,
    sampler: &mut Sampler,
    purpose: &Purpose,
    checked: &Checked<'_>,
    max_points: u32,
    now: Millis,
) -> Result<Taken> {
    let mut taken = Taken::default();
    if let Some(last) = checked.refused.last() {
        people::fault(book, writer, caller.token(), checked.refused.len() as u64, &last.reason)?;
    }
    let Some(run) = book.runs.get_mut(&purpose.run) else { return Ok(taken) };
    for refusal in &checked.refused {
        *run.refusals.entry(refusal.reason.clone()).or_default() += 1;
        writer.refused(run.id, &refusal.reason, 1)?;
    }
    let ttl = Millis::from(run.config.leases.ttl_seconds) * 1000;
    let Some(series) = run.series_mut().find(|series| series.settings.id == purpose.series.id) else {
        // Its last block was completed or forgotten while we checked.
        taken.repeated = (checked.games.len() + checked.unplayable.len()) as u32;
        taken.lease_over = true;
        return Ok(taken);
    };

    let sorted = sort(&mut series.book, checked);
    let progress = !sorted.fresh.is_empty() || !sorted.drawn.is_empty();
    if progress {
        series.book.extend(checked.lease, checked.token, now + ttl);
    }
    if sorted.changed {
        writer.series(series, checked.lease)?;
    }
    taken.accepted = sorted.fresh.len() as u32;
    // Late games are acknowledged like repeats: fine for the sender, nothing to the count.
    taken.repeated = sorted.repeated + sorted.late.len() as u32;
    taken.lease_over = series.book.ended();
    let block = &purpose.block;
    let complete = !series.book.blocks().contains_key(&checked.lease);
    if complete && progress && block.issue.token == checked.token {
        taken.completed = Some((block.issue.holder.clone(), block.asked, block.issue.since));
    }

    let ended = series.book.ended();
    if caller != Caller::House && progress {
        taken.sampled = remember(run, writer, caller.token(), sampler, purpose, checked.lease, &sorted)?;
    }
    if purpose.series.kind() != SeriesKind::Gate {
        if let Some(game) = sorted.fresh.last() {
            kept::keep(run, writer, &purpose.series, &purpose.block.players, game, now)?;
        }
        taken.posted = post(run, writer, purpose, &sorted.fresh, now)?;
        phases::advance(run, writer, &mut book.next_series)?;
    } else if ended {
        for game in sorted.late {
            writer.gate_game(purpose.series.id, logged(game, true))?;
        }
        run.past_matches.retain(|series: &Series| !series.book.blocks().is_empty());
    } else {
        let games = sorted.fresh.into_iter().map(|game| logged(game, false));
        let draws = sorted.drawn.into_iter();
        let draws = draws.map(|number| GateGame { number, payoff: 0, luck: 0.0, late: false });
        if let Some(gate) = &mut run.gate {
            feed(gate, writer, games.chain(draws))?;
        }
        let verdict = gatekeeper::decide(run, writer, now)?;
        if verdict != Verdict::Running {
            taken.verdict = Some(verdict);
            taken.lease_over = true;
            gatekeeper::start(book, writer, purpose.run, max_points, now)?;
        }
    }
    people::credit(book, writer, caller.token(), taken.accepted)?;
    Ok(taken)
}

/// Writes down whose games were accepted, and which of them are audited. Games given up are claims like any other.
fn remember(
    run: &mut Run,
    writer: &Writer<'_>,
    token: TokenId,
    sampler: &mut Sampler,
    purpose: &Purpose,
    lease: LeaseId,
    sorted: &Sorted<'_>,
) -> Result<bool> {
    let block = &purpose.block;
    let (series, share) = (purpose.series.id, run.config.audit.share);
    writer.origin(&Origin {
        run: run.id,
        series,
        lease,
        token,
        first: block.first,
        count: block.count,
        games: sorted.fresh.len() as u32,
        latest: run.latest(),
    })?;
    let played = sorted.fresh.iter().map(|game| (game.number, Some(*game)));
    let claims = played.chain(sorted.drawn.iter().map(|&number| (number, None)));
    let mut sampled = false;
    for (number, record) in claims.filter(|_| sampler.takes(token, share)) {
        let seats = block.players.each_ref().map(Message::encode_to_vec);
        let record = record.map(Message::encode_to_vec);
        let added = writer.sample(&Sample { run: run.id, series, lease, token, number, seats, record })?;
        if !added {
            *run.audits.entry("passed-over".into()).or_default() += 1;
            writer.audit_result(run.id, "passed-over")?;
        }
        sampled |= added;
    }
    Ok(sampled)
}

/// Games by what the book says of them.
#[derive(Default)]
struct Sorted<'r> {
    /// Counted now.
    fresh: Vec<&'r GameRecord>,
    /// Come after the end of their series.
    late: Vec<&'r GameRecord>,
    /// Given up now.
    drawn: Vec<u64>,
    /// Games that were taken earlier.
    repeated: u32,
    /// Whether the book is another one now.
    changed: bool,
}

fn sort<'r>(book: &mut SeriesBook<Players>, checked: &Checked<'r>) -> Sorted<'r> {
    let mut sorted = Sorted::default();
    for &game in &checked.games {
        match book.accept(checked.lease, game.number) {
            Outcome::New => sorted.fresh.push(game),
            Outcome::Late => sorted.late.push(game),
            Outcome::Repeated | Outcome::NotIssued => sorted.repeated += 1,
        }
    }
    let mut late_draws = false;
    for &number in &checked.unplayable {
        match book.give_up(checked.lease, number) {
            Outcome::New => sorted.drawn.push(number),
            Outcome::Late => late_draws = true,
            Outcome::Repeated | Outcome::NotIssued => {}
        }
    }
    sorted.changed =
        late_draws || !(sorted.fresh.is_empty() && sorted.late.is_empty() && sorted.drawn.is_empty());
    sorted
}

fn logged(game: &GameRecord, late: bool) -> GateGame {
    GateGame { number: game.number, payoff: game.payoff, luck: game.total_luck, late }
}

/// Logs games of the gate in progress and folds the pairs that are complete.
fn feed(gate: &mut GateMatch, writer: &Writer<'_>, games: impl Iterator<Item = GateGame>) -> Result<()> {
    for game in games {
        writer.gate_game(gate.series.settings.id, game)?;
        gate.prefix.game(game.number, f64::from(game.payoff) - game.luck);
    }
    while let Some(outcome) = gate.prefix.next_pair() {
        if let Err(error) = gate.fold.take(outcome) {
            // The check of the records lets nothing through that is out of bounds.
            return Err(rusqlite::Error::ToSqlConversionFailure(error.into()));
        }
    }
    Ok(())
}

/// Puts games to learn from into the outbox, in entries of a good size for the stream.
fn post(
    run: &Run,
    writer: &Writer<'_>,
    purpose: &Purpose,
    games: &[&GameRecord],
    now: Millis,
) -> Result<bool> {
    let mut rest = games;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |game: &&&GameRecord| {
            bytes += game.encoded_len();
            bytes <= ENTRY_BYTES
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (entry, later) = rest.split_at(count);
        rest = later;
        let post = writer.next_post()?;
        let batch = GameBatch {
            run: run.name.clone(),
            game: run.config.game.clone(),
            revision: run.revision,
            series: Some(purpose.series),
            players: purpose.block.players.to_vec(),
            games: entry.iter().map(|&game| game.clone()).collect(),
            accepted_at: now / 1000,
            post,
        };
        let payload = zstd::bulk::compress(&batch.encode_to_vec(), ZSTD_LEVEL)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        writer.outbox(post, run.id, &payload)?;
    }
    Ok(!games.is_empty())
}
