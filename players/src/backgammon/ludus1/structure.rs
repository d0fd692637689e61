//! What the checkers of a side tell alone.

use super::tally::Tally;
use crate::backgammon::board::{Board, FAR_HOME, HOME};
use crate::backgammon::escapes::links;
use crate::backgammon::found::{Found, over};
use ludus_games::backgammon::CHECKERS;

/// Number of these inputs.
pub(super) const UNITS: usize = 14;

/// Adds them.
///
/// | input | what |
/// |---|---|
/// | 0, 1, 2 | checkers borne off, five a unit, the first five first |
/// | 3 | pips / 150 |
/// | 4 | slot of the rearmost checker / 24 |
/// | 5 | the rearmost made point (1 to 24) / 24; 0 without one |
/// | 6 | the foremost made point in the other side's home: 1 for its bar's neighbour (slot 18), 1/6 for its ace point; 0 without one |
/// | 7, 8 | made points at home / 6, and the square of that |
/// | 9 | standard deviation of the checkers' slots / 12 |
/// | 10 | backbone: the average over neighbouring made points of the rolls / 36 that carry a checker from one to the next; 0 with fewer than two |
/// | 11 | stacks: sum of the squares of the numbers beyond 3 / 64 |
/// | 12 | whether there are two made points and more in the other side's home |
/// | 13 | checkers in the other side's home and on the bar beyond 3, / 4 |
#[inline(always)]
pub(super) fn write(found: &mut Found<'_>, first: usize, board: &Board<'_>, tally: &Tally) {
    let left = u32::from(board.left);
    let off = u32::from(CHECKERS) - left;
    let home = over::<6>((board.made & HOME).count_ones());
    let anchors = board.made & FAR_HOME;
    // The numbers are whole until the root: N times the squares less the square of the sum is N^2 times the variance.
    let spread = left * tally.all.squares() - tally.all.slots() * tally.all.slots();
    found.all(
        first,
        [
            over::<5>(off.min(5)),
            over::<5>(off.clamp(5, 10) - 5),
            over::<5>(off.max(10) - 10),
            over::<150>(pips(board, tally)),
            over::<24>(board.rear),
            over::<24>(32 - board.made.leading_zeros()),
            if anchors != 0 { over::<6>(24 - anchors.trailing_zeros()) } else { 0.0 },
            home,
            home * home,
            (spread as f32).sqrt() / (12 * left.max(1)) as f32,
            links(board.made) as f32 / (36 * board.made.count_ones().saturating_sub(1).max(1)) as f32,
            over::<64>(tally.all.stacks()),
            f32::from(u8::from(anchors & anchors.wrapping_sub(1) != 0)),
            over::<4>(tally.all.back().saturating_sub(3)),
        ],
    );
}

/// Pips that a side has to go.
#[inline(always)]
pub(super) fn pips(board: &Board<'_>, tally: &Tally) -> u32 {
    tally.all.slots() + u32::from(board.left)
}
