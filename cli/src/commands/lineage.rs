//! `ludus lineage`: whose games versions may have learnt from.

use anyhow::Result;
use ludus_proto::v1::{Contribution, VersionLineage};

use crate::local_run::{RunPlace, Which};
use crate::output::{Paint, Table, json_line};
use crate::report::{grouped, hex};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ludus lineage                       every version of the last run on this machine
  ludus lineage v12 --run backgammon --coordinator http://127.0.0.1:7777
  ludus lineage --json | jq 'map(select(.marked > 0)) | .[0].version'

A version may have learnt from every game that was accepted before it was published. Games are marked when the audit
finds that their token forged one.")]
pub struct Args {
    /// `champion`, `latest` or a version such as v12 [default: all]
    version: Option<Which>,
    /// Name of the run [default: the newest]
    #[arg(long, value_name = "RUN", default_value = "", hide_default_value = true)]
    run: String,
    #[command(flatten)]
    place: RunPlace,
    /// A JSON list, oldest version first
    #[arg(long)]
    json: bool,
}

/// Lists it.
pub fn run(args: Args) -> Result<()> {
    let runs = args.place.read()?;
    let mut lineage = runs.lineage(&args.run)?;
    if let Some(which) = args.version {
        let wanted = which.among(&runs.versions(&args.run)?)?.version;
        lineage.retain(|version| version.version == wanted);
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        return json_line(&mut out, &lineage.iter().map(json).collect::<Vec<_>>());
    }
    let mut table =
        Table::new(&["VERSION", "SHA256", "PARENT", "TOKEN", "GAMES>", "MARKED>", "GATE>", "MARKED>"]);
    for version in &lineage {
        rows(version).into_iter().for_each(|row| table.row(row));
    }
    table.write(&mut out, Paint::stdout())
}

/// A row for each token that had a part in it, and one for a version without.
fn rows(version: &VersionLineage) -> Vec<Vec<String>> {
    let short = |sum: &[u8]| hex(sum).chars().take(12).collect::<String>();
    let mut tokens: Vec<&str> = parts(version).map(|part| part.token.as_str()).collect();
    tokens.sort_unstable();
    tokens.dedup();
    if tokens.is_empty() {
        tokens.push("-");
    }
    let of = |parts: &[Contribution], token: &str| {
        let part = parts.iter().find(|part| part.token == token);
        part.map_or((0, 0), |part| (part.games, part.marked))
    };
    let row = |token: &str| {
        let ((games, marked), (gate, gate_marked)) = (of(&version.learnt, token), of(&version.gate, token));
        let name = if token.is_empty() { "(none shown)" } else { token };
        let mut row = vec![
            format!("v{}", version.version),
            short(&version.sha256),
            short(&version.parent),
            name.into(),
        ];
        row.extend([games, marked, gate, gate_marked].map(grouped));
        row
    };
    tokens.into_iter().map(row).collect()
}

fn parts(version: &VersionLineage) -> impl Iterator<Item = &Contribution> {
    version.learnt.iter().chain(&version.gate)
}

fn json(version: &VersionLineage) -> serde_json::Value {
    let list = |parts: &[Contribution]| {
        let part = |part: &Contribution| serde_json::json!({ "token": part.token, "games": part.games, "marked": part.marked });
        parts.iter().map(part).collect::<Vec<_>>()
    };
    serde_json::json!({
        "version": version.version,
        "sha256": hex(&version.sha256),
        "parent": hex(&version.parent),
        "marked": version.learnt.iter().map(|part| part.marked).sum::<u64>(),
        "learnt": list(&version.learnt),
        "gate": list(&version.gate),
    })
}
