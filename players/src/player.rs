//! What judges positions and what picks plays.

use ludus_games::{Game, Plays};
use rand_chacha::ChaCha8Rng;

/// Judges positions: the chances of each result for the side to act, before its roll.
///
/// Implementors owe exactly one judgement a position, in order, and the true chances for a finished position. Equal
/// positions get equal judgements, bit for bit, on every machine and in every batch.
pub trait Evaluator<G: Game>: Send {
    /// Replaces the content of `chances` by the judgement of each position.
    fn judge(&mut self, positions: &[G::State], chances: &mut Vec<G::Chances>);
}

/// Picks plays.
pub trait Player<G: Game>: Send {
    /// Index of the chosen play in `plays`, which is never empty. `state` and `roll` are what `plays` came from.
    ///
    /// Equal arguments and an equally seeded `rng` give an equal choice; a player without randomness leaves `rng`
    /// alone.
    fn choose(&mut self, state: &G::State, roll: G::Roll, plays: &Plays<G>, rng: &mut ChaCha8Rng) -> usize;

    /// The evaluator behind the choice, for players that have one: what `evaluate` shows and luck is measured with.
    fn evaluator(&mut self) -> Option<&mut dyn Evaluator<G>> {
        None
    }
}
