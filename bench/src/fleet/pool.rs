//! Games that are there to be handed in.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result};
use ludus_games::Backgammon;
use ludus_players::record::digest;
use ludus_proto::v1::{GameBatch, GameRecord, Lease, Series};
use prost::Message;

use crate::samples;

/// Games 0, 1, 2, ... of a series.
pub struct Pool {
    series: Series,
    games: Vec<GameRecord>,
}

impl Pool {
    /// The games that leases like this one ask for: from `file` if it has them, otherwise played and kept there.
    ///
    /// PubEval makes the plays, at a small part of a network's cost. To the coordinator, which checks dice, rules and results,
    /// they are as good as those of the version that plays, and they are of the usual length.
    pub fn at(file: &Path, lease: &Lease, count: u64) -> Result<Pool> {
        let series = lease.series.context("a lease without a series")?;
        if let Ok(bytes) = fs::read(file) {
            let kept =
                GameBatch::decode(&bytes[..]).with_context(|| format!("{} is damaged", file.display()))?;
            let pool = Pool { series: kept.series.unwrap_or_default(), games: kept.games };
            if pool.fits(lease) && pool.games.len() as u64 >= count {
                return Ok(pool);
            }
        }
        eprintln!("playing {count} games to hand in later ...");
        let games = play(&series, count)?;
        let kept = GameBatch { series: Some(series), games, ..GameBatch::default() };
        fs::write(file, kept.encode_to_vec()).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Pool { series, games: kept.games })
    }

    /// Whether a lease asks for these games. The number of its series may be another.
    pub fn fits(&self, lease: &Lease) -> bool {
        lease.series.map(|series| Series { id: self.series.id, ..series }) == Some(self.series)
    }

    /// Names the players of a lease in all records, as their digests do.
    pub fn sign(&mut self, lease: &Lease) {
        for game in &mut self.games {
            game.digest = digest::<Backgammon>(&self.series, &lease.players, game);
        }
    }

    /// The game of this number.
    pub fn game(&self, number: u64) -> Option<&GameRecord> {
        self.games.get(usize::try_from(number).ok()?)
    }
}

/// Plays the first games of a series, on all cores.
fn play(series: &Series, count: u64) -> Result<Vec<GameRecord>> {
    /// Games that a thread takes at once.
    const PIECE: u64 = 500;
    let arena = samples::arena()?;
    let seat = samples::baseline("pubeval");
    let next = AtomicU64::new(0);
    let work = || -> Result<Vec<GameRecord>> {
        let mut table = arena.table(series, [&seat, &seat])?;
        let mut games = Vec::new();
        loop {
            let first = next.fetch_add(PIECE, Ordering::Relaxed);
            if first >= count {
                return Ok(games);
            }
            for number in first..count.min(first + PIECE) {
                games.push(table.play(number)?);
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut games = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let played = threads.into_iter().map(|thread| thread.join().expect("a thread that plays"));
        played.collect::<Result<Vec<_>>>().map(|parts| parts.concat())
    })?;
    games.sort_by_key(|game| game.number);
    Ok(games)
}
