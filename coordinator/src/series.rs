//! What the games of a series are played by: its settings and its players.

use ludus_config::{RunConfig, Variance};
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{LuckMode, PlayerRef, Rollout, Series as SeriesSettings, SeriesKind};
use sha2::{Digest, Sha256};

use crate::book::{GateMatch, Players, Run};

/// The baseline that the first champion has to beat, and that plays in the place of weights that have learnt nothing.
pub(crate) const FIRST_OPPONENT: &str = "random";

/// The self-play of a phase.
pub(crate) fn self_play(config: &RunConfig, id: u64, phase: u32) -> SeriesSettings {
    let settings = config.phase(phase);
    let luck = match settings.variance {
        Variance::Luck => LuckMode::LuckPositions,
        Variance::None | Variance::Mirrored => LuckMode::LuckNone,
    };
    SeriesSettings {
        id,
        kind: SeriesKind::SelfPlay.into(),
        seed: seed(config, "self-play", phase.into()),
        mirrored: settings.variance == Variance::Mirrored,
        luck: luck.into(),
        explore: settings.explore,
        explore_margin: settings.explore_margin,
        shortlist: config.self_play.shortlist,
        phase,
        ..SeriesSettings::default()
    }
}

/// The rollouts of a phase. Nothing but their labels is learnt, so the games themselves need no variance reduction.
pub(crate) fn rollouts(config: &RunConfig, id: u64, phase: u32) -> SeriesSettings {
    let (rollout, settings) = (&config.rollout, config.phase(phase));
    SeriesSettings {
        id,
        kind: SeriesKind::Rollout.into(),
        seed: seed(config, "rollout", phase.into()),
        explore: settings.explore,
        explore_margin: settings.explore_margin,
        shortlist: config.self_play.shortlist,
        rollout: Some(Rollout {
            positions: rollout.positions,
            margin: rollout.margin,
            plays: rollout.plays,
            trials: rollout.trials,
            horizon: settings.horizon,
            balanced: rollout.balanced,
            decisions: rollout.decisions,
        }),
        phase,
        ..SeriesSettings::default()
    }
}

/// The match of version `candidate`.
pub(crate) fn gate(config: &RunConfig, id: u64, candidate: u64) -> SeriesSettings {
    let luck = if config.gate.luck { LuckMode::LuckTotal } else { LuckMode::LuckNone };
    SeriesSettings {
        id,
        kind: SeriesKind::Gate.into(),
        seed: seed(config, "gate", candidate),
        mirrored: true,
        luck: luck.into(),
        explore: 0.0,
        luck_bound: if config.gate.luck { config.gate.luck_bound } else { 0.0 },
        ..SeriesSettings::default()
    }
}

/// Who plays games to learn from now, of the series with these settings; `None` before there is a version.
///
/// Weights that have learnt nothing play no better than at random, and some of them in circles, for thousands of plies a
/// game. So where no judgement of theirs is asked for, plays are drawn instead.
pub(crate) fn self_players(run: &Run, settings: &SeriesSettings) -> Option<Players> {
    let judged = settings.kind() == SeriesKind::Rollout || settings.luck() != LuckMode::LuckNone;
    let player =
        if untrained(run) && !judged { first_opponent() } else { version_player(run, run.latest())? };
    Some([player.clone(), player])
}

/// Whether the newest weights are random numbers.
pub(crate) fn untrained(run: &Run) -> bool {
    let newest = run.versions.last();
    newest.is_some_and(|version| version.progress.games == 0 && version.parent.is_empty())
}

/// Who plays the gate: the candidate in seat 0, its opponent in seat 1.
pub(crate) fn gate_players(run: &Run, gate: &GateMatch) -> Option<Players> {
    match_players(run, gate.candidate, gate.opponent)
}

/// The players of a match for promotion; opponent 0 is the baseline that stands in for a champion.
pub(crate) fn match_players(run: &Run, candidate: u64, opponent: u64) -> Option<Players> {
    let opponent = match opponent {
        0 => first_opponent(),
        version => version_player(run, version)?,
    };
    Some([version_player(run, candidate)?, opponent])
}

fn first_opponent() -> PlayerRef {
    PlayerRef { who: Some(Who::Baseline(FIRST_OPPONENT.into())), plies: 0 }
}

fn version_player(run: &Run, version: u64) -> Option<PlayerRef> {
    let sha256 = run.version(version)?.sha256.0.to_vec();
    Some(PlayerRef { who: Some(Who::Weights(sha256)), plies: run.config.self_play.plies })
}

/// The seed of a series: of the run's seed, what the series is for and its phase or, for a gate, its candidate. Two runs
/// of one configuration play on the same dice.
fn seed(config: &RunConfig, purpose: &str, number: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(b"ludus series seed\0");
    hash.update(config.seed.to_le_bytes());
    hash.update(number.to_le_bytes());
    hash.update(purpose.as_bytes());
    let sum: [u8; 32] = hash.finalize().into();
    u64::from_le_bytes(std::array::from_fn(|i| sum[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludus_config::Phase;

    #[test]
    fn rollouts_are_as_the_run_says_and_to_the_horizon_of_their_phase() {
        let mut config = RunConfig::default();
        config.rollout.balanced = true;
        config.rollout.positions = 12;
        config.phases = vec![
            Phase { from_games: 10, horizon: Some(1), ..Phase::default() },
            Phase { from_games: 20, explore: Some(0.2), ..Phase::default() },
            Phase { from_games: 30, horizon: Some(0), ..Phase::default() },
        ];
        let of = |phase| {
            let series = rollouts(&config, 1, phase);
            let rollout = series.rollout.unwrap_or_default();
            (rollout.horizon, rollout.balanced, rollout.positions, series.explore)
        };
        assert_eq!(
            [0, 1, 2, 3].map(of),
            [(8, true, 12, 0.05), (1, true, 12, 0.05), (1, true, 12, 0.2), (0, true, 12, 0.2)]
        );
    }

    #[test]
    fn seeds_differ_by_run_seed_purpose_phase_and_candidate_and_nothing_else() {
        let config = RunConfig::default();
        let other = RunConfig { seed: 2, ..RunConfig::default() };
        let seeds = [
            self_play(&config, 1, 0).seed,
            self_play(&config, 1, 1).seed,
            self_play(&other, 1, 0).seed,
            rollouts(&config, 1, 0).seed,
            rollouts(&config, 1, 1).seed,
            gate(&config, 1, 2).seed,
            gate(&config, 1, 3).seed,
        ];
        for (i, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..i].contains(seed), "{seeds:?}");
        }
        assert_eq!(gate(&config, 1, 2).seed, gate(&config, 9, 2).seed);
        assert_eq!(rollouts(&config, 1, 2).seed, rollouts(&config, 9, 2).seed);
    }

    #[test]
    fn only_what_the_configuration_asks_for_is_measured() {
        let mut config = RunConfig::default();
        assert_eq!(self_play(&config, 1, 0).luck(), LuckMode::LuckNone);
        assert_eq!(gate(&config, 1, 1).luck(), LuckMode::LuckNone);
        assert!(gate(&config, 1, 1).mirrored && !self_play(&config, 1, 0).mirrored);
        config.self_play.variance = Variance::Luck;
        config.gate.luck = true;
        assert_eq!(self_play(&config, 1, 0).luck(), LuckMode::LuckPositions);
        assert_eq!(gate(&config, 1, 1).luck(), LuckMode::LuckTotal);
        assert_eq!(gate(&config, 1, 1).luck_bound, config.gate.luck_bound);
    }

    #[test]
    fn a_series_is_as_its_phase_wants_it() {
        let mut config = RunConfig::default();
        config.self_play.explore = 0.1;
        config.rollout.margin = 0.25;
        let mirrored = Phase { from_games: 5, variance: Some(Variance::Mirrored), ..Phase::default() };
        let still = Phase { from_games: 9, explore: Some(0.0), ..Phase::default() };
        config.phases = vec![mirrored, still];
        let play = self_play(&config, 1, 1);
        assert_eq!((play.mirrored, play.explore, play.phase), (true, 0.1, 1));
        assert_eq!(self_play(&config, 1, 2).explore, 0.0);
        let labelled = rollouts(&config, 1, 1);
        let settings = labelled.rollout.expect("what is rolled out");
        assert_eq!((settings.margin, settings.trials), (0.25, config.rollout.trials));
        assert_eq!((labelled.kind(), labelled.mirrored, labelled.phase), (SeriesKind::Rollout, false, 1));
    }
}
