//! `ludus evaluate`: what a player thinks of positions.

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::game::GameChoice;
use crate::input::Lines;
use crate::output::{Paint, Table, json_line};
use crate::players::{PlayerPlace, resolve};

/// Arguments of `ludus evaluate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Positions are gnubg position IDs, KEYs or XGIDs, one a line, seen by the side on roll; empty lines and those that begin \
with # are skipped. The probabilities are those of a win, at least a gammon won, a backgammon won, at least a gammon \
lost, a backgammon lost; the equity is cubeless, in points.

Examples:
  ludus evaluate --player champion positions.txt
  echo 4HPwATDgc/ABMA | ludus evaluate --json")]
pub struct Args {
    /// File of positions, one a line [default: standard input]
    file: Option<PathBuf>,
    /// Player: shipped, champion, latest, v12, v12@1ply or a weight file's path
    #[arg(long, value_name = "PLAYER", default_value = "shipped")]
    player: String,
    /// Judge for the player who has just moved: the side on roll is the opponent
    #[arg(long)]
    after: bool,
    /// Write one JSON object a line
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
    let player = resolve(&args.player, &*arena, &args.place)?;
    let mut analyst = arena.analyst(Some(&player))?;

    let mut out = BufWriter::new(stdout().lock());
    let probabilities = analyst.labels().iter().map(|label| format!("{}>", label.to_uppercase()));
    let heading: Vec<String> =
        ["POSITION".to_owned()].into_iter().chain(probabilities).chain(["EQUITY>".to_owned()]).collect();
    let mut table = Table::new(&heading);
    let mut lines = Lines::open(args.file.as_ref())?;
    while let Some((place, line)) = lines.next_line()? {
        for judgement in analyst.evaluate(&[&line], args.after).context(place)? {
            if args.json {
                json_line(&mut out, &judgement)?;
            } else {
                let mut row = vec![judgement.position];
                row.extend(judgement.probabilities.iter().map(|p| format!("{p:.4}")));
                row.push(format!("{:+.4}", judgement.equity));
                table.row(row);
            }
        }
    }
    if !args.json {
        table.write(&mut out, Paint::stdout())?;
    }
    out.flush()?;
    Ok(())
}
