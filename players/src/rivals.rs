//! Plays about as good as the best, as far as a player can tell: those it may be wrong about. Rollouts compare them, and
//! exploration draws them, so that what is learnt is not only about the plays a player makes anyway.

use ludus_games::{Chances, Game, Plays};
use rand_chacha::ChaCha8Rng;

use crate::arena::PlayError;
use crate::dice;
use crate::player::{Evaluator, Player};

/// Judges the plays of a ply at sight. `place` is the game's number and the ply.
pub(crate) fn at_sight<G: Game>(
    evaluator: &mut dyn Evaluator<G>,
    plays: &Plays<G>,
    judged: &mut Vec<G::Chances>,
    place: (u64, usize),
) -> Result<(), PlayError> {
    evaluator.judge(&plays.after, judged);
    let (number, ply) = place;
    evaluator.trouble().map_or(Ok(()), |trouble| Err(PlayError::Outside { number, ply, trouble }))
}

/// The plays that are judged within `margin` points of the best, the best first; of equals the first is first.
pub(crate) fn near_best<C: Chances>(
    judged: &[C],
    margin: f64,
    place: (u64, usize),
) -> Result<Vec<usize>, PlayError> {
    // What the side that acts next can expect: the less the better.
    let points: Vec<f32> = judged.iter().map(Chances::points).collect();
    if points.iter().any(|points| !points.is_finite()) {
        let (number, ply) = place;
        return Err(PlayError::NotFinite { number, ply });
    }
    let best = points.iter().copied().fold(f32::INFINITY, f32::min);
    let mut near: Vec<usize> =
        (0..points.len()).filter(|&play| f64::from(points[play] - best) <= margin).collect();
    near.sort_by(|&a, &b| points[a].total_cmp(&points[b]));
    Ok(near)
}

/// A play drawn evenly from all of them if `margin` is 0, or else from those that the player's evaluator judges within
/// `margin` points of the best, the best left out. `None` when there is no such play.
///
/// `judged` is what that evaluator made of `plays.after`, where it has just been asked; `memory` is for when it has not.
pub(crate) fn explore<G: Game>(
    margin: f64,
    player: &mut dyn Player<G>,
    plays: &Plays<G>,
    judged: Option<&[G::Chances]>,
    memory: &mut Vec<G::Chances>,
    choices: &mut ChaCha8Rng,
    place: (u64, usize),
) -> Result<Option<usize>, PlayError> {
    if margin == 0.0 {
        return Ok(Some(dice::below(choices, plays.len())));
    }
    let judged = match judged {
        Some(judged) => judged,
        None => {
            let evaluator = player.evaluator().ok_or(PlayError::NoEvaluator { number: place.0 })?;
            at_sight(evaluator, plays, memory, place)?;
            memory
        }
    };
    let near = near_best(judged, margin, place)?;
    let rivals = near.get(1..).unwrap_or_default();
    Ok((!rivals.is_empty()).then(|| rivals[dice::below(choices, rivals.len())]))
}
