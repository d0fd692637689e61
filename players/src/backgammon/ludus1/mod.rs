//! The inputs of our own networks.
//!
//! Read here how they are laid out, then `tally` (what adds up over a side's checkers), `structure` (what these tell
//! alone), `contest` (what they tell together with the other side's), `crunch` (what matters when a side has hardly a checker
//! left to play with) and `race`.

mod contest;
mod crunch;
mod race;
mod structure;
mod tally;
#[cfg(test)]
mod tests;

use ludus_games::Backgammon;
use ludus_games::backgammon::{BackgammonChances, CHECKERS, Position};

use self::tally::Tally;
use super::bearoff;
use super::board::Board;
use super::classes::{PositionClass, possible};
use super::found::{self, Found, SLOTS};
use crate::input_set::{InputSet, Inputs};

/// Inputs of our own design: the checkers of each slot as in GNU Backgammon, and measures of what a strong player looks
/// at. A network of one hidden layer gets for nothing whatever is a sum over slots; so the measures are those that are not
/// (shots, blockades, anchors, products of such), or that sum up a whole side so that learning starts from a good place.
/// Numbers on which the result depends by an S or a step come as hats (see `Found::hats`): a row of units of which at most
/// two are not zero, so that they cost as much as two inputs. 382 inputs for contact, 450 for crashed positions, 336 for
/// races. Some 80 are not zero in contact.
///
/// Each side's block comes with the facts that depend on its checkers alone, that of the side on roll first: in the
/// positions after the plays of one roll it rarely changes.
///
/// Contact and crashed positions, the side on roll and then the other side:
///
/// | inputs | what |
/// |---|---|
/// | 0..=99 | slots: the 24 points and the bar, four a slot: just 1 checker, just 2, at least 3, half the number beyond 3 |
/// | 100..=113 | what its checkers tell alone: table in `structure` |
/// | 114..=227 | the same for the other side, its points counted from its own end |
/// | 228..=288 | what the side on roll may hope and fear from the other: table in `contest` |
/// | 289..=349 | the other side: the same |
/// | 350..=381 | the race and the gammons, for both: table in `contest` |
/// | 382..=415 | crashed positions only, the side on roll: table in `crunch` |
/// | 416..=449 | the other side: the same |
///
/// Races:
///
/// | inputs | what |
/// |---|---|
/// | 0..=99 | slots, as above (the bar is never used) |
/// | 100..=129 | the side on roll: table in `race` |
/// | 130..=259 | the other side: the same |
/// | 260..=335 | both together: table in `race` |
#[derive(Clone, Copy, Debug, Default)]
pub struct Ludus1;

/// Inputs of a side's own in contact.
const SIDE: usize = SLOTS + structure::UNITS;
/// First input of the contest of the side on roll.
const CONTEST: usize = 2 * SIDE;
/// First input that tells of both sides alike.
const JOINT: usize = CONTEST + 2 * contest::UNITS;
/// Inputs of contact positions.
const CONTACT: usize = JOINT + contest::JOINT_UNITS;
/// Inputs of crashed positions.
const CRASHED: usize = CONTACT + 2 * crunch::UNITS;
// Of the slots and of the blots at most one input for each checker is not zero, and of hats two for each number.
const _: () = assert!(
    2 * (CHECKERS as usize + structure::UNITS + contest::MOST + crunch::MOST) + contest::JOINT_MOST
        <= found::MOST
);

impl InputSet<Backgammon> for Ludus1 {
    fn name(&self) -> &'static str {
        "ludus-1"
    }

    fn classes(&self) -> &'static [&'static str] {
        &PositionClass::NAMES
    }

    fn width(&self, class: usize) -> usize {
        match PositionClass::ALL[class] {
            PositionClass::Contact => CONTACT,
            PositionClass::Crashed => CRASHED,
            PositionClass::Race => race::WIDTH,
        }
    }

    fn class(&self, position: &Position) -> Option<usize> {
        PositionClass::of(position).map(|class| class as usize)
    }

    fn write(&self, class: usize, position: &Position, inputs: &mut Inputs) {
        inputs.clear();
        add(class, position, inputs, true);
    }

    fn shared(&self, class: usize) -> usize {
        match PositionClass::ALL[class] {
            PositionClass::Race => race::SIDE,
            _ => SIDE,
        }
    }

    fn begins_alike(&self, _: usize, one: &Position, other: &Position) -> bool {
        one.own() == other.own()
    }

    fn write_rest(&self, class: usize, position: &Position, inputs: &mut Inputs) {
        // In a race nearly all that is found out for one side's inputs is needed for those of both together.
        let all = PositionClass::ALL[class] == PositionClass::Race;
        if all {
            inputs.clear();
        }
        add(class, position, inputs, all);
    }

    fn known(&self, position: &Position) -> Option<BackgammonChances> {
        bearoff::known(position)
    }

    fn possible(&self, class: usize, position: &Position, chances: BackgammonChances) -> BackgammonChances {
        possible(PositionClass::ALL[class], position, chances)
    }
}

/// Adds the inputs of a position, or, unless it is a race, all but those of the side on roll alone.
fn add(class: usize, position: &Position, inputs: &mut Inputs, all: bool) {
    let [own, other] = &Board::both(position);
    Found::add(inputs, |found| match PositionClass::ALL[class] {
        PositionClass::Race => race::write(found, own, other),
        class => {
            let own_tally = Tally::of(all.then_some((&mut *found, 0)), own, other);
            if all {
                structure::write(found, SLOTS, own, &own_tally);
            }
            let other_tally = Tally::of(Some((&mut *found, SIDE)), other, own);
            structure::write(found, SIDE + SLOTS, other, &other_tally);
            contest::write(found, CONTEST, JOINT, [own, other], [&own_tally, &other_tally]);
            if class == PositionClass::Crashed {
                crunch::write(found, CONTACT, own, &own_tally);
                crunch::write(found, CONTACT + crunch::UNITS, other, &other_tally);
            }
        }
    });
}

/// A guess at the rolls that a side needs to bear off, with `pips` to go: those that the pips take, 7 of which are wasted,
/// but no fewer than its checkers take.
#[inline(always)]
fn rolls_off(board: &Board<'_>, pips: u32) -> f32 {
    let by_pips = (pips + 7) as f32 * (6.0 / 49.0);
    let by_men = f32::from(board.left) * 0.465;
    by_pips.max(by_men)
}

/// The rolls by which a side, with `pips_home` to bring home and no checker off, will be late to save the gammon; negative
/// when it has rolls to spare.
#[inline(always)]
fn late_for_gammon(pips_home: u32, other_rolls_off: f32) -> f32 {
    (pips_home + 4) as f32 * (6.0 / 49.0) - other_rolls_off
}

/// How far a side is ahead in the race, in standard deviations of the difference to come. A roll's pips have a variance of
/// 18.6, so a side that goes 49/6 pips a roll adds up 2.3 a pip; `lead` are the pips that it is ahead, half a roll for being
/// on roll included.
#[inline(always)]
fn race_score(lead: f32, all_pips: f32) -> f32 {
    lead / (2.3 * all_pips + 10.0).sqrt()
}
