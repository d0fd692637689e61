//! What is particular to backgammon: its baselines and its place among the games.

mod pubeval;
mod roster;

pub use pubeval::PubEval;
