//! Positions, each once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A list of positions in which each stands once, in the order in which they came first.
#[derive(Debug)]
pub(crate) struct Distinct<S> {
    positions: Vec<S>,
    /// Where each of them stands. Only ever looked up, so that its own order plays no part.
    places: HashMap<S, usize, BuildHasherDefault<Words>>,
}

impl<S> Default for Distinct<S> {
    fn default() -> Self {
        Distinct { positions: Vec::new(), places: HashMap::default() }
    }
}

impl<S: Clone + Eq + Hash> Distinct<S> {
    /// Forgets all positions and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.positions.clear();
        self.places.clear();
    }

    /// The place of a position, which is added if it is not there.
    pub(crate) fn place(&mut self, position: &S) -> usize {
        match self.places.entry(position.clone()) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let place = self.positions.len();
                self.positions.push(position.clone());
                *entry.insert(place)
            }
        }
    }

    /// The positions by their places.
    pub(crate) fn positions(&self) -> &[S] {
        &self.positions
    }
}

/// A hash of eight bytes at a time, for keys that nobody chooses in order to collide: several times quicker than the one
/// of the standard library, which would take as long as a small network.
#[derive(Debug, Default)]
struct Words(u64);

/// 2^64 over the golden ratio, made odd.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Words {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.write_u64(u64::from_le_bytes(last));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(MIX);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The product's high bits are the well mixed ones, and a table looks at the low ones, too.
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::tests::positions;

    #[test]
    fn equal_positions_share_a_place_and_others_do_not() {
        let positions = positions();
        let mut distinct = Distinct::default();
        for round in 0..2 {
            let places: Vec<usize> = positions.iter().map(|position| distinct.place(position)).collect();
            for (position, place) in positions.iter().zip(&places) {
                assert_eq!(distinct.positions()[*place], *position);
            }
            let found = distinct.positions();
            let places: std::collections::HashSet<_> = found.iter().collect();
            assert_eq!(places.len(), found.len());
            assert!(found.len() < positions.len(), "every game begins with the same position");
            if round == 0 {
                distinct.clear();
                assert!(distinct.positions().is_empty());
            }
        }
    }
}
