//! What makes sense: the range of every number, and rules between keys.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::{Phase, RunConfig, Variance};

/// A value outside its range.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Number of its phase, from 0, if it stands in one.
    pub phase: Option<usize>,
    /// The key with its section.
    pub key: &'static str,
    /// The value given.
    pub value: String,
    /// What is allowed, as the end of the sentence.
    pub rule: String,
}

impl Fault {
    fn new(key: &'static str, value: impl Display, rule: impl Into<String>) -> Self {
        Fault { phase: None, key, value: value.to_string(), rule: rule.into() }
    }
}

impl RunConfig {
    /// The first key that makes no sense.
    pub(crate) fn check_ranges(&self) -> Result<(), Fault> {
        // TOML's integers end here.
        within("seed", self.seed, 0..=i64::MAX as u64)?;

        let play = &self.self_play;
        within("self_play.explore", play.explore, 0.0..=1.0)?;
        within("self_play.explore_margin", play.explore_margin, 0.0..=100.0)?;
        // Luck is measured with three, among which the play is then chosen anyway.
        zero_or_within("self_play.shortlist", play.shortlist, 3..=100)?;
        within("self_play.plies", play.plies, 0..=3)?;
        mirrored_explores("self_play.explore", play.variance, play.explore)?;
        within("self_play.rollout_share", play.rollout_share, 0.0..=1.0)?;

        within("network.hidden", self.network.hidden, 0..=4096)?;

        let rollout = &self.rollout;
        within("rollout.positions", rollout.positions, 1..=64)?;
        within("rollout.margin", rollout.margin, 0.0..=100.0)?;
        within("rollout.plays", rollout.plays, 1..=32)?;
        if rollout.margin > 0.0 && rollout.plays < 2 {
            let rule = "a `rollout.margin` above 0 needs at least 2, or no rival would be rolled out";
            return Err(Fault::new("rollout.plays", rollout.plays, rule));
        }
        within("rollout.trials", rollout.trials, 1..=100_000)?;
        within("rollout.horizon", rollout.horizon, 0..=10_000)?;

        let learn = &self.learn;
        above_zero("learn.step_size", learn.step_size, 10.0)?;
        above_zero("learn.final_step_size", learn.final_step_size, 10.0)?;
        falls("learn.final_step_size", learn.step_size, learn.final_step_size)?;
        within("learn.decay_games", learn.decay_games, 1..=1_000_000_000_000)?;
        within("learn.weight_decay", learn.weight_decay, 0.0..=1.0)?;
        within("learn.batch", learn.batch, 1..=65_536)?;
        within("learn.average", learn.average, 0.0..=1.0)?;
        within("learn.lambda", learn.lambda, 0.0..=1.0)?;
        within("learn.replay", learn.replay, 1..=1000)?;
        within("learn.label_memory", learn.label_memory, 1..=100_000_000)?;
        zero_or_within("learn.label_archive", learn.label_archive, 100..=1_000_000_000)?;
        within("learn.publish_games", learn.publish_games, 1..=1_000_000_000_000)?;
        within("learn.publish_growth", learn.publish_growth, 0.0..=1.0)?;
        within("learn.checkpoint_seconds", learn.checkpoint_seconds, 1..=86_400)?;
        within("learn.max_age_seconds", learn.max_age_seconds, 0..=31_536_000)?;

        let gate = &self.gate;
        above_zero("gate.alpha", gate.alpha, 0.5)?;
        above_zero("gate.beta", gate.beta, 0.5)?;
        above_zero("gate.delta", gate.delta, 1.0)?;
        within("gate.limit_pairs", gate.limit_pairs, 1..=10_000_000)?;
        zero_or_within("gate.overtaken", gate.overtaken, 1.0..=1000.0)?;
        above_zero("gate.luck_bound", gate.luck_bound, 100.0)?;
        within("gate.share", gate.share, 0.0..=0.9)?;
        within("gate.benchmark_tolerance", gate.benchmark_tolerance, 0.0..=1000.0)?;

        let leases = &self.leases;
        within("leases.ttl_seconds", leases.ttl_seconds, 1..=86_400)?;
        above_zero("leases.target_seconds", leases.target_seconds, 3600.0)?;
        within("leases.max_games", leases.max_games, 2..=65_536)?;
        within("leases.backlog_games", leases.backlog_games, 1..=1_000_000_000_000)?;

        within("audit.share", self.audit.share, 0.0..=1.0)?;

        for (index, phase) in self.phases.iter().enumerate() {
            self.check_phase(index, phase).map_err(|fault| Fault { phase: Some(index), ..fault })?;
        }
        Ok(())
    }

    fn check_phase(&self, index: usize, phase: &Phase) -> Result<(), Fault> {
        const MOST_GAMES: u64 = 1_000_000_000_000;
        let before = self.phase(index as u32).from_games;
        if phase.from_games <= before {
            let rule = match before {
                0 => "it must be above 0".into(),
                before => format!("it must be above that of the phase before, which is {before}"),
            };
            return Err(Fault::new("phases.from_games", phase.from_games, rule));
        }
        within("phases.from_games", phase.from_games, 1..=MOST_GAMES)?;

        let settings = self.phase(index as u32 + 1);
        within("phases.explore", settings.explore, 0.0..=1.0)?;
        within("phases.explore_margin", settings.explore_margin, 0.0..=100.0)?;
        mirrored_explores("phases.explore", settings.variance, settings.explore)?;
        within("phases.lambda", settings.lambda, 0.0..=1.0)?;
        within("phases.rollout_share", settings.rollout_share, 0.0..=1.0)?;
        within("phases.horizon", settings.horizon, 0..=10_000)?;
        within("phases.publish_games", settings.publish_games, 1..=MOST_GAMES)?;

        if phase.step_size.is_none() {
            let rule = "it needs `step_size` in the same phase";
            if let Some(end) = phase.final_step_size {
                return Err(Fault::new("phases.final_step_size", end, rule));
            }
            return match phase.decay_games {
                Some(games) => Err(Fault::new("phases.decay_games", games, rule)),
                None => Ok(()),
            };
        }
        let step = settings.step;
        above_zero("phases.step_size", step.start, 10.0)?;
        above_zero("phases.final_step_size", step.end, 10.0)?;
        falls("phases.final_step_size", step.start, step.end)?;
        within("phases.decay_games", step.games, 1..=MOST_GAMES)
    }
}

fn mirrored_explores(key: &'static str, variance: Variance, explore: f64) -> Result<(), Fault> {
    if variance == Variance::Mirrored && explore == 0.0 {
        let rule = "variance = \"mirrored\" needs it above 0, or both games of a pair would be the same";
        return Err(Fault::new(key, explore, rule));
    }
    Ok(())
}

fn falls(key: &'static str, start: f64, end: f64) -> Result<(), Fault> {
    if end > start {
        return Err(Fault::new(key, end, format!("it must not be above the `step_size`, which is {start}")));
    }
    Ok(())
}

fn zero_or_within<T: PartialOrd + Display + Default>(
    key: &'static str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), Fault> {
    if value == T::default() {
        return Ok(());
    }
    within(key, value, range)
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
    fn some_keys_are_zero_or_not_too_small() {
        let fault = |text: &str| RunConfig::parse(text).expect_err("refused").to_string();
        for (good, bad) in [("overtaken = 0.0", "overtaken = 0.5"), ("overtaken = 1.0", "overtaken = -1.0")] {
            RunConfig::parse(&format!("[gate]\n{good}")).expect("good");
            assert!(fault(&format!("[gate]\n{bad}")).contains("gate.overtaken"), "{bad}");
        }
        assert!(fault("[learn]\nlabel_archive = 99").contains("learn.label_archive"));
        for (good, bad) in [(0, 1), (3, 2), (100, 101)] {
            RunConfig::parse(&format!("[self_play]\nshortlist = {good}")).expect("good");
            assert!(
                fault(&format!("[self_play]\nshortlist = {bad}")).contains("self_play.shortlist"),
                "{bad}"
            );
        }
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

    /// The key at fault when these phases are added to the defaults, and the number of its phase.
    fn fault(change: impl FnOnce(&mut RunConfig), phases: Vec<Phase>) -> (&'static str, Option<usize>) {
        let mut config = RunConfig { phases, ..RunConfig::default() };
        change(&mut config);
        let fault = config.check_ranges().expect_err("refused");
        (fault.key, fault.phase)
    }

    fn from(from_games: u64) -> Phase {
        Phase { from_games, ..Phase::default() }
    }

    #[test]
    fn phases_must_ascend() {
        assert_eq!(fault(|_| {}, vec![from(0)]), ("phases.from_games", Some(0)));
        assert_eq!(fault(|_| {}, vec![from(5), from(5)]), ("phases.from_games", Some(1)));
        assert_eq!(fault(|_| {}, vec![from(5), from(9), from(7)]), ("phases.from_games", Some(2)));
        let config = RunConfig { phases: vec![from(5), from(6)], ..RunConfig::default() };
        config.check_ranges().expect("ascending");
    }

    #[test]
    fn the_example_of_a_phase_makes_sense() {
        let config = RunConfig { phases: vec![Phase::example()], ..RunConfig::default() };
        config.check_ranges().expect("good");
    }

    #[test]
    fn what_a_phase_has_from_before_counts_in_the_rules_between_keys() {
        let still = |config: &mut RunConfig| config.self_play.explore = 0.0;
        let mirrored = Phase { variance: Some(Variance::Mirrored), ..from(9) };
        assert_eq!(fault(still, vec![from(5), mirrored.clone()]), ("phases.explore", Some(1)));
        let explores = Phase { explore: Some(0.1), ..from(5) };
        let mut config = RunConfig { phases: vec![explores, mirrored], ..RunConfig::default() };
        still(&mut config);
        config.check_ranges().expect("the phase before explores");
    }

    #[test]
    fn a_schedule_of_a_phase_has_a_start_and_falls() {
        let end = Phase { final_step_size: Some(0.1), ..from(5) };
        assert_eq!(fault(|_| {}, vec![end]), ("phases.final_step_size", Some(0)));
        let games = Phase { decay_games: Some(7), ..from(5) };
        assert_eq!(fault(|_| {}, vec![games]), ("phases.decay_games", Some(0)));
        // Below learn.final_step_size, where it would end.
        let rises = Phase { step_size: Some(RunConfig::default().learn.final_step_size / 2.0), ..from(5) };
        assert_eq!(fault(|_| {}, vec![rises]), ("phases.final_step_size", Some(0)));
    }

    #[test]
    fn rivals_need_room_for_two_plays() {
        let rivals = |config: &mut RunConfig| {
            config.rollout.margin = 0.1;
            config.rollout.plays = 1;
        };
        assert_eq!(fault(rivals, vec![]), ("rollout.plays", None));
        let negative = |config: &mut RunConfig| config.rollout.margin = -0.1;
        assert_eq!(fault(negative, vec![]), ("rollout.margin", None));
        let none = |config: &mut RunConfig| config.rollout.trials = 0;
        assert_eq!(fault(none, vec![]), ("rollout.trials", None));
        let share = Phase { rollout_share: Some(1.5), ..from(5) };
        assert_eq!(fault(|_| {}, vec![share]), ("phases.rollout_share", Some(0)));
    }
}
