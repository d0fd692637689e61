//! Writing the inputs of a position quickly.

use std::mem::MaybeUninit;

use ludus_games::backgammon::CHECKERS;

use super::board::Board;
use crate::input_set::Inputs;

/// The inputs found so far, in ascending order. An input is written first and counted when it is not zero, so that no
/// branch has to be guessed. Their number is a byte, as there is room for as many, so that no place has to be checked.
pub(super) struct Found<'a> {
    indices: &'a mut [MaybeUninit<u16>; ROOM],
    values: &'a mut [MaybeUninit<f32>; ROOM],
    /// The places below have been written.
    len: u8,
}

/// Room for inputs, those included that are written and not counted.
const ROOM: usize = 256 + 4;
/// Inputs of one side's 25 slots.
pub(super) const SLOTS: usize = 100;
/// No set may have more inputs than this that are not zero.
pub(super) const MOST: usize = 252;

impl Found<'_> {
    /// Replaces the content of `inputs` by what `find` finds.
    #[inline(always)]
    pub(super) fn write(inputs: &mut Inputs, find: impl FnOnce(&mut Found<'_>)) {
        inputs.clear();
        Found::add(inputs, find);
    }

    /// Adds to `inputs` what `find` finds.
    #[inline(always)]
    pub(super) fn add(inputs: &mut Inputs, find: impl FnOnce(&mut Found<'_>)) {
        inputs.indices.reserve(ROOM);
        inputs.values.reserve(ROOM);
        let (Some(indices), Some(values)) = (
            inputs.indices.spare_capacity_mut().first_chunk_mut(),
            inputs.values.spare_capacity_mut().first_chunk_mut(),
        ) else {
            unreachable!("both were given the room");
        };
        let mut found = Found { indices, values, len: 0 };
        find(&mut found);
        let len = usize::from(found.len);
        // SAFETY: both have the room, and as `Found::len` says, as many places behind what they held have been written: whatever
        // counts an input writes its place first. (Filling the room up beforehand would take as long as writing the inputs.)
        unsafe {
            inputs.indices.set_len(inputs.indices.len() + len);
            inputs.values.set_len(inputs.values.len() + len);
        }
    }

    /// Adds an input unless it is zero.
    #[inline(always)]
    pub(super) fn push(&mut self, index: usize, value: f32) {
        self.put(index, value, value != 0.0);
    }

    /// Adds an input unless it is zero. It must not be below, which is quicker.
    #[inline(always)]
    pub(super) fn push_positive(&mut self, index: usize, value: f32) {
        debug_assert!(value >= 0.0);
        self.put(index, value, value > 0.0);
    }

    #[inline(always)]
    fn put(&mut self, index: usize, value: f32, counts: bool) {
        self.indices[usize::from(self.len)].write(index as u16);
        self.values[usize::from(self.len)].write(value);
        self.len = self.len.wrapping_add(u8::from(counts));
    }

    /// Adds the inputs of a side's points as G. Tesauro has them, of which `first` is the first: of each point whether it
    /// holds at least one checker, at least two, at least three, and half the number beyond three. `points` are those that
    /// hold any, a bit each.
    #[inline(always)]
    pub(super) fn points(&mut self, first: usize, mut points: u32, count: &[u8; 25]) {
        let mut found = Found { indices: &mut *self.indices, values: &mut *self.values, len: self.len };
        while points != 0 {
            let point = points.trailing_zeros() as usize;
            points &= points - 1;
            let n = count[point] % 16;
            // All four are written, and those that are zero are overwritten by the next ones.
            let place = usize::from(found.len);
            // The four together, sixteen bits each.
            let four = (first + 4 * point) as u64 * 0x0001_0001_0001_0001 + 0x0003_0002_0001_0000;
            let indices = [four as u16, (four >> 16) as u16, (four >> 32) as u16, (four >> 48) as u16];
            found.indices[place..place + 4].copy_from_slice(&indices.map(MaybeUninit::new));
            found.values[place..place + 4].copy_from_slice(&POINT[usize::from(n)].map(MaybeUninit::new));
            found.len = found.len.wrapping_add(n.min(4));
        }
        self.len = found.len;
    }

    /// Adds inputs with consecutive indices, none of which is below zero.
    #[inline(always)]
    pub(super) fn all<const N: usize>(&mut self, first: usize, values: [f32; N]) {
        // A copy, which the compiler can keep in registers.
        let mut found = Found { indices: &mut *self.indices, values: &mut *self.values, len: self.len };
        // Four at a time, which it then writes out.
        let (fours, rest) = values.as_chunks::<4>();
        for (i, four) in fours.iter().enumerate() {
            for (j, &value) in four.iter().enumerate() {
                found.push_positive(first + 4 * i + j, value);
            }
        }
        for (j, &value) in rest.iter().enumerate() {
            found.push_positive(first + 4 * fours.len() + j, value);
        }
        self.len = found.len;
    }

    /// Adds the one that holds of the units for `n` = 1, 2, ... `units`; none for 0, the last for more.
    #[inline(always)]
    pub(super) fn one_of(&mut self, first: usize, units: usize, n: u32) {
        let n = (n as usize).min(units);
        self.push_positive((first + n).saturating_sub(1), if n > 0 { 1.0 } else { 0.0 });
    }

    /// Adds a number as `units` hats: unit `i` is 1 at `low + i * step`, falls to 0 at its neighbours' places, and beyond
    /// the first and the last place their unit stays 1. Thus a network may learn any broken line over them at once, and
    /// at most two are not zero.
    #[inline(always)]
    pub(super) fn hats(&mut self, first: usize, hats: &Hats, number: f32) {
        let place = ((number - hats.low) * hats.per_step).clamp(0.0, (hats.units - 1) as f32);
        let below = place as usize;
        let share = place - below as f32;
        self.push_positive(first + below, 1.0 - share);
        self.push_positive(first + below + 1, share);
    }

    /// Adds the 100 inputs of a side's slots, of which `first` is the first: of each slot whether it holds just one
    /// checker, just two, three or more, and half the number beyond three. Tells `each` of the slots that hold any.
    #[inline(always)]
    pub(super) fn each_slot(&mut self, first: usize, board: &Board<'_>, mut each: impl FnMut(u32, u32)) {
        let mut found = Found { indices: &mut *self.indices, values: &mut *self.values, len: self.len };
        for (slot, n) in board.stacks() {
            found.slot(first, slot, n);
            each(slot, n);
        }
        self.len = found.len;
    }

    #[inline(always)]
    fn slot(&mut self, first: usize, slot: u32, n: u32) {
        let (index, n) = (first + 4 * slot as usize, n as usize % 16);
        let place = usize::from(self.len);
        self.indices[place].write((index + usize::from(UNIT[n])) as u16);
        self.values[place].write(1.0);
        self.indices[place + 1].write((index + 3) as u16);
        self.values[place + 1].write(BEYOND[n]);
        self.len = self.len.wrapping_add(1 + u8::from(n > 3));
    }
}

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
/// By the number of checkers on a slot, the one of its first three inputs that is 1.
static UNIT: [u8; 16] = [0, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2];
/// By the number of checkers on a slot, its fourth input.
static BEYOND: [f32; 16] = [0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0];

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
            Found::write(&mut inputs, |found| found.hats(10, &hats, number));
            assert_eq!((&inputs.indices[..], &inputs.values[..]), (indices, values), "{number}");
        }
    }

    #[test]
    fn one_unit_holds_for_a_number_and_the_last_for_more() {
        let mut inputs = Inputs::default();
        for (n, expected) in [(0, &[][..]), (1, &[7]), (3, &[9]), (8, &[9])] {
            Found::write(&mut inputs, |found| found.one_of(7, 3, n));
            assert_eq!(inputs.indices, expected);
        }
    }
}
