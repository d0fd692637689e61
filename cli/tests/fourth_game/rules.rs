//! Tic-tac-toe with a die: it says in which column the mark goes. Where that is full, the mark goes anywhere.

use ludus_games::{Game, NotationError, Plays, WinLoss};

/// The rules.
#[derive(Clone, Copy, Default, Debug)]
pub struct DieTacToe;

/// The marks of the side to act and of the other side, a bit a square, row by row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Board {
    pub own: u16,
    pub other: u16,
}

const FULL: u16 = 0o777;
const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o124, 0o421];

impl Board {
    fn free(self) -> u16 {
        FULL & !(self.own | self.other)
    }
}

impl Game for DieTacToe {
    const NAME: &'static str = "die-tac-toe";
    const REVISION: u32 = 1;
    type State = Board;
    type Roll = u8;
    type Move = u8;
    type Chances = WinLoss;

    fn start(&self) -> Board {
        Board { own: 0, other: 0 }
    }

    fn payoff(&self, state: &Board) -> Option<i8> {
        // Only the side that has just moved can have made a line.
        let lost = LINES.iter().any(|line| state.other & line == *line);
        if lost { Some(-1) } else { (state.free() == 0).then_some(0) }
    }

    fn rolls(&self, _: &Board, _: usize) -> &'static [(u8, f32)] {
        const THIRD: f32 = 1.0 / 3.0;
        &[(1, THIRD), (2, THIRD), (3, THIRD)]
    }

    fn plays(&self, state: &Board, roll: u8, plays: &mut Plays<Self>) {
        plays.clear();
        let column = state.free() & 0o111 << (roll - 1);
        let squares = if column > 0 { column } else { state.free() };
        for square in (0..9).filter(|square| squares >> square & 1 > 0) {
            plays.moves.push(square);
            plays.after.push(Board { own: state.other, other: state.own | 1 << square });
        }
    }

    fn read_position(&self, text: &str) -> Result<Board, NotationError> {
        let wrong = |reason| NotationError::new(text, "board", reason);
        let mut board = self.start();
        for (square, sign) in text.trim().chars().enumerate() {
            match sign {
                _ if square > 8 => return Err(wrong("it has nine squares")),
                'x' => board.own |= 1 << square,
                'o' => board.other |= 1 << square,
                '.' => {}
                _ => return Err(wrong("its signs are x, o and .")),
            }
        }
        Ok(board)
    }

    fn write_position(&self, state: &Board) -> String {
        let sign = |square: u16| match (state.own >> square & 1, state.other >> square & 1) {
            (0, 0) => '.',
            (0, _) => 'o',
            _ => 'x',
        };
        (0..9).map(sign).collect()
    }

    fn read_roll(&self, text: &str) -> Result<u8, NotationError> {
        let roll = text.parse().ok().filter(|roll| (1..=3).contains(roll));
        roll.ok_or_else(|| NotationError::new(text, "roll", "the die shows 1, 2 or 3"))
    }

    fn write_roll(&self, roll: u8) -> String {
        roll.to_string()
    }

    fn write_move(&self, _: &Board, play: u8) -> String {
        (play + 1).to_string()
    }
}
