//! The inputs of TD-Gammon's first networks.

use ludus_games::Backgammon;
use ludus_games::backgammon::{BAR, BackgammonChances, CHECKERS, Position};

use super::classes::{PositionClass, possible};
use super::found::{self, Found, over};
use super::side::{checkers, points_with};
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
// A point with n checkers has at most n inputs that are not zero.
const _: () = assert!(2 * (CHECKERS as usize + 2) < found::MOST);

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

    fn write(&self, class: usize, position: &Position, inputs: &mut Inputs) {
        Found::write(inputs, |found| side(found, 0, position.own()));
        self.write_rest(class, position, inputs);
    }

    fn shared(&self, _: usize) -> usize {
        SIDE
    }

    fn begins_alike(&self, _: usize, one: &Position, other: &Position) -> bool {
        one.own() == other.own()
    }

    fn write_rest(&self, _: usize, position: &Position, inputs: &mut Inputs) {
        Found::add(inputs, |found| {
            side(found, SIDE, position.other());
            found.push(2 * SIDE, 1.0);
        });
    }

    fn possible(&self, class: usize, position: &Position, chances: BackgammonChances) -> BackgammonChances {
        possible(PositionClass::ALL[class], position, chances)
    }
}

/// Adds the inputs of a side, of which `first` is the first.
#[inline(always)]
fn side(found: &mut Found<'_>, first: usize, side: &[u8; 25]) {
    found.points(first, points_with::<1>(side), side);
    found.push(first + 4 * BAR, f32::from(side[BAR]) / 2.0);
    found.push(first + 4 * BAR + 1, over::<15>(u32::from(CHECKERS - checkers(side))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::slow;
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
    fn every_kernel_judges_the_same() {
        slow::check_kernels(Tesauro198);
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
        Found::write(&mut inputs, |found| {
            side(found, 0, &spread);
            side(found, SIDE, &spread);
        });
        assert_eq!(inputs.indices.len(), 30);
    }
}
