//! Shortlists: the plays of a roll that are worth a proper judgement.

use ludus_games::{Chances, Game};

use crate::player::Evaluator;

/// Judges the plays of a roll as far as the best of them goes. It keeps its memory, and nothing else.
#[derive(Debug)]
pub(crate) struct Shortlist<G: Game> {
    kept: Vec<usize>,
    positions: Vec<G::State>,
    judged: Vec<G::Chances>,
}

impl<G: Game> Default for Shortlist<G> {
    fn default() -> Self {
        Shortlist { kept: Vec::new(), positions: Vec::new(), judged: Vec::new() }
    }
}

impl<G: Game> Shortlist<G> {
    /// Replaces the content of `chances` by the judgement of each of the after-positions on the evaluator's shortlist, and
    /// by [`hopeless`] for the others.
    pub(crate) fn judge(
        &mut self,
        evaluator: &mut dyn Evaluator<G>,
        after: &[G::State],
        chances: &mut Vec<G::Chances>,
    ) {
        evaluator.shortlist(after, &mut self.kept);
        if self.kept.len() == after.len() {
            return evaluator.judge(after, chances);
        }
        self.positions.clear();
        self.positions.extend(self.kept.iter().map(|&play| after[play].clone()));
        evaluator.judge(&self.positions, &mut self.judged);
        chances.clear();
        chances.resize(after.len(), hopeless());
        for (&play, judged) in self.kept.iter().zip(&self.judged) {
            chances[play] = *judged;
        }
    }
}

/// What stands for the judgement of a play that is on no shortlist: the side that acts next wins all there is, so that
/// nobody makes it.
pub(crate) fn hopeless<C: Chances>() -> C {
    C::from_payoff(C::MAX_POINTS as i8)
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
