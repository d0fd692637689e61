//! `ludus weights`.

use std::path::PathBuf;

use anyhow::Result;

use crate::local_run::RunPlace;

/// What to do with weights.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Save the weights of a version of a run
    Pull(Pull),
}

/// Arguments of `ludus weights pull`.
#[derive(Debug, clap::Args)]
pub struct Pull {
    /// Name of the run
    run: String,
    /// `champion`, `latest` or a version such as v12
    version: String,
    /// Where to save the file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    place: RunPlace,
}

/// Runs it.
pub fn run(action: Action) -> Result<()> {
    match action {
        Action::Pull(_) => anyhow::bail!("not built yet"),
    }
}
