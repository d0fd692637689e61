//! From games in any order to pairs in the order of their numbers.
//!
//! Games that are lost last longer than games that are won (or the other way round), so whoever reads results as they
//! arrive sees the short ones first and is fooled, the more so the more games are in flight. Therefore the gate reads the
//! contiguous prefix of pair numbers: a pair counts when every pair before it has been counted.

use std::collections::BTreeMap;

/// Two games of a match on the same dice with seats swapped, as one number.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PairOutcome {
    /// Number of the pair: games `2 * pair` and `2 * pair + 1` of the series.
    pub pair: u64,
    /// Mean of the candidate's points in the two games (payoff, minus its luck when that is adjusted for).
    pub points: f64,
}

/// The reorder buffer between finished games and the gate.
#[derive(Clone, Debug, Default)]
pub struct Prefix {
    /// Number of the pair that goes to the gate next; all before it have gone.
    next: u64,
    /// Games of later pairs, by pair: the candidate's points in the even and in the odd game, as far as they are known.
    waiting: BTreeMap<u64, [Option<f64>; 2]>,
}

impl Prefix {
    /// A buffer that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the candidate's points in game `number`. Returns whether that was news: a game is counted once, and its
    /// first result stands.
    pub fn game(&mut self, number: u64, points: f64) -> bool {
        let pair = number / 2;
        if pair < self.next {
            return false;
        }
        let half = &mut self.waiting.entry(pair).or_default()[(number % 2) as usize];
        let news = half.is_none();
        half.get_or_insert(points);
        news
    }

    /// The next pair of the contiguous prefix, once both of its games are there.
    pub fn next_pair(&mut self) -> Option<PairOutcome> {
        let first = self.waiting.first_entry()?;
        let (pair, [Some(even), Some(odd)]) = (*first.key(), *first.get()) else { return None };
        if pair != self.next {
            return None;
        }
        first.remove();
        self.next += 1;
        Some(PairOutcome { pair, points: (even + odd) / 2.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(prefix: &mut Prefix) -> Vec<(u64, f64)> {
        std::iter::from_fn(|| prefix.next_pair()).map(|outcome| (outcome.pair, outcome.points)).collect()
    }

    #[test]
    fn a_pair_waits_for_both_games_and_for_every_pair_before_it() {
        let mut prefix = Prefix::new();
        assert!(prefix.game(3, 2.0));
        assert!(prefix.game(2, -1.0));
        assert!(prefix.game(1, 1.0));
        assert_eq!(drain(&mut prefix), []);
        assert!(prefix.game(0, 3.0));
        assert_eq!(drain(&mut prefix), [(0, 2.0), (1, 0.5)]);
        assert!(prefix.waiting.is_empty());
    }

    #[test]
    fn a_repeated_game_changes_nothing_whether_its_pair_waits_or_has_gone() {
        let mut prefix = Prefix::new();
        assert!(prefix.game(0, 1.0));
        assert!(!prefix.game(0, -1.0));
        assert!(prefix.game(1, 1.0));
        assert_eq!(drain(&mut prefix), [(0, 1.0)]);
        assert!(!prefix.game(1, -3.0));
        assert_eq!(drain(&mut prefix), []);
    }
}
