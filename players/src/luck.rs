//! Luck: what the rolls of a game were worth.
//!
//! The luck of a roll is the value of the position after the evaluator's best play of it, minus the mean of that over
//! all rolls that could have come. Its expectation is zero whatever the evaluator, good or bad, because both terms use
//! the evaluator's play and never the one actually made. Subtracting it from a result therefore leaves the mean alone
//! and takes away most of the variance.

use ludus_games::{Chances, Game, Luck, Plays};
use ludus_proto::v1::GameRecord;

use crate::dice;
use crate::player::{Evaluator, best_play};

/// Every roll of a position fanned out: its plays, their judgements and the best of them. Keeps its memory, so that
/// one serves a whole series.
#[derive(Debug)]
pub struct Fan<G: Game> {
    plays: Vec<Plays<G>>,
    /// The after-positions of all rolls, one roll behind the other; parallel to `judged`.
    positions: Vec<G::State>,
    judged: Vec<G::Chances>,
    /// Where the after-positions of each roll begin, and where the last ones end.
    starts: Vec<usize>,
    /// Chances of the side that rolls after the best play of each roll.
    best: Vec<G::Chances>,
    /// Weight of each roll; they add up to one.
    weights: Vec<f64>,
    /// Luck of each roll in points.
    points: Vec<f64>,
}

impl<G: Game> Default for Fan<G> {
    fn default() -> Self {
        Fan {
            plays: Vec::new(),
            positions: Vec::new(),
            judged: Vec::new(),
            starts: Vec::new(),
            best: Vec::new(),
            weights: Vec::new(),
            points: Vec::new(),
        }
    }
}

impl<G: Game> Fan<G> {
    /// Replaces the content by the plays of all `rolls` of `state`, judged by `evaluator`.
    pub fn open(
        &mut self,
        game: G,
        state: &G::State,
        rolls: &[(G::Roll, f32)],
        evaluator: &mut dyn Evaluator<G>,
    ) {
        if self.plays.len() < rolls.len() {
            self.plays.resize_with(rolls.len(), Plays::new);
        }
        self.positions.clear();
        self.starts.clear();
        for ((roll, _), plays) in rolls.iter().zip(&mut self.plays) {
            game.plays(state, *roll, plays);
            self.starts.push(self.positions.len());
            self.positions.extend_from_slice(&plays.after);
        }
        self.starts.push(self.positions.len());
        evaluator.judge(&self.positions, &mut self.judged);

        self.best.clear();
        for ends in self.starts.windows(2) {
            let judged = &self.judged[ends[0]..ends[1]];
            self.best.push(judged[best_play(judged)].flipped());
        }
        let total = dice::total_weight(rolls);
        self.weights.clear();
        self.weights.extend(rolls.iter().map(|(_, weight)| f64::from(*weight) / total));
        let mean = self.mean(|chances| f64::from(chances.points()));
        self.points.clear();
        self.points.extend(self.best.iter().map(|chances| f64::from(chances.points()) - mean));
    }

    fn mean(&self, number: impl Fn(&G::Chances) -> f64) -> f64 {
        self.weights.iter().zip(&self.best).map(|(weight, chances)| weight * number(chances)).sum()
    }

    /// The plays of a roll.
    pub fn plays(&self, roll: usize) -> &Plays<G> {
        &self.plays[roll]
    }

    /// The judgements of its after-positions, for the side that acts next.
    pub fn judged(&self, roll: usize) -> &[G::Chances] {
        &self.judged[self.starts[roll]..self.starts[roll + 1]]
    }

    /// Luck of every roll in points, for the side that rolls; the weighted mean is zero.
    pub fn points(&self) -> &[f64] {
        &self.points
    }

    /// Luck of one roll, number by number, for the side that rolls.
    pub fn luck(&self, roll: usize) -> Luck<G::Chances> {
        let mut difference = self.best[roll];
        for (i, number) in difference.as_mut().iter_mut().enumerate() {
            *number = (f64::from(*number) - self.mean(|chances| f64::from(chances.as_ref()[i]))) as f32;
        }
        Luck(difference)
    }
}

/// The luck of one seat over a game, held within a bound without a bias.
///
/// Before each roll a weight is found that keeps the sum within the bound *whatever comes*; it is known before the
/// roll, so the expectation stays zero. Clipping the sum afterwards would bias it.
#[derive(Clone, Copy, Debug)]
pub struct BoundedLuck {
    bound: f64,
    total: f64,
}

impl BoundedLuck {
    /// No luck yet. `bound` is in points; infinity gives the plain sum.
    pub fn new(bound: f64) -> Self {
        BoundedLuck { bound, total: 0.0 }
    }

    /// Adds a roll: `luck` is that of every roll that could have come, `rolled` the one that came; points of the seat
    /// whose luck this is.
    pub fn add(&mut self, luck: impl Iterator<Item = f64>, rolled: f64) {
        let mut weight = 1.0_f64;
        for points in luck {
            if points > 0.0 {
                weight = weight.min((self.bound - self.total) / points);
            } else if points < 0.0 {
                weight = weight.min((self.bound + self.total) / -points);
            }
        }
        let total = self.total + weight * rolled;
        // The sum is within the bound but for the last bit.
        self.total = total.clamp(-self.bound, self.bound);
    }

    /// The sum so far, in points; never the negative zero, which does not survive the wire.
    pub fn total(&self) -> f64 {
        self.total + 0.0
    }
}

/// Largest luck that fits, and the unit's denominator.
const UNITS: f32 = 32767.0;

/// Appends a luck to a record's `luck` bytes: one little-endian i16 a number, in units of 1/32767. `None` when a
/// number is not finite; a luck beyond a certainty is taken for a certainty.
#[must_use]
pub fn append_luck<C: Chances>(luck: &Luck<C>, bytes: &mut Vec<u8>) -> Option<()> {
    for &number in luck.0.as_ref() {
        if !number.is_finite() {
            return None;
        }
        let units = (number.clamp(-1.0, 1.0) * UNITS).round() as i16;
        bytes.extend_from_slice(&units.to_le_bytes());
    }
    Some(())
}

/// The luck of the roll at each ply of a checked record, for the side that rolled; empty when it holds none.
pub fn recorded_luck<C: Chances>(record: &GameRecord) -> impl Iterator<Item = Luck<C>> + '_ {
    record.luck.chunks_exact(2 * C::LEN).map(|bytes| {
        let mut luck = C::default();
        for (number, unit) in luck.as_mut().iter_mut().zip(bytes.chunks_exact(2)) {
            *number = f32::from(i16::from_le_bytes([unit[0], unit[1]])) / UNITS;
        }
        Luck(luck)
    })
}
