//! What matters when a side has hardly a checker left to play with.

use super::tally::Tally;
use crate::backgammon::board::Board;
use crate::backgammon::found::{Found, Hats};
use ludus_games::backgammon::CHECKERS;

/// Number of inputs of a side.
pub(super) const UNITS: usize = OFF + CONTACT + SPARE + PIPS.units();
/// No more of them than this are not zero.
pub(super) const MOST: usize = 1 + 1 + 1 + 2;

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
pub(super) fn write(found: &mut Found<'_>, first: usize, side: &Board<'_>, tally: &Tally) {
    found.one_of(first, OFF, u32::from(CHECKERS - side.left));
    found.one_of(first + OFF, CONTACT, tally.not_passed.checkers());
    found.one_of(first + OFF + CONTACT, SPARE, tally.spare.checkers());
    found.hats(first + OFF + CONTACT + SPARE, &PIPS, tally.spare.slots() as f32);
}
