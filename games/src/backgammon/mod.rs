//! Backgammon, without the cube: rules, notations and game files.
//!
//! Read [`Position`] first, then [`Dice`] and [`Play`]; the notations follow.

mod chances;
mod dice;
mod plays;
mod position;

pub use chances::BackgammonChances;
pub use dice::Dice;
pub use plays::{OFF, Play, Step};
pub use position::{BAR, CHECKERS, Position};

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
        Err(NotationError::new(text, "position", "not read yet"))
    }

    fn write_position(&self, state: &Position) -> String {
        format!("{state:?}")
    }

    fn read_roll(&self, text: &str) -> Result<Dice, NotationError> {
        Err(NotationError::new(text, "roll", "not read yet"))
    }

    fn write_roll(&self, roll: Dice) -> String {
        format!("{}{}", roll.high(), roll.low())
    }

    fn write_move(&self, _: &Position, play: Play) -> String {
        format!("{play:?}")
    }
}
