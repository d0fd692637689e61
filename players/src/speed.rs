//! Measuring how fast a player judges and plays.

use std::thread;
use std::time::{Duration, Instant};

use ludus_games::Game;
use ludus_proto::v1::{Series, SeriesKind};
use serde::Serialize;

use crate::arena::{ArenaError, PlayError, Table};
use crate::player::Evaluator;
use crate::record::Replay;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct SpeedSettings {
    /// Threads that run at once.
    pub threads: usize,
    /// Time to measure, half of it judging and half playing.
    pub duration: Duration,
    /// Plays of a roll among which a play is chosen, where the player has small networks to find them; 0: all.
    pub shortlist: u32,
}

impl SpeedSettings {
    /// The series of games that are played.
    pub(crate) fn series(&self) -> Series {
        let kind = SeriesKind::SelfPlay.into();
        Series { kind, seed: 1, shortlist: self.shortlist, ..Series::default() }
    }
}

/// How fast a player is, all threads together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// Positions judged a second, computing the inputs included; none for a player that does not judge positions.
    pub evaluations_per_second: Option<f64>,
    /// Games of self-play a second.
    pub games_per_second: f64,
    /// Threads that ran.
    pub threads: usize,
}

/// What one thread measures with.
pub(crate) struct Bench<G: Game> {
    pub game: G,
    pub table: Box<dyn Table>,
    pub evaluator: Option<Box<dyn Evaluator<G>>>,
}

/// Positions to judge: enough that not all of their inputs are at hand from the last time round.
const POSITIONS: usize = 4000;

/// Runs every bench in a thread of its own, half of `duration` judging and half of it playing.
pub(crate) fn measure<G: Game>(benches: Vec<Bench<G>>, duration: Duration) -> Result<Speed, ArenaError> {
    let threads = benches.len();
    let rates = thread::scope(|scope| {
        let running: Vec<_> = benches
            .into_iter()
            .enumerate()
            .map(|(index, bench)| scope.spawn(move || bench.run(index as u64, duration / 2)))
            .collect();
        let joined = running.into_iter().map(|thread| thread.join().expect("a thread that measures"));
        joined.collect::<Result<Vec<_>, PlayError>>()
    })?;
    Ok(Speed {
        evaluations_per_second: rates.iter().map(|(evaluations, _)| *evaluations).sum(),
        games_per_second: rates.iter().map(|(_, games)| games).sum(),
        threads,
    })
}

impl<G: Game> Bench<G> {
    /// Evaluations and games a second.
    fn run(mut self, thread: u64, each: Duration) -> Result<(Option<f64>, f64), PlayError> {
        let mut number = thread << 32;
        let batches = self.positions(number)?;
        let evaluations = self.evaluator.as_mut().map(|evaluator| {
            let (mut judged, mut batches) = (Vec::new(), batches.iter().cycle());
            rate(each, || {
                let batch = batches.next().map_or(&[][..], Vec::as_slice);
                evaluator.judge(batch, &mut judged);
                Ok(judged.len())
            })
        });
        let games = rate(each, || {
            number += 1;
            self.table.play(number).map(|_| 1)
        });
        Ok((evaluations.transpose()?, games?))
    }

    /// Positions of self-play as a player judges them: the plays of a roll at a time.
    fn positions(&mut self, first: u64) -> Result<Vec<Vec<G::State>>, PlayError> {
        let (mut batches, mut positions) = (Vec::new(), 0);
        for number in first.. {
            let record = self.table.play(number)?;
            let mut replay = Replay::new(self.game, &record);
            while let Ok(Some(ply)) = replay.next_ply() {
                positions += ply.plays.len();
                batches.push(ply.plays.after.clone());
            }
            if positions >= POSITIONS {
                break;
            }
        }
        Ok(batches)
    }
}

/// How many things a second `work` gets done, called again and again for `duration`; it says how many each time.
pub fn rate<E>(duration: Duration, mut work: impl FnMut() -> Result<usize, E>) -> Result<f64, E> {
    let start = Instant::now();
    let mut done = 0;
    loop {
        done += work()?;
        let elapsed = start.elapsed();
        if elapsed >= duration {
            return Ok(done as f64 / elapsed.as_secs_f64());
        }
    }
}
