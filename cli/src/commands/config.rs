//! `ludus config show`: the configuration of a run, every key with its meaning.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;

use crate::config_file;
use crate::game::GameChoice;

/// What to do with a configuration.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Print every key with its meaning and value, as a file to start from
    #[command(after_help = "\
Examples:
  ludus config show > run.toml               the defaults, to be edited
  ludus config show --game othello           those of another game
  ludus config show --config run.toml        checks the file and adds the keys it leaves out")]
    Show {
        /// Configuration to check and complete [default: the defaults alone]
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        game: GameChoice,
    },
}

/// Does it.
pub fn run(action: Action) -> Result<()> {
    let Action::Show { config, game } = action;
    let config = match config {
        Some(path) => config_file::read(&path)?,
        None => config_file::default_of(game.arena()?.game())?,
    };
    std::io::stdout().write_all(config.to_toml().as_bytes())?;
    Ok(())
}
