//! Which game a command is about.

use std::sync::Arc;

use anyhow::Result;
use ludus_players::arena::{Arena, Registry};

use crate::exit::BadConfiguration;

/// The game of a command.
#[derive(Clone, Debug, clap::Args)]
pub struct GameChoice {
    /// Game
    #[arg(long, value_name = "GAME", default_value = "backgammon")]
    game: String,
}

impl GameChoice {
    /// The game's arena.
    pub fn arena(&self) -> Result<Arc<dyn Arena>> {
        arena(&self.game)
    }
}

/// The arena of the game of this name.
pub fn arena(game: &str) -> Result<Arc<dyn Arena>> {
    let registry = Registry::standard();
    registry.find(game).cloned().ok_or_else(|| BadConfiguration(no_game(game, &registry)).into())
}

/// What is said of a game that nobody knows.
pub fn no_game(game: &str, registry: &Registry) -> String {
    format!("there is no game {game:?}; this ludus plays {}", registry.games().join(", "))
}
