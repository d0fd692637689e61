//! The logs of a run's gates, for recomputing what they decided.

use std::path::Path;

use ludus_proto::v1::GateStatus;
use prost::Message;
use rusqlite::{Connection, Row};

use super::{database_failed, knows_gone_games};
use crate::CoordinatorError;
use crate::book::RunId;
use crate::gate::GateRule;

/// Everything that is stored of one gate.
#[derive(Debug)]
pub(crate) struct GateLog {
    pub series: u64,
    pub candidate: u64,
    pub opponent: u64,
    pub rule: GateRule,
    /// What the benchmark condition found.
    pub benchmark: Option<String>,
    /// The state of the candidate.
    pub state: String,
    /// The verdict; `None` while the gate runs.
    pub verdict: Option<GateStatus>,
    /// Whether its games were deleted after the verdict.
    pub gone: bool,
    /// Number and points of every game, late ones too, by number.
    pub games: Vec<(u64, f64)>,
}

/// Hands the gates of `run` to `each`, oldest first, one at a time: a log may hold half a million games.
pub(crate) fn each(
    connection: &Connection,
    path: &Path,
    run: RunId,
    mut each: impl FnMut(GateLog),
) -> Result<(), CoordinatorError> {
    let failed = |source| database_failed(path, source);
    // One snapshot: while a folder is looked at, its coordinator writes.
    let snapshot = connection.unchecked_transaction().map_err(failed)?;
    let gone = if knows_gone_games(&snapshot).map_err(failed)? { "games_gone" } else { "0" };
    let gates: Vec<(GateLog, Option<Vec<u8>>)> = snapshot
        .prepare(&format!(
            "SELECT series, candidate, opponent, alpha, beta, delta, limit_pairs, bound, benchmark, state, summary, {gone}
             FROM gates LEFT JOIN versions ON versions.run = gates.run AND version = candidate
             WHERE gates.run = ? ORDER BY series",
        ))
        .and_then(|mut gates| gates.query_map([run], gate)?.collect())
        .map_err(failed)?;
    let mut log = snapshot
        .prepare("SELECT number, payoff, luck FROM gate_games WHERE series = ? ORDER BY number")
        .map_err(failed)?;
    for (mut gate, summary) in gates {
        let verdict = summary.map(|bytes| GateStatus::decode(&bytes[..])).transpose();
        gate.verdict = verdict.map_err(|error| CoordinatorError::Damaged {
            path: path.to_owned(),
            what: format!("gate of v{}: {error}", gate.candidate),
        })?;
        let games = log.query_map([gate.series], |row| {
            Ok((row.get(0)?, f64::from(row.get::<_, i32>(1)?) - row.get::<_, f64>(2)?))
        });
        gate.games = games.and_then(Iterator::collect).map_err(failed)?;
        each(gate);
    }
    Ok(())
}

fn gate(row: &Row<'_>) -> rusqlite::Result<(GateLog, Option<Vec<u8>>)> {
    let rule = GateRule {
        alpha: row.get(3)?,
        beta: row.get(4)?,
        delta: row.get(5)?,
        limit_pairs: row.get(6)?,
        bound: row.get(7)?,
    };
    let log = GateLog {
        series: row.get(0)?,
        candidate: row.get(1)?,
        opponent: row.get(2)?,
        rule,
        benchmark: row.get(8)?,
        state: row.get::<_, Option<String>>(9)?.unwrap_or_default(),
        verdict: None,
        gone: row.get(11)?,
        games: Vec::new(),
    };
    Ok((log, row.get(10)?))
}
