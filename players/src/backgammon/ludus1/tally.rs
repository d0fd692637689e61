//! One pass over the checkers of a side.

use crate::backgammon::board::{Board, HOME};
use crate::backgammon::escapes::escapes;
use crate::backgammon::found::Found;

/// What adds up over a side's slots.
#[derive(Clone, Copy)]
pub(super) struct Tally {
    /// What depends on the side's own checkers alone.
    pub all: Sums,
    /// The same of the checkers that have passed the other's rearmost one, without those on the ace and the deuce point.
    pub spare: Sums,
    /// The same of the checkers that have not passed it.
    pub not_passed: Sums,
    /// Pips to pass it.
    pub to_pass: u32,
    /// Pips of the checkers that have passed it.
    pub free: u32,
    /// Rolls with which checkers from slot 18 on do not escape; and, from 18 on, those of each slot, once or for two
    /// checkers and more twice.
    pub held: u32,
    pub held_on: [u32; 7],
    /// Pips home times escapes.
    pub mobility: u32,
}

impl Tally {
    /// Sums up, and adds a side's slots to the inputs that `add` names, from that number on.
    #[inline(never)]
    pub(super) fn of(add: Option<(&mut Found<'_>, usize)>, side: &Board<'_>, other: &Board<'_>) -> Tally {
        // The other side's rearmost checker, seen from here; -1 on the bar.
        let line = 23 - other.rear as i32;
        let packed = |slot: u32, n: u32| PACKED[slot as usize % 32][n as usize % 16];
        // Sums of all checkers and of those that have passed.
        let (mut all, mut passed) = (0, 0);
        let mut sum = |slot, n| {
            let sums = packed(slot, n);
            all += sums;
            passed += if (slot as i32) < line { sums } else { 0 };
        };
        match add {
            Some((found, first)) => found.each_slot(first, side, sum),
            None => side.stacks().for_each(|(slot, n)| sum(slot, n)),
        }
        // Those at the line itself are level, and so are none when it is the bar.
        let of = |slot: i32| packed(slot as u32, u32::from(side.count[slot as usize % 32 % 25]));
        let level = if line >= 0 { of(line) } else { 0 };
        let deep = if line > 0 { of(0) } else { 0 } + if line > 1 { of(1) } else { 0 };
        let (passed, not_passed, spare) = (Sums(passed), Sums(all - passed - level), Sums(passed - deep));

        let (mut held, mut mobility) = (0, 0);
        let mut held_on = [0; 8];
        let mut outside = side.men & !HOME;
        while outside != 0 {
            let slot = outside.trailing_zeros();
            outside &= outside - 1;
            let n = u32::from(side.count[slot as usize % 25]);
            let rolls = escapes(slot, other.made_seen);
            mobility += n * (slot - 5) * rolls;
            // The last takes what is not held anywhere.
            held_on[(slot.wrapping_sub(18) as usize).min(7)] = (36 - rolls) * n.min(2);
            held += if slot >= 18 { n * (36 - rolls) } else { 0 };
        }
        Tally {
            all: Sums(all),
            spare,
            not_passed,
            to_pass: (not_passed.slots() as i32 - line * not_passed.checkers() as i32) as u32,
            free: passed.slots() + passed.checkers(),
            held,
            held_on: std::array::from_fn(|i| held_on[i]),
            mobility,
        }
    }
}

/// Sums over checkers, packed so that one addition adds all of them.
#[derive(Clone, Copy)]
pub(super) struct Sums(u64);

/// Declares what is packed, each with the bits it needs for fifteen checkers.
macro_rules! packed {
    ($($(#[$doc:meta])* $name:ident: $bits:literal from $low:literal,)*) => {
        impl Sums {
            $($(#[$doc])*
            #[inline(always)]
            pub(super) fn $name(self) -> u32 {
                (self.0 >> $low & ((1 << $bits) - 1)) as u32
            })*
        }
    };
}

packed! {
    /// Checkers.
    checkers: 4 from 0,
    /// Sum of their slots.
    slots: 9 from 4,
    /// Sum of the squares of their slots.
    squares: 14 from 13,
    /// Sum of the squares of the numbers beyond 3 on a slot.
    stacks: 8 from 27,
    /// Pips to bring them home.
    outside: 9 from 35,
    /// Pips that they can be played without breaking points (see [`timing`]).
    timing: 9 from 44,
    /// Those on slots 0 to 11.
    front: 4 from 53,
    /// Those from slot 18 on.
    back: 4 from 57,
}

/// The sums of each number of checkers on each slot.
static PACKED: [[u64; 16]; 32] = {
    let mut table = [[0; 16]; 32];
    let mut slot = 0;
    while slot < 25 {
        let mut n: u64 = 1;
        while n < 16 {
            let outside = if slot > 5 { n * (slot - 5) } else { 0 };
            let beyond = n.saturating_sub(3);
            let front = if slot < 12 { n } else { 0 };
            let back = if slot >= 18 { n } else { 0 };
            table[slot as usize][n as usize] = n
                | (n * slot) << 4
                | (n * slot * slot) << 13
                | (beyond * beyond) << 27
                | outside << 35
                | timing(slot, n) << 44
                | front << 53
                | back << 57;
            n += 1;
        }
        slot += 1;
    }
    table
};

/// What `n` checkers on `slot` add to the pips that a side can play without breaking a point. That is all that bring the
/// checkers on the bar and on slots 6 to 17 home; of the other's home what brings those home that a point there does not
/// need; and at home what takes those to the ace point that a point does not need. A point needs two checkers; a single
/// checker is needed nowhere.
const fn timing(slot: u64, n: u64) -> u64 {
    let spare = if n == 1 { 1 } else { n - 2 };
    let movable = if slot >= 6 && slot < 18 || slot == 24 { n } else { spare };
    movable * (if slot < 6 { slot } else { slot - 5 })
}
