//! How the evidence of a gate grew, pair by pair, recomputed from its log.

use ludus_proto::v1::GateStatus;
use prost::Message;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use crate::book::RunId;
use crate::coordinator::Shared;
use crate::gate::{Gate, GateRule, Prefix};
use crate::{CoordinatorError, status};

/// Points of a trace at most, the last one not counted.
const MOST_POINTS: u64 = 240;

/// A gate from its first pair to its last.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Trace {
    /// The version that wants to be champion.
    pub candidate: u64,
    /// `v3`, or the baseline that stands in for a champion.
    pub opponent: String,
    /// Seconds since 1970.
    pub started_at: u64,
    /// When it was decided; `null` while it runs.
    pub decided_at: Option<u64>,
    /// Where the evidence promotes: 1 / alpha.
    pub e_promote: f64,
    /// Where the other rejects: 1 / beta.
    pub e_reject: f64,
    /// Pairs after which it ends.
    pub limit: u64,
    /// Series of its games.
    pub series: u64,
    /// Moments of it, in order.
    pub points: Vec<Moment>,
}

/// A gate after so many pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Moment {
    /// Pairs read.
    pub pairs: u64,
    /// E-value against "not better".
    pub e_better: f64,
    /// E-value against "better by delta".
    pub e_worse: f64,
    /// Mean points per game.
    pub ppg: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A gate as the database has it.
struct Row {
    series: u64,
    opponent: u64,
    rule: GateRule,
    started_at: u64,
    decided_at: Option<u64>,
    /// How it ended: the last moment of it, when its games are no longer kept.
    end: Option<Moment>,
}

impl Shared {
    /// The last gate of a candidate.
    pub(crate) fn gate_trace(&self, run: &str, candidate: u64) -> Result<Trace, CoordinatorError> {
        let (row, log) = {
            let state = self.lock()?;
            let run = status::find(state.book(), run)?;
            let row = state.query(|connection| row(connection, run.id, candidate))?;
            let row = row.ok_or_else(|| CoordinatorError::NoVersion {
                run: run.name.clone(),
                version: format!("v{candidate} with a gate"),
                known: "a version has one when it was the newest while no other gate was open".into(),
            })?;
            let log = state.query(|connection| log(connection, row.series))?;
            (row, log)
        };
        // Folding it may take a while, so it is done without the lock.
        let step = (log.len() as u64 / 2).div_ceil(MOST_POINTS).max(1);
        let mut points = Vec::new();
        let unreadable = |error: &dyn std::fmt::Display| {
            CoordinatorError::Request(format!("the log of the gate of v{candidate} cannot be read: {error}"))
        };
        let mut gate = Gate::new(row.rule).map_err(|error| unreadable(&error))?;
        let mut prefix = Prefix::new();
        for (number, gained) in log {
            prefix.game(number, gained);
            while let Some(outcome) = prefix.next_pair() {
                let before = gate.pairs();
                gate.take(outcome).map_err(|error| unreadable(&error))?;
                if gate.pairs() > before && gate.pairs().is_multiple_of(step) {
                    points.push(moment(&gate));
                }
            }
        }
        match row.end {
            Some(end) => points.push(end),
            None if points.last().is_none_or(|last: &Moment| last.pairs < gate.pairs()) => {
                points.push(moment(&gate));
            }
            None => {}
        }
        Ok(Trace {
            candidate,
            opponent: match row.opponent {
                0 => crate::series::FIRST_OPPONENT.into(),
                version => format!("v{version}"),
            },
            started_at: row.started_at,
            decided_at: row.decided_at,
            e_promote: row.rule.alpha.recip(),
            e_reject: row.rule.beta.recip(),
            limit: row.rule.limit_pairs,
            series: row.series,
            points,
        })
    }
}

fn moment(gate: &Gate) -> Moment {
    let report = gate.report();
    Moment {
        pairs: report.pairs,
        e_better: report.e_better,
        e_worse: report.e_worse,
        ppg: report.ppg,
        low: report.interval.low,
        high: report.interval.high,
    }
}

fn row(connection: &Connection, run: RunId, candidate: u64) -> rusqlite::Result<Option<Row>> {
    let sql = "SELECT series, opponent, alpha, beta, delta, limit_pairs, bound, started_at, decided_at,
                      CASE WHEN games_gone THEN summary END
               FROM gates WHERE run = ? AND candidate = ? ORDER BY series DESC LIMIT 1";
    let row = |row: &rusqlite::Row<'_>| {
        Ok(Row {
            series: row.get(0)?,
            opponent: row.get(1)?,
            rule: GateRule {
                alpha: row.get(2)?,
                beta: row.get(3)?,
                delta: row.get(4)?,
                limit_pairs: row.get(5)?,
                bound: row.get(6)?,
            },
            started_at: row.get(7)?,
            decided_at: row.get(8)?,
            end: row.get::<_, Option<Vec<u8>>>(9)?.and_then(|summary| end(&summary)),
        })
    };
    connection.prepare_cached(sql)?.query_row(params![run, candidate], row).optional()
}

/// The last moment of a gate by what was kept of it.
fn end(summary: &[u8]) -> Option<Moment> {
    let GateStatus { pairs, e_better, e_worse, ppg, ppg_low: low, ppg_high: high, .. } =
        GateStatus::decode(summary).ok()?;
    Some(Moment { pairs, e_better, e_worse, ppg, low, high })
}

/// Number and points of the candidate of every game, by number.
fn log(connection: &Connection, series: u64) -> rusqlite::Result<Vec<(u64, f64)>> {
    let sql = "SELECT number, payoff, luck FROM gate_games WHERE series = ? ORDER BY number";
    let mut statement = connection.prepare_cached(sql)?;
    let games = statement.query_map([series], |row| {
        Ok((row.get(0)?, f64::from(row.get::<_, i32>(1)?) - row.get::<_, f64>(2)?))
    })?;
    games.collect()
}
