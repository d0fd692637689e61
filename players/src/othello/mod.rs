//! What is particular to Othello: its baselines and its place among the games.
//!
//! Read [`positional`] (what a disc on a square is worth, and a player that looks no further), [`AlphaBeta`] (one that looks
//! ahead and plays the end exactly), [`Tuples1`] (the inputs of players that learn), and the roster, which lists them for the arena.

mod alpha_beta;
mod positional;
mod roster;
mod tuples;

pub use alpha_beta::{AlphaBeta, exact_margin};
pub use positional::{Positional, positional};
pub use tuples::Tuples1;
