//! The inputs of Player 3.5.

use ludus_games::Backgammon;
use ludus_games::backgammon::{BackgammonChances, CHECKERS, Position};

use super::bearoff;
use super::board::Board;
use super::classes::{PositionClass, possible};
use super::escapes::escapes;
use super::found::{self, Found, over};
use super::shots::Shots;
use crate::input_set::{InputSet, Inputs};

/// The inputs of Player 3.5, whose author published what it looks at but no program: Tesauro's, and for the networks that
/// know contact a few measures of hitting and of blockades. 206 inputs for contact and crashed positions, 226 for races.
///
/// | inputs | what |
/// |---|---|
/// | 0..=95 | points 1 to 24 of the side on roll, four a point: at least 1 checker, at least 2, at least 3, and half the number beyond 3 |
/// | 96 | its checkers on the bar / 2 |
/// | 97 | its checkers borne off / 15 |
/// | 98 | whether it can no longer be backgammoned: it has borne off a checker, or the race is on and it has left the other side's home |
/// | 99..=197 | the same for the other side, its points counted from its own end |
///
/// Contact and crashed positions:
///
/// | inputs | what |
/// |---|---|
/// | 198, 199 | rolls / 36 of the other side that hit a blot of the side on roll; those of the side on roll that hit one of the other side |
/// | 200, 201 | the side on roll: the fewest escapes / 36 (see `escapes`) of its checkers on slots 15 to 23, and of those on slots 1 to 15; 1 without such checkers |
/// | 202, 203 | the other side: the same |
/// | 204, 205 | the side on roll, then the other: the average over the six entry squares of the escapes / 36 from there, 0 for a square the opponent has made |
///
/// Races:
///
/// | inputs | what |
/// |---|---|
/// | 198..=211 | the side on roll: at least 1, 2, ... 14 checkers borne off |
/// | 212..=225 | the other side: the same |
#[derive(Clone, Copy, Debug, Default)]
pub struct Player35;

/// Inputs of one side.
const SIDE: usize = 99;
/// Where the measures of contact and those of races begin.
const MORE: usize = 2 * SIDE;
/// Numbers of checkers borne off that have an input.
const OFF: usize = 14;
// Of the points at most one input for each checker is not zero.
const _: () = assert!(2 * (CHECKERS as usize + 3 + OFF) <= found::MOST);

impl InputSet<Backgammon> for Player35 {
    fn name(&self) -> &'static str {
        "player-3.5"
    }

    fn classes(&self) -> &'static [&'static str] {
        &PositionClass::NAMES
    }

    fn width(&self, class: usize) -> usize {
        match PositionClass::ALL[class] {
            PositionClass::Contact | PositionClass::Crashed => MORE + 8,
            PositionClass::Race => MORE + 2 * OFF,
        }
    }

    fn class(&self, position: &Position) -> Option<usize> {
        PositionClass::of(position).map(|class| class as usize)
    }

    fn write(&self, class: usize, position: &Position, inputs: &mut Inputs) {
        inputs.clear();
        add(class, position, inputs, true);
    }

    fn shared(&self, _: usize) -> usize {
        SIDE
    }

    fn begins_alike(&self, _: usize, one: &Position, other: &Position) -> bool {
        one.own() == other.own()
    }

    fn write_rest(&self, class: usize, position: &Position, inputs: &mut Inputs) {
        add(class, position, inputs, false);
    }

    fn known(&self, position: &Position) -> Option<BackgammonChances> {
        bearoff::known(position)
    }

    fn possible(&self, class: usize, position: &Position, chances: BackgammonChances) -> BackgammonChances {
        possible(PositionClass::ALL[class], position, chances)
    }
}

/// Adds the inputs of a position, or all but those of the side on roll alone.
fn add(class: usize, position: &Position, inputs: &mut Inputs, all: bool) {
    let race = PositionClass::ALL[class] == PositionClass::Race;
    let boards = &Board::both(position);
    let [own, other] = boards;
    Found::add(inputs, |found| {
        if all {
            side(found, 0, own, race);
        }
        side(found, SIDE, other, race);
        if race {
            for (first, board) in [MORE, MORE + OFF].into_iter().zip(boards) {
                for off in 0..usize::from(CHECKERS - board.left).min(OFF) {
                    found.push(first + off, 1.0);
                }
            }
        } else {
            found.all(MORE, contact(boards));
        }
    });
}

/// Adds the inputs of a side alone.
#[inline(always)]
fn side(found: &mut Found<'_>, first: usize, board: &Board<'_>, race: bool) {
    found.points(first, board.made | board.blots, board.count);
    found.push(first + 96, f32::from(board.bar) / 2.0);
    found.push(first + 97, over::<15>(u32::from(CHECKERS - board.left)));
    let safe = board.left < CHECKERS || race && board.rear < 18;
    found.push(first + 98, f32::from(u8::from(safe)));
}

/// Numbers of rolls over 36.
static SHARES: [f32; 64] = shares(1.0);
/// Sums of six numbers of rolls over 36, over six.
static ENTRY_SHARES: [f32; 256] = shares(6.0);

/// Each index over 36 and then over `more`: tables spare the conversions and divisions.
const fn shares<const N: usize>(more: f32) -> [f32; N] {
    let mut table = [0.0; N];
    let mut rolls = 0;
    while rolls < N {
        table[rolls] = rolls as f32 / 36.0 / more;
        rolls += 1;
    }
    table
}

/// The measures of contact.
#[inline(always)]
fn contact([own, other]: &[Board<'_>; 2]) -> [f32; 8] {
    let share = |rolls: u32| SHARES[rolls as usize % 64];
    let (own_back, own_front) = primes(own, other.made_seen);
    let (other_back, other_front) = primes(other, own.made_seen);
    [
        share(Shots::rolls(other, own)),
        share(Shots::rolls(own, other)),
        share(own_back),
        share(own_front),
        share(other_back),
        share(other_front),
        ENTRY_SHARES[from_bar(other.made_seen) as usize % 256],
        ENTRY_SHARES[from_bar(own.made_seen) as usize % 256],
    ]
}

/// The fewest escapes of a side's checkers on slots 15 to 23, and of those on slots 1 to 15, past the points `blocked`.
#[inline(always)]
fn primes(board: &Board<'_>, blocked: u32) -> (u32, u32) {
    (fewest(board.men & 0xff_8000, blocked), fewest(board.men & 0xfffe, blocked))
}

/// The fewest escapes of checkers on these slots; 36 without any.
#[inline(always)]
fn fewest(mut slots: u32, blocked: u32) -> u32 {
    let mut fewest = 36;
    while slots != 0 {
        fewest = escapes(slots.trailing_zeros(), blocked).min(fewest);
        slots &= slots - 1;
    }
    fewest
}

/// The escapes from the squares on which a checker may enter, together; at most 6 * 36.
#[inline(always)]
pub(super) fn from_bar(blocked: u32) -> u32 {
    // By bits, as the compiler would make a branch of it that nobody can foresee.
    (18..24).map(|slot| escapes(slot, blocked) & (blocked >> slot & 1).wrapping_sub(1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::slow::{self, Side};

    fn yes(holds: bool) -> f64 {
        if holds { 1.0 } else { 0.0 }
    }

    fn off(side: &Side) -> u8 {
        15 - side.iter().sum::<u8>()
    }

    fn base(race: bool, side: &Side) -> Vec<f64> {
        let mut inputs = Vec::new();
        for &n in &side[..24] {
            inputs.extend([yes(n >= 1), yes(n >= 2), yes(n >= 3), (f64::from(n) - 3.0).max(0.0) / 2.0]);
        }
        let safe = off(side) > 0 || race && side[18..].iter().all(|&n| n == 0);
        inputs.extend([f64::from(side[24]) / 2.0, f64::from(off(side)) / 15.0, yes(safe)]);
        inputs
    }

    fn hit(hitter: &Side, target: &Side) -> f64 {
        f64::from(slow::count(|roll| slow::reached(hitter, target, roll).most > 0)) / 36.0
    }

    fn prime(side: &Side, other: &Side, slots: std::ops::RangeInclusive<usize>) -> f64 {
        let escapes = slots.filter(|&slot| side[slot] > 0).map(|slot| slow::escapes(slot, other));
        f64::from(escapes.min().unwrap_or(36)) / 36.0
    }

    fn bar(other: &Side) -> f64 {
        let open = (18..24).filter(|&slot| other[23 - slot] < 2);
        open.map(|slot| f64::from(slow::escapes(slot, other)) / 36.0).sum::<f64>() / 6.0
    }

    fn slow(class: PositionClass, position: &Position) -> Vec<f64> {
        let (own, other) = (position.own(), position.other());
        let race = class == PositionClass::Race;
        let mut inputs = [base(race, own), base(race, other)].concat();
        if race {
            for side in [own, other] {
                inputs.extend((1..=14).map(|i| yes(off(side) >= i)));
            }
        } else {
            inputs.extend([hit(other, own), hit(own, other)]);
            for (side, against) in [(own, other), (other, own)] {
                inputs.extend([prime(side, against, 15..=23), prime(side, against, 1..=15)]);
            }
            inputs.extend([bar(other), bar(own)]);
        }
        inputs
    }

    #[test]
    fn inputs_are_the_definition_found_slowly() {
        // In a race nobody stands on slot 23 or the bar.
        let unused = |class| match class {
            PositionClass::Race => (92..97).chain(191..196).collect(),
            _ => vec![],
        };
        slow::check(&Player35, slow, unused);
    }

    #[test]
    fn every_kernel_judges_the_same() {
        slow::check_kernels(Player35);
    }

    #[test]
    fn inputs_are_to_the_bit_those_of_the_first_release() {
        // Weights and records depend on them: what gives others needs another name.
        assert_eq!(slow::digest(&Player35), 17343227449728895666);
    }

    #[test]
    fn there_are_206_inputs_with_contact_and_226_in_a_race() {
        assert_eq!([0, 1, 2].map(|class| Player35.width(class)), [206, 206, 226]);
    }
}
