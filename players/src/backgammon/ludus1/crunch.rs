//! What matters when a side has hardly a checker left to play with.

use crate::backgammon::board::Board;
use crate::backgammon::found::{Found, Hats};
use ludus_games::backgammon::CHECKERS;

/// Number of inputs of a side.
pub(super) const UNITS: usize = OFF + CONTACT + SPARE + PIPS.units();

/// Numbers of checkers borne off that have an input.
const OFF: usize = 14;
/// Numbers of checkers in contact that have an input.
const CONTACT: usize = 6;
/// Numbers of spare checkers that have an input.
const SPARE: usize = 7;
/// The pips of the spare checkers.
const PIPS: Hats = Hats::new(0.0, 8.0, 7);

/// Adds the inputs of `side`.
///
/// | input | what |
/// |---|---|
/// | 0..=13 | just 1, 2, ... 14 checkers borne off |
/// | 14..=19 | just 1, 2, ... 5, or at least 6 checkers that have not passed the other's rearmost one |
/// | 20..=26 | just 1, 2, ... 6, or at least 7 spare ones: they have passed it and are not on the ace or the deuce point |
/// | 27..=33 | pips of these down to the ace point: hats from 0 to 48 |
#[inline(always)]
pub(super) fn write(found: &mut Found<'_>, first: usize, side: &Board<'_>, other: &Board<'_>) {
    let line = 23 - other.rear as i32;
    let (mut contact, mut spare, mut pips) = (0, 0, 0);
    for (slot, n) in side.stacks() {
        let beyond = slot as i32 - line;
        contact += if beyond > 0 { n } else { 0 };
        if beyond < 0 && slot >= 2 {
            spare += n;
            pips += n * slot;
        }
    }
    found.one_of(first, OFF, u32::from(CHECKERS - side.left));
    found.one_of(first + OFF, CONTACT, contact);
    found.one_of(first + OFF + CONTACT, SPARE, spare);
    found.hats(first + OFF + CONTACT + SPARE, &PIPS, pips as f32);
}
