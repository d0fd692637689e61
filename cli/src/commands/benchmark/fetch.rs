//! `ludus benchmark fetch`: the benchmark files that GNU Backgammon's makers have published.

use std::io::{Write, stdout};
use std::path::PathBuf;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::published::{FILES, Got, HOME};
use crate::output::{Paint, Table, json_line};
use crate::report::grouped;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The files are the public measure of backgammon players, a class of positions each: 318,492 decisions whose plays were \
rolled out. Each is unpacked and held against its known sha256, so that it does not matter who serves it. A fetch that \
was interrupted goes on where it ended. A packed file (contact.bm.bz2) that you put into DIR is used instead of the \
Internet.

Examples:
  ludus benchmark fetch
  ludus benchmark fetch contact --dir data --url http://mirror.example/benchmarks
  ludus benchmark score benchmarks/contact.bm --player pubeval")]
pub struct Args {
    /// Files to fetch [default: all]
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(FILES.map(|file| file.name)))]
    names: Vec<String>,
    /// Folder to put them into
    #[arg(long, value_name = "DIR", default_value = "benchmarks")]
    dir: PathBuf,
    /// Where to fetch NAME.bm.bz2 from
    #[arg(long, value_name = "BASE", default_value = HOME, value_parser = plain_http)]
    url: String,
    /// Write what is there now as JSON
    #[arg(long)]
    json: bool,
}

fn plain_http(url: &str) -> Result<String, String> {
    match url.strip_prefix("http://") {
        Some(rest) if !rest.is_empty() => Ok(url.to_owned()),
        _ => Err("it must begin with http:// (the files' sums are verified, so https is not needed)".into()),
    }
}

/// One file, for scripts.
#[derive(Serialize)]
struct Fetched {
    file: PathBuf,
    decisions: u64,
    sha256: &'static str,
    /// Whether it was fetched just now.
    fetched: bool,
}

/// Fetches them.
pub fn run(args: Args) -> Result<()> {
    let wanted =
        FILES.iter().filter(|file| args.names.is_empty() || args.names.iter().any(|name| name == file.name));
    let mut there = Vec::new();
    for file in wanted {
        let bar = bar(file.name);
        let got = file.get(&args.url, &args.dir, &bar);
        bar.finish_and_clear();
        there.push(Fetched {
            fetched: got? == Got::Fetched,
            file: file.path(&args.dir),
            decisions: file.decisions,
            sha256: file.sha256,
        });
    }

    let mut out = stdout().lock();
    if args.json {
        return json_line(&mut out, &there);
    }
    let mut table = Table::new(&["FILE", "DECISIONS>", "VERIFIED"]);
    for Fetched { file, decisions, fetched, .. } in &there {
        let how = if *fetched { "fetched" } else { "was there" };
        table.row(vec![file.display().to_string(), grouped(*decisions), how.into()]);
    }
    table.write(&mut out, Paint::stdout())?;
    writeln!(out, "next: ludus benchmark score {} --player pubeval", there[0].file.display())?;
    Ok(())
}

/// Progress on standard error, where that is a terminal.
fn bar(name: &'static str) -> ProgressBar {
    let bar = ProgressBar::no_length().with_message(format!("{name}.bm"));
    let style = "{msg:10} {bar:30} {bytes} of {total_bytes}  {bytes_per_sec}  {eta} to go";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar
}
