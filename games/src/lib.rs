//! The rules of the games Ludus plays: positions, rolls, plays, results and notations.
//!
//! ```
//! use ludus_games::{Backgammon, Game, Plays};
//!
//! let game = Backgammon;
//! let start = game.read_position("4HPwATDgc/ABMA")?;
//! assert_eq!(start, game.start());
//!
//! let mut plays = Plays::new();
//! game.plays(&start, game.read_roll("31")?, &mut plays);
//! let best = game.read_move(&start, &plays, "8/5 6/5")?;
//! assert_eq!(game.write_move(&start, plays.moves[best]), "8/5 6/5");
//! # Ok::<(), ludus_games::NotationError>(())
//! ```
//!
//! Read in this order: [`game`] is the trait through which everything else sees a game, [`chances`] is how a position
//! is judged, and then one folder per game. Nothing here does I/O, keeps time or learns.

pub mod backgammon;
mod chances;
mod game;
pub mod italian_draughts;
pub mod othello;
mod win_loss;

pub use backgammon::Backgammon;
pub use chances::{Chances, Luck};
pub use game::{Game, NotationError, Plays};
pub use italian_draughts::ItalianDraughts;
pub use othello::Othello;
pub use win_loss::WinLoss;
