//! `ludus worker`: plays games for a coordinator.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use ludus_coordinator::exposition::Exposition;
use ludus_players::arena::Registry;
use ludus_worker::{WorkerOptions, WorkerProgress, WorkerStats};

use crate::access::AccessArgs;
use crate::log::LogArgs;
use crate::metrics_port::MetricsArgs;
use crate::report::grouped;
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
    metrics: MetricsArgs,
    #[command(flatten)]
    access: AccessArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Works until it is told to stop.
pub fn run(args: Args) -> Result<()> {
    roles::runtime()?.block_on(work(args))
}

async fn work(args: Args) -> Result<()> {
    let told_to_stop = signals::told_to_stop()?;
    let options = WorkerOptions {
        access: args.access.read()?,
        coordinator: args.coordinator,
        name: args.name.unwrap_or_else(roles::worker_name),
        threads: args.threads.unwrap_or_else(roles::cores),
        cache: args.cache,
        registry: Registry::standard(),
    };
    tracing::info!(name = options.name, threads = options.threads, "playing for {}", options.coordinator);
    let stats = Arc::new(WorkerStats::default());
    let shown = stats.clone();
    let threads = options.threads;
    let metrics = args.metrics.serve(move || exposition(&shown.progress(), threads)).await?;
    tokio::pin!(metrics);
    let work = ludus_worker::run(options, told_to_stop, stats.clone());
    tokio::pin!(work);
    let mut before = stats.progress();
    let outcome = loop {
        tokio::select! {
            outcome = &mut work => break outcome,
            () = &mut metrics => {}
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

fn exposition(now: &WorkerProgress, threads: usize) -> String {
    let mut text = Exposition::new();
    let one = |value: u64| [(vec![], value)];
    text.counter("ludus_worker_games_total", "Games played to the end", one(now.games));
    text.counter("ludus_worker_positions_total", "Positions of those games", one(now.positions));
    text.counter(
        "ludus_worker_evaluations_total",
        "Positions that networks computed for them",
        one(now.evaluations),
    );
    let handed_in = [("accepted", now.accepted), ("repeated", now.repeated), ("refused", now.refused)];
    let handed_in = handed_in.map(|(result, games)| (vec![("result", result.to_owned())], games));
    text.counter("ludus_worker_handed_in_total", "Games handed in, by what became of them", handed_in);
    text.counter("ludus_worker_leases_total", "Leases taken", one(now.leases));
    let waiting = f64::from(u8::from(now.waiting.is_some()));
    text.gauge(
        "ludus_worker_waiting",
        "1 while there is nothing to play; the log says why",
        [(vec![], waiting)],
    );
    text.gauge("ludus_worker_threads", "Player threads", [(vec![], threads as f64)]);
    text.finish()
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
