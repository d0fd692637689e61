//! Which games have been trained on: the memory that turns "delivered at least once" into "trained exactly once".

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A set of whole numbers that come nearly in order, held as intervals: a million games take a few dozen bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NumberSet {
    /// Start and end (exclusive) of disjoint intervals that do not touch.
    intervals: BTreeMap<u64, u64>,
}

impl NumberSet {
    /// Adds a number; `false` when it was there.
    pub fn insert(&mut self, number: u64) -> bool {
        let before = self.intervals.range(..=number).next_back().map(|(&start, &end)| (start, end));
        if before.is_some_and(|(_, end)| number < end) {
            return false;
        }
        let start = before.filter(|&(_, end)| end == number).map_or(number, |(start, _)| start);
        // The largest number ends no interval, since an end is one more; it is never a game's.
        let next = number.saturating_add(1);
        let end = self.intervals.remove(&next).unwrap_or(next);
        self.intervals.insert(start, end);
        true
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.intervals.iter().map(|(start, end)| end - start).sum()
    }
}

/// Games by series and number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GameSet {
    series: BTreeMap<u64, NumberSet>,
}

impl GameSet {
    /// Adds a game; `false` when it was there.
    pub fn insert(&mut self, series: u64, number: u64) -> bool {
        self.series.entry(series).or_default().insert(number)
    }

    /// How many games there are.
    pub fn count(&self) -> u64 {
        self.series.values().map(NumberSet::count).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_agrees_with_a_plain_set_whatever_the_order(numbers in prop::collection::vec(0u64..40, 0..80)) {
            let (mut set, mut plain) = (NumberSet::default(), BTreeSet::new());
            for number in numbers {
                prop_assert_eq!(set.insert(number), plain.insert(number));
                prop_assert_eq!(set.count(), plain.len() as u64);
            }
            // Intervals that touch are one interval.
            let starts = plain.iter().filter(|&&n| n == 0 || !plain.contains(&(n - 1))).count();
            prop_assert_eq!(set.intervals.len(), starts);
        }
    }

    #[test]
    fn the_same_number_in_two_series_is_two_games_and_survives_json() {
        let mut games = GameSet::default();
        assert!(games.insert(1, 7) && games.insert(2, 7) && !games.insert(1, 7));
        assert_eq!(games.count(), 2);
        let text = serde_json::to_string(&games).unwrap();
        assert_eq!(text, r#"{"1":{"7":8},"2":{"7":8}}"#);
        assert_eq!(serde_json::from_str::<GameSet>(&text).unwrap(), games);
    }
}
