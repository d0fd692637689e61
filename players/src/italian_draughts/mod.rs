//! What is particular to Italian draughts: its baseline and its place among the games.
//!
//! Read [`evaluation`] (what a board is worth at sight), [`search`] (looking ahead from it), [`endgame`] (what is known
//! exactly), [`Saltare`], the player made of them, and the roster, which lists it for the arena.

pub mod endgame;
mod evaluation;
mod roster;
mod saltare;
pub mod search;
mod transpositions;

pub use evaluation::evaluation;
pub use saltare::{Limit, Saltare};
