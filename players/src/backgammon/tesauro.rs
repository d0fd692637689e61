//! The inputs of TD-Gammon's first networks.

use ludus_games::Backgammon;
use ludus_games::backgammon::{BAR, BackgammonChances, CHECKERS, Position};

use super::classes::{PositionClass, possible};
use super::side::{checkers, occupied};
use crate::input_set::{InputSet, Inputs};

/// The 198 inputs of G. Tesauro, *Practical Issues in Temporal Difference Learning* (1992), for a board seen by the side
/// on roll.
///
/// | inputs | what |
/// |---|---|
/// | 0..=95 | points 1 to 24 of the side on roll, four a point: at least 1 checker, at least 2, at least 3, and half the number beyond 3 |
/// | 96 | its checkers on the bar / 2 |
/// | 97 | its checkers borne off / 15 |
/// | 98..=195 | the same for the other side, its points counted from its own end |
/// | 196, 197 | whose turn it is: always 1 and 0, because the board is seen by the side on roll |
///
/// The last two carry no information and are kept so that this is what the literature calls the 198 inputs. The side on
/// roll comes first because in the positions after the plays of a roll its checkers are the ones that rarely change.
/// All three position classes have the same inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tesauro198;

/// Inputs of one side.
const SIDE: usize = 98;
/// All inputs.
const WIDTH: usize = 2 * SIDE + 2;

/// The four inputs of a point by the number of checkers on it; those that are not zero come first.
static POINT: [[f32; 4]; CHECKERS as usize + 1] = {
    let mut table = [[0.0; 4]; CHECKERS as usize + 1];
    let mut n = 1;
    while n <= CHECKERS as usize {
        let mut unit = 0;
        while unit < n && unit < 3 {
            table[n][unit] = 1.0;
            unit += 1;
        }
        if n > 3 {
            table[n][3] = (n - 3) as f32 / 2.0;
        }
        n += 1;
    }
    table
};

impl InputSet<Backgammon> for Tesauro198 {
    fn name(&self) -> &'static str {
        "tesauro-198"
    }

    fn classes(&self) -> &'static [&'static str] {
        &PositionClass::NAMES
    }

    fn width(&self, _: usize) -> usize {
        WIDTH
    }

    fn class(&self, position: &Position) -> Option<usize> {
        PositionClass::of(position).map(|class| class as usize)
    }

    fn write(&self, _: usize, position: &Position, inputs: &mut Inputs) {
        let mut found = Found { indices: [0; MOST + 3], values: [0.0; MOST + 3], len: 0 };
        found.side(0, position.own());
        found.side(SIDE, position.other());
        found.push(2 * SIDE, 1.0);

        // Copying all of the arrays is faster than as much of them as is wanted: the length is known beforehand.
        inputs.clear();
        inputs.indices.extend_from_slice(&found.indices);
        inputs.indices.truncate(found.len);
        inputs.values.extend_from_slice(&found.values);
        inputs.values.truncate(found.len);
    }

    fn shared(&self, _: usize) -> usize {
        SIDE
    }

    fn possible(&self, class: usize, position: &Position, chances: BackgammonChances) -> BackgammonChances {
        possible(PositionClass::ALL[class], position, chances)
    }
}

/// Most inputs that are not zero: each takes a checker of its own (a point with n of them has at most n), except the turn.
const MOST: usize = 2 * CHECKERS as usize + 1;

/// The inputs found so far. The four inputs of a point are written together and those that are zero are overwritten by
/// the next ones; hence room for three more.
struct Found {
    indices: [u16; MOST + 3],
    values: [f32; MOST + 3],
    len: usize,
}

impl Found {
    fn push(&mut self, index: usize, value: f32) {
        self.indices[self.len] = index as u16;
        self.values[self.len] = value;
        self.len += usize::from(value != 0.0);
    }

    /// Adds the inputs of one side, the first of which is number `first`.
    fn side(&mut self, first: usize, side: &[u8; 25]) {
        let mut points = occupied(side) & ((1 << BAR) - 1);
        while points != 0 {
            let point = points.trailing_zeros() as usize;
            points &= points - 1;
            let n = usize::from(side[point]);
            let index = (first + 4 * point) as u16;
            self.indices[self.len..self.len + 4].copy_from_slice(&[index, index + 1, index + 2, index + 3]);
            self.values[self.len..self.len + 4].copy_from_slice(&POINT[n]);
            self.len += n.min(4);
        }
        self.push(first + 4 * BAR, f32::from(side[BAR]) / 2.0);
        self.push(first + 4 * BAR + 1, f32::from(CHECKERS - checkers(side)) / 15.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::tests::positions;

    /// The inputs by their definition, one after the other.
    fn slow(position: &Position) -> Vec<f32> {
        let mut inputs = Vec::new();
        for (side, off) in [(position.own(), position.own_off()), (position.other(), position.other_off())] {
            for &n in &side[..24] {
                inputs.push(if n >= 1 { 1.0 } else { 0.0 });
                inputs.push(if n >= 2 { 1.0 } else { 0.0 });
                inputs.push(if n >= 3 { 1.0 } else { 0.0 });
                inputs.push(if n > 3 { (f32::from(n) - 3.0) / 2.0 } else { 0.0 });
            }
            inputs.push(f32::from(side[24]) / 2.0);
            inputs.push(f32::from(off) / 15.0);
        }
        inputs.extend([1.0, 0.0]);
        inputs
    }

    #[test]
    fn inputs_are_the_definition_and_ascend() {
        let mut inputs = Inputs::default();
        for position in positions() {
            Tesauro198.write(0, &position, &mut inputs);
            assert!(inputs.indices.is_sorted_by(|a, b| a < b));
            assert!(inputs.values.iter().all(|&value| value != 0.0));
            let mut dense = vec![0.0; WIDTH];
            for (&index, &value) in inputs.indices.iter().zip(&inputs.values) {
                dense[usize::from(index)] = value;
            }
            assert_eq!(dense, slow(&position), "{position:?}");
        }
    }

    #[test]
    fn the_start_has_27_inputs() {
        // For each side 2 + 5 + 3 + 5 checkers: 2 + 4 + 3 + 4 inputs, and then the turn. The fourth of a five is (5 - 3) / 2 = 1.
        let mut inputs = Inputs::default();
        Tesauro198.write(0, &Position::START, &mut inputs);
        assert_eq!(inputs.indices.len(), 2 * 13 + 1);
        assert!(inputs.values.iter().all(|&value| value == 1.0));
        assert_eq!(inputs.indices[..4], [20, 21, 22, 23]);
    }

    #[test]
    fn heaps_and_sides_of_single_checkers_fit() {
        let mut inputs = Inputs::default();
        let spread: [u8; 25] = std::array::from_fn(|slot| u8::from(slot < 14 || slot == 24));
        for slot in 0..25 {
            let mut heap = [0; 25];
            heap[slot] = 15;
            let position = Position::new(heap, [0; 25]).unwrap();
            Tesauro198.write(0, &position, &mut inputs);
            let expected: &[f32] =
                if slot == 24 { &[7.5, 1.0, 1.0] } else { &[1.0, 1.0, 1.0, 6.0, 1.0, 1.0] };
            assert_eq!(inputs.values, expected);
        }
        // Both sides spread out as far as they go. Such a position cannot arise, so only its inputs are looked at.
        let mut found = Found { indices: [0; MOST + 3], values: [0.0; MOST + 3], len: 0 };
        found.side(0, &spread);
        found.side(SIDE, &spread);
        found.push(2 * SIDE, 1.0);
        assert_eq!(found.len, MOST);
    }
}
