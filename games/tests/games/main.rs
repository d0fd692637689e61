//! Every game's rules, against slow generators that are obviously right, published counts and other programs.
//!
//! [`battery`] is what every game owes and runs over all of them; the folders hold what is particular to one.

mod backgammon;
mod battery;
mod italian_draughts;
mod othello;
mod shared;
