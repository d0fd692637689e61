//! Runs and versions as JSON: what the HTTP API answers, and what the command line prints for scripts.
//!
//! Times are seconds since 1970, sums are in hexadecimal, what does not exist is `null`. Fields that only one of the two
//! can know are left out by the other.

use std::collections::BTreeMap;

use ludus_proto::v1::{Accounting, GateStatus, Progress, RunStatus, VersionInfo};
use serde::Serialize;

use crate::gate::GateReport;

/// A run.
#[derive(Debug, Serialize)]
pub struct RunJson {
    pub(crate) run: String,
    game: String,
    state: String,
    created_at: u64,
    latest_version: Option<u64>,
    champion: Option<u64>,
    workers: u32,
    /// Index of the phase that holds.
    phase: u32,
    /// Accepted games at which the next phase begins.
    next_phase: Option<u64>,
    pub(crate) self_play: AccountsJson,
    pub(crate) rollouts: AccountsJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gates: Option<AccountsJson>,
    /// Accepted games the trainer has not trained on yet.
    backlog: u64,
    /// Refused games, by reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<BTreeMap<String, u64>>,
    /// Games played again, by what came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) audits: Option<BTreeMap<String, u64>>,
    /// Batches of accepted games that no checkpoint holds yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outbox: Option<u64>,
    /// When the trainer reported last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reported_at: Option<Option<u64>>,
    #[serde(flatten)]
    training: TrainingJson,
    /// The gate in progress.
    pub(crate) gate: Option<GateJson>,
    /// Only of a single run: its configuration as TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<String>,
}

/// issued = accepted + leased + void.
#[derive(Debug, Serialize)]
pub(crate) struct AccountsJson {
    pub issued: u64,
    pub accepted: u64,
    pub leased: u64,
    pub void: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void_by_reason: Option<BTreeMap<String, u64>>,
}

/// What the trainer has done.
#[derive(Debug, Serialize)]
struct TrainingJson {
    /// Games trained on, each once.
    games: u64,
    positions: u64,
    steps: u64,
    /// Games dropped for their age.
    expired: u64,
    /// Steps skipped for a loss that was not finite.
    skipped_steps: u64,
    /// Mean loss, by position class.
    losses: BTreeMap<String, f64>,
}

/// A gate.
#[derive(Debug, Serialize)]
pub(crate) struct GateJson {
    candidate: u64,
    /// `v3`, or the baseline that stands in for a champion.
    opponent: String,
    pairs: u64,
    limit: u64,
    ppg: f64,
    ppg_low: f64,
    ppg_high: f64,
    e_better: f64,
    e_worse: f64,
    verdict: String,
    reason: String,
    /// Of the gate in progress: the same with what is shown beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<GateReport>,
}

/// A version.
#[derive(Debug, Serialize)]
pub struct VersionJson {
    version: u64,
    state: String,
    sha256: String,
    parent: Option<String>,
    size: u64,
    published_at: u64,
    #[serde(flatten)]
    training: TrainingJson,
    gate: Option<GateJson>,
    /// Where its weights are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weights: Option<String>,
}

impl RunJson {
    /// With the configuration when `whole`.
    pub fn new(run: &RunStatus, whole: bool) -> Self {
        let some = |number| Some(number).filter(|number| *number > 0);
        let rollouts = run.rollouts.unwrap_or_default();
        RunJson {
            run: run.run.clone(),
            game: run.game.clone(),
            state: run.state.clone(),
            created_at: run.created_at,
            latest_version: some(run.latest_version),
            champion: some(run.champion),
            workers: run.workers,
            phase: run.phase,
            next_phase: some(run.next_phase),
            self_play: self_play(run).into(),
            rollouts: rollouts.into(),
            gates: None,
            backlog: run.backlog,
            refused: None,
            audits: None,
            outbox: None,
            reported_at: None,
            training: run.progress.clone().unwrap_or_default().into(),
            gate: run.gate.as_ref().map(GateJson::from),
            config: whole.then(|| run.config.clone()),
        }
    }
}

/// The games to learn from that are no rollouts.
fn self_play(run: &RunStatus) -> Accounting {
    let rollouts = run.rollouts.unwrap_or_default();
    Accounting {
        issued: run.issued.saturating_sub(rollouts.issued),
        accepted: run.accepted.saturating_sub(rollouts.accepted),
        leased: run.leased.saturating_sub(rollouts.leased),
        void: run.void.saturating_sub(rollouts.void),
    }
}

impl From<Accounting> for AccountsJson {
    fn from(games: Accounting) -> Self {
        let Accounting { issued, accepted, leased, void } = games;
        AccountsJson { issued, accepted, leased, void, void_by_reason: None }
    }
}

impl From<&VersionInfo> for VersionJson {
    fn from(version: &VersionInfo) -> Self {
        VersionJson {
            version: version.version,
            state: version.state.clone(),
            sha256: hex(&version.sha256),
            parent: Some(hex(&version.parent)).filter(|parent| !parent.is_empty()),
            size: version.size,
            published_at: version.published_at,
            training: version.progress.clone().unwrap_or_default().into(),
            gate: version.gate.as_ref().map(GateJson::from),
            weights: None,
        }
    }
}

impl From<Progress> for TrainingJson {
    fn from(progress: Progress) -> Self {
        TrainingJson {
            games: progress.games,
            positions: progress.positions,
            steps: progress.steps,
            expired: progress.expired,
            skipped_steps: progress.skipped_steps,
            losses: progress.losses.into_iter().map(|loss| (loss.class, loss.loss)).collect(),
        }
    }
}

impl From<&GateStatus> for GateJson {
    fn from(gate: &GateStatus) -> Self {
        GateJson {
            candidate: gate.candidate,
            opponent: opponent(gate),
            pairs: gate.pairs,
            limit: gate.limit,
            ppg: gate.ppg,
            ppg_low: gate.ppg_low,
            ppg_high: gate.ppg_high,
            e_better: gate.e_better,
            e_worse: gate.e_worse,
            verdict: gate.verdict.clone(),
            reason: gate.reason.clone(),
            report: None,
        }
    }
}

/// Whom a candidate has to beat: the champion, or the baseline that stands in for one.
pub fn opponent(gate: &GateStatus) -> String {
    match gate.opponent {
        0 => crate::series::FIRST_OPPONENT.into(),
        version => format!("v{version}"),
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_play_is_what_is_no_rollout() {
        let rollouts = Some(Accounting { issued: 30, accepted: 20, leased: 9, void: 1 });
        let run = RunStatus {
            issued: 100,
            accepted: 80,
            leased: 15,
            void: 5,
            rollouts,
            phase: 1,
            next_phase: 500,
            ..RunStatus::default()
        };
        let json = serde_json::to_value(RunJson::new(&run, false)).expect("JSON");
        let numbers = serde_json::json!({"issued": 70, "accepted": 60, "leased": 6, "void": 4});
        assert_eq!(json["self_play"], numbers);
        assert_eq!(json["rollouts"]["accepted"], 20);
        assert_eq!((&json["phase"], &json["next_phase"]), (&1.into(), &500.into()));
        for key in ["gates", "refused", "audits", "outbox", "reported_at", "config"] {
            assert!(json.get(key).is_none(), "{key} is not known");
        }
    }
}
