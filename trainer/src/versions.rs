//! When a version is due, and what it consists of.

use ludus_config::RunConfig;
use ludus_players::weight_file::{Card, WeightFile};

use crate::checkpoint::Origin;
use crate::learner::Learner;

/// Games at which the version after the one published at `games` is due.
pub fn next_version_at(config: &RunConfig, games: u64) -> u64 {
    let index = config.phase_at(games);
    let (phase, next) = (config.phase(index), config.phase(index + 1));
    let share = (games - phase.from_games) as f64 * config.learn.publish_growth;
    let due = games + phase.publish_games.max(share as u64);
    // A phase does not wait for its first version by the measure of the one before. The last phase is its own next.
    let begun = next.from_games + next.publish_games;
    if next.from_games > games { due.min(begun) } else { due }
}

/// The learner's weights as the version after the newest. A checkpoint with a time of publishing makes the same bytes
/// every time.
pub fn next_version(learner: &Learner, origin: &Origin) -> WeightFile {
    let ledger = &learner.ledger;
    let counters = [
        ("games", ledger.games),
        ("positions", ledger.positions),
        ("steps", ledger.steps),
        ("expired", ledger.expired),
        ("skipped_steps", ledger.skipped_steps),
    ];
    learner.weights(Card {
        game: origin.game.clone(),
        revision: origin.revision,
        inputs: origin.inputs.clone(),
        run: origin.run.clone(),
        version: ledger.version + 1,
        parent: ledger.version_sha256.clone(),
        created_at: ledger.publishing.unwrap_or_default(),
        counters: counters.map(|(name, count)| (name.to_owned(), count)).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_at_a_fixed_number_of_games_and_later_at_a_share_of_them() {
        let config = "
            [learn]
            publish_games = 1000
            publish_growth = 0.02
            [[phases]]
            from_games = 2000000
            publish_games = 500";
        let config = RunConfig::parse(config).unwrap();
        let due = [(0, 1_000), (50_000, 51_000), (1_000_000, 1_020_000)];
        // A phase counts afresh: its games may come a hundred times more slowly.
        let due_in_the_phase = [(1_999_000, 2_000_500), (2_000_000, 2_000_500), (2_100_000, 2_102_000)];
        for (published, next) in due.into_iter().chain(due_in_the_phase) {
            assert_eq!(next_version_at(&config, published), next);
        }
    }
}
