//! Backgammon, without the cube: rules, notations and game files.
//!
//! Read [`Position`] first, then [`Dice`] and [`Play`]. The notations follow: [`Position`] reads and writes position IDs
//! and KEYs, [`MatchState`] match IDs, [`Xgid`] both in one line, [`FibsBoard`] the lines of FIBS; plays are read and written through [`Game`], and
//! [`MatchFile`] writes whole games.

mod chances;
mod dice;
mod fibs;
mod match_file;
mod match_id;
mod move_notation;
mod plays;
mod position;
mod position_id;
mod xgid;

pub use chances::BackgammonChances;
pub use dice::Dice;
pub use fibs::FibsBoard;
pub use match_file::MatchFile;
pub use match_id::{GameState, MatchState, Seat};
pub use plays::{OFF, Play, Step};
pub use position::{BAR, CHECKERS, Position, PositionError};
pub use xgid::Xgid;

use crate::{Game, NotationError, Plays};

/// The rules of backgammon for money, cubeless: a gammon counts 2 and a backgammon 3.
#[derive(Clone, Copy, Default, Debug)]
pub struct Backgammon;

impl Game for Backgammon {
    const NAME: &'static str = "backgammon";
    const REVISION: u32 = 1;

    type State = Position;
    type Roll = Dice;
    type Move = Play;
    type Chances = BackgammonChances;

    fn start(&self) -> Position {
        Position::START
    }

    fn payoff(&self, state: &Position) -> Option<i8> {
        state.payoff()
    }

    fn rolls(&self, _: &Position, ply: usize) -> &'static [(Dice, f32)] {
        if ply == 0 { &dice::OPENING_ROLLS } else { &dice::ROLLS }
    }

    fn plays(&self, state: &Position, roll: Dice, plays: &mut Plays<Self>) {
        plays::generate(state, roll, plays);
    }

    fn read_position(&self, text: &str) -> Result<Position, NotationError> {
        text.parse()
    }

    fn write_position(&self, state: &Position) -> String {
        state.id()
    }

    fn read_roll(&self, text: &str) -> Result<Dice, NotationError> {
        text.parse()
    }

    fn write_roll(&self, roll: Dice) -> String {
        roll.to_string()
    }

    fn write_move(&self, _: &Position, play: Play) -> String {
        move_notation::write(&play)
    }

    fn read_move(&self, state: &Position, plays: &Plays<Self>, text: &str) -> Result<usize, NotationError> {
        move_notation::read(state, plays, text)
    }
}
