//! `ludus run`: create, list, show and stop runs.

use std::io::Write;

use anyhow::Result;
use ludus_proto::v1::RunStatus;

use crate::config_file::ConfigArgs;
use crate::local_run::RunPlace;
use crate::output::{Paint, Table, json_line};
use crate::report::{RunJson, gate_in_words, grouped, losses_in_words, phase_in_words, version_or_none};

/// What to do with runs.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Create a run; workers and trainers of the coordinator begin with it at once
    #[command(after_help = "\
Examples:
  ludus config show > run.toml
  ludus run create --config run.toml --name first --coordinator http://127.0.0.1:7777
  ludus run create --set game=othello --set seed=7")]
    Create {
        #[command(flatten)]
        config: ConfigArgs,
        /// Name of the run [default: the game's name, with a number if that is taken]
        #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
        name: String,
        #[command(flatten)]
        place: RunPlace,
        /// JSON: {"run": NAME}
        #[arg(long)]
        json: bool,
    },
    /// List the runs
    #[command(after_help = "\
Example:
  ludus run list --coordinator http://127.0.0.1:7777")]
    List {
        #[command(flatten)]
        place: RunPlace,
        /// A JSON list, oldest run first
        #[arg(long)]
        json: bool,
    },
    /// Show a run: games, training, versions, the gate in progress
    #[command(after_help = "\
Examples:
  ludus run show                             the newest of the last folder on this machine
  ludus run show first --coordinator http://127.0.0.1:7777 --json")]
    Show {
        /// Name of the run [default: the newest]
        run: Option<String>,
        #[command(flatten)]
        place: RunPlace,
        /// A JSON object, with the configuration
        #[arg(long)]
        json: bool,
    },
    /// Stop a run for good: no more games; what was played is still learnt. (To pause `ludus train`, press Ctrl-C.)
    #[command(after_help = "\
Example:
  ludus run stop first --coordinator http://127.0.0.1:7777")]
    Stop {
        /// Name of the run
        run: String,
        #[command(flatten)]
        place: RunPlace,
    },
}

/// Does it.
pub fn run(action: Action) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match action {
        Action::Create { config, name, place, json } => {
            let config = config.read()?.config;
            let run = place.change()?.create_run(&config.to_toml(), &name)?;
            if json {
                json_line(&mut out, &serde_json::json!({ "run": run }))?;
            } else {
                writeln!(out, "created run {run}")?;
            }
        }
        Action::List { place, json } => {
            let runs = place.read()?.runs()?;
            if json {
                let list: Vec<RunJson> = runs.iter().map(|run| RunJson::new(run, false)).collect();
                json_line(&mut out, &list)?;
            } else {
                let mut table = Table::new(&HEADING);
                runs.iter().for_each(|run| table.row(row(run)));
                table.write(&mut out, Paint::stdout())?;
            }
        }
        Action::Show { run, place, json } => {
            let run = place.read()?.run(run.as_deref().unwrap_or_default())?;
            if json {
                json_line(&mut out, &RunJson::new(&run, true))?;
            } else {
                show(&mut out, &run)?;
            }
        }
        Action::Stop { run, place } => {
            place.change()?.stop_run(&run)?;
            writeln!(out, "stopped run {run}; its trainer ends when it has learnt what was played")?;
        }
    }
    Ok(())
}

const HEADING: [&str; 9] =
    ["RUN", "GAME", "STATE", "GAMES>", "LEARNT>", "LATEST>", "CHAMPION>", "BACKLOG>", "WORKERS>"];

fn row(run: &RunStatus) -> Vec<String> {
    vec![
        run.run.clone(),
        run.game.clone(),
        run.state.clone(),
        grouped(run.accepted),
        grouped(run.progress.as_ref().map_or(0, |progress| progress.games)),
        version_or_none(run.latest_version),
        version_or_none(run.champion),
        grouped(run.backlog),
        workers(run),
    ]
}

fn show(out: &mut impl Write, run: &RunStatus) -> std::io::Result<()> {
    let progress = run.progress.clone().unwrap_or_default();
    let mut line = |name: &str, text: String| writeln!(out, "{name:<10}{text}");
    line("run", format!("{} ({}, {})", run.run, run.game, run.state))?;
    line(
        "games",
        format!(
            "{} issued = {} accepted + {} leased + {} void",
            grouped(run.issued),
            grouped(run.accepted),
            grouped(run.leased),
            grouped(run.void)
        ),
    )?;
    if let Some(rollouts) = run.rollouts.filter(|rollouts| rollouts.issued > 0) {
        line(
            "rollouts",
            format!("{} of these accepted, {} leased", grouped(rollouts.accepted), grouped(rollouts.leased)),
        )?;
    }
    if let Some(phase) = phase_in_words(run) {
        line("phase", phase.trim_start_matches("phase ").to_owned())?;
    }
    line(
        "learnt",
        format!(
            "{} games, {} positions, {} steps; {} expired, {} games wait",
            grouped(progress.games),
            grouped(progress.positions),
            grouped(progress.steps),
            grouped(progress.expired),
            grouped(run.backlog)
        ),
    )?;
    if !progress.losses.is_empty() {
        line("loss", losses_in_words(&progress.losses))?;
    }
    line("versions", format!("latest {}", version_or_none(run.latest_version)))?;
    line("champion", version_or_none(run.champion))?;
    if let Some(gate) = &run.gate {
        line("gate", gate_in_words(gate))?;
        if !gate.reason.is_empty() {
            line("", gate.reason.clone())?;
        }
    }
    line("workers", workers(run))
}

/// Read from a folder, a run does not say who plays for it.
fn workers(run: &RunStatus) -> String {
    if run.workers == 0 { "-".into() } else { run.workers.to_string() }
}
