//! `ludus weights export`: networks for other programs.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use ludus_players::weight_file::{WeightFile, save_bytes};

use crate::{onnx, output};

/// Arguments of `ludus weights export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The weight file
    file: PathBuf,
    /// Folder for an ONNX model of each position class, such as contact.onnx; made when needed
    #[arg(long, value_name = "DIR")]
    onnx: PathBuf,
    /// JSON: {"files": [{"class", "inputs", "hidden", "outputs", "file"}]}
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(args: Args) -> Result<()> {
    let (weights, _) = WeightFile::read(&args.file)?;
    fs::create_dir_all(&args.onnx).with_context(|| format!("the folder {}", args.onnx.display()))?;
    let mut out = std::io::stdout().lock();
    let mut files = Vec::new();
    for network in &weights.networks {
        let path = args.onnx.join(format!("{}.onnx", network.class));
        save_bytes(&path, &onnx::model(&weights.card, network))?;
        let shape = network.shape();
        if !args.json {
            writeln!(out, "{}: {shape}", path.display())?;
        }
        files.push(serde_json::json!({
            "class": shape.class,
            "inputs": shape.inputs,
            "hidden": shape.hidden,
            "outputs": shape.outputs,
            "file": path,
        }));
    }
    if args.json {
        output::json_line(&mut out, &serde_json::json!({ "files": files }))?;
    }
    Ok(())
}
