//! From a PLAYER on the command line to a player: `champion`, `v12@1ply`, `pubeval`, `weights.safetensors`.

use anyhow::Result;
use ludus_players::arena::{Arena, Seating};

use crate::local_run::RunPlace;

/// Where versions of a run are looked up when a PLAYER names one.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PlayerPlace {
    #[command(flatten)]
    pub place: RunPlace,
    /// Run whose versions are meant [default: the only one, or the newest]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

/// Finds the player that `spec` names: a baseline, a weight file's path, or a version of a run (`champion`, `latest`,
/// `v12`), each with an optional search depth (`@1ply`).
pub fn resolve(spec: &str, arena: &dyn Arena, place: &PlayerPlace) -> Result<Seating> {
    let _ = (spec, arena, place);
    anyhow::bail!("not built yet")
}
