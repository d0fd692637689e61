//! The rolls that hit.
//!
//! A shot goes from a checker to a blot, so what is looked at is each blot with the squares before it: a few tables tell
//! which rolls bring a checker from there. Only doubles are sometimes played out, for all blots and checkers at once:
//! a side's slots shifted down by a die are the squares it lands on. Everything is in the slots of the side that hits.

use super::board::Board;
use super::rolls::{COMBINED, DOUBLE, Dice, FAR, FAR_AWAY, Rolls, SUM, either, first, second};

/// Of the 36 rolls, those with which a side can hit. A roll may be played by any steps of its dice, as far as points that
/// the other side has made and checkers on the bar allow; that as many dice as possible have to be played is left out
/// of account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shots {
    /// Rolls that can hit.
    pub any: u32,
    /// Rolls that can hit two blots and more.
    pub two: u32,
    /// Sum over the 36 rolls of the pips that the most costly blot in reach would lose.
    pub pips: u32,
    /// Rolls that can hit the blot on each slot of the side that hits.
    pub at: [u8; 24],
}

/// What a double can hit.
#[derive(Clone, Copy, Default)]
struct Hits {
    /// Blots in reach, each by a play of its own.
    blots: u32,
    /// Whether one play hits two.
    two: bool,
}

impl Shots {
    /// The shots of `hitter` at the blots of `target`.
    pub(super) fn of(hitter: &Board<'_>, target: &Board<'_>) -> Shots {
        if target.blots == 0 {
            return Shots::default();
        }
        let (blots, blocked) = (target.blots_seen, target.made_seen);
        if hitter.bar == 0 { free(hitter, blots, blocked) } else { entering(hitter, blots, blocked) }
    }

    /// The rolls of `hitter` that hit a blot of `target`: [`Shots::any`] alone, which is quicker to find.
    #[inline(always)]
    pub(super) fn rolls(hitter: &Board<'_>, target: &Board<'_>) -> u32 {
        let (mut blots, blocked) = (target.blots_seen, target.made_seen);
        if hitter.bar > 0 {
            return if blots == 0 { 0 } else { rolls_entering(hitter, blots, blocked).count_ones() };
        }
        let mut any = 0;
        while blots != 0 {
            let before = blots.trailing_zeros() + 1;
            blots &= blots - 1;
            any |= rolls_that_hit(hitter.men >> before, !(blocked >> before));
        }
        any.count_ones()
    }

    /// Notes the rolls that hit the blot on a slot. All more costly ones were noted before; they are hit by `any`, and by
    /// it and this one together afterwards.
    #[inline(always)]
    fn note(&mut self, slot: u32, rolls: Rolls, any: &mut Rolls) {
        self.at[slot as usize] = rolls.count_ones() as u8;
        // The blot on slot i of the hitter has come from its own slot 24, its slot -1 so to speak: i + 1 pips.
        self.pips += (slot + 1) * (rolls & !*any).count_ones();
        *any |= rolls;
    }
}

/// Whether more than one bit is set.
#[inline(always)]
fn several(bits: u32) -> bool {
    bits & bits.wrapping_sub(1) != 0
}

/// Whether two different blots can be chosen, one of each.
#[inline(always)]
fn pair(one: u32, other: u32) -> bool {
    one != 0 && other != 0 && several(one | other)
}

/// A blot that can be hit.
#[derive(Clone, Copy, Default)]
struct Blot {
    slot: u32,
    /// Dice that hit it at once.
    direct: Dice,
    /// Those of them that come from a single checker.
    single: Dice,
}

/// The shots of a side without checkers on the bar.
#[inline(always)]
fn free(hitter: &Board<'_>, blots: u32, blocked: u32) -> Shots {
    let mut shots = Shots::default();
    let (mut any, mut several): (Rolls, Rolls) = (0, 0);
    let (mut hit, mut n) = ([Blot::default(); 15], 0);
    let mut rest = blots;
    // The most costly blot first.
    while rest != 0 {
        let slot = rest.ilog2();
        rest ^= 1 << slot;
        let before = slot + 1;
        let rolls = rolls_that_hit(hitter.men >> before, !(blocked >> before));
        several |= rolls & any;
        shots.note(slot, rolls, &mut any);
        hit[n] = Blot { slot, direct: hitter.men >> before & 0x3f, single: hitter.blots >> before };
        n += 1;
    }
    shots.any = any.count_ones();
    if several != 0 {
        let two = two_by_two_dice(&hit[..n]) & !DOUBLE;
        shots.two = two.count_ones() + two_by_doubles(hitter.men, several & DOUBLE, blots, blocked);
    }
    shots
}

/// The rolls with which one of `men` hits a blot; bit `i` of `men` and of the squares that are `open` is `i + 1` before it.
#[inline(always)]
fn rolls_that_hit(men: u32, open: u32) -> Rolls {
    let mut rolls = either(men);
    let near = (open & 0x3f) as usize;
    let mut combined = men & 0x7fe;
    while combined != 0 {
        let distance = combined.trailing_zeros() as usize + 1;
        combined &= combined - 1;
        rolls |= COMBINED[distance][near];
    }
    if men & FAR_AWAY != 0 {
        for &(distance, double, way) in &FAR {
            rolls |= if men >> (distance - 1) & 1 == 1 && way & !open == 0 { double } else { 0 };
        }
    }
    rolls
}

/// The rolls of two different dice that hit two of these blots, the further of two coming later. (What it says of doubles
/// is meaningless.)
#[inline(always)]
fn two_by_two_dice(blots: &[Blot]) -> Rolls {
    let mut rolls = 0;
    for (i, far) in blots.iter().enumerate() {
        for near in &blots[..i] {
            let apart = near.slot - far.slot;
            // Each die by another checker: not a single one that would have to play both.
            let mut orders =
                [first(near.direct) & second(far.direct), second(near.direct) & first(far.direct)];
            if apart < 6 {
                let same = DOUBLE & first(near.direct & near.single & far.direct >> apart);
                orders[0] &= !(same << apart);
                orders[1] &= !(same << (6 * apart));
            }
            // One checker, on its way.
            if apart <= 6 {
                let onward = 1 << (apart - 1);
                rolls |= first(near.direct) & second(onward) | second(near.direct) & first(onward);
            }
            rolls |= orders[0] | orders[1];
        }
    }
    rolls
}

/// How many of these doubles hit two blots.
#[inline(always)]
fn two_by_doubles(men: u32, doubles: Rolls, blots: u32, blocked: u32) -> u32 {
    let (mut rolls, mut rest) = (0, doubles);
    while rest != 0 {
        let die = rest.trailing_zeros() as usize / 7 + 1;
        rest &= rest - 1;
        let first = men >> die & !blocked;
        // Two blots within two steps each are the rule, so they are looked for first.
        let quick = self::several((first | first >> die) & blots);
        rolls += u32::from(quick || double(first, die, 4, blots, blocked).two);
    }
    rolls
}

/// What a double hits with at most `steps` steps, `first` being the open squares that one step reaches.
fn double(first: u32, die: usize, steps: usize, blots: u32, blocked: u32) -> Hits {
    let mut open = [0; 5];
    let mut next = first;
    for reached in &mut open[1..=steps] {
        *reached = next;
        next = next >> die & !blocked;
    }
    let hit = open.map(|squares| squares & blots);
    let [_, r1, r2, r3, r4] = hit;
    let reached = r1 | r2 | r3 | r4;
    let two = several(reached) && {
        // One checker, on its way.
        let passed = blots >> die;
        let chain = r2 & passed != 0
            || r3 & (passed | passed >> die) != 0
            || r4 & (passed | passed >> die | passed >> (2 * die)) != 0;
        // Two checkers.
        chain
            || steps >= 2 && several(r1)
            || steps >= 3 && pair(r1, r2)
            || steps >= 4 && (several(r2) || pair(r1, r3))
    };
    Hits { blots: reached, two }
}

/// The dice that take a checker from the bar to these slots.
#[inline(always)]
fn entry_dice(slots: u32) -> Dice {
    // The die is 24 less the slot.
    (slots >> 18 & 0x3f).reverse_bits() >> 26
}

/// The shots of a side with checkers on the bar, which have to enter first.
fn entering(hitter: &Board<'_>, blots: u32, blocked: u32) -> Shots {
    let mut shots = Shots::default();
    let on_board = hitter.men & 0xff_ffff;
    let (enters, hits_on_entry) = (entry_dice(!blocked), entry_dice(blots));

    let mut doubles = [Hits::default(); 7];
    for (die, hits) in doubles.iter_mut().enumerate().skip(1) {
        let entry = 1 << (24 - die);
        if entry & blocked == 0 {
            let steps = usize::from(4u8.saturating_sub(hitter.bar));
            let onward = double((on_board | entry) >> die & !blocked, die, steps, blots, blocked);
            let two = onward.two || entry & blots != 0 && onward.blots & !entry != 0;
            *hits = Hits { blots: onward.blots | entry & blots, two };
            shots.two += u32::from(two);
        }
    }

    let mut any = 0;
    let mut rest = blots;
    while rest != 0 {
        let slot = rest.ilog2();
        rest ^= 1 << slot;
        let mut rolls = either(entry_dice(1 << slot));
        if hitter.bar == 1 {
            // One die enters, the other one moves that checker on or another one.
            let onward = SUM[(24 - slot as usize).min(13) % 13];
            let moves = on_board >> (slot + 1);
            rolls |= first(enters) & (second(moves) | onward) | second(enters) & (first(moves) | onward);
        }
        rolls &= !DOUBLE;
        for (die, hits) in doubles.iter().enumerate().skip(1) {
            rolls |= if hits.blots >> slot & 1 == 1 { first(1 << (die - 1)) & DOUBLE } else { 0 };
        }
        shots.note(slot, rolls, &mut any);
    }
    shots.any = any.count_ones();
    if hits_on_entry != 0 {
        let two = if hitter.bar == 1 {
            entry_and_another(on_board, hits_on_entry, blots)
        } else {
            first(hits_on_entry) & second(hits_on_entry)
        };
        shots.two += (two & !DOUBLE).count_ones();
    }
    shots
}

/// The rolls with which a side that has checkers on the bar hits any of `blots`.
fn rolls_entering(hitter: &Board<'_>, blots: u32, blocked: u32) -> Rolls {
    let on_board = hitter.men & 0xff_ffff;
    let mut rolls = either(entry_dice(blots));
    if hitter.bar == 1 {
        // One die enters, the other one moves that checker on or another one.
        let (mut moves, mut onward) = (0, 0);
        let mut rest = blots;
        while rest != 0 {
            let slot = rest.trailing_zeros();
            rest &= rest - 1;
            moves |= on_board >> (slot + 1);
            onward |= SUM[(24 - slot as usize).min(13) % 13];
        }
        let enters = entry_dice(!blocked);
        rolls |= first(enters) & (second(moves) | onward) | second(enters) & (first(moves) | onward);
    }
    rolls &= !DOUBLE;
    let steps = 4u8.saturating_sub(hitter.bar);
    for die in 1..=6 {
        let entry = 1 << (24 - die);
        if entry & blocked == 0 {
            let (mut reached, mut next) = (entry, on_board | entry);
            for _ in 0..steps {
                next = next >> die & !blocked;
                reached |= next;
            }
            rolls |= Rolls::from(reached & blots != 0) << (7 * (die - 1));
        }
    }
    rolls
}

/// The rolls that hit one of `blots` by entering with one of the dice `entries`, and another one with the other die. (What
/// it says of doubles is meaningless.)
fn entry_and_another(on_board: u32, entries: Dice, blots: u32) -> Rolls {
    let mut rolls = 0;
    for enters in 1..=6 {
        if entries >> (enters - 1) & 1 == 0 {
            continue;
        }
        let entry = 1 << (24 - enters);
        for moves in 1..=6 {
            if (on_board | entry) >> moves & blots & !entry != 0 {
                let (enters, moves) = (1 << (enters - 1), 1 << (moves - 1));
                rolls |= first(enters) & second(moves) | first(moves) & second(enters);
            }
        }
    }
    rolls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::slow;
    use ludus_games::backgammon::Position;

    /// Shots of the side on roll.
    fn shots(position: &Position) -> Shots {
        let [own, other] = &Board::both(position);
        Shots::of(own, other)
    }

    #[test]
    fn shots_are_those_found_by_playing_every_roll() {
        let mut on_bar = [0; 5];
        for position in slow::varied().iter().step_by(2) {
            let shots = shots(position);
            let rolled: Vec<_> =
                slow::rolls().map(|roll| slow::reached(position.own(), position.other(), roll)).collect();
            let count =
                |holds: &dyn Fn(&slow::Reached) -> bool| rolled.iter().filter(|r| holds(r)).count() as u32;
            assert_eq!(shots.any, count(&|r| r.most >= 1), "{position:?}");
            assert_eq!(shots.two, count(&|r| r.most >= 2), "{position:?}");
            let [own, other] = &Board::both(position);
            assert_eq!(Shots::rolls(own, other), shots.any);
            for slot in 0..24 {
                assert_eq!(u32::from(shots.at[slot]), count(&|r| r.slots[slot]), "{slot} {position:?}");
            }
            on_bar[usize::from(position.own()[24].min(4))] += u32::from(shots.two > 0);
        }
        assert!(on_bar.iter().all(|&n| n > 0), "double shots by checkers on the bar: {on_bar:?}");
    }

    #[test]
    fn a_direct_six_has_17_rolls_and_fewer_when_combinations_are_blocked() {
        // The hitter stands on slot 20, the blot on its slot 14.
        let position = |blocks: &[usize]| {
            let (mut own, mut other) = ([0; 25], [0; 25]);
            own[20] = 1;
            other[23 - 14] = 1;
            blocks.iter().for_each(|&slot| other[23 - slot] = 2);
            Position::new(own, other).unwrap()
        };
        assert_eq!(shots(&position(&[])).any, 17);
        // 5-1 through either point, 4-2 too, 3-3, 2-2.
        assert_eq!(shots(&position(&[19])).any, 17);
        assert_eq!(shots(&position(&[19, 15])).any, 15);
        assert_eq!(shots(&position(&[18])).any, 16);
        assert_eq!(shots(&position(&[15, 16, 17, 18, 19])).any, 11);
        assert_eq!(shots(&position(&[])).pips, 17 * 15);
    }
}
