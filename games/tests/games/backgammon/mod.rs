//! Backgammon: plays against a slow generator and other programs' lists, counts of positions, notations.

mod counts;
mod fibs;
mod gnubg;
mod match_file;
mod notations;
mod positions;
mod rules;
mod slow;
