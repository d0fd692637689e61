//! `ludus speed`: how fast players judge positions and play games on this machine.

use std::io::{Write, stdout};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use ludus_players::arena::{Arena, Seating, Source};
use ludus_players::speed::{Speed, SpeedSettings};
use ludus_players::weight_file::{Card, Digest, WeightFile};
use serde::Serialize;

use crate::config_file;
use crate::game::GameChoice;
use crate::output::{Paint, json_line};
use crate::players::{PlayerPlace, resolve};
use crate::roles;

/// Arguments of `ludus speed`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Half of the time positions are judged, inputs included, and half of the time games of self-play are played. Without \
--player it is a network of random weights of the size that `ludus train` learns by default.

Examples:
  ludus speed
  ludus speed --player champion@1ply --threads 8")]
pub struct Args {
    /// Player to measure: shipped, champion, latest, v12, v12@1ply, a baseline (pubeval, random) or a weight file's path
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// Threads that run at once; the figures are those of all together
    #[arg(long, value_name = "N", default_value = "1", value_parser = roles::threads)]
    threads: usize,
    /// Choose plays among so many of each roll, where the player has small networks to find them, as self_play.shortlist;
    /// 0: among all
    #[arg(long, value_name = "N", default_value_t = 0)]
    shortlist: u32,
    /// Time to measure
    #[arg(long, value_name = "TIME", default_value = "4s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: PlayerPlace,
    #[command(flatten)]
    game: GameChoice,
}

/// The result for scripts.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    speed: Speed,
    /// The processor's name.
    cpu: String,
}

/// Runs it.
pub fn run(args: Args) -> Result<()> {
    let arena = args.game.arena()?;
    let (name, player) = match args.player {
        Some(spec) => {
            let player = resolve(&spec, &*arena, &args.place)?;
            (spec, player)
        }
        None => fresh_network(&*arena)?,
    };
    let Args { threads, time: duration, shortlist, .. } = args;
    let speed = arena.speed(&player, &SpeedSettings { threads, duration, shortlist })?;
    let report = Report { speed, cpu: processor() };

    let mut out = stdout().lock();
    if args.json {
        return json_line(&mut out, &report);
    }
    let paint = Paint::stdout();
    let threads =
        if speed.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", speed.threads) };
    writeln!(out, "{}", paint.bold(&format!("{name} on {}, {threads}", report.cpu)))?;
    let mut line = |what: &str, rate: f64| {
        let each = rate / speed.threads as f64;
        writeln!(out, "{what:12} {rate:>12.0} a second  {}", paint.dim(&format!("{each:.0} a thread")))
    };
    if let Some(rate) = speed.evaluations_per_second {
        line("evaluations", rate)?;
    }
    line("games", speed.games_per_second)?;
    Ok(())
}

/// A network of random weights of the default size; speed does not depend on what was learnt.
fn fresh_network(arena: &dyn Arena) -> Result<(String, Seating)> {
    let hidden = config_file::default_of(arena.game())?.network.hidden;
    let inputs = arena.input_sets().first().copied().unwrap_or_default();
    let shapes = arena.shapes(inputs, hidden)?;
    let card = Card {
        game: arena.game().to_owned(),
        revision: arena.revision(),
        inputs: inputs.to_owned(),
        ..Card::default()
    };
    let file = WeightFile::fresh(card, &shapes, 1)?;
    let digest = Digest::of(&file.to_bytes()?);
    let name = format!("network of {hidden} hidden units on {inputs}");
    Ok((name, Seating { source: Source::Weights { digest, file: Arc::new(file) }, plies: 0 }))
}

/// The processor's name as Linux tells it, otherwise its architecture.
fn processor() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
