//! `ludus benchmark`: decisions whose best plays are known, and what players lose on them.
//!
//! One module an action; [`published`] knows the files that can be fetched.

mod build;
mod fetch;
mod published;
mod score;

use anyhow::Result;

/// What to do with benchmarks.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Make a benchmark file of our own: decisions of self-play, rolled out by a cluster
    Build(build::Args),
    /// Fetch the benchmark files that GNU Backgammon's makers have published
    Fetch(fetch::Args),
    /// Let a player decide the positions of a benchmark file
    Score(score::Args),
}

/// Runs it.
pub fn run(action: Action) -> Result<()> {
    match action {
        Action::Build(args) => build::run(args),
        Action::Fetch(args) => fetch::run(args),
        Action::Score(args) => score::run(args),
    }
}
