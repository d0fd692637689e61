//! Games a second, and what they tell a second: one over the variance of their outcome and the time they took.

use std::time::{Duration, Instant};

use anyhow::Result;
use ludus_players::arena::Seating;
use ludus_proto::v1::{LuckMode, Series, SeriesKind};
use serde::Serialize;

use crate::samples;

/// Bound of a game's luck, in points: that of gates.
const LUCK_BOUND: f64 = 3.0;

/// How an outcome is cleared of chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Not at all.
    Plain,
    /// Pairs of games on the same dice, the sides swapped.
    Mirrored,
    /// The luck of the whole game is taken out, as gates do.
    Luck,
    /// The luck of every roll is measured, as training does; the outcome stays as it is.
    LuckOfRolls,
    /// Luck taken out of mirrored pairs.
    MirroredLuck,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 5] = [Way::Plain, Way::Mirrored, Way::Luck, Way::LuckOfRolls, Way::MirroredLuck];

    /// The series that is played like this, between equal players or not.
    fn series(self, equal: bool) -> Series {
        let luck = match self {
            Way::Plain | Way::Mirrored => LuckMode::LuckNone,
            Way::LuckOfRolls => LuckMode::LuckPositions,
            Way::Luck | Way::MirroredLuck => LuckMode::LuckTotal,
        };
        let bounded = luck == LuckMode::LuckTotal;
        Series {
            // Equal players would play each mirrored pair twice over, so some of their plays are drawn.
            kind: if equal { SeriesKind::SelfPlay } else { SeriesKind::Gate }.into(),
            seed: 1,
            luck: luck.into(),
            luck_bound: if bounded { LUCK_BOUND } else { 0.0 },
            mirrored: self.is_mirrored(),
            explore: if equal { 0.05 } else { 0.0 },
            ..Series::default()
        }
    }

    fn is_mirrored(self) -> bool {
        matches!(self, Way::Mirrored | Way::MirroredLuck)
    }
}

/// What a way costs and gives.
#[derive(Clone, Debug, Serialize)]
pub struct Yield {
    /// The way.
    pub way: Way,
    /// Games played.
    pub games: u64,
    /// Games a second on one thread.
    pub games_per_second: f64,
    /// Variance of a game's outcome for seat 0 in points squared; of a pair it is twice that of its mean.
    pub variance: f64,
    /// 1 / (variance x seconds a game).
    pub per_second: f64,
    /// Time of a game over that of a plain one.
    pub cost: f64,
    /// `per_second` over that of plain games.
    pub gain: f64,
}

/// Plays `rounds` rounds of every way in turn, each way for `duration` in all. The luck is measured by the player in seat 0.
pub fn measure(seats: [&Seating; 2], rounds: u32, duration: Duration) -> Result<Vec<Yield>> {
    let arena = samples::arena()?;
    let equal = seats[0].player_ref() == seats[1].player_ref();
    let mut tallies = Vec::new();
    for way in Way::ALL {
        let mut table = arena.table(&way.series(equal), seats)?;
        // The first game makes what is made once, such as the bear-off database.
        table.play(0)?;
        tallies.push((way, table, Tally::default()));
    }
    for _ in 0..rounds {
        for (way, table, tally) in &mut tallies {
            let start = Instant::now();
            while start.elapsed() < duration / rounds {
                let mut outcome = 0.0;
                let games = if way.is_mirrored() { 2 } else { 1 };
                for _ in 0..games {
                    let record = table.play(tally.games)?;
                    outcome += (f64::from(record.payoff) - record.total_luck) / f64::from(games);
                    tally.games += 1;
                }
                tally.add(outcome, f64::from(games));
            }
            tally.seconds += start.elapsed().as_secs_f64();
        }
    }
    let mut yields: Vec<Yield> = tallies.iter().map(|(way, _, tally)| tally.as_yield(*way)).collect();
    let plain = yields[0].clone();
    for way in &mut yields {
        way.cost = plain.games_per_second / way.games_per_second;
        way.gain = way.per_second / plain.per_second;
    }
    Ok(yields)
}

/// Outcomes of one way: Welford's running mean and sum of squares.
#[derive(Default)]
struct Tally {
    games: u64,
    outcomes: f64,
    mean: f64,
    squares: f64,
    seconds: f64,
}

impl Tally {
    /// Counts the mean outcome of `games` games, as so many times its variance.
    fn add(&mut self, outcome: f64, games: f64) {
        self.outcomes += 1.0;
        let before = outcome - self.mean;
        self.mean += before / self.outcomes;
        self.squares += before * (outcome - self.mean) * games;
    }

    fn as_yield(&self, way: Way) -> Yield {
        let variance = self.squares / (self.outcomes - 1.0).max(1.0);
        let games_per_second = self.games as f64 / self.seconds;
        let per_second = games_per_second / variance;
        Yield { way, games: self.games, games_per_second, variance, per_second, cost: 1.0, gain: 1.0 }
    }
}
