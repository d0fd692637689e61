//! Italian draughts.
//!
//! [`Board`] holds the pieces and knows the plays, [`Position`] adds whose turn it is and what the draw rules must remember.
//! [`PdnGame`] is a game as text, [`perft`] counts plays.

mod board;
mod captures;
mod notation;
mod pdn;
mod perft;
mod position;

pub use board::{Board, BoardError, Play};
pub use pdn::{IllegalPlay, PdnError, PdnGame, PdnResult};
pub use perft::{Counted, perft};
pub use position::Position;

use crate::{Game, NotationError, Plays, WinLoss};

/// The rules of Italian draughts with the limits of the draw rules, on which sources differ.
#[derive(Clone, Copy, Debug)]
pub struct ItalianDraughts {
    /// How often a position with the same side to act makes a draw.
    pub repetitions: usize,
    /// After how many moves of each side without a man's move or a capture the game is a draw.
    pub quiet_moves: usize,
}

impl Default for ItalianDraughts {
    /// Three times, forty moves.
    fn default() -> Self {
        ItalianDraughts { repetitions: 3, quiet_moves: 40 }
    }
}

impl Game for ItalianDraughts {
    const NAME: &'static str = "italian-draughts";
    const REVISION: u32 = 1;

    type State = Position;
    type Roll = ();
    type Move = Play;
    type Chances = WinLoss;

    fn start(&self) -> Position {
        Position::start()
    }

    fn payoff(&self, state: &Position) -> Option<i8> {
        if !state.board().can_act() {
            return Some(-1);
        }
        let drawn = state.occurrences() >= self.repetitions || state.quiet_plies() >= 2 * self.quiet_moves;
        drawn.then_some(0)
    }

    fn rolls(&self, _: &Position, _: usize) -> &'static [((), f32)] {
        &[((), 1.0)]
    }

    /// In the order of the moving piece's square, seen by its side, and then of the directions it takes: forward left,
    /// forward right, backward left, backward right.
    fn plays(&self, state: &Position, (): (), plays: &mut Plays<Self>) {
        plays.clear();
        state.board().plays(&mut plays.moves);
        plays.after.extend(plays.moves.iter().map(|play| state.after(play)));
    }

    fn read_position(&self, text: &str) -> Result<Position, NotationError> {
        text.parse()
    }

    fn write_position(&self, state: &Position) -> String {
        state.to_string()
    }

    fn read_roll(&self, text: &str) -> Result<(), NotationError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        Err(NotationError::new(text, "roll", "draughts has no dice"))
    }

    fn write_roll(&self, (): ()) -> String {
        String::new()
    }

    fn write_move(&self, state: &Position, play: Play) -> String {
        notation::write_move(state, &play)
    }

    fn read_move(&self, state: &Position, plays: &Plays<Self>, text: &str) -> Result<usize, NotationError> {
        notation::read_move(state, &plays.moves, text)
    }
}
