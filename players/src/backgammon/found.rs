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
        // What an earlier position left in the arrays is overwritten, so only what they lack is filled up.
        inputs.indices.resize(most + 1, 0);
        inputs.values.resize(most + 1, 0.0);
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

    /// Adds inputs with consecutive indices.
    #[inline(always)]
    pub(super) fn all<const N: usize>(&mut self, first: usize, values: [f32; N]) {
        for (i, value) in values.into_iter().enumerate() {
            self.push(first + i, value);
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

    /// Adds the 100 inputs of a side's slots: of each point and then of the bar, whether there is just one checker, just
    /// two, three or more, and half the number beyond three.
    #[inline(always)]
    pub(super) fn slots(&mut self, first: usize, board: &Board<'_>) {
        for (slot, n) in board.stacks() {
            let index = first + 4 * slot as usize;
            let beyond = n.saturating_sub(3);
            self.indices[self.len] = (index + n as usize - 1 - beyond as usize) as u16;
            self.values[self.len] = 1.0;
            self.len += 1;
            self.push(index + 3, beyond as f32 * 0.5);
        }
    }
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
