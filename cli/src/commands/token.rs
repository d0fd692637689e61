//! `ludus token`: who may talk to a coordinator.

use std::io::Write;

use anyhow::Result;
use ludus_coordinator::Role;

use crate::local_run::RunPlace;
use crate::output::{Paint, Table, json_line};
use crate::report::grouped;

/// What to do with tokens.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Make a token and print it: this is the only time that it is shown. From the first one on, everybody who talks to the
    /// coordinator must show one
    #[command(after_help = "\
Examples:
  ludus token create owner --role admin --dir runs/cluster > owner.token
  ludus token create laboratory --role worker --dir runs/cluster > worker.token
  ludus worker --coordinator http://coordinator:7777 --token-file worker.token")]
    Create {
        /// Name of the token, for people
        name: String,
        /// What its holder may do: admin (everything), trainer, worker, or read (look and download, as all may)
        #[arg(long, value_name = "ROLE")]
        role: Role,
        #[command(flatten)]
        place: RunPlace,
    },
    /// List the tokens and how they stand
    #[command(after_help = "\
Example:
  ludus token list --dir runs/cluster")]
    List {
        #[command(flatten)]
        place: RunPlace,
        /// A JSON list, oldest first
        #[arg(long)]
        json: bool,
    },
    /// End a token for good, at once; its games in play go to others
    #[command(after_help = "\
Example:
  ludus token revoke laboratory --dir runs/cluster")]
    Revoke {
        /// Name of the token
        name: String,
        #[command(flatten)]
        place: RunPlace,
    },
    /// Let a suspended or quarantined token in again
    #[command(after_help = "\
Example:
  ludus token lift laboratory --dir runs/cluster")]
    Lift {
        /// Name of the token
        name: String,
        #[command(flatten)]
        place: RunPlace,
    },
}

/// Does it.
pub fn run(action: Action) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match action {
        Action::Create { name, role, place } => {
            // The first token may be there before the first coordinator.
            let secret = place.change_or_begin()?.create_token(&name, role)?;
            writeln!(out, "{secret}")?;
        }
        Action::List { place, json } => {
            let tokens = place.change()?.tokens()?;
            if json {
                let list = tokens.iter().map(|token| {
                    serde_json::json!({
                        "name": token.name,
                        "role": token.role,
                        "state": token.state,
                        "reason": token.reason,
                        "created_at": token.created_at,
                        "accepted": token.accepted,
                        "faults": token.faults,
                    })
                });
                return json_line(&mut out, &list.collect::<Vec<_>>());
            }
            let mut table = Table::new(&["TOKEN", "ROLE", "STATE", "GAMES>", "FAULTS>", "REASON"]);
            for token in tokens {
                let (games, faults) = (grouped(token.accepted), grouped(token.faults));
                table.row(vec![token.name, token.role, token.state, games, faults, token.reason]);
            }
            table.write(&mut out, Paint::stdout())?;
        }
        Action::Revoke { name, place } => {
            place.change()?.revoke_token(&name)?;
            writeln!(out, "revoked {name}")?;
        }
        Action::Lift { name, place } => {
            place.change()?.lift_token(&name)?;
            writeln!(out, "{name} is let in again; games that were marked stay marked")?;
        }
    }
    Ok(())
}
