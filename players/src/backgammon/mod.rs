//! What is particular to backgammon: its baselines, the inputs of its networks, and its place among the games.
//!
//! Read [`PositionClass`] (which network judges a position), [`Tesauro198`], [`Player35`] and [`Ludus1`] (what the network
//! is shown), [`PubEval`] (a player of 1993 to measure others by), and the roster, which lists them for the arena.

pub mod bearoff;
mod board;
mod classes;
mod entering;
mod escapes;
mod found;
mod gnubg;
mod linear;
pub mod listnet;
mod ludus1;
mod ludus2;
mod player35;
mod pubeval;
mod rolls;
mod roster;
mod shots;
mod side;
#[cfg(test)]
mod slow;
mod tesauro;

use std::sync::Arc;

use ludus_games::Backgammon;

pub use classes::{PositionClass, possible};
pub use gnubg::Gnubg;
pub use linear::{LinearPlayer, LinearWeights};
pub use ludus1::Ludus1;
pub use ludus2::Ludus2;
pub use player35::Player35;
pub use pubeval::PubEval;
pub use tesauro::Tesauro198;

use crate::input_set::InputSet;

/// The input sets of backgammon, the default first.
pub fn input_sets() -> Vec<Arc<dyn InputSet<Backgammon>>> {
    vec![Arc::new(Ludus1), Arc::new(Ludus2), Arc::new(Player35), Arc::new(Tesauro198)]
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::{Path, PathBuf};

    use ludus_games::backgammon::Position;
    use ludus_games::{Game, Plays};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;

    /// Every position of a hundred games of random plays in order, the finished ones too.
    pub(crate) fn positions() -> Vec<Position> {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut below = |n: usize| rng.next_u32() as usize % n;
        let mut plays = Plays::new();
        let mut positions = Vec::new();
        for _ in 0..100 {
            let mut state = Backgammon.start();
            for ply in 0.. {
                positions.push(state);
                if Backgammon.payoff(&state).is_some() {
                    break;
                }
                let rolls = Backgammon.rolls(&state, ply);
                Backgammon.plays(&state, rolls[below(rolls.len())].0, &mut plays);
                state = plays.after[below(plays.len())];
            }
        }
        positions
    }

    /// The folder of the reference data, which may be absent.
    pub(crate) fn shared() -> PathBuf {
        let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
        std::env::var_os("LUDUS_SHARED").map_or_else(beside, PathBuf::from)
    }
}
