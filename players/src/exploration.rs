//! Exploration: plays of self-play that are drawn at random instead of chosen, so that what is learnt is not only about
//! the plays a player makes anyway.

use ludus_games::{Chances, Game, Plays};
use rand_chacha::ChaCha8Rng;

use crate::arena::PlayError;
use crate::dice;
use crate::player::{Player, best_play};

/// Draws plays. It keeps its memory from play to play, and nothing else.
pub(crate) struct Explorer<G: Game> {
    judged: Vec<G::Chances>,
    near: Vec<usize>,
}

impl<G: Game> Default for Explorer<G> {
    fn default() -> Self {
        Explorer { judged: Vec::new(), near: Vec::new() }
    }
}

impl<G: Game> Explorer<G> {
    /// A play drawn evenly from all of them if `margin` is 0, or else from those that the player's evaluator judges within
    /// `margin` points of the best, the best left out: those it may be wrong about. `None` when there is no such play.
    ///
    /// `judged` is what that evaluator made of `plays.after`, where it has just been asked. `place` is the game's number and
    /// its ply.
    pub(crate) fn draw(
        &mut self,
        margin: f64,
        player: &mut dyn Player<G>,
        plays: &Plays<G>,
        judged: Option<&[G::Chances]>,
        choices: &mut ChaCha8Rng,
        place: (u64, usize),
    ) -> Result<Option<usize>, PlayError> {
        if margin == 0.0 {
            return Ok(Some(dice::below(choices, plays.len())));
        }
        let (number, ply) = place;
        let judged = match judged {
            Some(judged) => judged,
            None => {
                let evaluator = player.evaluator().ok_or(PlayError::NoEvaluator { number })?;
                evaluator.judge(&plays.after, &mut self.judged);
                if let Some(trouble) = evaluator.trouble() {
                    return Err(PlayError::Outside { number, ply, trouble });
                }
                &self.judged
            }
        };
        // What the side that acts next can expect: the less the better.
        let points = || judged.iter().map(Chances::points);
        if points().any(|points| !points.is_finite()) {
            return Err(PlayError::NotFinite { number, ply });
        }
        let best = best_play(judged);
        let least = judged[best].points();
        self.near.clear();
        let near = points()
            .enumerate()
            .filter(|&(play, points)| play != best && f64::from(points - least) <= margin);
        self.near.extend(near.map(|(play, _)| play));
        Ok((!self.near.is_empty()).then(|| self.near[dice::below(choices, self.near.len())]))
    }
}
