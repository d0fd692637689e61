//! `ludus benchmark score`: how much a player loses on decisions whose best plays are known.

use std::borrow::Cow;
use std::io::{Write, stdout};
use std::path::PathBuf;

use anyhow::Result;

use crate::game::GameChoice;
use crate::input::read_text;
use crate::output::{Paint, Table, json_line};
use crate::players::{PlayerPlace, resolve};
use crate::report::grouped;
use crate::roles;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file holds one decision a line as GNU Backgammon's .bm files do, `m KEY d1 d2 KEY1 equity KEY2 loss2 ...`, perhaps \
after the class of the position. ER, the error rate, is 1000 times the mean loss in points; +- is its standard error. A \
play that is not listed costs as much as the worst that is.

Examples:
  ludus benchmark score contact.bm --player champion
  ludus benchmark score shipped --player latest")]
pub struct Args {
    /// Benchmark file, or `shipped`: the decisions that come with the program, by which gates judge
    file: PathBuf,
    /// Player: shipped, champion, latest, v12, v12@1ply, a baseline (pubeval, random) or a weight file's path
    #[arg(long, value_name = "PLAYER")]
    player: String,
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

/// Scores the player.
pub fn run(args: Args) -> Result<()> {
    let arena = args.game.arena()?;
    let player = resolve(&args.player, &*arena, &args.place)?;
    let file = args.file.display().to_string();
    let text = match arena.shipped_benchmark().filter(|_| file == "shipped") {
        Some(text) => text.into(),
        None => Cow::from(read_text(&args.file)?),
    };
    let threads = args.threads.unwrap_or_else(roles::cores);
    let report = arena.score((&file, &text), (&args.player, &player), threads)?;

    let mut out = stdout().lock();
    if args.json {
        return json_line(&mut out, &report);
    }
    let paint = Paint::stdout();
    writeln!(out, "{}", paint.bold(&format!("{} on {file}", report.player)))?;
    let mut table = Table::new(&["CLASS", "DECISIONS>", "ER>", "+->"]);
    let rates = report.classes.iter().map(|(class, rate)| (class.as_str(), rate));
    for (class, rate) in rates.chain([("overall", &report.overall)]) {
        let se = rate.se.map(|se| format!("{se:.2}")).unwrap_or_default();
        table.row(vec![class.to_owned(), grouped(rate.decisions), format!("{:.2}", rate.er), se]);
    }
    table.write(&mut out, paint)
}
