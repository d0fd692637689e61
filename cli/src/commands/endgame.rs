//! `ludus endgame`: positions with few pieces, judged exactly.

use std::io::{Write, stdout};
use std::time::Instant;

use anyhow::Result;
use ludus_players::italian_draughts::endgame::{Endgame, PIECES};

use crate::output::{Paint, Table, json_line};

/// Games whose ends can be judged exactly.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Game {
    /// Italian draughts, by retrograde analysis
    ItalianDraughts,
}

/// Arguments of `ludus endgame`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Positions of both sides' pieces together, one side to act, both sides with pieces. A win or loss is counted in plies until the \
loser cannot act; draw rules play no part. Players build the same table themselves when they need it.

Example:
  ludus endgame italian-draughts 3")]
pub struct Args {
    /// Game
    game: Game,
    /// Most pieces of both sides together
    #[arg(value_parser = clap::value_parser!(u64).range(2..=PIECES as u64))]
    pieces: u64,
    /// JSON: {"seconds", "counts": [{"pieces", "positions", "wins", "draws", "losses", "longest"}]}
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: Args) -> Result<()> {
    let Game::ItalianDraughts = args.game;
    let start = Instant::now();
    let pieces = args.pieces as usize;
    let endgame = Endgame::build(pieces);
    let seconds = start.elapsed().as_secs_f64();
    let counts: Vec<_> = (2..=pieces).map(|pieces| endgame.counts(pieces)).collect();
    let mut out = stdout().lock();
    if args.json {
        return json_line(&mut out, &serde_json::json!({"seconds": seconds, "counts": counts}));
    }
    let mut table = Table::new(&["PIECES>", "POSITIONS>", "WON>", "DRAWN>", "LOST>", "LONGEST>"]);
    for counts in counts {
        let numbers = [
            counts.pieces,
            counts.positions,
            counts.wins,
            counts.draws,
            counts.losses,
            counts.longest.into(),
        ];
        table.row(numbers.map(|number| number.to_string()).to_vec());
    }
    table.write(&mut out, Paint::stdout())?;
    writeln!(out, "{seconds:.2} s")?;
    Ok(())
}
