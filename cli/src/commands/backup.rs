//! `ludus backup`: copies what a coordinator keeps.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use ludus_coordinator::Records;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example: a copy of every night, and going on with one of them
  ludus backup --dir runs/cluster --to backups/$(date +%F)
  ludus coordinator --dir backups/2026-11-30")]
pub struct Args {
    /// Folder of a coordinator, running or not
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// New folder for the copy
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// Copies it.
pub fn run(args: Args) -> Result<()> {
    Records::open(&args.dir)?.back_up(&args.to)?;
    writeln!(std::io::stdout(), "copied {} to {}", args.dir.display(), args.to.display())?;
    Ok(())
}
