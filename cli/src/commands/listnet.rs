//! `ludus listnet`: PubEval's weights, trained on the decisions of benchmarks.
//!
//! PubEval is a player of backgammon, so unlike other commands this one names the game.

use std::io::{Write, stdout};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use ludus_games::Backgammon;
use ludus_players::backgammon::listnet::{Epoch, Training, train};
use ludus_players::backgammon::{LinearPlayer, LinearWeights, PositionClass, PubEval};
use ludus_players::benchmark::{Benchmark, BenchmarkReport, ErrorRate};
use ludus_players::player::Player;
use ludus_players::weight_file::{check_target, save_bytes};
use serde::Serialize;

use crate::input::read_text;
use crate::output::{self, Paint, Table, json_line};
use crate::report::grouped;
use crate::roles;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
PubEval has a vector of 122 weights for positions in which the sides can still meet and one for races. Both learn, from \
the published weights on, by ListNet: a step of 0.1 for each decision, divided by the square root of 10 whenever ER gets \
worse, down to 1e-5. Nothing is learnt from plays that a decision does not list; ER counts them as the worst that it \
lists. A share of the positions, chosen by a hash of each, is held out: nothing is learnt from it or chosen by it, and \
it shows what the weights are worth.

The result is a player wherever one is asked for: a text file whose name ends in .pubeval.

Examples:
  ludus listnet own.bm --out mine.pubeval
  ludus match ./mine.pubeval pubeval --pairs 20000")]
pub struct Args {
    /// Benchmark files to learn from
    #[arg(value_name = "BENCHMARK", required = true)]
    benchmarks: Vec<PathBuf>,
    /// Weight file to write; its name ends in .pubeval
    #[arg(long, value_name = "FILE", value_parser = out_file)]
    out: PathBuf,
    /// Share of the positions to hold out, 0 to 0.9
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = share)]
    held_out: f64,
    /// Most passes of each vector through all decisions
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    epochs: u32,
    /// Seed of the order in which decisions are learnt
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

fn out_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().is_some_and(|extension| extension == "pubeval") {
        true => Ok(path),
        false => Err("its name must end in .pubeval, by which players of this kind are known".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.0..=0.9).contains(&share) { Ok(share) } else { Err("it must be from 0 to 0.9".into()) }
}

/// The error rates of both players on one part of the decisions.
#[derive(Serialize)]
struct Compared {
    before: BenchmarkReport,
    after: BenchmarkReport,
}

/// What the training came to, for scripts.
#[derive(Serialize)]
struct Trained {
    out: PathBuf,
    training: Compared,
    held_out: Option<Compared>,
    epochs: Vec<Epoch>,
}

/// Trains.
pub fn run(args: Args) -> Result<()> {
    check_target(&args.out)?;
    let (training, held_out) = read(&args.benchmarks)?.split(Backgammon, args.held_out);
    if training.is_empty() {
        bail!("all decisions are held out, so there is nothing to learn from: ask for a smaller --held-out");
    }
    let settings = Training { epochs: args.epochs, seed: args.seed };
    let mut progress = Progress::new();
    let mut epochs = Vec::new();
    let weights = train(PubEval::weights(), &training, &held_out, settings, &mut |epoch| {
        progress.show(epoch);
        epochs.push(*epoch);
    });
    progress.bar.finish_and_clear();

    let compared = |part: &Benchmark<Backgammon>| -> Result<Compared> {
        Ok(Compared {
            before: score(part, "pubeval", PubEval::weights())?,
            after: score(part, "retrained", &weights)?,
        })
    };
    let trained = Trained {
        training: compared(&training)?,
        held_out: if held_out.is_empty() { None } else { Some(compared(&held_out)?) },
        out: args.out.clone(),
        epochs,
    };
    save_bytes(&args.out, weights.write(&remarks(&args, &trained)).as_bytes())?;
    trained.print(args.json)
}

/// The decisions of all files. A file named twice, perhaps by two paths, would count for two.
fn read(files: &[PathBuf]) -> Result<Benchmark<Backgammon>> {
    let class = |state: &_| PositionClass::of(state).map(|class| PositionClass::NAMES[class as usize]);
    let mut all: Option<Benchmark<Backgammon>> = None;
    let mut seen: Vec<PathBuf> = Vec::new();
    for file in files {
        // What is not there is reported where it is read.
        let place = file.canonicalize().unwrap_or_else(|_| file.clone());
        if seen.contains(&place) {
            bail!("{} is named twice, so its decisions would count twice: name it once", file.display());
        }
        seen.push(place);
        let read = Benchmark::read(Backgammon, &file.display().to_string(), &read_text(file)?, &class)?;
        match &mut all {
            None => all = Some(read),
            Some(all) => all.append(read),
        }
    }
    all.context("no benchmark is named")
}

fn score(part: &Benchmark<Backgammon>, name: &str, weights: &LinearWeights) -> Result<BenchmarkReport> {
    let weights = std::sync::Arc::new(weights.clone());
    let player = || Box::new(LinearPlayer(weights.clone())) as Box<dyn Player<Backgammon>>;
    Ok(part.score(Backgammon, name, (0..roles::cores()).map(|_| player()).collect())?)
}

/// How the weights were made, for whoever opens the file.
fn remarks(args: &Args, trained: &Trained) -> String {
    let files: Vec<_> = args.benchmarks.iter().map(|file| file.display().to_string()).collect();
    let mut remarks = format!(
        "PubEval (G. Tesauro, 1993), its weights retrained by ListNet: ludus {} listnet {} --held-out {} --epochs {} \
         --seed {}\n",
        env!("CARGO_PKG_VERSION"),
        files.join(" "),
        args.held_out,
        args.epochs,
        args.seed
    );
    for (part, compared) in trained.parts() {
        let before: Vec<_> =
            rates(&compared.before).map(|(class, rate)| format!("{class} {:.2}", rate.er)).collect();
        let after: Vec<_> =
            rates(&compared.after).map(|(class, rate)| format!("{class} {:.2}", rate.er)).collect();
        remarks += &format!("ER {part}: {} (PubEval: {})\n", after.join(", "), before.join(", "));
    }
    remarks
}

/// Classes with their error rates, and all of them together.
fn rates(report: &BenchmarkReport) -> impl Iterator<Item = (&str, &ErrorRate)> {
    report.classes.iter().map(|(class, rate)| (class.as_str(), rate)).chain([("overall", &report.overall)])
}

impl Trained {
    fn parts(&self) -> impl Iterator<Item = (&str, &Compared)> {
        [("training", &self.training)]
            .into_iter()
            .chain(self.held_out.as_ref().map(|part| ("held out", part)))
    }

    fn print(&self, json: bool) -> Result<()> {
        let mut out = stdout().lock();
        if json {
            return json_line(&mut out, self);
        }
        let mut table =
            Table::new(&["DECISIONS", "CLASS", "NUMBER>", "PUBEVAL>", "+->", "RETRAINED>", "+->"]);
        for (part, Compared { before, after }) in self.parts() {
            let pairs = rates(before).zip(rates(after));
            for ((class, before), (_, after)) in pairs {
                let error = |rate: &ErrorRate| rate.se.map(|se| format!("{se:.2}")).unwrap_or_default();
                table.row(vec![
                    part.to_owned(),
                    class.to_owned(),
                    grouped(before.decisions),
                    format!("{:.2}", before.er),
                    error(before),
                    format!("{:.2}", after.er),
                    error(after),
                ]);
            }
        }
        table.write(&mut out, Paint::stdout())?;
        let out_file = self.out.display();
        writeln!(out, "weights: {out_file}\nplay it: ludus match {out_file} pubeval --pairs 20000")?;
        Ok(())
    }
}

/// The last pass on a terminal, each on a line of its own elsewhere; on standard error.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Progress { bar }
    }

    fn show(&mut self, epoch: &Epoch) {
        let held_out = epoch.held_out_er.map(|er| format!(", held out {er:.2}")).unwrap_or_default();
        let line = format!(
            "{} epoch {}, step {:.1e}: loss {:.4}, ER {:.2}{held_out}",
            epoch.vector, epoch.epoch, epoch.step, epoch.loss, epoch.er
        );
        if self.bar.is_hidden() {
            output::news(&line);
        } else {
            self.bar.set_message(line);
            self.bar.tick();
        }
    }
}
