//! What discs are worth by the squares they stand on, and the player that looks at nothing else.

use ludus_games::othello::{Play, Position};
use ludus_games::{Othello, Plays};
use rand_chacha::ChaCha8Rng;

use crate::player::Player;

/// Worth of the squares of a corner's triangle, a1 b1 c1 d1, b2 c2 d2, c3 d3, d4: every square of the board mirrors one of them.
/// Corners cannot be turned again; the squares beside them give them away. Weights of our own.
const A1: i32 = 100;
const B1: i32 = -22;
const C1: i32 = 9;
const D1: i32 = 6;
const B2: i32 = -45;
const C2: i32 = -6;
const D2: i32 = -4;
const C3: i32 = 2;
const D3: i32 = 1;
const D4: i32 = 0;

/// The squares of each worth, as bits.
const CLASSES: [(u64, i32); 10] = {
    let rows = [[A1, B1, C1, D1], [B1, B2, C2, D2], [C1, C2, C3, D3], [D1, D2, D3, D4]];
    let worths = [A1, B1, C1, D1, B2, C2, D2, C3, D3, D4];
    let mut classes = [(0, 0); 10];
    let mut class = 0;
    while class < 10 {
        classes[class].1 = worths[class];
        let mut square = 0;
        while square < 64 {
            let (row, column) = (square / 8, square % 8);
            let row = if row > 3 { 7 - row } else { row };
            let column = if column > 3 { 7 - column } else { column };
            if rows[row][column] == worths[class] {
                classes[class].0 |= 1 << square;
            }
            square += 1;
        }
        class += 1;
    }
    classes
};

/// Worth of a position for the side to act: its discs less the other's, each by its square.
pub fn positional(position: &Position) -> i32 {
    let count = |bits: u64| bits.count_ones() as i32;
    let worth = |&(squares, worth): &(u64, i32)| {
        worth * (count(position.own() & squares) - count(position.other() & squares))
    };
    CLASSES.iter().map(worth).sum()
}

/// Worth of a square to play, for the order in which plays are tried.
pub(super) fn worth_of(play: Play) -> i32 {
    match play {
        Play::At(square) => {
            let bit = 1 << square.index();
            CLASSES.iter().find(|(squares, _)| squares & bit != 0).map_or(0, |(_, worth)| *worth)
        }
        Play::Pass => 0,
    }
}

/// Makes the play after which its own squares are worth most; the first of equals. It sees a game that ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Positional;

/// More than all squares together.
const WON: i32 = 10_000;

impl Player<Othello> for Positional {
    fn choose(&mut self, _: &Position, (): (), plays: &Plays<Othello>, _: &mut ChaCha8Rng) -> usize {
        let after = plays
            .after
            .iter()
            .map(|next| if next.is_over() { WON * i32::from(next.margin()) } else { positional(next) });
        // What is worst for the next side is best for the mover.
        after.enumerate().min_by_key(|&(_, worth)| worth).map_or(0, |(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_has_one_worth_and_mirrored_squares_have_the_same() {
        let all = CLASSES.iter().fold(0, |all, (squares, _)| {
            assert_eq!(all & squares, 0);
            all | squares
        });
        assert_eq!(all, u64::MAX);
        for (squares, _) in CLASSES {
            assert_eq!(squares, squares.swap_bytes(), "top and bottom");
            assert_eq!(squares, squares.reverse_bits().swap_bytes(), "left and right");
        }
    }

    #[test]
    fn a_position_is_worth_to_one_side_what_the_other_lacks() {
        let position = Position::new(1 | 1 << 9, 1 << 1).expect("different squares");
        assert_eq!(positional(&position), A1 + B2 - B1);
        assert_eq!(positional(&position.flipped()), -positional(&position));
        assert_eq!(positional(&Position::START), 0);
    }
}
