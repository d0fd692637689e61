//! The players that come with Italian draughts.

use std::sync::{Arc, LazyLock};

use ludus_games::ItalianDraughts;
use ludus_games::italian_draughts::{Counted, Position, perft};

use super::evaluation::evaluation;
use super::saltare::{Limit, Saltare};
use super::search::MAX_DEPTH;
use crate::arena::ArenaError;
use crate::game_arena::Roster;
use crate::input_set::InputSet;
use crate::openings::Openings;
use crate::player::Player;
use crate::spec::Settings;

/// Plies Saltare looks ahead when nothing is said.
const DEPTH: u32 = 7;
/// Plies of an opening.
const OPENING_PLIES: usize = 6;
/// Worth of a board up to which an opening is balanced; a man is 100.
const BALANCED: i32 = 20;

impl Roster for ItalianDraughts {
    const BASELINES: &'static [&'static str] = &["saltare"];

    fn baseline(&self, name: &str) -> Option<Box<dyn Player<Self>>> {
        (name == "saltare").then(|| Box::new(Saltare::new(Limit::Depth(DEPTH))) as _)
    }

    fn baseline_with(&self, settings: &Settings) -> Result<Box<dyn Player<Self>>, ArenaError> {
        if settings.player() != "saltare" {
            return Err(settings.none_taken());
        }
        let limit =
            match settings.only(&[("depth", 1..=u64::from(MAX_DEPTH)), ("nodes", 1..=1_000_000_000_000)])? {
                ("depth", depth) => Limit::Depth(depth as u32),
                (_, nodes) => Limit::Nodes(nodes),
            };
        Ok(Box::new(Saltare::new(limit)))
    }

    fn input_sets(&self) -> Vec<Arc<dyn InputSet<Self>>> {
        Vec::new()
    }

    fn openings(&self) -> Option<&'static Openings> {
        static OPENINGS: LazyLock<Openings> =
            LazyLock::new(|| Openings::enumerate(ItalianDraughts::default(), OPENING_PLIES, is_balanced));
        Some(&OPENINGS)
    }

    fn leaves(&self, state: &Position, depth: u32) -> Vec<(&'static str, u64)> {
        let count = |counted| perft(state.board(), depth, counted);
        vec![("paths", count(Counted::Paths)), ("plays", count(Counted::Plays))]
    }
}

/// Whether no capture is due, so that the worth at sight means something, and it is about even.
fn is_balanced(state: &Position) -> bool {
    let mut plays = Vec::new();
    state.board().plays(&mut plays);
    plays.first().is_some_and(|play| play.captured() == 0) && evaluation(state.board()).abs() <= BALANCED
}
