//! From a PLAYER on the command line to a player: `champion`, `v12@1ply`, `pubeval`, `./weights.safetensors`,
//! `gnubg:localhost:4000@0ply`.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use ludus_players::arena::{Arena, Seating, Source};
use ludus_players::peer::Peer;
use ludus_players::spec::{Named, PlayerSpec};
use ludus_players::weight_file::{Digest, WeightFile};

use crate::input::read_text;
use crate::local_run::{RunPlace, Which};

/// Where versions of a run are looked up when a PLAYER names one.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PlayerPlace {
    #[command(flatten)]
    pub place: RunPlace,
    /// Run whose versions are meant [default: the only one, or the newest]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

/// Finds the player that `spec` names: the one that comes with the program (`shipped`), a baseline, a weight file's path, a
/// program outside, or a version of a run (`champion`, `latest`, `v12`), each with an optional search depth (`@1ply`).
pub fn resolve(spec: &str, arena: &dyn Arena, place: &PlayerPlace) -> Result<Seating> {
    let PlayerSpec { who, plies } = PlayerSpec::parse(spec, arena)?;
    let source = match who {
        Named::Baseline(name) => Source::Baseline(name),
        Named::File(path) if path.extension().is_some_and(|extension| extension == "pubeval") => {
            let text = read_text(&path)?;
            let digest = Digest::of(text.as_bytes());
            Source::Text { digest, file: path.display().to_string(), text: text.into() }
        }
        Named::File(path) => {
            let (file, digest) = WeightFile::read(&path)?;
            Source::Weights { digest, file: Arc::new(file) }
        }
        Named::External { program, host, port } => {
            Source::External(Arc::new(Peer::new(&program, &host, port)))
        }
        Named::Shipped => arena.shipped()?,
        Named::Champion => version(spec, Which::Champion, arena, place)?,
        Named::Latest => version(spec, Which::Latest, arena, place)?,
        Named::Version(number) => version(spec, Which::Number(number), arena, place)?,
    };
    Ok(Seating { source, plies })
}

/// The weights that `spec` names, for a run to begin with.
pub fn weights(spec: &str, arena: &dyn Arena) -> Result<WeightFile> {
    match resolve(spec, arena, &PlayerPlace::default())?.source {
        Source::Weights { file, .. } => Ok(Arc::unwrap_or_clone(file)),
        _ => bail!(
            "{spec} has no weights to begin with: name shipped, a .safetensors file or a version of a run"
        ),
    }
}

fn version(spec: &str, which: Which, arena: &dyn Arena, place: &PlayerPlace) -> Result<Source> {
    let looked_up = || {
        let runs = place.place.read()?;
        let run = runs.run(place.run.as_deref().unwrap_or_default())?;
        if run.game != arena.game() {
            bail!("run {} plays {}, not {}: name another with --run", run.run, run.game, arena.game());
        }
        let versions = runs.versions(&run.run)?;
        let version = which.among(&versions).with_context(|| format!("run {}", run.run))?;
        let (digest, bytes) = runs.weights(version)?;
        let file = WeightFile::from_bytes(&bytes, &format!("v{} of run {}", version.version, run.run))?;
        Ok(Source::Weights { digest, file: Arc::new(file) })
    };
    looked_up().with_context(|| format!("player {spec}"))
}
