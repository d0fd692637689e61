//! A side of a position as bits, from which the features of the input sets are computed.

use ludus_games::backgammon::{BAR, Position};

use super::side::{checkers, points_with, seen_by_other};

/// The points of a side's home, as it counts them.
pub(super) const HOME: u32 = 0x3f;
/// The points of the other side's home.
pub(super) const FAR_HOME: u32 = HOME << 18;

/// A side's checkers, a bit for each slot: 0 is its ace point, 24 its bar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Board<'a> {
    /// How many checkers stand on each slot.
    pub count: &'a [u8; 25],
    /// Slots that hold checkers, the bar too.
    pub men: u32,
    /// Points with two checkers and more.
    pub made: u32,
    /// Points with one.
    pub blots: u32,
    /// Points with three and more.
    pub heavy: u32,
    /// `made` as the other side counts the points.
    pub made_seen: u32,
    /// `blots` as the other side counts the points.
    pub blots_seen: u32,
    /// Slot of the rearmost checker; 0 when there is none.
    pub rear: u32,
    /// Checkers on the bar.
    pub bar: u8,
    /// Checkers that are not borne off.
    pub left: u8,
}

impl Board<'_> {
    pub(super) fn of(count: &[u8; 25]) -> Board<'_> {
        let points = points_with::<1>(count);
        let made = points_with::<2>(count);
        let blots = points & !made;
        let bar = count[BAR];
        let men = points | u32::from(bar > 0) << BAR;
        Board {
            count,
            men,
            made,
            blots,
            heavy: points_with::<3>(count),
            made_seen: seen_by_other(made),
            blots_seen: seen_by_other(blots),
            rear: (men | 1).ilog2(),
            bar,
            left: checkers(count),
        }
    }

    /// Both sides of a position, that on roll first.
    pub(super) fn both(position: &Position) -> [Board<'_>; 2] {
        [Board::of(position.own()), Board::of(position.other())]
    }

    /// Its slots that hold checkers with their number, from the ace point up.
    #[inline(always)]
    pub(super) fn stacks(&self) -> impl Iterator<Item = (u32, u32)> {
        let (mut men, count) = (self.men, self.count);
        std::iter::from_fn(move || {
            let slot = (men != 0).then(|| men.trailing_zeros())?;
            men &= men - 1;
            Some((slot, u32::from(count[slot as usize])))
        })
    }
}
