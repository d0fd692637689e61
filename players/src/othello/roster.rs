//! The players that come with Othello.

use std::sync::{Arc, LazyLock};

use ludus_games::Othello;
use ludus_games::othello::Position;

use super::alpha_beta::AlphaBeta;
use super::positional::{Positional, positional};
use super::tuples::Tuples1;
use crate::arena::ArenaError;
use crate::game_arena::Roster;
use crate::input_set::InputSet;
use crate::openings::Openings;
use crate::player::Player;
use crate::spec::Settings;

/// Plies `othello-ab` looks ahead when nothing is said.
const DEPTH: u64 = 4;
/// Empty squares from which on it plays perfectly.
const EXACT: u32 = 10;
/// Plies of an opening.
const OPENING_PLIES: usize = 7;
/// Worth of a position, as of its squares, up to which an opening is balanced.
const BALANCED: i32 = 12;

impl Roster for Othello {
    const BASELINES: &'static [&'static str] = &["positional", "othello-ab"];

    fn baseline(&self, name: &str) -> Option<Box<dyn Player<Self>>> {
        match name {
            "positional" => Some(Box::new(Positional)),
            "othello-ab" => Some(Box::new(AlphaBeta::new(DEPTH as u32, EXACT))),
            _ => None,
        }
    }

    fn baseline_with(&self, settings: &Settings) -> Result<Box<dyn Player<Self>>, ArenaError> {
        match settings.player() {
            "othello-ab" => {
                let (_, depth) = settings.only(&[("depth", 1..=20)])?;
                Ok(Box::new(AlphaBeta::new(depth as u32, EXACT)))
            }
            _ => Err(settings.none_taken()),
        }
    }

    fn input_sets(&self) -> Vec<Arc<dyn InputSet<Self>>> {
        vec![Arc::new(Tuples1)]
    }

    /// TD(0) of tables. There are no dice to make games differ, so every tenth play is a random one.
    const TRAINING: &'static str = include_str!("training.toml");

    fn openings(&self) -> Option<&'static Openings> {
        static OPENINGS: LazyLock<Openings> = LazyLock::new(|| {
            Openings::enumerate(Othello, OPENING_PLIES, |state| positional(state).abs() <= BALANCED)
        });
        Some(&OPENINGS)
    }

    fn leaves(&self, state: &Position, depth: u32) -> Vec<(&'static str, u64)> {
        vec![("leaves", ludus_games::othello::perft(state, depth))]
    }
}
