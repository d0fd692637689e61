//! The players that come with backgammon.

use std::sync::Arc;

use ludus_games::Backgammon;
use ludus_games::backgammon::Position;

use super::pubeval::PubEval;
use crate::game_arena::Roster;
use crate::input_set::InputSet;
use crate::player::Player;

impl Roster for Backgammon {
    const BASELINES: &'static [&'static str] = &["pubeval"];

    fn baseline(&self, name: &str) -> Option<Box<dyn Player<Self>>> {
        (name == "pubeval").then(|| Box::new(PubEval) as _)
    }

    fn input_sets(&self) -> Vec<Arc<dyn InputSet<Self>>> {
        super::input_sets()
    }

    /// The key of GNU Backgammon's benchmark files.
    fn benchmark_position(&self, state: &Position) -> String {
        state.key_letters()
    }
}
