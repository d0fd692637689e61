//! `ludus worker`: plays games for a coordinator.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use ludus_players::arena::Registry;
use ludus_worker::{WorkerOptions, WorkerProgress, WorkerStats};

use crate::report::grouped;
use crate::token::TokenArgs;
use crate::{roles, signals};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  ludus worker --coordinator http://127.0.0.1:7777 --threads 4")]
pub struct Args {
    /// Address of the coordinator; the worker waits for it when it is away
    #[arg(long, value_name = "URL", env = "LUDUS_COORDINATOR")]
    coordinator: String,
    /// Player threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = roles::threads)]
    threads: Option<usize>,
    /// Name shown to people [default: the machine's, with the process]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Folder that keeps weight files between starts
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    token: TokenArgs,
}

/// Works until it is told to stop.
pub fn run(args: Args) -> Result<()> {
    roles::runtime()?.block_on(work(args))
}

async fn work(args: Args) -> Result<()> {
    let told_to_stop = signals::told_to_stop()?;
    let options = WorkerOptions {
        token: args.token.bearer()?,
        coordinator: args.coordinator,
        name: args.name.unwrap_or_else(roles::worker_name),
        threads: args.threads.unwrap_or_else(roles::cores),
        cache: args.cache,
        registry: Registry::standard(),
    };
    tracing::info!(name = options.name, threads = options.threads, "playing for {}", options.coordinator);
    let stats = Arc::new(WorkerStats::default());
    let work = ludus_worker::run(options, told_to_stop, stats.clone());
    tokio::pin!(work);
    let mut before = stats.progress();
    let outcome = loop {
        tokio::select! {
            outcome = &mut work => break outcome,
            () = tokio::time::sleep(roles::NEWS) => {
                let now = stats.progress();
                tracing::info!("{}", news(&before, &now));
                before = now;
            }
        }
    };
    let total = stats.progress();
    tracing::info!(
        "{} games played, {} taken by the coordinator",
        grouped(total.games),
        grouped(total.accepted)
    );
    Ok(outcome?)
}

fn news(before: &WorkerProgress, now: &WorkerProgress) -> String {
    let rate = |before: u64, now: u64| (now - before) / roles::NEWS.as_secs();
    let mut text = format!(
        "{} games/s, {} positions/s, {} games played, {} accepted",
        grouped(rate(before.games, now.games)),
        grouped(rate(before.positions, now.positions)),
        grouped(now.games),
        grouped(now.accepted)
    );
    if now.refused > 0 {
        text += &format!(", {} refused", grouped(now.refused));
    }
    if let Some(reason) = &now.waiting {
        text += &format!("; waiting: {reason}");
    }
    text
}
