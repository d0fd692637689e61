//! What the commands show of runs and versions: in words, and as JSON for scripts, which is that of the HTTP API.

use ludus_proto::v1::{ClassLoss, GateStatus, RunStatus};

pub use ludus_coordinator::json::{RunJson, VersionJson, hex, opponent};

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

/// The phase of a run that has several: `phase 1, the next from 5,000,000 games`.
pub fn phase_in_words(run: &RunStatus) -> Option<String> {
    match (run.phase, run.next_phase) {
        (0, 0) => None,
        (phase, 0) => Some(format!("phase {phase}, the last")),
        (phase, games) => Some(format!("phase {phase}, the next from {} games", grouped(games))),
    }
}

/// The losses by class: `contact 0.0213, race 0.0180`, or `-` before the first checkpoint.
pub fn losses_in_words(losses: &[ClassLoss]) -> String {
    if losses.is_empty() {
        return "-".into();
    }
    let classes = losses.iter().map(|loss| format!("{} {:.4}", loss.class, loss.loss));
    classes.collect::<Vec<_>>().join(", ")
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
    fn a_run_without_phases_has_nothing_to_say_of_them() {
        let words =
            |phase, next_phase| phase_in_words(&RunStatus { phase, next_phase, ..RunStatus::default() });
        assert_eq!(words(0, 0), None);
        assert_eq!(words(0, 3_000_000).as_deref(), Some("phase 0, the next from 3,000,000 games"));
        assert_eq!(words(2, 0).as_deref(), Some("phase 2, the last"));
    }

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
