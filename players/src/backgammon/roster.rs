//! The players that come with backgammon.

use std::sync::Arc;

use ludus_games::Backgammon;
use ludus_games::backgammon::{Dice, MatchFile, Play, Position, Seat, Xgid};

use super::gnubg::Gnubg;
use super::linear::{LinearPlayer, LinearWeights};
use super::pubeval::PubEval;
use crate::arena::ArenaError;
use crate::game_arena::{External, Roster};
use crate::input_set::InputSet;
use crate::peer::Peer;
use crate::player::Player;
use crate::viewer::{GameFile, Notation};

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

    const TRAINING: &'static str = include_str!("../../../weights/backgammon/champion.toml");

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

    fn notations(&self, state: &Position, roll: Option<Dice>, seat: usize) -> Vec<Notation> {
        let mut xgid = Xgid::of(*state);
        // Seat one of an XGID sits at the bottom.
        let acts = if seat == 0 { Seat::One } else { Seat::Zero };
        (xgid.state.on_roll, xgid.state.turn, xgid.state.dice) = (acts, acts, roll);
        vec![Notation { name: "XGID", text: xgid.to_string() }]
    }

    fn game_file(
        &self,
        names: [&str; 2],
        first: usize,
        turns: &[(Dice, Play)],
        points: i8,
    ) -> Option<GameFile> {
        let first = if first == 0 { Seat::Zero } else { Seat::One };
        let text = MatchFile { names, first, turns, points }.to_string();
        Some(GameFile { ending: "mat", text })
    }

    /// The key of GNU Backgammon's benchmark files.
    fn benchmark_position(&self, state: &Position) -> String {
        state.key_letters()
    }
}
