//! `ludus perft`: the leaves of the tree of plays, by which move generators are held against each other.

use std::io::{Write, stdout};
use std::time::Instant;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::game;
use crate::output::json_line;

/// Arguments of `ludus perft`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
One line a depth, as soon as it is known. Othello: a pass is one ply, and a game that is over before is a leaf. Italian draughts: \
a game that is over before has none; `paths` counts every path of a capture, `plays` takes paths from one square to another over \
the same pieces for one.

Examples:
  ludus perft othello 9
  ludus perft italian-draughts 8 --position B:W30,21,22,17,20,K6:B25,28,9,5,1,3")]
pub struct Args {
    /// Game
    game: String,
    /// Plies
    #[arg(value_parser = clap::value_parser!(u32).range(1..=60))]
    depth: u32,
    /// Position, in a notation of the game [default: the start]
    #[arg(long, value_name = "POSITION")]
    position: Option<String>,
    /// JSON, an object a depth: {"depth", "seconds", and a number for each way of counting}
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: Args) -> Result<()> {
    let arena = game::arena(&args.game)?;
    let mut out = stdout().lock();
    for depth in 1..=args.depth {
        let start = Instant::now();
        let counts = arena.leaves(args.position.as_deref(), depth)?;
        let seconds = start.elapsed().as_secs_f64();
        if args.json {
            let mut object =
                Map::from_iter([("depth".to_owned(), json!(depth)), ("seconds".to_owned(), json!(seconds))]);
            object.extend(counts.iter().map(|&(name, count)| (name.to_owned(), Value::from(count))));
            json_line(&mut out, &object)?;
        } else {
            let counts: Vec<String> =
                counts.iter().map(|(name, count)| format!("{count:>15} {name}")).collect();
            writeln!(out, "{depth:>2}  {}  {seconds:.2} s", counts.join("  "))?;
        }
        out.flush()?;
    }
    Ok(())
}
