//! When gates begin and end. What a gate decides, and how, is in [`crate::gate`].

use ludus_config::RunConfig;
use rusqlite::Result;

use crate::book::{Book, GateMatch, Run, RunId, Series, Version, VersionState};
use crate::gate::{Gate, GateRule, Prefix, Verdict};
use crate::leases::{Millis, SeriesBook};
use crate::store::write::{EndReason, Writer};
use crate::{series, status};

/// What a gate of this run promises. `max_points` is the most a game can be worth.
pub(crate) fn rule(config: &RunConfig, max_points: u32) -> GateRule {
    let gate = &config.gate;
    GateRule {
        alpha: gate.alpha,
        beta: gate.beta,
        delta: gate.delta,
        limit_pairs: gate.limit_pairs,
        bound: f64::from(max_points) + if gate.luck { gate.luck_bound } else { 0.0 },
    }
}

/// Starts the gate of the newest version, when it was trained, was not gated before, and no other gate is running.
/// Versions that were published meanwhile stay published: the newest is the one worth testing.
pub(crate) fn start(
    book: &mut Book,
    writer: &Writer<'_>,
    run: RunId,
    max_points: u32,
    now: Millis,
) -> Result<()> {
    let Some(run) = book.runs.get_mut(&run) else { return Ok(()) };
    let due = run.active && run.gate.is_none() && run.config.gate.share > 0.0;
    let trained = |version: &&mut Version| version.progress.games > 0;
    let Some(candidate) = run.versions.last_mut().filter(|_| due).filter(trained) else { return Ok(()) };
    if candidate.state != VersionState::Published {
        return Ok(());
    }
    let Ok(fold) = Gate::new(rule(&run.config, max_points)) else {
        // Such a configuration is refused when the run is created.
        return Ok(());
    };
    candidate.state = VersionState::Gating;
    let candidate = candidate.number;
    writer.version_state(run.id, candidate, VersionState::Gating)?;

    let settings = series::gate(&run.config, book.next_series, candidate);
    book.next_series += 1;
    writer.next_series(book.next_series)?;
    let gate = GateMatch {
        series: Series { settings, book: SeriesBook::default() },
        candidate,
        opponent: run.champion,
        // The first candidate has no champion to be compared with.
        benchmark: (run.config.gate.benchmark.is_empty() || run.champion == 0).then(String::new),
        prefix: Prefix::new(),
        fold,
    };
    writer.new_series(run.id, &gate.series)?;
    writer.new_gate(run.id, &gate, now / 1000)?;
    run.gate = Some(gate);
    Ok(())
}

/// Ends the gate with the verdict of its fold, if it has one. Gives the verdict.
pub(crate) fn decide(run: &mut Run, writer: &Writer<'_>, now: Millis) -> Result<Verdict> {
    let verdict = run.gate.as_ref().map_or(Verdict::Running, |gate| gate.fold.verdict());
    let state = match verdict {
        Verdict::Running => return Ok(verdict),
        Verdict::Promoted => VersionState::Promoted,
        Verdict::Rejected => VersionState::Rejected,
    };
    close(run, writer, EndReason::Verdict, state, now, None)?;
    Ok(verdict)
}

/// Notes what the benchmark condition found; a candidate that fails it is rejected without a match.
pub(crate) fn benchmarked(
    run: &mut Run,
    writer: &Writer<'_>,
    found: &str,
    passed: bool,
    now: Millis,
) -> Result<()> {
    let Some(gate) = &mut run.gate else { return Ok(()) };
    gate.benchmark = Some(found.to_owned());
    writer.gate_benchmark(gate.series.settings.id, found)?;
    if passed {
        return Ok(());
    }
    close(run, writer, EndReason::Verdict, VersionState::Rejected, now, Some(("rejected", found)))
}

/// Pairs that a candidate gets before it can be overtaken, so that versions in quick succession do not all go without a
/// verdict.
const FAIR_TRIAL: u64 = 2000;

/// Gives up the candidate for the newest version, when that has learnt from far more games. Stopping early promotes nobody,
/// so it takes nothing from what the gate promises.
pub(crate) fn overtake(run: &mut Run, writer: &Writer<'_>, now: Millis) -> Result<()> {
    let (Some(gate), Some(newest)) = (&run.gate, run.versions.last()) else { return Ok(()) };
    let times = run.config.gate.overtaken;
    let games = |version: &Version| version.progress.games as f64;
    let candidate = run.versions.iter().find(|version| version.number == gate.candidate);
    let far_ahead = candidate.is_some_and(|candidate| games(newest) >= times * games(candidate));
    if times == 0.0 || gate.fold.pairs() < FAIR_TRIAL || newest.number == gate.candidate || !far_ahead {
        return Ok(());
    }
    let reason = format!("v{} has learnt from {times} times as many games or more", newest.number);
    close(run, writer, EndReason::Verdict, VersionState::Published, now, Some(("overtaken", &reason)))
}

/// Breaks the gate off because its run was stopped. The candidate is what it was before.
pub(crate) fn stop(run: &mut Run, writer: &Writer<'_>, now: Millis) -> Result<()> {
    let told = Some(("stopped", "the run was stopped"));
    close(run, writer, EndReason::Stopped, VersionState::Published, now, told)
}

/// How long a decided gate knows the games that are out, so that they are logged when they come after all.
const REMEMBERED: Millis = 3_600_000;

/// Closes the gate: its series ends, its candidate becomes `state`, its report is kept. `told` replaces the verdict and
/// its reason.
fn close(
    run: &mut Run,
    writer: &Writer<'_>,
    reason: EndReason,
    state: VersionState,
    now: Millis,
    told: Option<(&str, &str)>,
) -> Result<()> {
    let Some(mut gate) = run.gate.take() else { return Ok(()) };
    let mut summary = status::gate(&gate);
    if let Some((verdict, reason)) = told {
        summary.verdict = verdict.into();
        summary.reason = reason.into();
    }
    gate.series.book.end();
    writer.ended(&gate.series, reason)?;
    writer.gate_decided(gate.series.settings.id, &summary, now / 1000)?;
    writer.version_state(run.id, gate.candidate, state)?;
    // It was promised to beat this champion, so it takes its place and no other's.
    if state == VersionState::Promoted && writer.crown(run.id, gate.opponent, gate.candidate)? {
        run.champion = gate.candidate;
    }
    if let Some(version) = run.versions.iter_mut().find(|version| version.number == gate.candidate) {
        version.state = state;
    }
    run.decided.insert(gate.candidate, summary);
    for series in &mut run.past_matches {
        let forgotten = series.book.forget(now.saturating_sub(REMEMBERED));
        forgotten.into_iter().try_for_each(|lease| writer.forget_block(lease))?;
    }
    run.past_matches.retain(|series| !series.book.blocks().is_empty());
    if !gate.series.book.blocks().is_empty() {
        run.past_matches.push(gate.series);
    }
    Ok(())
}
