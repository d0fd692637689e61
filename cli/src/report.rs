//! What the commands show of runs and versions: as JSON for scripts, with the names of the HTTP API, and in words.

use std::collections::BTreeMap;

use ludus_proto::v1::{ClassLoss, GateStatus, Progress, RunStatus, VersionInfo};
use serde::Serialize;

/// A run.
#[derive(Debug, Serialize)]
pub struct RunJson {
    run: String,
    game: String,
    state: String,
    created_at: u64,
    latest_version: Option<u64>,
    champion: Option<u64>,
    workers: u32,
    self_play: AccountsJson,
    /// Accepted games the trainer has not trained on yet.
    backlog: u64,
    #[serde(flatten)]
    training: TrainingJson,
    gate: Option<GateJson>,
    /// Only of a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<String>,
}

/// issued = accepted + leased + void.
#[derive(Debug, Serialize)]
struct AccountsJson {
    issued: u64,
    accepted: u64,
    leased: u64,
    void: u64,
}

/// What the trainer has done.
#[derive(Debug, Serialize)]
struct TrainingJson {
    /// Games trained on, each once.
    games: u64,
    positions: u64,
    steps: u64,
    expired: u64,
    skipped_steps: u64,
    /// Mean loss, by position class.
    losses: BTreeMap<String, f64>,
}

#[derive(Debug, Serialize)]
struct GateJson {
    candidate: u64,
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
}

impl RunJson {
    /// With the configuration when `whole`.
    pub fn new(run: &RunStatus, whole: bool) -> Self {
        let some = |version| Some(version).filter(|version| *version > 0);
        RunJson {
            run: run.run.clone(),
            game: run.game.clone(),
            state: run.state.clone(),
            created_at: run.created_at,
            latest_version: some(run.latest_version),
            champion: some(run.champion),
            workers: run.workers,
            self_play: AccountsJson {
                issued: run.issued,
                accepted: run.accepted,
                leased: run.leased,
                void: run.void,
            },
            backlog: run.backlog,
            training: run.progress.clone().unwrap_or_default().into(),
            gate: run.gate.as_ref().map(GateJson::from),
            config: whole.then(|| run.config.clone()),
        }
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
        }
    }
}

/// Whom the candidate has to beat: the champion, or the baseline that stands in for one.
pub fn opponent(gate: &GateStatus) -> String {
    match gate.opponent {
        0 => "random".into(),
        version => format!("v{version}"),
    }
}

/// A gate in a few words: `v3 against v1: 1,204 pairs, e+ 3.20, e- 0.10, ppg +0.021 [-0.010, +0.060]`. The e-values are
/// the evidence that the candidate is better, and that it is not.
pub fn gate_in_words(gate: &GateStatus) -> String {
    format!(
        "v{} against {}: {} pairs, e+ {}, e- {}, ppg {:+.3} [{:+.3}, {:+.3}]",
        gate.candidate,
        opponent(gate),
        grouped(gate.pairs),
        e_value(gate.e_better),
        e_value(gate.e_worse),
        gate.ppg,
        gate.ppg_low,
        gate.ppg_high,
    )
}

/// An e-value: products of many factors, so they run from next to nothing to astronomical.
pub fn e_value(value: f64) -> String {
    if value == 0.0 || (0.01..1e4).contains(&value) { format!("{value:.2}") } else { format!("{value:.0e}") }
}

/// `v3`, or `-` for none.
pub fn version_or_none(version: u64) -> String {
    if version == 0 { "-".into() } else { format!("v{version}") }
}

/// The losses by class: `contact 0.0213, race 0.0180`, or `-` before the first checkpoint.
pub fn losses_in_words(losses: &[ClassLoss]) -> String {
    if losses.is_empty() {
        return "-".into();
    }
    let classes = losses.iter().map(|loss| format!("{} {:.4}", loss.class, loss.loss));
    classes.collect::<Vec<_>>().join(", ")
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number with its digits in groups of three: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_that_are_not_known_yet_are_a_dash() {
        assert_eq!(losses_in_words(&[]), "-");
        let loss = |class: &str| ClassLoss { class: class.into(), loss: 0.5, positions: 1 };
        assert_eq!(losses_in_words(&[loss("contact"), loss("race")]), "contact 0.5000, race 0.5000");
    }

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
