//! `ludus weights export`: networks for other programs, or in half the room.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ludus_players::weight_file::{Digest, WeightFile, save_bytes};

use crate::{onnx, output};

/// Arguments of `ludus weights export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The weight file
    file: PathBuf,
    /// Folder for an ONNX model of each position class, such as contact.onnx; made when needed
    #[arg(long, value_name = "DIR", required_unless_present = "half", conflicts_with = "half")]
    onnx: Option<PathBuf>,
    /// File for the same weights as 16-bit numbers: half the bytes, and a player like any other
    #[arg(long, value_name = "FILE")]
    half: Option<PathBuf>,
    /// JSON: {"files": [{"class", "inputs", "hidden", "outputs", "file"}]}, or {"file", "bytes", "sha256"} with --half
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(args: Args) -> Result<()> {
    let (weights, _) = WeightFile::read(&args.file)?;
    if let Some(file) = &args.half {
        half(&weights, file, args.json)?;
    }
    if let Some(folder) = &args.onnx {
        onnx_models(&weights, folder, args.json)?;
    }
    Ok(())
}

fn half(weights: &WeightFile, file: &Path, json: bool) -> Result<()> {
    let bytes = weights.to_half_bytes()?;
    save_bytes(file, &bytes)?;
    let (count, sha256) = (bytes.len(), Digest::of(&bytes).to_string());
    let mut out = std::io::stdout().lock();
    if json {
        return output::json_line(
            &mut out,
            &serde_json::json!({ "file": file, "bytes": count, "sha256": sha256 }),
        );
    }
    writeln!(out, "{}: {count} bytes, sha256 {sha256}", file.display())?;
    Ok(())
}

fn onnx_models(weights: &WeightFile, folder: &Path, json: bool) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("the folder {}", folder.display()))?;
    let mut out = std::io::stdout().lock();
    let mut files = Vec::new();
    for network in &weights.networks {
        let path = folder.join(format!("{}.onnx", network.class));
        save_bytes(&path, &onnx::model(&weights.card, network))?;
        let shape = network.shape();
        if !json {
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
    if json {
        output::json_line(&mut out, &serde_json::json!({ "files": files }))?;
    }
    Ok(())
}
