//! The rules of the games Ludus plays: positions, rolls, plays, results and notations.
//!
//! Read in this order: [`game`] is the trait through which everything else sees a game, [`chances`] is how a position
//! is judged, and then one folder per game. Nothing here does I/O, keeps time or learns.

pub mod backgammon;
mod chances;
mod game;

pub use backgammon::Backgammon;
pub use chances::{Chances, Luck};
pub use game::{Game, NotationError, Plays};
