//! The inputs of races.

use super::{late_for_gammon, race_score, rolls_off};
use crate::backgammon::board::{Board, FAR_HOME};
use crate::backgammon::found::{self, Found, Hats, SLOTS};
use ludus_games::backgammon::CHECKERS;

/// All inputs.
pub(super) const WIDTH: usize =
    JOINT + SCORE.units() + LEAD.units() + 1 + 2 * (GAMMON.units() + BACKGAMMON.units());
// Of the slots at most one input for each checker is not zero, of numbers of checkers off one, and of hats two for each
// number.
const _: () = assert!(2 * (CHECKERS as usize + 1 + SUMS + 2 + 2 + 2) + 1 + 2 + 2 <= found::MOST);

/// Inputs of one side.
pub(super) const SIDE: usize = SLOTS + OFF + SUMS + ROLLS.units();
/// First input of both sides together.
const JOINT: usize = 2 * SIDE;
/// Numbers of checkers borne off that have an input.
const OFF: usize = 14;
/// Inputs that sum up a side.
const SUMS: usize = 4;
/// The rolls to bear off.
const ROLLS: Hats = Hats::new(1.0, 1.0, 12);
/// The lead, in standard deviations.
const SCORE: Hats = Hats::new(-3.0, 0.4, 16);
/// The lead, in rolls.
const LEAD: Hats = Hats::new(-4.0, 0.5, 17);
/// The rolls by which a side will be late to save the gammon.
const GAMMON: Hats = Hats::new(-5.0, 0.75, 13);
/// The rolls by which a side will be late to save the backgammon.
const BACKGAMMON: Hats = Hats::new(-4.0, 0.75, 8);

/// Adds all inputs.
///
/// For each side, the side on roll first:
///
/// | input | what |
/// |---|---|
/// | 0..=99 | slots: the 24 points and the bar, four a slot: just 1 checker, just 2, at least 3, half the number beyond 3 |
/// | 100..=113 | just 1, 2, ... 14 checkers borne off |
/// | 114 | pips / 100 |
/// | 115 | pips that will be wasted, by Keith's rules (see [`wasted`]), / 10 |
/// | 116 | pips to bring all checkers home / 50 |
/// | 117 | whether all are |
/// | 118..=129 | rolls to bear off (see `rolls_off`), the wasted pips counted: hats from 1 to 12 |
///
/// For both together:
///
/// | input | what |
/// |---|---|
/// | 0..=15 | the lead of the side on roll, in standard deviations (see `race_score`), the wasted pips counted: hats from -3 to 3 |
/// | 16..=32 | its lead in rolls to bear off: hats from -4 to 4 |
/// | 33 | the first lead in pips / 50 |
/// | 34..=46 | rolls by which the side on roll will be late to save the gammon: hats from -5 to 4; all 0 once it has borne off |
/// | 47..=54 | rolls by which it will be late to leave the other's home: hats from -4 to 1.25; all 0 without checkers there, or once it has borne off |
/// | 55..=67, 68..=75 | the same for the other side |
#[inline(always)]
pub(super) fn write(found: &mut Found<'_>, own: &Board<'_>, other: &Board<'_>) {
    let (own_pips, own_rolls) = side(found, 0, own);
    let (other_pips, other_rolls) = side(found, SIDE, other);
    let lead = other_pips as f32 - own_pips as f32 + 4.0;
    found.hats(JOINT, &SCORE, race_score(lead, (own_pips + other_pips) as f32));
    found.hats(JOINT + SCORE.units(), &LEAD, other_rolls - own_rolls);
    found.push(JOINT + SCORE.units() + LEAD.units(), lead / 50.0);
    let mut first = JOINT + SCORE.units() + LEAD.units() + 1;
    for (board, other_rolls) in [(own, other_rolls), (other, own_rolls)] {
        if board.left == CHECKERS {
            found.hats(first, &GAMMON, late_for_gammon(pips_home(board), other_rolls));
            if board.men & FAR_HOME != 0 {
                let to_leave: u32 = board.stacks().map(|(slot, n)| n * slot.saturating_sub(17)).sum();
                let late = to_leave as f32 * (6.0 / 49.0) - other_rolls;
                found.hats(first + GAMMON.units(), &BACKGAMMON, late);
            }
        }
        first += GAMMON.units() + BACKGAMMON.units();
    }
}

/// Adds the inputs of a side. Returns its pips, with those that will be wasted, and its rolls to bear off.
#[inline(always)]
fn side(found: &mut Found<'_>, first: usize, board: &Board<'_>) -> (u32, f32) {
    found.each_slot(first, board, |_, _| ());
    found.one_of(first + SLOTS, OFF, u32::from(CHECKERS - board.left));
    let (pips, wasted, outside) = (pips(board), wasted(board), pips_home(board));
    let rolls = rolls_off(board, pips + wasted);
    let sums =
        [pips as f32 / 100.0, wasted as f32 / 10.0, outside as f32 / 50.0, f32::from(u8::from(outside == 0))];
    found.all(first + SLOTS + OFF, sums);
    found.hats(first + SLOTS + OFF + SUMS, &ROLLS, rolls);
    (pips + wasted, rolls)
}

/// Pips to add for an uneven distribution: 2 for each checker on the ace point beyond the first, 1 for each on the deuce
/// point beyond the first, 1 for each on the three point beyond the third, and 1 for each of the points 4, 5 and 6 that
/// is empty. (T. Keith, *Cube Handling in Noncontact Positions*, 2004.)
#[inline(always)]
fn wasted(board: &Board<'_>) -> u32 {
    let beyond = |slot: usize, enough: u8| u32::from(board.count[slot].saturating_sub(enough));
    let gaps = (!board.men & 0b11_1000).count_ones();
    2 * beyond(0, 1) + beyond(1, 1) + beyond(2, 3) + gaps
}

/// Pips that a side's checkers still have to go.
#[inline(always)]
fn pips(board: &Board<'_>) -> u32 {
    board.stacks().map(|(slot, n)| n * (slot + 1)).sum()
}

/// Pips to bring all checkers home.
#[inline(always)]
fn pips_home(board: &Board<'_>) -> u32 {
    board.stacks().map(|(slot, n)| n * slot.saturating_sub(5)).sum()
}
