//! `ludus weights`: get weight files, and look at them.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use ludus_players::weight_file::{WeightFile, save_bytes};

use crate::commands::{weights_export, weights_show};
use crate::local_run::{RunPlace, Which};
use crate::output;

/// What to do with weights.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Save the weights of a version of a run, verified by their sha256
    #[command(after_help = "\
Examples:
  ludus weights pull backgammon champion -o champion.safetensors
  ludus weights pull backgammon v12 -o v12.safetensors --coordinator http://127.0.0.1:7777")]
    Pull(Pull),
    /// Check a weight file and show what it says about itself
    Show(weights_show::Args),
    /// Write the networks of a weight file for other programs, or in half the room
    #[command(after_help = "\
Examples:
  ludus weights export champion.safetensors --onnx champion        champion/contact.onnx and so on
  ludus weights export champion.safetensors --half small.safetensors

A model reads `inputs` [batch, inputs] and gives `probabilities` [batch, outputs]. What the inputs of a position are says
/api/v1/runs/RUN/position of a coordinator.")]
    Export(weights_export::Args),
}

/// Arguments of `ludus weights pull`.
#[derive(Debug, clap::Args)]
pub struct Pull {
    /// Name of the run
    run: String,
    /// `champion`, `latest` or a version such as v12
    version: Which,
    /// Where to save the file; an existing file is replaced at once and whole
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    place: RunPlace,
    /// JSON: {"run", "version", "sha256", "file"}
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(action: Action) -> Result<()> {
    match action {
        Action::Pull(args) => pull(args),
        Action::Show(args) => weights_show::run(args),
        Action::Export(args) => weights_export::run(args),
    }
}

fn pull(args: Pull) -> Result<()> {
    let runs = args.place.read()?;
    let versions = runs.versions(&args.run)?;
    let version = args.version.among(&versions)?;
    let (digest, bytes) = runs.weights(version)?;
    // Nothing replaces a good file that could not be used afterwards.
    WeightFile::from_bytes(&bytes, &format!("v{} of run {}", version.version, args.run))?;
    save_bytes(&args.output, &bytes)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        let json = serde_json::json!({
            "run": args.run,
            "version": version.version,
            "sha256": digest.to_string(),
            "file": args.output,
        });
        output::json_line(&mut out, &json)?;
    } else {
        let file = args.output.display();
        writeln!(out, "{file}: v{} of run {}, sha256 {digest}", version.version, args.run)?;
    }
    Ok(())
}
