//! `ludus match`: two players play pairs of games on the same dice.

use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use ludus_players::matches::{MatchReport, MatchSettings, play_match};

use crate::game::GameChoice;
use crate::output::{Paint, json_line};
use crate::players::{PlayerPlace, resolve};
use crate::roles;

/// Most pairs of a match: results of all are held in memory, and more would tell nothing new.
const MOST_PAIRS: u64 = 100_000_000;

/// Arguments of `ludus match`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each pair is two games on the same dice with the sides swapped. The result is the first player's points per game with \
its standard error, from the pairs; gammons are games for exactly two points. With --luck the luck of the dice is taken \
out of every game: the error shrinks, and a game costs about 21 times the evaluations, so it pays between players that \
are nearly equal.

In games without dice both games of a pair begin with the same opening, one of all openings of six plies that lead to about
even positions. Their baselines may have a setting: othello-ab@depth=4, saltare@depth=7, saltare@nodes=100000.

gnubg:HOST:PORT@Nply is GNU Backgammon as bench/peers/gnubg-external starts it. Luck is then measured by the other player.

Examples:
  ludus match champion pubeval
  ludus match v12@1ply v12 --pairs 500 --luck
  ludus match ./mine.safetensors champion --dir runs/first --json
  ludus match saltare@depth=7 random --game italian-draughts --pairs 50
  ludus match champion gnubg:localhost:4000@0ply --luck")]
pub struct Args {
    /// First player: shipped, champion, latest, v12, v12@1ply, a baseline (pubeval, random), a weight file's path, or
    /// gnubg:HOST:PORT@Nply
    first: String,
    /// Second player
    second: String,
    /// Pairs of games to play
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=MOST_PAIRS))]
    pairs: u64,
    /// Take the luck of the dice out of the results
    #[arg(long)]
    luck: bool,
    /// Seed of the dice: the same seed gives the same games
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = roles::threads)]
    threads: Option<usize>,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: PlayerPlace,
    #[command(flatten)]
    game: GameChoice,
}

/// Runs it.
pub fn run(args: Args) -> Result<()> {
    let arena = args.game.arena()?;
    let first = resolve(&args.first, &*arena, &args.place)?;
    let second = resolve(&args.second, &*arena, &args.place)?;
    let threads = args.threads.unwrap_or_else(roles::cores);
    let settings = MatchSettings { pairs: args.pairs, seed: args.seed, luck: args.luck, threads };

    let mut progress = Progress::new(args.pairs);
    let names = [args.first.as_str(), args.second.as_str()];
    let report =
        play_match(&*arena, [&first, &second], names, &settings, &mut |report| progress.show(report));
    progress.bar.finish_and_clear();
    let report = report?;

    let mut out = stdout().lock();
    if args.json {
        return json_line(&mut out, &report);
    }
    let text = report.to_string();
    let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let paint = Paint::stdout();
    writeln!(out, "{}", paint.bold(title))?;
    for line in rest.lines() {
        let points = line.starts_with("points per game");
        writeln!(out, "{}", if points { paint.sign(report.ppg, line) } else { line.to_owned() })?;
    }
    Ok(())
}

/// A bar on standard error, where that is a terminal.
struct Progress {
    bar: ProgressBar,
    shown: Instant,
}

impl Progress {
    /// Between two looks at the score.
    const INTERVAL: Duration = Duration::from_millis(200);

    fn new(pairs: u64) -> Self {
        let bar = ProgressBar::new(pairs);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} pairs  {msg}  {eta} to go") {
            bar.set_style(style);
        }
        Progress { bar, shown: Instant::now() }
    }

    fn show(&mut self, report: &MatchReport) {
        if self.shown.elapsed() >= Self::INTERVAL {
            self.shown = Instant::now();
            self.bar.set_position(report.pairs);
            self.bar.set_message(format!("{:+.4} +-{:.4} ppg", report.ppg, report.se.unwrap_or(f64::NAN)));
        }
    }
}
