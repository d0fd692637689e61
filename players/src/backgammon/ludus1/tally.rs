//! One pass over the checkers of a side.

use crate::backgammon::board::Board;
use crate::backgammon::escapes::{REACH, escapes};
use crate::backgammon::found::Found;

/// What adds up over a side's slots.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// Sum of the checkers' slots, and of their squares.
    pub slots: u32,
    pub squares: u32,
    /// Squares of the numbers beyond 3.
    pub stacks: u32,
    /// Pips to bring all checkers home.
    pub outside: u32,
    /// Pips that can be played without breaking points (see [`timing`]).
    pub timing: u32,
    /// Checkers on slots 0 to 11, and from 18 on.
    pub front: u32,
    pub back: u32,
    /// Rolls that carry a checker from one made point to the next, over all such links, and their number.
    pub link_rolls: u32,
    pub links: u32,
    /// Rolls with which checkers from slot 18 on do not escape; and, from 18 on, those of each slot, once or for two
    /// checkers and more twice.
    pub held: u32,
    pub held_on: [u32; 7],
    /// Pips home times escapes.
    pub mobility: u32,
    /// Checkers that have not passed the other's rearmost one, and the pips to pass it.
    pub not_passed: u32,
    pub to_pass: u32,
    /// Pips of those that have passed it.
    pub free: u32,
    /// Of these the checkers not on the ace or deuce point, and their pips to the ace point.
    pub spare: u32,
    pub spare_pips: u32,
}

impl Tally {
    /// Adds a side's slots to the inputs, from number `first` on, and sums up.
    #[inline(always)]
    pub(super) fn of(found: &mut Found<'_>, first: usize, side: &Board<'_>, other: &Board<'_>) -> Tally {
        let blocked = other.made_seen;
        // The other side's rearmost checker, seen from here; -1 on the bar.
        let line = 23 - other.rear as i32;
        let mut tally = Tally::default();
        // The point made before; one that is nowhere links with nothing.
        let mut before = 32;
        // The last takes what is not held anywhere.
        let mut held_on = [0; 8];
        for (slot, n) in side.stacks() {
            found.slot(first, slot, n);
            tally.slots += n * slot;
            tally.squares += n * slot * slot;
            tally.stacks += n.saturating_sub(3).pow(2);
            let home = n * slot.saturating_sub(5);
            tally.outside += home;
            tally.timing += timing(slot, n);
            tally.front += if slot < 12 { n } else { 0 };

            let made = n >= 2 && slot < 24;
            let link = made && before < 32;
            tally.link_rolls +=
                if link { u32::from(REACH[slot.wrapping_sub(before) as usize % 32]) } else { 0 };
            tally.links += u32::from(link);
            before = if made { slot } else { before };

            let rolls = escapes(slot, blocked);
            let back = slot >= 18;
            tally.back += if back { n } else { 0 };
            tally.held += if back { n * (36 - rolls) } else { 0 };
            held_on[(slot.wrapping_sub(18) as usize).min(7)] = (36 - rolls) * n.min(2);
            tally.mobility += home * rolls;

            let beyond = slot as i32 - line;
            let free = beyond < 0;
            tally.not_passed += if beyond > 0 { n } else { 0 };
            tally.to_pass += n * beyond.max(0) as u32;
            tally.free += if free { n * (slot + 1) } else { 0 };
            let spare = free && slot >= 2;
            tally.spare += if spare { n } else { 0 };
            tally.spare_pips += if spare { n * slot } else { 0 };
        }
        tally.held_on.copy_from_slice(&held_on[..7]);
        tally
    }
}

/// What `n` checkers on `slot` add to the pips that a side can play without breaking a point. That is all that bring the
/// checkers on the bar and on slots 6 to 17 home; of the other's home what brings those home that a point there does not
/// need; and at home what takes those to the ace point that a point does not need. A point needs two checkers; a single
/// checker is needed nowhere.
#[inline(always)]
fn timing(slot: u32, n: u32) -> u32 {
    let spare = if n == 1 { 1 } else { n - 2 };
    let movable = if (6..18).contains(&slot) || slot == 24 { n } else { spare };
    movable * if slot < 6 { slot } else { slot - 5 }
}
