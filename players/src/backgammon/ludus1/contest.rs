//! What a side may hope and fear from the other one.

use super::{late_for_gammon, men_in, pips, pips_home, race_score, rolls_off};
use crate::backgammon::board::{Board, HOME};
use crate::backgammon::entering;
use crate::backgammon::escapes::{escapes, runs};
use crate::backgammon::found::{Found, Hats};
use crate::backgammon::shots::Shots;
use ludus_games::backgammon::CHECKERS;

/// Number of inputs of a side.
pub(super) const UNITS: usize = SUMS + HELD + RISKS;
/// Those that sum up the whole side.
const SUMS: usize = 30;
/// One for each slot where checkers are held: the other side's home and the bar.
const HELD: usize = 7;
/// One for each point where a blot may stand.
const RISKS: usize = 24;
/// Number of inputs of both together.
pub(super) const JOINT_UNITS: usize = RACE.units() + 1 + 2 * GAMMON.units();

/// The lead in the race, in standard deviations.
const RACE: Hats = Hats::new(-2.4, 0.4, 13);
/// The rolls by which a side will be late to save the gammon.
const GAMMON: Hats = Hats::new(-12.0, 2.5, 9);

/// Adds the inputs of both sides, from number `first` on, and those of both together, from number `joint` on.
///
/// For each side:
///
/// | input | what |
/// |---|---|
/// | 0, 1 | rolls / 36 of the other side that hit a blot, that hit two |
/// | 2 | pips the side loses to the other's most costly hit, on average over all rolls, / 12 |
/// | 3 | input 0 times the share of the other's home points that are made |
/// | 4, 5 | of the rearmost checker: escapes / 36, and rolls / 36 it can play whole (see `escapes`) |
/// | 6 | escapes / 36 from the bar: the average over the six entry squares, 0 for one that the other side has made |
/// | 7, 8 | how far it is contained: 1 - the fewest escapes / 36 from any square between slot 12 and the rearmost checker, and the square of that |
/// | 9, 10 | how far a checker on the bar would be contained: the same from slot 12 to 24 |
/// | 11 | checkers held: sum of 1 - escapes / 36 over those in the other's home and on the bar, / 4 |
/// | 12 | mobility: sum over the checkers outside home of the pips home times escapes / 36, / 100 |
/// | 13 | pips to pass the other's rearmost checker with all checkers, / 100 |
/// | 14 | checkers that have not passed it / 15 |
/// | 15 | pips of the checkers that have passed it / 100 |
/// | 16 | timing: pips it can play without breaking points, / 100 (see [`timing`]) |
/// | 17 | crunch: input 7 times how far the timing is below 50 pips, / 50 |
/// | 18 | share of a roll lost to entering (see `entering`) if it has checkers on the bar |
/// | 19 | share of a roll it would lose to entering one checker |
/// | 20, 21 | share of the other's home points that are made, if it has a checker on the bar; if it has two |
/// | 22..=25 | whether at least 3, 4, 5, 6 of its made points in a row stand before the other's rearmost checker |
/// | 26, 27 | whether at least 4, 5 of six points in a row there are made |
/// | 28 | attackers: its checkers on slots 0 to 11 / 10, if the other side has a blot in this side's home or a checker on the bar |
/// | 29 | rolls / 36 that make a point among its slots 1 to 8 (see [`new_points`]) |
/// | 30..=36 | slots 18 to 24 that hold its checkers: 1 - escapes / 36 from there, half of it for a single checker |
/// | 37..=60 | points where it has a blot: rolls / 36 of the other side that hit it |
///
/// For both together:
///
/// | input | what |
/// |---|---|
/// | 0..=12 | the lead of the side on roll in the race, in standard deviations (see `race_score`): hats from -2.4 to 2.4 |
/// | 13 | that lead in pips / 100 |
/// | 14..=22 | rolls by which the side on roll will be late to save the gammon: hats from -12 to 8; all 0 once it has borne off |
/// | 23..=31 | the same for the other side |
#[inline(always)]
pub(super) fn write(found: &mut Found<'_>, first: usize, joint: usize, own: &Board<'_>, other: &Board<'_>) {
    side(found, first, own, other);
    side(found, first + UNITS, other, own);
    let [own_pips, other_pips] = [own, other].map(pips);
    let lead = other_pips as f32 - own_pips as f32 + 4.0;
    found.hats(joint, &RACE, race_score(lead, (own_pips + other_pips) as f32));
    found.push(joint + RACE.units(), lead / 100.0);
    let mut gammon = joint + RACE.units() + 1;
    for (board, against, pips) in [(own, other, other_pips), (other, own, own_pips)] {
        if board.left == CHECKERS {
            found.hats(gammon, &GAMMON, late_for_gammon(pips_home(board), rolls_off(against, pips)));
        }
        gammon += GAMMON.units();
    }
}

/// Adds the inputs of `side`.
#[inline(always)]
fn side(found: &mut Found<'_>, first: usize, side: &Board<'_>, other: &Board<'_>) {
    let blocked = other.made_seen;
    let closed = (other.made & HOME).count_ones() as f32 / 6.0;
    let shots = Shots::of(other, side);
    let hit = shots.any as f32 / 36.0;

    let (mut near, mut far) = (36, 36);
    for slot in 12..=24 {
        let rolls = escapes(slot, blocked);
        far = far.min(rolls);
        near = if slot <= side.rear { near.min(rolls) } else { near };
    }
    let contained = |rolls: u32| (36 - rolls) as f32 / 36.0;
    let (near, far) = (contained(near), contained(far));

    // The other side's rearmost checker, seen from here; -1 on the bar.
    let line = 23 - other.rear as i32;
    let (mut held, mut mobility) = (0, 0);
    let mut held_on = [0.0; HELD];
    let (mut to_pass, mut not_passed, mut free) = (0, 0, 0);
    for (slot, n) in side.stacks() {
        let rolls = escapes(slot, blocked);
        if slot >= 18 {
            held += n * (36 - rolls);
            held_on[slot as usize - 18] = ((36 - rolls) * n.min(2)) as f32 / 72.0;
        }
        mobility += n * slot.saturating_sub(5) * rolls;
        let beyond = slot as i32 - line;
        to_pass += n as i32 * beyond.max(0);
        not_passed += if beyond > 0 { n } else { 0 };
        free += if beyond < 0 { n * (slot + 1) } else { 0 };
    }
    let timing = timing(side) as f32;
    let if_bar = |least: u8, value: f32| if side.bar >= least { value } else { 0.0 };
    let entry = blocked >> 18;

    let before_line = if line < 0 { side.made } else { side.made >> (line + 1) };
    let (row, of_six) = (longest_row(before_line), densest_six(before_line));
    let flag = |holds: bool| f32::from(u8::from(holds));
    let attacked = other.bar > 0 || other.blots_seen & HOME != 0;
    let attackers = if attacked { men_in(side, 0..12) } else { 0 };

    found.all(
        first,
        [
            hit,
            shots.two as f32 / 36.0,
            shots.pips as f32 / (36.0 * 12.0),
            hit * closed,
            escapes(side.rear, blocked) as f32 / 36.0,
            runs(side.rear, blocked) as f32 / 36.0,
            crate::backgammon::player35::from_bar(blocked) as f32 / 216.0,
            near,
            near * near,
            far,
            far * far,
            held as f32 / (36.0 * 4.0),
            mobility as f32 / 3600.0,
            to_pass as f32 / 100.0,
            not_passed as f32 / 15.0,
            free as f32 / 100.0,
            timing / 100.0,
            near * (1.0 - timing / 50.0).max(0.0),
            if_bar(1, entering::lost(side.bar, entry)),
            entering::lost(1, entry),
            if_bar(1, closed),
            if_bar(2, closed),
            flag(row >= 3),
            flag(row >= 4),
            flag(row >= 5),
            flag(row >= 6),
            flag(of_six >= 4),
            flag(of_six >= 5),
            attackers as f32 / 10.0,
            new_points(side, blocked) as f32 / 36.0,
        ],
    );
    found.all(first + SUMS, held_on);
    let mut blots = if shots.any == 0 { 0 } else { side.blots };
    while blots != 0 {
        let slot = blots.trailing_zeros();
        blots &= blots - 1;
        found.push(first + SUMS + HELD + slot as usize, shots.at(23 - slot) as f32 / 36.0);
    }
}

/// Pips a side can play without breaking a point: all those that bring the checkers on the bar and on slots 6 to 17 home;
/// those of the checkers in the other's home that a point there does not need; and those down to the ace point of the
/// checkers at home that a point does not need. A point needs two checkers; a single checker is needed nowhere.
#[inline(always)]
fn timing(side: &Board<'_>) -> u32 {
    side.stacks()
        .map(|(slot, n)| {
            let spare = if n == 1 { 1 } else { n - 2 };
            match slot {
                0..=5 => spare * slot,
                6..=17 | 24 => n * (slot - 5),
                _ => spare * (slot - 5),
            }
        })
        .sum()
}

/// The length of the longest row of set bits, at most 6.
#[inline(always)]
fn longest_row(bits: u32) -> u32 {
    let mut row = bits;
    let mut length = 0;
    while row != 0 && length < 6 {
        row &= row >> 1;
        length += 1;
    }
    length
}

/// The largest number of set bits among any six in a row.
#[inline(always)]
fn densest_six(bits: u32) -> u32 {
    // Full adders, all places at once: three bits and three bits become ones and twos, these ones, twos and fours.
    let add = |a: u32, b: u32, c: u32| (a ^ b ^ c, a & b | c & (a ^ b));
    let (ones, twos) = add(bits, bits >> 1, bits >> 2);
    let (ones, carry) = (ones ^ ones >> 3, ones & ones >> 3);
    let (twos, fours) = add(twos, twos >> 3, carry);
    for (places, n) in
        [(fours & twos, 6), (fours & ones, 5), (fours, 4), (twos & ones, 3), (twos, 2), (ones, 1)]
    {
        if places != 0 {
            return n;
        }
    }
    0
}

/// Slots of the points that [`new_points`] looks for.
const BUILDING: u32 = 0x1fe;

/// Rolls of 36 that make one more of the points on slots 1 to 8, each checker moving one die straight there: two
/// checkers that no point needs, or one onto a blot; of a double also two checkers of the same point. A side with
/// checkers on the bar has none.
#[inline(always)]
fn new_points(side: &Board<'_>, blocked: u32) -> u32 {
    if side.bar > 0 {
        return 0;
    }
    let wanted = BUILDING & !blocked & !side.made;
    // A single checker, or the third of a point.
    let spare = side.blots | side.heavy;
    let landing: [u32; 7] = std::array::from_fn(|die| spare >> die & wanted);
    let mut rolls = 0;
    for a in 1..=6 {
        let doubled = side.made >> a & wanted | landing[a] & side.blots;
        rolls += u32::from(doubled != 0);
        for b in 1..a {
            let made = landing[a] & landing[b] | (landing[a] | landing[b]) & side.blots;
            rolls += if made != 0 { 2 } else { 0 };
        }
    }
    rolls
}
