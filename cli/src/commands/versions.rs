//! `ludus versions`: the versions of a run.

use anyhow::Result;
use ludus_proto::v1::VersionInfo;

use crate::local_run::RunPlace;
use crate::output::{Paint, Table, json_line};
use crate::report::{VersionJson, gate_in_words, grouped, hex, losses_in_words};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ludus versions                                         of the last run on this machine
  ludus versions backgammon --coordinator http://127.0.0.1:7777
  ludus versions --dir runs/backgammon --json | jq '.[-1].sha256'")]
pub struct Args {
    /// Name of the run [default: the newest]
    run: Option<String>,
    #[command(flatten)]
    place: RunPlace,
    /// A JSON list, oldest version first
    #[arg(long)]
    json: bool,
}

/// Lists them.
pub fn run(args: Args) -> Result<()> {
    let versions = args.place.read()?.versions(args.run.as_deref().unwrap_or_default())?;
    let mut out = std::io::stdout().lock();
    if args.json {
        return json_line(&mut out, &versions.iter().map(VersionJson::from).collect::<Vec<_>>());
    }
    let mut table = Table::new(&["VERSION", "STATE", "GAMES>", "POSITIONS>", "LOSS", "SHA256", "GATE"]);
    versions.iter().for_each(|version| table.row(row(version)));
    table.write(&mut out, Paint::stdout())
}

fn row(version: &VersionInfo) -> Vec<String> {
    let progress = version.progress.clone().unwrap_or_default();
    let gate = version.gate.as_ref();
    vec![
        format!("v{}", version.version),
        version.state.clone(),
        grouped(progress.games),
        grouped(progress.positions),
        losses_in_words(&progress.losses),
        hex(&version.sha256).chars().take(12).collect(),
        gate.map(|gate| format!("{}: {}", gate.verdict, gate_in_words(gate))).unwrap_or_default(),
    ]
}
