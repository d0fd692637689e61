//! A fixed amount of self-play, for counting its instructions.
//!
//! ```text
//! cargo build --release -p ludus-players --example fixed_work
//! valgrind --tool=callgrind --toggle-collect='*fixed_work::work*' target/release/examples/fixed_work plain 20
//! ```
//!
//! plays twenty games of the player that comes with backgammon, or of a weight file named behind them, against itself; `luck`
//! instead of `plain` has the luck of every roll measured, `total` only what it adds up to, and `short` has plays chosen among
//! six of each roll, where there are small networks to find them. Instructions tell on a busy machine what times do not,
//! and the digest that is printed says whether two builds played the same games to the bit.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use ludus_players::arena::{ArenaError, PlayError, Registry, Seating, Source, Table};
use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::{LuckMode, Series, SeriesKind};

/// Plays games 0 to `games` - 1. Returns how many plies they had, and the digests of their records.
#[inline(never)]
fn work(table: &mut dyn Table, games: u64) -> Result<(usize, Vec<u8>), PlayError> {
    let (mut plies, mut digests) = (0, Vec::new());
    for number in 0..games {
        let record = table.play(number)?;
        plies += record.plays.len();
        digests.extend_from_slice(&record.digest);
    }
    Ok((plies, digests))
}

/// The table of a series of self-play at sight.
fn table((luck, shortlist): (LuckMode, u32), weights: Option<&str>) -> Result<Box<dyn Table>, ArenaError> {
    let registry = Registry::standard();
    let Some(arena) = registry.find("backgammon") else {
        return Err(ArenaError::Settings("backgammon is not among the games".into()));
    };
    let source = match weights {
        None => arena.shipped()?,
        Some(path) => {
            let (file, digest) = WeightFile::read(Path::new(path))?;
            Source::Weights { digest, file: Arc::new(file) }
        }
    };
    let player = Seating { source, plies: 0 };
    let series = Series {
        kind: SeriesKind::SelfPlay.into(),
        seed: 1,
        luck: luck.into(),
        luck_bound: 3.0,
        shortlist,
        ..Series::default()
    };
    arena.table(&series, [&player, &player])
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let asked = match words[..] {
        [mode, games] | [mode, games, _] => match mode {
            "plain" => Some((LuckMode::LuckNone, 0)),
            "short" => Some((LuckMode::LuckNone, 6)),
            "luck" => Some((LuckMode::LuckPositions, 0)),
            "total" => Some((LuckMode::LuckTotal, 0)),
            _ => None,
        }
        .zip(games.parse().ok()),
        _ => None,
    };
    let Some((mode, games)) = asked else {
        eprintln!("usage: fixed_work plain|short|luck|total GAMES [FILE]");
        return ExitCode::from(64);
    };
    let mut table = match table(mode, words.get(2).copied()) {
        Ok(table) => table,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    // Other games first: what is built when it is first needed, such as the bear-off database, is no part of the work.
    let ready = (games..games + 10).try_for_each(|number| table.play(number).map(drop));
    match ready.and_then(|()| work(&mut *table, games)) {
        Ok((plies, digests)) => {
            println!("{games} games, {plies} plies, digest {}", Digest::of(&digests));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
