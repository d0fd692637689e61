//! Shortlists: the plays of a roll that are worth a proper judgement.

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
