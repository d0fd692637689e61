//! The players that come with backgammon.

use std::sync::Arc;

use ludus_games::Backgammon;
use ludus_games::backgammon::Position;

use super::gnubg::Gnubg;
use super::linear::{LinearPlayer, LinearWeights};
use super::pubeval::PubEval;
use crate::arena::ArenaError;
use crate::game_arena::{External, Roster};
use crate::input_set::InputSet;
use crate::peer::Peer;
use crate::player::Player;

impl Roster for Backgammon {
    const BASELINES: &'static [&'static str] = &["pubeval", "pubeval-listnet"];

    fn baseline(&self, name: &str) -> Option<Box<dyn Player<Self>>> {
        match name {
            "pubeval" => Some(Box::new(PubEval)),
            "pubeval-listnet" => Some(Box::new(LinearPlayer(super::pubeval::retrained()))),
            _ => None,
        }
    }

    const EXTERNALS: &'static [&'static str] = &["gnubg"];

    const SHIPPED: Option<&'static [u8]> =
        Some(include_bytes!("../../../weights/backgammon/champion.safetensors"));

    const BENCHMARK: Option<&'static str> = Some(include_str!("../../../weights/backgammon/benchmark.bm"));

    fn external(&self, peer: &Arc<Peer>, plies: u32) -> Result<Box<dyn External<Self>>, ArenaError> {
        Ok(Box::new(Gnubg::new(peer.clone(), plies)?))
    }

    fn described(&self, file: &str, text: &str) -> Result<Box<dyn Player<Self>>, ArenaError> {
        Ok(Box::new(LinearPlayer(Arc::new(LinearWeights::read(file, text)?))))
    }

    fn input_sets(&self) -> Vec<Arc<dyn InputSet<Self>>> {
        super::input_sets()
    }

    /// The key of GNU Backgammon's benchmark files.
    fn benchmark_position(&self, state: &Position) -> String {
        state.key_letters()
    }
}
