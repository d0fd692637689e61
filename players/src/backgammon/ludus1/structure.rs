//! What the checkers of a side tell alone.

use crate::backgammon::board::{Board, FAR_HOME, HOME};
use crate::backgammon::escapes::REACH;
use crate::backgammon::found::Found;
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
pub(super) fn write(found: &mut Found<'_>, first: usize, board: &Board<'_>) {
    let off = f32::from(CHECKERS - board.left);
    let fives = |more: f32| ((off - more) / 5.0).clamp(0.0, 1.0);
    let (mut sum, mut squares, mut stacks) = (0, 0, 0);
    for (slot, n) in board.stacks() {
        sum += n * slot;
        squares += n * slot * slot;
        stacks += n.saturating_sub(3).pow(2);
    }
    let left = u32::from(board.left);
    let home = (board.made & HOME).count_ones() as f32 / 6.0;
    let anchors = board.made & FAR_HOME;
    let foremost = if anchors != 0 { (24 - anchors.trailing_zeros()) as f32 / 6.0 } else { 0.0 };
    found.all(
        first,
        [
            fives(0.0),
            fives(5.0),
            fives(10.0),
            (sum + left) as f32 / 150.0,
            board.rear as f32 / 24.0,
            (32 - board.made.leading_zeros()) as f32 / 24.0,
            foremost,
            home,
            home * home,
            // The numbers are whole until the root: N times the squares less the square of the sum is N^2 times the variance.
            ((left * squares - sum * sum) as f32).sqrt() / (12 * left.max(1)) as f32,
            backbone(board.made),
            stacks as f32 / 64.0,
            f32::from(u8::from(anchors & anchors.wrapping_sub(1) != 0)),
            super::men_in(board, 18..25).saturating_sub(3) as f32 / 4.0,
        ],
    );
}

/// How well the made points are within each other's reach.
#[inline(always)]
fn backbone(mut made: u32) -> f32 {
    let (mut rolls, mut links) = (0, 0);
    let mut slot = made.trailing_zeros();
    made &= made.wrapping_sub(1);
    while made != 0 {
        let next = made.trailing_zeros();
        made &= made - 1;
        rolls += u32::from(REACH[(next - slot) as usize]);
        links += 1;
        slot = next;
    }
    rolls as f32 / (36 * links.max(1)) as f32
}
