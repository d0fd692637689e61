//! What judges positions and what picks plays.

use ludus_games::{Chances, Game, Plays};
use rand_chacha::ChaCha8Rng;

use crate::dice;
use crate::peer::PeerError;

/// Judges positions: the chances of each result for the side to act, before its roll.
///
/// Implementors owe exactly one judgement a position, in order, and the true chances for a finished position. Equal
/// positions get equal judgements, bit for bit, on every machine and in every batch.
pub trait Evaluator<G: Game>: Send {
    /// Replaces the content of `chances` by the judgement of each position.
    fn judge(&mut self, positions: &[G::State], chances: &mut Vec<G::Chances>);

    /// Replaces the content of `list` by the places in `after`, ascending, of the positions worth judging when these are those
    /// after all plays of a roll and the best for the side that moved is wanted: about `most`, which is at least one, where
    /// there is a quick way to tell, by default all. Never none.
    ///
    /// As [`Evaluator::judge`], it depends on nothing but the positions.
    fn shortlist(&mut self, after: &[G::State], most: usize, list: &mut Vec<usize>) {
        let _ = most;
        list.clear();
        list.extend(0..after.len());
    }

    /// Whether its judgement of a position that is not finished is the truth, such as from a bear-off database: there is
    /// then no use in playing on to find out. By default it never is.
    fn knows(&self, position: &G::State) -> bool {
        let _ = position;
        false
    }

    /// The class of a position that is not finished, one of those that it has networks for. By default all positions are of
    /// the same.
    fn class(&self, position: &G::State) -> usize {
        let _ = position;
        0
    }

    /// Positions that it had a network compute since it was last asked. By default it has none.
    fn evaluated(&mut self) -> u64 {
        0
    }

    /// What has kept it from judging since it was last asked, if anything; its judgements since then mean nothing. Only
    /// a program outside has trouble.
    fn trouble(&mut self) -> Option<PeerError> {
        None
    }
}

impl<G: Game, E: Evaluator<G> + ?Sized> Evaluator<G> for Box<E> {
    fn judge(&mut self, positions: &[G::State], chances: &mut Vec<G::Chances>) {
        (**self).judge(positions, chances);
    }

    fn shortlist(&mut self, after: &[G::State], most: usize, list: &mut Vec<usize>) {
        (**self).shortlist(after, most, list);
    }

    fn knows(&self, position: &G::State) -> bool {
        (**self).knows(position)
    }

    fn class(&self, position: &G::State) -> usize {
        (**self).class(position)
    }

    fn evaluated(&mut self) -> u64 {
        (**self).evaluated()
    }

    fn trouble(&mut self) -> Option<PeerError> {
        (**self).trouble()
    }
}

/// Picks plays.
pub trait Player<G: Game>: Send {
    /// Index of the chosen play in `plays`, which is never empty. `state` and `roll` are what `plays` came from.
    ///
    /// Equal arguments and an equally seeded `rng` give an equal choice; a player without randomness leaves `rng`
    /// alone.
    fn choose(&mut self, state: &G::State, roll: G::Roll, plays: &Plays<G>, rng: &mut ChaCha8Rng) -> usize;

    /// The same choice for a player whose [`Player::evaluator`] has just judged `plays.after`, as happens where luck is
    /// measured with that evaluator: `judged` spares it the work.
    fn choose_judged(
        &mut self,
        state: &G::State,
        roll: G::Roll,
        plays: &Plays<G>,
        judged: &[G::Chances],
        rng: &mut ChaCha8Rng,
    ) -> usize {
        let _ = judged;
        self.choose(state, roll, plays, rng)
    }

    /// The evaluator behind the choice, without its search, for players that have one: luck is measured with it.
    fn evaluator(&mut self) -> Option<&mut dyn Evaluator<G>> {
        None
    }

    /// What has kept it from choosing since it was last asked, if anything; its choices since then mean nothing. Only a
    /// program outside has trouble, so whoever may seat one asks after each choice.
    fn trouble(&mut self) -> Option<PeerError> {
        None
    }
}

/// Index of the best play for the mover, given the chances of the side that acts after each; the first of equals.
pub fn best_play<C: Chances>(after: &[C]) -> usize {
    let mut best = (0, f32::INFINITY);
    for (index, chances) in after.iter().enumerate() {
        // What is worst for the next side is best for the mover.
        let points = chances.points();
        if points < best.1 {
            best = (index, points);
        }
    }
    best.0
}

/// Plays at random, every legal play equally likely.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomPlayer;

impl<G: Game> Player<G> for RandomPlayer {
    fn choose(&mut self, _: &G::State, _: G::Roll, plays: &Plays<G>, rng: &mut ChaCha8Rng) -> usize {
        dice::below(rng, plays.len())
    }
}
