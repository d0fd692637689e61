//! `ludus config show`: the configuration of a run, every key with its meaning and where its value came from.

use std::io::Write;

use anyhow::Result;
use ludus_config::{Effective, Origin, Setting};
use serde_json::json;

use crate::config_file::ConfigArgs;
use crate::game;
use crate::output::json_line;

/// What to do with a configuration.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Print every key with its meaning, value and origin, as a file to start from
    #[command(after_help = "\
Examples:
  ludus config show > run.toml               the defaults, to be edited
  ludus config show --game othello           those of another game
  ludus config show --config run.toml        checks the file and adds the keys it leaves out
  ludus config show --config run.toml --set learn.lambda=0.9 | grep ' # '

A flag goes before a variable (LUDUS_RUN__LEARN__LAMBDA), that before the file, that before the game's
default, and that before the default of all games. What is not the last has a comment that says where it
came from.")]
    Show {
        #[command(flatten)]
        config: ConfigArgs,
        /// Game [default: the one that the configuration names, otherwise backgammon]
        #[arg(long, value_name = "GAME")]
        game: Option<String>,
        /// A JSON list: key, value, origin (default, game, file, environment or flag) and its place
        #[arg(long)]
        json: bool,
    },
}

/// Does it.
pub fn run(action: Action) -> Result<()> {
    let Action::Show { config, game, json } = action;
    let named = match game {
        Some(game) => vec![Setting::by_flag("--game", "game", game::arena(&game)?.game())],
        None => Vec::new(),
    };
    let effective = config.read_between(&[], &named)?;
    let mut out = std::io::stdout().lock();
    if json {
        return json_line(&mut out, &entries(&effective));
    }
    out.write_all(effective.to_toml().as_bytes())?;
    Ok(())
}

fn entries(effective: &Effective) -> Vec<serde_json::Value> {
    let entries = effective.entries().into_iter().map(|(key, value, origin)| {
        let kind = match origin {
            Origin::Default => "default",
            Origin::Game(_) => "game",
            Origin::File { .. } => "file",
            Origin::Variable(_) => "environment",
            Origin::Flag(_) => "flag",
        };
        json!({ "key": key, "value": value, "origin": kind, "place": origin.to_string() })
    });
    entries.collect()
}
