//! `ludus weights show`: what a weight file says about itself, after checking all of it.

use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::path::PathBuf;

use anyhow::{Context, Result};
use ludus_players::weight_file::{Digest, Shape, WeightFile};
use serde::Serialize;

use crate::output::{Paint, json_line};

/// Arguments of `ludus weights show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  ludus weights show champion.safetensors")]
pub struct Args {
    /// Weight file
    file: PathBuf,
    /// Write it as JSON
    #[arg(long)]
    json: bool,
}

/// A weight file for scripts.
#[derive(Serialize)]
struct Report<'a> {
    file: String,
    sha256: String,
    bytes: u64,
    game: &'a str,
    revision: u32,
    inputs: &'a str,
    networks: Vec<Shape>,
    run: &'a str,
    version: u64,
    parent: &'a str,
    /// Seconds since 1970.
    created_at: u64,
    counters: &'a BTreeMap<String, u64>,
}

/// Runs it.
pub fn run(args: Args) -> Result<()> {
    let (file, digest): (WeightFile, Digest) = WeightFile::read(&args.file)?;
    let place = args.file.display().to_string();
    let bytes = std::fs::metadata(&args.file).with_context(|| format!("cannot read {place}"))?.len();

    let mut out = stdout().lock();
    if args.json {
        let card = &file.card;
        let report = Report {
            file: place,
            sha256: digest.to_string(),
            bytes,
            game: &card.game,
            revision: card.revision,
            inputs: &card.inputs,
            networks: file.shapes(),
            run: &card.run,
            version: card.version,
            parent: &card.parent,
            created_at: card.created_at,
            counters: &card.counters,
        };
        return json_line(&mut out, &report);
    }
    let paint = Paint::stdout();
    writeln!(out, "{} {}", paint.bold(&place), paint.dim(&format!("({bytes} bytes)")))?;
    writeln!(out, "sha256 {digest}")?;
    write!(out, "{}", file.describe())?;
    Ok(())
}
