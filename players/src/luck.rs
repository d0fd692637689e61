//! Luck: what the rolls of a game were worth.
//!
//! The luck of a roll is the value of the position after the evaluator's best play of it, minus the mean of that over
//! all rolls that could have come. Its expectation is zero whatever the evaluator, good or bad, because both terms use
//! the evaluator's play and never the one actually made. Subtracting it from a result therefore leaves the mean alone
//! and takes away most of the variance.

use ludus_games::{Chances, Game, Luck, Plays};
use ludus_proto::v1::GameRecord;

use crate::dice;
use crate::distinct::Distinct;
use crate::player::{Evaluator, best_play};

/// Plays of a roll that are judged when only luck is wanted, where an evaluator has a quick way to tell the good ones: they
/// are worth the most for their cost (docs/performance.md).
const MEASURED: usize = 3;

/// Every roll of a position fanned out: its plays, their judgements and the best of them. Keeps its memory, so that
/// one serves a whole series.
#[derive(Debug)]
pub struct Fan<G: Game> {
    plays: Vec<Plays<G>>,
    /// The after-positions of the plays that were looked at. Different rolls often lead to the same one, which is judged once.
    distinct: Distinct<G::State>,
    distinct_judged: Vec<G::Chances>,
    /// The plays that were looked at, ascending, one roll behind the other.
    looked_at: Vec<usize>,
    /// The place in `distinct` of the after-position of each, parallel to `looked_at`.
    places: Vec<usize>,
    /// The judgement of each, parallel to `looked_at`.
    judged: Vec<G::Chances>,
    /// Where the plays of each roll that were looked at begin, and where the last ones end.
    starts: Vec<usize>,
    /// The shortlist of the roll at hand.
    shortlist: Vec<usize>,
    /// Index of the best play of each roll, and the chances of the side that rolls after it.
    best: Vec<(usize, G::Chances)>,
    /// Weight of each roll; they add up to one.
    weights: Vec<f64>,
    /// Luck of each roll in points.
    points: Vec<f64>,
}

impl<G: Game> Default for Fan<G> {
    fn default() -> Self {
        Fan {
            plays: Vec::new(),
            distinct: Distinct::default(),
            distinct_judged: Vec::new(),
            looked_at: Vec::new(),
            places: Vec::new(),
            judged: Vec::new(),
            starts: Vec::new(),
            shortlist: Vec::new(),
            best: Vec::new(),
            weights: Vec::new(),
            points: Vec::new(),
        }
    }
}

impl<G: Game> Fan<G> {
    /// Replaces the content by the plays of all `rolls` of `state`, all judged by `evaluator`.
    pub fn open(
        &mut self,
        game: G,
        state: &G::State,
        rolls: &[(G::Roll, f32)],
        evaluator: &mut dyn Evaluator<G>,
    ) {
        self.fill(game, state, rolls, evaluator, |_, after, list| {
            list.clear();
            list.extend(0..after.len());
        });
    }

    /// The same for luck alone: of each roll, only the plays on the evaluator's shortlist are judged. The best of them may
    /// not be the best of all; luck has no bias whatever the evaluator.
    pub fn measure(
        &mut self,
        game: G,
        state: &G::State,
        rolls: &[(G::Roll, f32)],
        evaluator: &mut dyn Evaluator<G>,
    ) {
        self.fill(game, state, rolls, evaluator, |evaluator, after, list| {
            evaluator.shortlist(after, MEASURED, list);
        });
    }

    fn fill(
        &mut self,
        game: G,
        state: &G::State,
        rolls: &[(G::Roll, f32)],
        evaluator: &mut dyn Evaluator<G>,
        list: impl Fn(&mut dyn Evaluator<G>, &[G::State], &mut Vec<usize>),
    ) {
        if self.plays.len() < rolls.len() {
            self.plays.resize_with(rolls.len(), Plays::new);
        }
        self.distinct.clear();
        self.looked_at.clear();
        self.places.clear();
        self.starts.clear();
        for ((roll, _), plays) in rolls.iter().zip(&mut self.plays) {
            game.plays(state, *roll, plays);
            list(evaluator, &plays.after, &mut self.shortlist);
            self.starts.push(self.places.len());
            self.looked_at.extend_from_slice(&self.shortlist);
            self.places.extend(self.shortlist.iter().map(|&play| self.distinct.place(&plays.after[play])));
        }
        self.starts.push(self.places.len());
        evaluator.judge(self.distinct.positions(), &mut self.distinct_judged);
        self.judged.clear();
        self.judged.extend(self.places.iter().map(|place| self.distinct_judged[*place]));

        self.best.clear();
        for ends in self.starts.windows(2) {
            let judged = &self.judged[ends[0]..ends[1]];
            let best = best_play(judged);
            self.best.push((self.looked_at[ends[0] + best], judged[best].flipped()));
        }
        self.weights.clear();
        self.weights.extend(dice::shares(rolls));
        let points = |chances: &G::Chances| f64::from(chances.points());
        let mean: f64 = self.weights.iter().zip(&self.best).map(|(weight, (_, c))| weight * points(c)).sum();
        self.points.clear();
        self.points.extend(self.best.iter().map(|(_, chances)| points(chances) - mean));
    }

    /// Forgets the content and keeps the memory.
    pub fn close(&mut self) {
        self.best.clear();
    }

    /// Whether a position was fanned out and not closed since.
    pub fn is_open(&self) -> bool {
        !self.best.is_empty()
    }

    /// The plays of a roll.
    pub fn plays(&self, roll: usize) -> &Plays<G> {
        &self.plays[roll]
    }

    /// The judgements of its after-positions, for the side that acts next; `None` when only some were judged.
    pub fn judged(&self, roll: usize) -> Option<&[G::Chances]> {
        let judged = &self.judged[self.starts[roll]..self.starts[roll + 1]];
        (judged.len() == self.plays[roll].len()).then_some(judged)
    }

    /// Of the plays of a roll that were judged, the indices, ascending, and the judgements.
    #[cfg(test)]
    fn looked_at(&self, roll: usize) -> (&[usize], &[G::Chances]) {
        let range = self.starts[roll]..self.starts[roll + 1];
        (&self.looked_at[range.clone()], &self.judged[range])
    }

    /// Index of the best play of a roll, of those that were judged.
    pub fn best(&self, roll: usize) -> usize {
        self.best[roll].0
    }

    /// Number of rolls.
    pub fn rolls(&self) -> usize {
        self.best.len()
    }

    /// The mean over all rolls, for the side that rolls: its chances when it makes the best play of whatever comes.
    pub fn expected(&self) -> G::Chances {
        average(&self.weights, self.best.iter().map(|(_, chances)| *chances))
    }

    /// Luck of every roll in points, for the side that rolls; the weighted mean is zero.
    pub fn points(&self) -> &[f64] {
        &self.points
    }

    /// Luck of one roll, number by number, for the side that rolls.
    pub fn luck(&self, roll: usize) -> Luck<G::Chances> {
        Luck::between(&self.best[roll].1, &self.expected())
    }
}

/// The weighted mean of chances, in double precision; the weights add up to one.
pub fn average<C: Chances>(weights: &[f64], chances: impl Iterator<Item = C>) -> C {
    // `C::LEN` itself cannot be the length of an array here.
    const LONGEST: usize = 16;
    const { assert!(C::LEN <= LONGEST) };
    let mut sums = [0.0_f64; LONGEST];
    for (weight, chances) in weights.iter().zip(chances) {
        for (sum, number) in sums.iter_mut().zip(chances.as_ref()) {
            *sum += weight * f64::from(*number);
        }
    }
    let mut mean = C::default();
    for (number, sum) in mean.as_mut().iter_mut().zip(sums) {
        *number = sum as f32;
    }
    mean
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

#[cfg(test)]
mod tests;
