//! PubEval, the linear player that G. Tesauro published in 1993 as a standard opponent.

use std::sync::{Arc, LazyLock};

use ludus_games::backgammon::{Dice, Position};
use ludus_games::{Backgammon, Plays};
use rand_chacha::ChaCha8Rng;

use super::linear::{INPUTS, LinearWeights};
use crate::player::Player;

static PUBLISHED: LazyLock<LinearWeights> = LazyLock::new(|| LinearWeights {
    contact: weights(include_str!("../../data/pubeval-contact.txt")),
    race: weights(include_str!("../../data/pubeval-race.txt")),
});

static RETRAINED: LazyLock<Arc<LinearWeights>> = LazyLock::new(|| {
    let text = include_str!("../../data/pubeval-listnet.pubeval");
    // Part of the program, and read by a test.
    Arc::new(LinearWeights::read("pubeval-listnet.pubeval", text).expect("weights"))
});

/// PubEval's weights retrained by ListNet on decisions of our own; the file says how.
pub(super) fn retrained() -> Arc<LinearWeights> {
    RETRAINED.clone()
}

/// One weight a line; lines that begin with `#` are remarks. The two files are part of the program, and a test reads
/// them, so a panic here is never a user's.
fn weights(text: &str) -> [f32; INPUTS] {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let numbers: Vec<f32> = lines.map(|line| line.trim().parse().expect("a weight")).collect();
    numbers.try_into().expect("122 weights")
}

/// Plays what scores highest by PubEval's weights: those for contact or those for races, chosen by the position
/// *before* the play.
#[derive(Clone, Copy, Debug, Default)]
pub struct PubEval;

impl PubEval {
    /// Its weights, as published.
    pub fn weights() -> &'static LinearWeights {
        &PUBLISHED
    }
}

impl Player<Backgammon> for PubEval {
    fn choose(&mut self, state: &Position, _: Dice, plays: &Plays<Backgammon>, _: &mut ChaCha8Rng) -> usize {
        PUBLISHED.choose(state, plays)
    }
}

#[cfg(test)]
mod tests {
    use ludus_games::Game;
    use rand::SeedableRng;

    use super::*;

    /// The mover's slots, as (from, to) steps in 1-based points, that PubEval plays from the start with a roll.
    fn opening(a: u8, b: u8) -> Vec<(u8, u8)> {
        let (start, dice) = (Backgammon.start(), Dice::new(a, b).expect("two dice"));
        let mut plays = Plays::new();
        Backgammon.plays(&start, dice, &mut plays);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let chosen = PubEval.choose(&start, dice, &plays, &mut rng);
        let mut steps: Vec<_> =
            plays.moves[chosen].steps().iter().map(|step| (step.from + 1, step.to + 1)).collect();
        steps.sort_unstable();
        steps
    }

    #[test]
    fn its_three_published_opening_plays_are_its_own() {
        assert_eq!(opening(3, 1), [(6, 5), (8, 5)]);
        assert_eq!(opening(6, 6), [(13, 7), (13, 7), (24, 18), (24, 18)]);
        assert_eq!(opening(5, 5), [(8, 3), (8, 3), (13, 8), (13, 8)]);
    }
}
