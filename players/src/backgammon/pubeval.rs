//! PubEval, the linear player that G. Tesauro published in 1993 as a standard opponent.

use std::sync::LazyLock;

use ludus_games::backgammon::{BAR, CHECKERS, Dice, Position};
use ludus_games::{Backgammon, Plays};
use rand_chacha::ChaCha8Rng;

use crate::player::Player;

/// Number of weights of each of its two vectors.
const WEIGHTS: usize = 122;

static CONTACT: LazyLock<[f32; WEIGHTS]> =
    LazyLock::new(|| weights(include_str!("../../data/pubeval-contact.txt")));
static RACE: LazyLock<[f32; WEIGHTS]> =
    LazyLock::new(|| weights(include_str!("../../data/pubeval-race.txt")));

/// One weight a line; lines that begin with `#` are remarks. The two files are part of the program, and a test reads
/// them, so a panic here is never a user's.
fn weights(text: &str) -> [f32; WEIGHTS] {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let numbers: Vec<f32> = lines.map(|line| line.trim().parse().expect("a weight")).collect();
    numbers.try_into().expect("122 weights")
}

/// Plays what scores highest by PubEval's weights: those for contact or those for races, chosen by the position
/// *before* the play.
#[derive(Clone, Copy, Debug, Default)]
pub struct PubEval;

impl Player<Backgammon> for PubEval {
    fn choose(&mut self, state: &Position, _: Dice, plays: &Plays<Backgammon>, _: &mut ChaCha8Rng) -> usize {
        let weights = if has_contact(state) { &*CONTACT } else { &*RACE };
        let mut best = (0, f32::NEG_INFINITY);
        for (index, after) in plays.after.iter().enumerate() {
            let score = score(weights, after);
            if score > best.1 {
                best = (index, score);
            }
        }
        best.0
    }
}

/// Whether the two sides can still meet.
fn has_contact(position: &Position) -> bool {
    let rearmost = |side: &[u8; 25]| side.iter().rposition(|&checkers| checkers > 0).unwrap_or(0);
    rearmost(position.own()) + rearmost(position.other()) > 22
}

/// Score of a position for the side that has just moved; `after` is seen by its opponent.
///
/// Five inputs a point, from the mover's 24 point down to its ace point, by the number of its checkers there less the
/// number of the opponent's; then the opponent's bar and the mover's checkers off.
fn score(weights: &[f32; WEIGHTS], after: &Position) -> f32 {
    let (mover, opponent) = (after.other(), after.own());
    if after.other_off() == CHECKERS {
        return f32::INFINITY;
    }
    let mut score = 0.0;
    for (j, weights) in weights.chunks_exact(5).take(24).enumerate() {
        match i32::from(mover[23 - j]) - i32::from(opponent[j]) {
            -1 => score += weights[0],
            1 => score += weights[1],
            2 => score += weights[2],
            3 => score += weights[2] + weights[3],
            n if n >= 4 => score += weights[2] + weights[4] * (n - 3) as f32 / 2.0,
            _ => {}
        }
    }
    score + weights[120] * f32::from(opponent[BAR]) / 2.0 + weights[121] * f32::from(after.other_off()) / 15.0
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
