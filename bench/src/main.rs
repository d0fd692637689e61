//! `ludus-bench`: measurements that need more than `ludus speed`. The scripts in this folder call it.

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand};
use ludus_bench::fleet::Fleet;
use ludus_bench::work::Work;
use ludus_bench::{fleet, judging, learning, samples, self_play, taught, work};
use ludus_config::Optimizer;
use serde::Serialize;

/// Measurements of Ludus, one line of JSON each. Figures of time say nothing on a busy machine.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes a weight file with random weights, whose speed is that of any other of its size
    Fresh {
        /// The input set, such as player-3.5
        inputs: String,
        /// Hidden units of each network
        hidden: usize,
        /// The file
        output: PathBuf,
    },
    /// Writes the shipped player with small networks, made in a few seconds, that find the plays worth a judgement
    Pruned {
        /// The file
        output: PathBuf,
    },
    /// Writes a weight file that has learnt from the shipped player for some seconds: its games have the usual length
    Taught {
        /// The input set, such as player-3.5
        inputs: String,
        /// Hidden units of each network
        hidden: usize,
        /// The file
        output: PathBuf,
    },
    /// Contact positions judged a second by each weight file on one thread, piece by piece, and the processor's limit
    Judging {
        /// Weight files; `shipped` is the one that comes with the program
        #[arg(required = true)]
        players: Vec<String>,
        /// Seconds for each
        #[arg(long, default_value = "3", value_parser = seconds)]
        seconds: Duration,
    },
    /// Games a second and what they tell a second: plain, mirrored, with luck taken out
    SelfPlay {
        /// A weight file, or `shipped`
        #[arg(default_value = "shipped")]
        player: String,
        /// Against this baseline instead of itself
        #[arg(long)]
        against: Option<String>,
        /// Seconds for each way
        #[arg(long, default_value = "6", value_parser = seconds)]
        seconds: Duration,
        /// Rounds in which the ways take turns
        #[arg(long, default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
    },
    /// Positions a second that the trainer learns on one thread, from records to steps
    Learning {
        /// The input set
        #[arg(long, default_value = "player-3.5")]
        inputs: String,
        /// Hidden units
        #[arg(long, default_value = "120")]
        hidden: usize,
        /// Positions of a step
        #[arg(long = "batch", default_values = ["512", "4096"], value_delimiter = ',')]
        batches: Vec<usize>,
        /// Seconds for each optimiser and batch
        #[arg(long, default_value = "3", value_parser = seconds)]
        seconds: Duration,
    },
    /// A fixed amount of work, for counting its instructions in `counted`
    Work {
        /// The work
        work: Work,
        /// Games whose positions are worked on
        games: u64,
        /// Weights where they are needed: a file, or `shipped`
        #[arg(long, default_value = "shipped")]
        player: String,
    },
    /// Simulated workers against a coordinator, one load after the other
    Fleet {
        /// Its address, such as http://127.0.0.1:7777
        #[arg(long)]
        coordinator: String,
        /// The number of its process
        #[arg(long)]
        process: u32,
        /// Workers
        #[arg(long, default_value = "200")]
        workers: usize,
        /// Games a second of all together, one load after the other; 0: as many as are taken
        #[arg(long = "load", default_values = ["500", "1000", "2000", "0"], value_delimiter = ',')]
        loads: Vec<f64>,
        /// Seconds for each load
        #[arg(long, default_value = "8", value_parser = seconds)]
        seconds: Duration,
        /// Games that are there to hand in, for each load
        #[arg(long, default_value = "60000")]
        games: u64,
        /// File that keeps them for the next time
        #[arg(long)]
        pool: PathBuf,
    },
}

fn seconds(text: &str) -> Result<Duration, String> {
    let positive = text.parse().ok().filter(|seconds| (0.001..=3600.0).contains(seconds));
    positive.map(Duration::from_secs_f64).ok_or_else(|| "a number of seconds above 0".to_owned())
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Fresh { inputs, hidden, output } => {
            let file = samples::fresh(&*samples::arena()?, &inputs, hidden)?;
            file.save(&output)?;
        }
        Command::Pruned { output } => {
            taught::pruned()?.save(&output)?;
        }
        Command::Taught { inputs, hidden, output } => {
            taught::player(&inputs, hidden)?.save(&output)?;
        }
        Command::Judging { players, seconds } => {
            let arena = samples::arena()?;
            let turns = judging::turns()?;
            for player in players {
                line(&judging::measure(&*samples::weights(&*arena, &player)?, &turns, seconds)?)?;
            }
        }
        Command::SelfPlay { player, against, seconds, rounds } => {
            let player = samples::seating(samples::weights(&*samples::arena()?, &player)?)?;
            let opponent = against.map_or_else(|| player.clone(), |name| samples::baseline(&name));
            line(&self_play::measure([&player, &opponent], rounds, seconds)?)?;
        }
        Command::Learning { inputs, hidden, batches, seconds } => {
            ensure!(batches.iter().all(|batch| *batch > 0), "a step has at least one position");
            let records = learning::records()?;
            for kind in [Optimizer::Sgd, Optimizer::AdamW] {
                for &batch in &batches {
                    line(&learning::measure((&inputs, hidden), (kind, batch), &records, seconds)?)?;
                }
            }
        }
        Command::Work { work, games, player } => {
            let weights = samples::weights(&*samples::arena()?, &player)?;
            line(&work::run(work, &weights, games)?)?;
        }
        Command::Fleet { coordinator, process, workers, loads, seconds, games, pool } => {
            ensure!(workers > 0, "a fleet has at least one worker");
            let fleet = Fleet { coordinator, process, workers, loads, duration: seconds, games };
            // One thread, so that what it costs is easy to say.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(fleet::run(&fleet, &pool, |outcome| {
                // Whoever reads may be gone; the measurement goes on.
                let _ = line(outcome);
            }))?;
        }
    }
    Ok(())
}

/// Writes a line of JSON.
fn line(value: &impl Serialize) -> Result<()> {
    let mut out = stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    Ok(writeln!(out)?)
}
