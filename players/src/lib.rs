//! Players and what they are made of. Nothing here names a wire service or a file system layout.
//!
//! Read in this order: [`player`] (what judges and what plays), [`input_set`], [`network`], [`weight_file`] and
//! [`net_evaluator`] (the networks), [`search`] (looking ahead), [`dice`] and [`luck`], [`table`] (one game from its
//! number), [`rollout`] (positions of it played on), [`record`] (checking and replaying it), [`lessons`] (what it teaches),
//! [`matches`] and [`benchmark`] (how good a player is), [`decisions`] (what benchmarks are made of), [`analyst`], [`viewer`] and
//! [`speed`], [`openings`] (of games without dice), [`peer`] (players outside this program), [`spec`] (how people name players), and [`arena`], through which the
//! processes of a cluster see a game without knowing which; [`game_arena`] makes one of any game. One folder per game holds
//! what is particular to it.

pub mod analyst;
pub mod arena;
pub mod backgammon;
pub mod benchmark;
pub mod decisions;
pub mod dice;
mod distinct;
pub mod game_arena;
pub mod input_set;
pub mod italian_draughts;
pub mod lessons;
pub mod luck;
pub mod matches;
pub mod net_evaluator;
pub mod network;
pub mod openings;
pub mod othello;
pub mod peer;
pub mod player;
pub mod record;
mod rivals;
pub mod rollout;
pub mod search;
mod shortlist;
pub mod spec;
pub mod speed;
pub mod table;
#[cfg(test)]
mod toys;
pub mod viewer;
pub mod weight_file;
