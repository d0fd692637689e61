//! What people and scripts see of a run.

use ludus_proto::v1::{Accounting, GateStatus, RunStatus, SeriesKind, VersionInfo};

use crate::CoordinatorError;
use crate::book::{Book, GateMatch, Run, Version};
use crate::gate::GateReport;

/// The run of this name; with an empty name the only run, or the newest.
pub(crate) fn find<'b>(book: &'b Book, name: &str) -> Result<&'b Run, CoordinatorError> {
    if name.is_empty() {
        let newest = book.runs.values().next_back();
        return newest.ok_or(CoordinatorError::WhichRun { found: "there is none".into() });
    }
    book.runs.values().find(|run| run.name == name).ok_or_else(|| {
        let names: Vec<&str> = book.runs.values().map(|run| run.name.as_str()).collect();
        let known = if names.is_empty() { "none yet".into() } else { names.join(", ") };
        CoordinatorError::NoRun { name: name.into(), known }
    })
}

/// A run at a glance.
pub(crate) fn run(run: &Run, workers: usize) -> RunStatus {
    let (games, rollouts) = (run.accounting(), run.accounting_of(SeriesKind::Rollout));
    let next = run.config.phases.get(run.phase() as usize);
    RunStatus {
        run: run.name.clone(),
        game: run.config.game.clone(),
        state: if run.active { "active" } else { "stopped" }.into(),
        created_at: run.created_at,
        issued: games.issued,
        accepted: games.accepted,
        leased: games.leased,
        void: games.void,
        progress: Some(run.progress.clone()),
        latest_version: run.latest(),
        champion: run.champion,
        gate: run.gate.as_ref().map(gate),
        workers: workers as u32,
        config: run.config.to_toml(),
        backlog: run.backlog(),
        phase: run.phase(),
        next_phase: next.map_or(0, |phase| phase.from_games),
        rollouts: Some(Accounting {
            issued: rollouts.issued,
            accepted: rollouts.accepted,
            leased: rollouts.leased,
            void: rollouts.void,
        }),
    }
}

/// A version, with its gate when it had one.
pub(crate) fn version(run: &Run, version: &Version) -> VersionInfo {
    let running = run.gate.as_ref().filter(|gate| gate.candidate == version.number).map(gate);
    VersionInfo {
        version: version.number,
        state: version.state.to_string(),
        sha256: version.sha256.0.to_vec(),
        parent: version.parent.clone(),
        size: version.size,
        published_at: version.published_at,
        progress: Some(version.progress.clone()),
        gate: running.or_else(|| run.decided.get(&version.number).cloned()),
    }
}

/// A gate in progress, or decided in this very step.
pub(crate) fn gate(gate: &GateMatch) -> GateStatus {
    let GateReport { pairs, limit, ppg, interval, e_better, e_worse, verdict, reason, .. } =
        gate.fold.report();
    let reason = match &gate.benchmark {
        None => "the benchmark condition comes first".into(),
        Some(found) if found.is_empty() => reason,
        Some(found) => format!("{reason}; {found}"),
    };
    GateStatus {
        candidate: gate.candidate,
        opponent: gate.opponent,
        pairs,
        limit,
        ppg,
        ppg_low: interval.low,
        ppg_high: interval.high,
        e_better,
        e_worse,
        verdict: verdict.as_str().into(),
        reason,
    }
}
