//! What a side may hope and fear from the other one.

use super::structure::pips;
use super::tally::Tally;
use super::{late_for_gammon, race_score, rolls_off};
use crate::backgammon::board::{Board, HOME};
use crate::backgammon::entering;
use crate::backgammon::escapes::{escapes, runs};
use crate::backgammon::found::{Found, Hats, over};
use crate::backgammon::player35::from_bar;
use crate::backgammon::rolls::{DOUBLE, Rolls, first as first_die, second as second_die};
use crate::backgammon::shots::Shots;
use ludus_games::backgammon::CHECKERS;

/// Number of inputs of a side.
pub(super) const UNITS: usize = SUMS + HELD + RISKS;
/// No more of them than this are not zero.
pub(super) const MOST: usize = SUMS + HELD + CHECKERS as usize;
/// No more of those of both together than this are not zero.
pub(super) const JOINT_MOST: usize = 2 + 1 + 2 * 2;
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
/// | 16 | timing: pips it can play without breaking points, / 100 (see `tally`) |
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
pub(super) fn write(
    found: &mut Found<'_>,
    first: usize,
    joint: usize,
    [own, other]: [&Board<'_>; 2],
    [own_tally, other_tally]: [&Tally; 2],
) {
    side(found, first, own, other, own_tally);
    side(found, first + UNITS, other, own, other_tally);
    let (own_pips, other_pips) = (pips(own, own_tally), pips(other, other_tally));
    let lead = other_pips as f32 - own_pips as f32 + 4.0;
    found.hats(joint, &RACE, race_score(lead, (own_pips + other_pips) as f32));
    found.push(joint + RACE.units(), lead / 100.0);
    let mut gammon = joint + RACE.units() + 1;
    for (board, tally, against, pips) in
        [(own, own_tally, other, other_pips), (other, other_tally, own, own_pips)]
    {
        if board.left == CHECKERS {
            found.hats(gammon, &GAMMON, late_for_gammon(tally.all.outside(), rolls_off(against, pips)));
        }
        gammon += GAMMON.units();
    }
}

/// Adds the inputs of `side`.
#[inline(never)]
fn side(found: &mut Found<'_>, first: usize, side: &Board<'_>, other: &Board<'_>, tally: &Tally) {
    let blocked = other.made_seen;
    let closed = over::<6>((other.made & HOME).count_ones());
    let shots = Shots::of(other, side);
    let hit = over::<36>(shots.any);

    // The fewest escapes from slot 12 up to each slot.
    let mut fewest = [36; 32];
    let mut least = 36;
    // In threes, which the compiler writes out.
    for slot in (12..24).step_by(3) {
        for slot in [slot, slot + 1, slot + 2] {
            least = least.min(escapes(slot, blocked) as u8);
            fewest[slot as usize % 32] = least;
        }
    }
    least = least.min(escapes(24, blocked) as u8);
    fewest[24] = least;
    let contained = |fewest: u8| over::<36>(36 - u32::from(fewest));
    let (near, far) = (contained(fewest[side.rear as usize % 32]), contained(least));

    let if_bar = |least: u8, value: f32| only_if(side.bar >= least, value);
    let entry = blocked >> 18;
    // Its points that stand before the other's rearmost checker.
    let walls = if other.bar > 0 { side.made } else { side.made >> (24 - other.rear) };
    let (rows, of_six) = (rows(walls), dense_sixes(walls));
    let flag = |holds: bool| only_if(holds, 1.0);
    let attacked = other.bar > 0 || other.blots_seen & HOME != 0;

    found.all(
        first,
        [
            hit,
            over::<36>(shots.two),
            over::<432>(shots.pips),
            hit * closed,
            over::<36>(escapes(side.rear, blocked)),
            over::<36>(runs(side.rear, blocked)),
            over::<216>(from_bar(blocked)),
            near,
            near * near,
            far,
            far * far,
            over::<144>(tally.held),
            over::<3600>(tally.mobility),
            over::<100>(tally.to_pass),
            over::<15>(tally.not_passed.checkers()),
            over::<100>(tally.free),
            over::<100>(tally.all.timing()),
            near * (1.0 - over::<50>(tally.all.timing())).max(0.0),
            if_bar(1, entering::lost(side.bar, entry)),
            entering::lost(1, entry),
            if_bar(1, closed),
            if_bar(2, closed),
            flag(rows[0] != 0),
            flag(rows[1] != 0),
            flag(rows[2] != 0),
            flag(rows[3] != 0),
            flag(of_six[0] != 0),
            flag(of_six[1] != 0),
            over::<10>(if attacked { tally.all.front() } else { 0 }),
            over::<36>(new_points(side, blocked)),
        ],
    );
    found.all(first + SUMS, tally.held_on.map(over::<72>));
    let mut blots = if shots.any == 0 { 0 } else { side.blots };
    while blots != 0 {
        let slot = blots.trailing_zeros();
        blots &= blots - 1;
        found.push_positive(
            first + SUMS + HELD + slot as usize,
            over::<36>(u32::from(shots.at[23 - slot as usize])),
        );
    }
}

/// The number if a condition holds, else 0. By bits, as the compiler would make a branch of it that nobody can foresee.
#[inline(always)]
fn only_if(holds: bool, number: f32) -> f32 {
    f32::from_bits(number.to_bits() & u32::from(holds).wrapping_neg())
}

/// Where three, four, five and six bits in a row are set.
#[inline(always)]
fn rows(bits: u32) -> [u32; 4] {
    let two = bits & bits >> 1;
    let four = two & two >> 2;
    [two & bits >> 2, four, four & bits >> 4, four & two >> 4]
}

/// Where at least four, and five, of six bits in a row are set.
#[inline(always)]
fn dense_sixes(bits: u32) -> [u32; 2] {
    // Full adders, all places at once: three bits and three bits become ones and twos, these ones, twos and fours.
    let add = |a: u32, b: u32, c: u32| (a ^ b ^ c, a & b | c & (a ^ b));
    let (ones, twos) = add(bits, bits >> 1, bits >> 2);
    let (ones, carry) = (ones ^ ones >> 3, ones & ones >> 3);
    let (twos, fours) = add(twos, twos >> 3, carry);
    [fours, fours & (ones | twos)]
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
    let mut rolls: Rolls = 0;
    for slot in 1..=8 {
        let landing = spare >> (slot + 1);
        let (a, b) = (first_die(landing), second_die(landing));
        let both = a & b & !DOUBLE | first_die(side.made >> (slot + 1)) & DOUBLE;
        let making = if side.blots >> slot & 1 == 1 { a | b | both } else { both };
        rolls |= if wanted >> slot & 1 == 1 { making } else { 0 };
    }
    rolls.count_ones()
}
