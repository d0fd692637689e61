//! The inputs of TD-Gammon's first networks.

use ludus_games::Backgammon;
use ludus_games::backgammon::{BAR, BackgammonChances, CHECKERS, Position};

use super::classes::{PositionClass, possible};
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
        inputs.clear();
        write_side(0, position.own(), inputs);
        write_side(SIDE, position.other(), inputs);
        inputs.push(2 * SIDE, 1.0);
    }

    fn possible(&self, position: &Position, chances: BackgammonChances) -> BackgammonChances {
        possible(position, chances)
    }
}

/// Adds the inputs of one side, the first of which is number `first`.
fn write_side(first: usize, side: &[u8; 25], inputs: &mut Inputs) {
    // All four inputs of every point are written, and the zeros overwritten by the next point: whether there is a
    // checker on a point is hard to foresee, and a wrong guess costs the processor more than the writing.
    // There are at most 15 inputs that are not zero, and three zeros after the last.
    let mut indices = [0u16; CHECKERS as usize + 4];
    let mut values = [0f32; CHECKERS as usize + 4];
    let (mut len, mut left) = (0, side[BAR]);
    for point in 0..BAR {
        let n = side[point];
        let index = (first + 4 * point) as u16;
        indices[len..len + 4].copy_from_slice(&[index, index + 1, index + 2, index + 3]);
        values[len..len + 4].copy_from_slice(&POINT[usize::from(n)]);
        len += usize::from(n.min(4));
        left += n;
    }
    inputs.indices.extend_from_slice(&indices[..len]);
    inputs.values.extend_from_slice(&values[..len]);
    inputs.push(first + 4 * BAR, f32::from(side[BAR]) / 2.0);
    inputs.push(first + 4 * BAR + 1, f32::from(CHECKERS - left) / 15.0);
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
    fn a_side_of_one_heap_fits() {
        for slot in 0..25 {
            let mut side = [0; 25];
            side[slot] = 15;
            let mut inputs = Inputs::default();
            write_side(0, &side, &mut inputs);
            let expected: &[f32] = if slot == 24 { &[7.5] } else { &[1.0, 1.0, 1.0, 6.0] };
            assert_eq!(inputs.values, expected);
        }
    }
}
