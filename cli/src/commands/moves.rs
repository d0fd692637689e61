//! `ludus moves`: the legal plays of a roll.

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use ludus_players::analyst::{Analyst, MoveList};

use crate::game::GameChoice;
use crate::input::Lines;
use crate::output::{Paint, Table, json_line};
use crate::players::{PlayerPlace, resolve};

/// Arguments of `ludus moves`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Positions are gnubg position IDs, KEYs or XGIDs, seen by the side on roll. The position of a play is seen by the opponent, \
who is then on roll; equities are the mover's, in points.

Examples:
  ludus moves --position 4HPwATDgc/ABMA --dice 31
  ludus moves --position 4HPwATDgc/ABMA --dice 31 --player champion
  ludus moves --file positions.txt --json        lines of: POSITION D1 D2")]
pub struct Args {
    /// Position, of the side on roll
    #[arg(long, value_name = "ID", requires = "dice", required_unless_present = "file")]
    position: Option<String>,
    /// Roll, such as 31
    #[arg(long, value_name = "DICE", requires = "position")]
    dice: Option<String>,
    /// File with lines of POSITION D1 D2, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["position", "dice"])]
    file: Option<PathBuf>,
    /// Show the equities of this player, best play first
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
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
    let player = args.player.as_deref().map(|spec| resolve(spec, &*arena, &args.place)).transpose()?;
    let mut analyst = arena.analyst(player.as_ref())?;

    let mut out = BufWriter::new(stdout().lock());
    let paint = Paint::stdout();
    let mut show = |list: MoveList| {
        if args.json { json_line(&mut out, &list) } else { write_list(&mut out, &list, paint) }
    };
    if let (Some(position), Some(dice)) = (&args.position, &args.dice) {
        show(analyst.moves(position, dice)?)?;
    } else {
        let mut lines = Lines::open(args.file.as_ref())?;
        while let Some((place, line)) = lines.next_line()? {
            show(moves_of_line(&mut *analyst, &line).context(place)?)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// The plays of a line `POSITION D1 D2`.
fn moves_of_line(analyst: &mut dyn Analyst, line: &str) -> Result<MoveList> {
    let Some((position, dice)) = line.split_once(char::is_whitespace) else {
        bail!("{line:?} should be a position and two dice: POSITION D1 D2");
    };
    Ok(analyst.moves(position, dice.trim())?)
}

/// A list for people: rank, play, equity and loss against the best, position.
fn write_list(out: &mut impl Write, list: &MoveList, paint: Paint) -> Result<()> {
    let count = match list.plays.len() {
        1 => "1 play".to_owned(),
        count => format!("{count} plays"),
    };
    writeln!(out, "{}", paint.bold(&format!("{} {}: {count}", list.position, list.dice)))?;
    let best = list.plays.first().and_then(|play| play.equity);
    let mut table = match best {
        Some(_) => Table::new(&["#>", "PLAY", "EQUITY>", "LOSS>", "POSITION"]),
        None => Table::new(&["#>", "PLAY", "POSITION"]),
    };
    for (index, play) in list.plays.iter().enumerate() {
        let mut row = vec![(index + 1).to_string(), play.play.clone()];
        if let (Some(best), Some(equity)) = (best, play.equity) {
            let loss = if index == 0 { String::new() } else { format!("{:.4}", best - equity) };
            row.extend([format!("{equity:+.4}"), loss]);
        }
        row.push(play.position.clone());
        table.row(row);
    }
    table.write(out, paint)
}
