//! Shortlists: the plays of a roll that are worth a proper judgement.

use ludus_games::{Game, Plays};
use rand_chacha::ChaCha8Rng;

use crate::player::Player;

/// A roll's plays that are on a shortlist. Keeps its memory.
#[derive(Debug)]
pub(crate) struct Listed<G: Game> {
    /// Their indices among all plays, ascending.
    list: Vec<usize>,
    plays: Plays<G>,
}

impl<G: Game> Default for Listed<G> {
    fn default() -> Self {
        Listed { list: Vec::new(), plays: Plays::new() }
    }
}

impl<G: Game> Listed<G> {
    /// The player's choice among the `most` plays that its evaluator has on its shortlist, or among all when it has no
    /// evaluator, or that no quick way to tell them.
    pub(crate) fn choose(
        &mut self,
        most: usize,
        player: &mut dyn Player<G>,
        (state, roll, plays): (&G::State, G::Roll, &Plays<G>),
        rng: &mut ChaCha8Rng,
    ) -> usize {
        if plays.len() > most
            && let Some(evaluator) = player.evaluator()
        {
            evaluator.shortlist(&plays.after, most, &mut self.list);
            if self.list.len() < plays.len() {
                self.plays.clear();
                for &play in &self.list {
                    self.plays.moves.push(plays.moves[play]);
                    self.plays.after.push(plays.after[play].clone());
                }
                return self.list[player.choose(state, roll, &self.plays, rng)];
            }
        }
        player.choose(state, roll, plays, rng)
    }
}

/// Replaces the content of `kept` by the places of the `most` smallest of `points`, ascending. Of equal ones the first
/// are kept.
pub(crate) fn smallest(points: &[f32], most: usize, kept: &mut Vec<usize>) {
    kept.clear();
    kept.extend(0..points.len());
    if points.len() > most {
        kept.select_nth_unstable_by(most, |&a, &b| points[a].total_cmp(&points[b]).then(a.cmp(&b)));
        kept.truncate(most);
        kept.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_smallest_are_those_that_sorting_puts_first(
            points in prop::collection::vec((0_u8..9).prop_map(f32::from), 0..40),
            most in 1_usize..10,
        ) {
            let mut expected: Vec<usize> = (0..points.len()).collect();
            expected.sort_by(|&a, &b| points[a].total_cmp(&points[b]));
            expected.truncate(most);
            expected.sort_unstable();
            let mut kept = vec![99];
            smallest(&points, most, &mut kept);
            prop_assert_eq!(kept, expected);
        }
    }
}
