//! What a board is worth at sight.

use ludus_games::italian_draughts::Board;

/// A man.
const MAN: i32 = 100;
/// A king.
const KING: i32 = 170;
/// Who is ahead gains by trades: this times the difference over the sum of both sides' pieces.
const TRADE: i32 = 300;
/// A man that still guards the row where the other side's men become kings.
const BACK_RANK: i32 = 7;
/// A king of the weaker side in a double corner, where it cannot be caught.
const DOUBLE_CORNER: i32 = 20;
/// A man in the centre.
const CENTRE_MAN: i32 = 5;
/// A king in the centre.
const CENTRE_KING: i32 = 8;
/// A man on an edge, in the first half of a game: it has half the moves.
const EDGE: i32 = -4;
/// The same in the second half: nothing can capture it.
const SAFE_EDGE: i32 = 3;
/// A man with both squares before it occupied.
const CRAMP: i32 = -3;

/// Pieces of both sides down to which the middle and the end of a game reach.
const MIDDLE: u32 = 18;
const END: u32 = 9;

// Squares by their bits: four a row, bit 0 at the far left (see `Board`). Even rows, counted from the far one, begin with a
// square in the leftmost column, odd ones do not.
const EVEN_ROWS: u32 = 0x0f0f_0f0f;
const LEFT_COLUMN: u32 = 0x0101_0101;
const RIGHT_COLUMN: u32 = 0x8080_8080;
const NEAR_ROW: u32 = 0xf000_0000;
/// Columns 3 to 6 of rows 3 to 6.
const CENTRE: u32 = 0x0066_6600;
/// The two corners that two squares share, near left and far right.
const DOUBLE_CORNERS: u32 = 1 << 28 | 1 << 24 | 1 << 3 | 1 << 7;

/// The board's worth for the side to act, a man being 100.
pub fn evaluation(board: &Board) -> i32 {
    let [own_men, own_kings] = board.own();
    let [other_men, other_kings] = board.other();
    // The other side's pieces as it sees them, so that one function looks at both.
    let own = Side { men: own_men, kings: own_kings };
    let other = Side { men: other_men.reverse_bits(), kings: other_kings.reverse_bits() };
    let occupied = own_men | own_kings | other_men | other_kings;
    let phase = Phase::of(occupied.count_ones());
    let (a, b) = (own.material(), other.material());
    let trade = if a + b > 0 { TRADE * (a - b) / (a + b) } else { 0 };
    a - b + trade + own.place(occupied, phase, &other) - other.place(occupied.reverse_bits(), phase, &own)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Opening,
    Middle,
    End,
}

impl Phase {
    fn of(pieces: u32) -> Phase {
        if pieces <= END {
            Phase::End
        } else if pieces <= MIDDLE {
            Phase::Middle
        } else {
            Phase::Opening
        }
    }

    /// What a row gained by a man is worth: in the opening men that hurry ahead are weak.
    fn tempo(self) -> i32 {
        match self {
            Phase::Opening => -1,
            Phase::Middle => 1,
            Phase::End => 3,
        }
    }
}

/// The pieces of one side as it sees them.
struct Side {
    men: u32,
    kings: u32,
}

impl Side {
    fn material(&self) -> i32 {
        MAN * count(self.men) + KING * count(self.kings)
    }

    /// What is to be said about where the pieces stand.
    fn place(&self, occupied: u32, phase: Phase, other: &Side) -> i32 {
        let Side { men, kings } = *self;
        let mut worth = CENTRE_MAN * count(men & CENTRE) + CENTRE_KING * count(kings & CENTRE);
        if other.men != 0 {
            worth += BACK_RANK * count(men & NEAR_ROW);
        }
        if self.material() < other.material() {
            worth += DOUBLE_CORNER * count(kings & DOUBLE_CORNERS);
        }
        let edge = if phase == Phase::End { SAFE_EDGE } else { EDGE };
        worth += edge * count(men & (LEFT_COLUMN | RIGHT_COLUMN));
        worth += CRAMP * count(men & !behind(!occupied));
        worth + phase.tempo() * rows_gained(men)
    }
}

/// The squares from which one of `squares` is a step forward.
fn behind(squares: u32) -> u32 {
    let (even, odd) = (squares & EVEN_ROWS, squares & !EVEN_ROWS);
    squares << 4 | (odd & !RIGHT_COLUMN) << 5 | (even & !LEFT_COLUMN) << 3
}

/// Rows between these men and their own first row, added up.
fn rows_gained(men: u32) -> i32 {
    (0..7).map(|row| (7 - row) * count(men >> (4 * row) & 0xf)).sum()
}

fn count(bits: u32) -> i32 {
    bits.count_ones() as i32
}

#[cfg(test)]
mod tests {
    use ludus_games::italian_draughts::Position;

    use super::*;

    fn board(fen: &str) -> Board {
        *fen.parse::<Position>().expect("a position").board()
    }

    #[test]
    fn a_board_is_worth_to_one_side_what_the_other_lacks() {
        for fen in ["W:W21-32:B1-12", "W:WK21,31:B10,18,27", "B:W30,21,22,17,20,K6:B25,28,9,5,1,3", "W:W:B5"]
        {
            let board = board(fen);
            assert_eq!(evaluation(&board), -evaluation(&board.flipped()), "{fen}");
        }
        assert_eq!(evaluation(&Board::START), 0);
    }

    #[test]
    fn what_lies_behind_a_square_is_where_men_step_to_it_from() {
        for bit in 0..32 {
            // A lone man's legal steps say where its next squares are.
            let Ok(board) = Board::new([0, 1 << bit], [0, 0]) else { panic!("a king can stand anywhere") };
            let mut plays = Vec::new();
            board.plays(&mut plays);
            for to in 0..32_u8 {
                let forward = plays.iter().any(|play| play.to() == to && to / 4 < bit / 4);
                assert_eq!(behind(1 << to) >> bit & 1 == 1, forward, "from {bit} to {to}");
            }
        }
    }

    #[test]
    fn more_pieces_kings_and_trades_when_ahead_are_better() {
        let worth = |fen: &str| evaluation(&board(fen));
        assert!(worth("W:W21,22,23:B10,11") > 100);
        assert!(worth("W:WK22:B11") > 0);
        assert!(worth("W:W22,23:B11") > worth("W:W22,23,26,27,30,31:B11,10,6,7,3"));
    }
}
