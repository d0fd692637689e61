//! `ludus benchmark`: decisions whose best plays are known, and what players lose on them.
//!
//! One module an action.

mod score;

use anyhow::Result;

/// What to do with benchmarks.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Let a player decide the positions of a benchmark file
    Score(score::Args),
}

/// Runs it.
pub fn run(action: Action) -> Result<()> {
    match action {
        Action::Score(args) => score::run(args),
    }
}
