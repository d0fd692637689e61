//! Phases: what changes in a run after so many games.

use crate::section::section;
use crate::{RunConfig, Variance};

section! {
    /// What changes in a run once so many of its games were accepted. What a phase leaves out is as it was before.
    pub struct Phase {
        /// Games accepted, of self-play and rollouts together, from which the phase holds; more than those of the
        /// phase before.
        pub from_games: u64 = 0,
        /// As self_play.variance.
        pub variance: Option<Variance> = None,
        /// As self_play.explore.
        pub explore: Option<f64> = None,
        /// As self_play.explore_margin.
        pub explore_margin: Option<f64> = None,
        /// As learn.lambda.
        pub lambda: Option<f64> = None,
        /// As self_play.rollout_share; 1: supervised learning, without any more self-play.
        pub rollout_share: Option<f64> = None,
        /// As rollout.horizon.
        pub horizon: Option<u32> = None,
        /// Step size from which a new schedule starts with this phase; without it the one before goes on.
        pub step_size: Option<f64> = None,
        /// Step size at the end of that schedule; left out: learn.final_step_size.
        pub final_step_size: Option<f64> = None,
        /// Games, trained on or expired since the start of the phase, over which its step size falls; left out:
        /// learn.decay_games.
        pub decay_games: Option<u64> = None,
        /// As learn.publish_games: games with luck or rollouts come slowly.
        pub publish_games: Option<u64> = None,
    }
}

impl Phase {
    /// A phase with every key, as the documentation shows it.
    pub(crate) fn example() -> Phase {
        Phase {
            from_games: 3_000_000,
            variance: Some(Variance::Luck),
            explore: Some(0.05),
            explore_margin: Some(0.1),
            lambda: Some(0.9),
            rollout_share: Some(0.5),
            horizon: Some(4),
            step_size: Some(0.0003),
            final_step_size: Some(0.00003),
            decay_games: Some(500_000),
            publish_games: Some(5_000),
        }
    }
}

/// Everything that holds in a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseSettings {
    /// Accepted games, of self-play and rollouts together, from which it holds.
    pub from_games: u64,
    /// Variance reduction of self-play games.
    pub variance: Variance,
    /// Probability that a play is drawn at random instead of chosen.
    pub explore: f64,
    /// Points within which of the best such a play is drawn; 0: any play.
    pub explore_margin: f64,
    /// TD(lambda) of self-play games.
    pub lambda: f64,
    /// Share of the learning games' time that rollout games get, 0 to 1; self-play has the rest.
    pub rollout_share: f64,
    /// Plies after which a rollout ends with the network's judgement; 0: at the end of the game.
    pub horizon: u32,
    /// The step size.
    pub step: StepSchedule,
    /// Least number of games between published versions.
    pub publish_games: u64,
}

/// A step size that falls geometrically from `start` to `end`, and stays there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSchedule {
    /// Step size up to `from_games`.
    pub start: f64,
    /// Step size from `from_games + games` on.
    pub end: f64,
    /// Games, trained on or expired, over which it falls.
    pub games: u64,
    /// Games, trained on or expired, at which it begins to fall.
    pub from_games: u64,
}

impl RunConfig {
    /// Everything that holds in phase `index`: 0 is what the sections say, `i` what the first `i` phases make of it. An
    /// index beyond the last phase means the last.
    pub fn phase(&self, index: u32) -> PhaseSettings {
        let (play, learn) = (&self.self_play, &self.learn);
        let step = StepSchedule {
            start: learn.step_size,
            end: learn.final_step_size,
            games: learn.decay_games,
            from_games: 0,
        };
        let mut settings = PhaseSettings {
            from_games: 0,
            variance: play.variance,
            explore: play.explore,
            explore_margin: play.explore_margin,
            lambda: learn.lambda,
            rollout_share: play.rollout_share,
            horizon: self.rollout.horizon,
            step,
            publish_games: learn.publish_games,
        };
        for phase in self.phases.iter().take(index as usize) {
            let before = settings;
            settings = PhaseSettings {
                from_games: phase.from_games,
                variance: phase.variance.unwrap_or(before.variance),
                explore: phase.explore.unwrap_or(before.explore),
                explore_margin: phase.explore_margin.unwrap_or(before.explore_margin),
                lambda: phase.lambda.unwrap_or(before.lambda),
                rollout_share: phase.rollout_share.unwrap_or(before.rollout_share),
                horizon: phase.horizon.unwrap_or(before.horizon),
                step: phase.step_size.map_or(before.step, |start| StepSchedule {
                    start,
                    end: phase.final_step_size.unwrap_or(learn.final_step_size),
                    games: phase.decay_games.unwrap_or(learn.decay_games),
                    from_games: phase.from_games,
                }),
                publish_games: phase.publish_games.unwrap_or(before.publish_games),
            };
        }
        settings
    }

    /// Index of the phase that holds after `games` games, of self-play and rollouts together.
    pub fn phase_at(&self, games: u64) -> u32 {
        self.phases.iter().take_while(|phase| phase.from_games <= games).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = "
        [self_play]
        explore = 0.1
        [learn]
        lambda = 0.7
        step_size = 0.002
        final_step_size = 0.0001
        decay_games = 1000
        [[phases]]
        from_games = 100
        lambda = 0.9
        rollout_share = 0.5
        [[phases]]
        from_games = 300
        variance = \"luck\"
        step_size = 0.0005
        [[phases]]
        from_games = 700
        rollout_share = 1.0
        horizon = 1
        step_size = 0.0003
        final_step_size = 0.00003
        decay_games = 50
        publish_games = 10
    ";

    #[test]
    fn what_a_phase_leaves_out_is_as_it_was_before() {
        let config = RunConfig::parse(THREE).expect("good");
        let first = config.phase(0);
        let step = StepSchedule { start: 0.002, end: 0.0001, games: 1000, from_games: 0 };
        let sections = PhaseSettings {
            from_games: 0,
            variance: Variance::None,
            explore: 0.1,
            explore_margin: 0.0,
            lambda: 0.7,
            rollout_share: 0.0,
            horizon: 8,
            step,
            publish_games: 20_000,
        };
        assert_eq!(first, sections);
        let second = PhaseSettings { from_games: 100, lambda: 0.9, rollout_share: 0.5, ..sections };
        assert_eq!(config.phase(1), second);
        let step = StepSchedule { start: 0.0005, end: 0.0001, games: 1000, from_games: 300 };
        let third = PhaseSettings { from_games: 300, variance: Variance::Luck, step, ..second };
        assert_eq!(config.phase(2), third);
        let step = StepSchedule { start: 0.0003, end: 0.00003, games: 50, from_games: 700 };
        let fourth = PhaseSettings {
            from_games: 700,
            rollout_share: 1.0,
            horizon: 1,
            step,
            publish_games: 10,
            ..third
        };
        assert_eq!(config.phase(3), fourth);
        assert_eq!(config.phase(4), fourth, "the last phase has no end");
    }

    #[test]
    fn a_phase_holds_from_its_first_game_on() {
        let config = RunConfig::parse(THREE).expect("good");
        let phases = [0, 99, 100, 299, 300, 699, 700, u64::MAX].map(|games| config.phase_at(games));
        assert_eq!(phases, [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(RunConfig::parse("").expect("good").phase_at(u64::MAX), 0);
    }
}
