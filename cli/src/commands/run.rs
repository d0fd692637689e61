//! `ludus run`.

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Show it
    Show,
}

/// Runs it.
pub fn run(_action: Action) -> anyhow::Result<()> {
    anyhow::bail!("not built yet")
}
