//! Writing the inputs of a position quickly.

use super::board::Board;
use crate::input_set::Inputs;

/// The inputs found so far, in ascending order. An input is written first and counted when it is not zero, so that no
/// branch has to be guessed.
pub(super) struct Found<'a> {
    indices: &'a mut [u16],
    values: &'a mut [f32],
    len: usize,
}

/// Inputs of one side's 25 slots.
pub(super) const SLOTS: usize = 100;

impl<'a> Found<'a> {
    /// Replaces the content of `inputs` by what `find` finds, at most `most` inputs.
    #[inline(always)]
    pub(super) fn write(inputs: &'a mut Inputs, most: usize, find: impl FnOnce(&mut Found<'_>)) {
        // Room for those that are written and not counted. What an earlier position left in the arrays is overwritten, so only what they lack is filled up.
        inputs.indices.resize(most + 4, 0);
        inputs.values.resize(most + 4, 0.0);
        let mut found = Found { indices: &mut inputs.indices, values: &mut inputs.values, len: 0 };
        find(&mut found);
        let len = found.len;
        inputs.indices.truncate(len);
        inputs.values.truncate(len);
    }

    /// Adds an input unless it is zero.
    #[inline(always)]
    pub(super) fn push(&mut self, index: usize, value: f32) {
        self.indices[self.len] = index as u16;
        self.values[self.len] = value;
        self.len += usize::from(value != 0.0);
    }

    /// Adds the first `n` of four inputs with consecutive indices; the others are zero.
    #[inline(always)]
    pub(super) fn some(&mut self, first: usize, values: [f32; 4], n: usize) {
        let first = first as u16;
        self.indices[self.len..self.len + 4].copy_from_slice(&[first, first + 1, first + 2, first + 3]);
        self.values[self.len..self.len + 4].copy_from_slice(&values);
        self.len += n;
    }

    /// Adds inputs with consecutive indices.
    #[inline(always)]
    pub(super) fn all<const N: usize>(&mut self, first: usize, values: [f32; N]) {
        // Four at a time, which the compiler then writes out.
        let (fours, rest) = values.as_chunks::<4>();
        for (i, four) in fours.iter().enumerate() {
            for (j, &value) in four.iter().enumerate() {
                self.push(first + 4 * i + j, value);
            }
        }
        for (j, &value) in rest.iter().enumerate() {
            self.push(first + 4 * fours.len() + j, value);
        }
    }

    /// Adds the one that holds of the units for `n` = 1, 2, ... `units`; none for 0, the last for more.
    #[inline(always)]
    pub(super) fn one_of(&mut self, first: usize, units: usize, n: u32) {
        let n = (n as usize).min(units);
        self.push((first + n).saturating_sub(1), if n > 0 { 1.0 } else { 0.0 });
    }

    /// Adds a number as `units` hats: unit `i` is 1 at `low + i * step`, falls to 0 at its neighbours' places, and beyond
    /// the first and the last place their unit stays 1. Thus a network may learn any broken line over them at once, and
    /// at most two are not zero.
    #[inline(always)]
    pub(super) fn hats(&mut self, first: usize, hats: &Hats, number: f32) {
        let place = ((number - hats.low) * hats.per_step).clamp(0.0, (hats.units - 1) as f32);
        let below = place as usize;
        let share = place - below as f32;
        self.push(first + below, 1.0 - share);
        self.push(first + below + 1, share);
    }

    /// Adds the inputs of all slots of a side (see [`Found::slot`]).
    #[inline(always)]
    pub(super) fn slots(&mut self, first: usize, board: &Board<'_>) {
        for (slot, n) in board.stacks() {
            self.slot(first, slot, n);
        }
    }

    /// Adds what is not zero of the four inputs of a slot with `n` checkers: whether it is just one, just two, three or
    /// more, and half the number beyond three. A side's 25 slots have 100 inputs, of which `first` is the first.
    #[inline(always)]
    pub(super) fn slot(&mut self, first: usize, slot: u32, n: u32) {
        let index = first + 4 * slot as usize;
        let beyond = n.saturating_sub(3);
        self.indices[self.len] = (index + (n - beyond) as usize - 1) as u16;
        self.values[self.len] = 1.0;
        self.len += 1;
        self.indices[self.len] = (index + 3) as u16;
        self.values[self.len] = beyond as f32 * 0.5;
        self.len += usize::from(beyond > 0);
    }
}

/// `n / D`, to the bit what the division of singles gives, without its delay: in double precision the product with the
/// inverse is so near the quotient that both are rounded to the same single.
#[inline(always)]
pub(super) fn over<const D: u32>(n: u32) -> f32 {
    (f64::from(n) * const { 1.0 / D as f64 }) as f32
}

/// Where the hats of a number stand (see [`Found::hats`]).
pub(super) struct Hats {
    low: f32,
    per_step: f32,
    units: usize,
}

impl Hats {
    pub(super) const fn new(low: f32, step: f32, units: usize) -> Hats {
        Hats { low, per_step: 1.0 / step, units }
    }

    pub(super) const fn units(&self) -> usize {
        self.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks all numbers that can come up.
    fn check<const D: u32>() {
        for n in 0..100_000 {
            assert_eq!(over::<D>(n).to_bits(), (n as f32 / D as f32).to_bits(), "{n} / {D}");
        }
    }

    #[test]
    fn divisions_are_exact() {
        check::<4>();
        check::<5>();
        check::<6>();
        check::<10>();
        check::<15>();
        check::<24>();
        check::<36>();
        check::<50>();
        check::<64>();
        check::<72>();
        check::<100>();
        check::<144>();
        check::<150>();
        check::<216>();
        check::<432>();
        check::<3600>();
    }

    #[test]
    fn hats_meet_between_their_places_and_stay_flat_beyond() {
        let hats = Hats::new(-1.0, 0.5, 5);
        let mut inputs = Inputs::default();
        for (number, indices, values) in [
            (-7.0, &[10][..], &[1.0][..]),
            (-1.0, &[10], &[1.0]),
            (-0.625, &[10, 11], &[0.25, 0.75]),
            (0.5, &[13], &[1.0]),
            (1.0, &[14], &[1.0]),
            (9.0, &[14], &[1.0]),
        ] {
            Found::write(&mut inputs, 4, |found| found.hats(10, &hats, number));
            assert_eq!((&inputs.indices[..], &inputs.values[..]), (indices, values), "{number}");
        }
    }

    #[test]
    fn one_unit_holds_for_a_number_and_the_last_for_more() {
        let mut inputs = Inputs::default();
        for (n, expected) in [(0, &[][..]), (1, &[7]), (3, &[9]), (8, &[9])] {
            Found::write(&mut inputs, 4, |found| found.one_of(7, 3, n));
            assert_eq!(inputs.indices, expected);
        }
    }
}
