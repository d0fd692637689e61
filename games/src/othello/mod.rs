//! Othello, by the rules of the World Othello Federation.
//!
//! [`Position`] is the board, [`Play`] a placed disc or a pass, [`Line`] a legal game. Games are read and written as
//! transcripts ([`read_transcript`]), GGF ([`GgfGame`]) and WTHOR ([`WthorFile`]); [`perft`] counts plays.

mod ggf;
mod line;
mod notation;
mod perft;
mod position;
mod wthor;

pub use ggf::{GgfError, GgfGame};
pub use line::{Line, LineError};
pub use notation::{read_transcript, write_transcript};
pub use perft::perft;
pub use position::{Play, Position, Square};
pub use wthor::{WthorError, WthorFile, WthorGame};

use crate::{Game, NotationError, Plays, WinLoss};

/// The rules of Othello: who has more discs when neither side can move has won.
#[derive(Clone, Copy, Default, Debug)]
pub struct Othello;

impl Game for Othello {
    const NAME: &'static str = "othello";
    const REVISION: u32 = 1;

    type State = Position;
    type Roll = ();
    type Move = Play;
    type Chances = WinLoss;

    fn start(&self) -> Position {
        Position::START
    }

    fn payoff(&self, state: &Position) -> Option<i8> {
        state.is_over().then(|| state.margin().signum())
    }

    fn rolls(&self, _: &Position, _: usize) -> &'static [((), f32)] {
        &[((), 1.0)]
    }

    /// Squares in the order a1, b1, ... h8; a pass when there is none.
    fn plays(&self, state: &Position, (): (), plays: &mut Plays<Self>) {
        plays.clear();
        for square in state.moves() {
            plays.moves.push(Play::At(square));
            plays.after.push(state.after(Play::At(square)));
        }
        if plays.is_empty() {
            plays.moves.push(Play::Pass);
            plays.after.push(state.after(Play::Pass));
        }
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
        Err(NotationError::new(text, "roll", "Othello has no dice"))
    }

    fn write_roll(&self, (): ()) -> String {
        String::new()
    }

    fn write_move(&self, _: &Position, play: Play) -> String {
        play.to_string()
    }

    fn read_move(&self, _: &Position, plays: &Plays<Self>, text: &str) -> Result<usize, NotationError> {
        let wanted: Play = text.parse()?;
        (plays.moves.iter().position(|&play| play == wanted))
            .ok_or_else(|| NotationError::new(text, "move", "it is not legal here"))
    }
}
