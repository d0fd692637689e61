//! Recomputing stored verdicts from the logs of their gates.

use ludus_proto::v1::GateStatus;

use crate::gate::{GateReport, PairOutcome, Prefix, Verdict, verify};
use crate::store::gate_logs::GateLog;

/// Largest relative difference of a recomputed figure: another machine may round a logarithm differently.
const ROUNDING: f64 = 1e-9;

/// A gate whose verdict was recomputed.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictCheck {
    /// The version that was tested.
    pub candidate: u64,
    /// The champion it had to beat; 0 for the baseline `random`.
    pub opponent: u64,
    /// What was stored: `promoted`, `rejected`, `stopped`, `overtaken`, or `running` while there is no verdict.
    pub stored: String,
    /// What the log says; `None` when the gate cannot read it, or it is gone.
    pub recomputed: Option<GateReport>,
    /// What comes of comparing the two.
    pub finding: Finding,
}

/// What comes of comparing a stored verdict with its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The log gives the stored verdict, after the same pairs and with the same evidence.
    Agrees,
    /// There is no verdict of games to compare; for people, why.
    NothingToCompare(String),
    /// The log does not give what is stored; for people, how.
    Disagrees(String),
}

/// Recomputes the verdict of one gate.
pub(crate) fn check(log: &GateLog) -> VerdictCheck {
    let stored = log.verdict.as_ref().map_or("running", |verdict| &verdict.verdict);
    let (candidate, opponent, stored_as) = (log.candidate, log.opponent, stored.to_owned());
    if log.gone {
        let finding = Finding::NothingToCompare("its games are no longer kept".into());
        return VerdictCheck { candidate, opponent, stored: stored_as, recomputed: None, finding };
    }
    let recomputed = verify(log.rule, pairs(&log.games));
    let finding = match (&recomputed, &log.verdict) {
        (Err(error), _) => Finding::Disagrees(error.to_string()),
        (Ok(report), None) if report.verdict == Verdict::Running => {
            Finding::NothingToCompare("no verdict yet".into())
        }
        (Ok(report), None) => Finding::Disagrees(decides(report.verdict)),
        (_, Some(stored)) if stored.verdict == "stopped" => {
            Finding::NothingToCompare("stopped before a verdict".into())
        }
        (Ok(report), Some(stored)) if stored.verdict == "overtaken" && report.verdict == Verdict::Running => {
            Finding::NothingToCompare("given up for a newer version".into())
        }
        (_, Some(stored)) if failed_benchmark(log, stored) => {
            Finding::NothingToCompare("decided by the benchmark".into())
        }
        (Ok(report), Some(stored)) => compare(report, stored, &log.state),
    };
    VerdictCheck { candidate, opponent, stored: stored_as, recomputed: recomputed.ok(), finding }
}

/// The pairs of a log, in the order of their numbers, up to the first that is not complete.
fn pairs(games: &[(u64, f64)]) -> impl Iterator<Item = PairOutcome> {
    let mut prefix = Prefix::new();
    games.iter().for_each(|&(number, points)| {
        prefix.game(number, points);
    });
    std::iter::from_fn(move || prefix.next_pair())
}

/// A candidate that fails the benchmark condition is rejected with what that found, before any game.
fn failed_benchmark(log: &GateLog, stored: &GateStatus) -> bool {
    let found = log.benchmark.as_deref().filter(|found| !found.is_empty());
    stored.verdict == "rejected" && log.games.is_empty() && found == Some(&stored.reason)
}

fn decides(verdict: Verdict) -> String {
    match verdict {
        Verdict::Running => "its games decide nothing".into(),
        decided => format!("its games decide {}", decided.as_str()),
    }
}

fn compare(report: &GateReport, stored: &GateStatus, state: &str) -> Finding {
    let verdict = report.verdict.as_str();
    if verdict != stored.verdict {
        return Finding::Disagrees(decides(report.verdict));
    }
    if state != verdict {
        return Finding::Disagrees(format!("the version is listed as {state:?}"));
    }
    if report.pairs != stored.pairs {
        return Finding::Disagrees(format!(
            "{} pairs are stored and its games decide after {}",
            stored.pairs, report.pairs
        ));
    }
    let figures = [
        ("points per game", report.ppg, stored.ppg),
        ("lower end of the interval", report.interval.low, stored.ppg_low),
        ("upper end of the interval", report.interval.high, stored.ppg_high),
        ("evidence that it is better", report.e_better, stored.e_better),
        ("evidence that it is not better", report.e_worse, stored.e_worse),
    ];
    for (name, recomputed, stored) in figures {
        let same = recomputed == stored || (recomputed - stored).abs() <= ROUNDING * stored.abs().max(1.0);
        if !same {
            return Finding::Disagrees(format!("{name}: {stored} is stored and {recomputed} comes out"));
        }
    }
    Finding::Agrees
}
