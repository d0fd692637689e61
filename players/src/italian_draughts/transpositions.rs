//! The table of boards a search has been to.

use ludus_games::italian_draughts::Board;

/// What a search that was cut off knows about a score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// It is this score.
    Exact,
    /// It is this score or more.
    AtLeast,
    /// It is this score or less.
    AtMost,
}

/// What is known about a board.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Plies that were looked ahead.
    pub depth: u8,
    /// The score for the side to act.
    pub score: i16,
    /// What the score says.
    pub bound: Bound,
    /// First and last square of the best play.
    pub best: (u8, u8),
}

/// A table of fixed size. What one search wrote is gone for the next, for a search must not depend on what was searched
/// before.
pub struct Transpositions {
    slots: Vec<Slot>,
    search: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    key: u64,
    search: u32,
    known: Known,
}

/// The table has two to the power of this many slots of 24 bytes.
const BITS: u32 = 16;

impl Default for Transpositions {
    fn default() -> Self {
        let known = Known { depth: 0, score: 0, bound: Bound::Exact, best: (0, 0) };
        Transpositions { slots: vec![Slot { key: 0, search: 0, known }; 1 << BITS], search: 0 }
    }
}

impl Transpositions {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.search = match self.search.checked_add(1) {
            Some(search) => search,
            None => {
                self.slots.iter_mut().for_each(|slot| slot.search = 0);
                1
            }
        };
    }

    /// What is known about the board with this key.
    pub fn find(&self, key: u64) -> Option<Known> {
        let slot = &self.slots[index(key)];
        (slot.key == key && slot.search == self.search).then_some(slot.known)
    }

    /// Remembers it. A deeper look at another board goes first, but not for ever: only one of the same search.
    pub fn insert(&mut self, key: u64, known: Known) {
        let slot = &mut self.slots[index(key)];
        if slot.search != self.search || slot.key == key || slot.known.depth <= known.depth {
            *slot = Slot { key, search: self.search, known };
        }
    }
}

fn index(key: u64) -> usize {
    (key >> (64 - BITS)) as usize
}

/// A board's 64-bit key, the same on every machine: its four words through multiplications and shifts (the finishing steps of
/// splitmix64).
pub fn key_of(board: &Board) -> u64 {
    let words = |[men, kings]: [u32; 2]| u64::from(men) << 32 | u64::from(kings);
    mix(mix(words(board.own())).wrapping_add(words(board.other())))
}

fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_search_wrote_is_found_until_the_next_begins() {
        let mut table = Transpositions::default();
        table.clear();
        let key = key_of(&Board::START);
        assert!(table.find(key).is_none());
        let known = |depth| Known { depth, score: 5, bound: Bound::AtLeast, best: (1, 2) };
        table.insert(key, known(3));
        assert_eq!(table.find(key).map(|known| known.score), Some(5));
        // Another board for the same slot: only a look as deep takes its place.
        table.insert(key ^ 1, known(2));
        assert!(table.find(key).is_some());
        table.insert(key ^ 1, known(3));
        assert!(table.find(key).is_none() && table.find(key ^ 1).is_some());
        table.clear();
        assert!(table.find(key ^ 1).is_none());
    }
}
