//! What makes sense: the range of every number, and rules between keys.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::{RunConfig, Variance};

/// A value outside its range.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The key with its section.
    pub key: &'static str,
    /// The value given.
    pub value: String,
    /// What is allowed, as the end of the sentence.
    pub rule: String,
}

impl Fault {
    fn new(key: &'static str, value: impl Display, rule: impl Into<String>) -> Self {
        Fault { key, value: value.to_string(), rule: rule.into() }
    }
}

impl RunConfig {
    /// The first key that makes no sense.
    pub(crate) fn check_ranges(&self) -> Result<(), Fault> {
        // TOML's integers end here.
        within("seed", self.seed, 0..=i64::MAX as u64)?;

        let play = &self.self_play;
        within("self_play.explore", play.explore, 0.0..=1.0)?;
        within("self_play.plies", play.plies, 0..=3)?;
        if play.variance == Variance::Mirrored && play.explore == 0.0 {
            let rule = "variance = \"mirrored\" needs it above 0, or both games of a pair would be the same";
            return Err(Fault::new("self_play.explore", play.explore, rule));
        }

        within("network.hidden", self.network.hidden, 1..=4096)?;

        let learn = &self.learn;
        above_zero("learn.step_size", learn.step_size, 10.0)?;
        above_zero("learn.final_step_size", learn.final_step_size, 10.0)?;
        if learn.final_step_size > learn.step_size {
            let rule = format!("it must not be above `learn.step_size`, which is {}", learn.step_size);
            return Err(Fault::new("learn.final_step_size", learn.final_step_size, rule));
        }
        within("learn.decay_games", learn.decay_games, 1..=1_000_000_000_000)?;
        within("learn.weight_decay", learn.weight_decay, 0.0..=1.0)?;
        within("learn.batch", learn.batch, 1..=65_536)?;
        within("learn.lambda", learn.lambda, 0.0..=1.0)?;
        within("learn.publish_games", learn.publish_games, 1..=1_000_000_000_000)?;
        within("learn.publish_growth", learn.publish_growth, 0.0..=1.0)?;
        within("learn.checkpoint_seconds", learn.checkpoint_seconds, 1..=86_400)?;
        within("learn.max_age_seconds", learn.max_age_seconds, 0..=31_536_000)?;

        let gate = &self.gate;
        above_zero("gate.alpha", gate.alpha, 0.5)?;
        above_zero("gate.beta", gate.beta, 0.5)?;
        above_zero("gate.delta", gate.delta, 1.0)?;
        within("gate.limit_pairs", gate.limit_pairs, 1..=10_000_000)?;
        above_zero("gate.luck_bound", gate.luck_bound, 100.0)?;
        within("gate.share", gate.share, 0.0..=0.9)?;
        within("gate.benchmark_tolerance", gate.benchmark_tolerance, 0.0..=1000.0)?;

        let leases = &self.leases;
        within("leases.ttl_seconds", leases.ttl_seconds, 1..=86_400)?;
        above_zero("leases.target_seconds", leases.target_seconds, 3600.0)?;
        within("leases.max_games", leases.max_games, 2..=65_536)?;
        within("leases.backlog_games", leases.backlog_games, 1..=1_000_000_000_000)
    }
}

fn within<T: PartialOrd + Display>(
    key: &'static str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), Fault> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Fault::new(key, value, format!("it must lie between {} and {}", range.start(), range.end())))
}

fn above_zero(key: &'static str, value: f64, most: f64) -> Result<(), Fault> {
    if value > 0.0 && value <= most {
        return Ok(());
    }
    Err(Fault::new(key, value, format!("it must be above 0 and at most {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_make_sense() {
        RunConfig::default().check_ranges().expect("defaults lie in their ranges");
    }

    #[test]
    fn not_a_number_lies_in_no_range() {
        let mut config = RunConfig::default();
        config.learn.weight_decay = f64::NAN;
        assert_eq!(config.check_ranges().expect_err("refused").key, "learn.weight_decay");
    }

    #[test]
    fn mirrored_self_play_without_exploration_is_refused() {
        let mut config = RunConfig::default();
        config.self_play.variance = Variance::Mirrored;
        config.self_play.explore = 0.0;
        assert_eq!(config.check_ranges().expect_err("refused").key, "self_play.explore");
        config.self_play.explore = 0.1;
        config.check_ranges().expect("with exploration it is fine");
    }

    #[test]
    fn the_step_size_must_not_grow() {
        let mut config = RunConfig::default();
        config.learn.final_step_size = config.learn.step_size * 2.0;
        assert_eq!(config.check_ranges().expect_err("refused").key, "learn.final_step_size");
    }
}
