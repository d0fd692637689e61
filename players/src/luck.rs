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
use crate::shortlist::hopeless;

/// Every roll of a position fanned out: its plays, their judgements and the best of them. Keeps its memory, so that
/// one serves a whole series.
#[derive(Debug)]
pub struct Fan<G: Game> {
    plays: Vec<Plays<G>>,
    /// Plays of the roll at hand that are on the evaluator's shortlist.
    kept: Vec<usize>,
    /// The after-positions of those of all rolls. Different rolls often lead to the same one, which is judged once.
    distinct: Distinct<G::State>,
    distinct_judged: Vec<G::Chances>,
    /// The place in `distinct` of each after-position, one roll behind the other; none for one on no shortlist.
    places: Vec<Option<usize>>,
    /// The judgement of each, parallel to `places`; [`hopeless`] for one on no shortlist.
    judged: Vec<G::Chances>,
    /// Where the after-positions of each roll begin, and where the last ones end.
    starts: Vec<usize>,
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
            kept: Vec::new(),
            distinct: Distinct::default(),
            distinct_judged: Vec::new(),
            places: Vec::new(),
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
        self.distinct.clear();
        self.places.clear();
        self.starts.clear();
        for ((roll, _), plays) in rolls.iter().zip(&mut self.plays) {
            game.plays(state, *roll, plays);
            let start = self.places.len();
            self.starts.push(start);
            self.places.resize(start + plays.after.len(), None);
            evaluator.shortlist(&plays.after, &mut self.kept);
            for &play in &self.kept {
                self.places[start + play] = Some(self.distinct.place(&plays.after[play]));
            }
        }
        self.starts.push(self.places.len());
        evaluator.judge(self.distinct.positions(), &mut self.distinct_judged);
        self.judged.clear();
        let judged = &self.distinct_judged;
        self.judged
            .extend(self.places.iter().map(|place| place.map_or_else(hopeless, |place| judged[place])));

        self.best.clear();
        for ends in self.starts.windows(2) {
            let judged = &self.judged[ends[0]..ends[1]];
            let best = best_play(judged);
            self.best.push((best, judged[best].flipped()));
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

    /// The judgements of its after-positions, for the side that acts next. A play that the evaluator's shortlist leaves out
    /// counts as the worst there can be.
    pub fn judged(&self, roll: usize) -> &[G::Chances] {
        &self.judged[self.starts[roll]..self.starts[roll + 1]]
    }

    /// Index of the best play of a roll.
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
mod tests {
    use ludus_games::{Backgammon, Game};
    use proptest::prelude::*;

    use super::*;
    use crate::toys::{Exact, Noise, Pips, Toy, ToyState};

    /// Opens the fan of a position.
    fn fan<G: Game>(game: G, state: &G::State, ply: usize, evaluator: &mut dyn Evaluator<G>) -> Fan<G> {
        let mut fan = Fan::default();
        fan.open(game, state, game.rolls(state, ply), evaluator);
        fan
    }

    /// Plays every sequence of rolls of the toy game out, each play chosen by `chooser`, and gives the expectation of
    /// the first seat's payoff and of its bounded luck as `judge` measures it. Independent of tables and dice streams.
    fn enumerate(
        state: &ToyState,
        ply: usize,
        luck: BoundedLuck,
        judge: &mut dyn Evaluator<Toy>,
        chooser: &mut dyn Evaluator<Toy>,
        bound: f64,
    ) -> (f64, f64) {
        let sign = if ply.is_multiple_of(2) { 1.0 } else { -1.0 };
        if let Some(points) = Toy.payoff(state) {
            assert!(luck.total().abs() <= bound, "{} beyond {bound}", luck.total());
            return (sign * f64::from(points), luck.total());
        }
        let rolls = Toy.rolls(state, ply);
        let measured = fan(Toy, state, ply, judge);
        let (mut payoff, mut total) = (0.0, 0.0);
        for (index, share) in dice::shares(rolls).enumerate() {
            let mut luck = luck;
            let points = measured.points();
            luck.add(points.iter().map(|points| sign * points), sign * points[index]);
            let mut judged = Vec::new();
            chooser.judge(&measured.plays(index).after, &mut judged);
            let after = &measured.plays(index).after[best_play(&judged)];
            let (p, l) = enumerate(after, ply + 1, luck, judge, chooser, bound);
            payoff += share * p;
            total += share * l;
        }
        (payoff, total)
    }

    #[test]
    fn bounded_luck_has_mean_zero_over_all_games_whatever_the_evaluator_and_the_bound() {
        for bound in [0.05, 0.3, 1.0, 3.0, f64::INFINITY] {
            let luck = BoundedLuck::new(bound);
            let start = Toy.start();
            let (_, good) = enumerate(&start, 0, luck, &mut Exact, &mut Noise(3), bound);
            let (_, bad) = enumerate(&start, 0, luck, &mut Noise(1), &mut Noise(2), bound);
            let (_, same) = enumerate(&start, 0, luck, &mut Noise(4), &mut Noise(4), bound);
            for mean in [good, bad, same] {
                assert!(mean.abs() < 1e-12, "bound {bound}: mean luck {mean:e}");
            }
        }
    }

    #[test]
    fn luck_measured_exactly_explains_every_game_played_perfectly() {
        fn outcomes(state: &ToyState, ply: usize, luck: f64, found: &mut Vec<f64>) {
            let sign = if ply.is_multiple_of(2) { 1.0 } else { -1.0 };
            if let Some(points) = Toy.payoff(state) {
                return found.push(sign * f64::from(points) - luck);
            }
            let measured = fan(Toy, state, ply, &mut Exact);
            for roll in 0..measured.rolls() {
                let after = &measured.plays(roll).after[measured.best(roll)];
                outcomes(after, ply + 1, luck + sign * measured.points()[roll], found);
            }
        }
        let mut found = Vec::new();
        outcomes(&Toy.start(), 0, 0.0, &mut found);
        let mut value = Vec::new();
        Exact.judge(&[Toy.start()], &mut value);
        let value = f64::from(value[0].points());
        assert!(found.len() > 50);
        for outcome in found {
            assert!((outcome - value).abs() < 1e-5, "{outcome} instead of {value}");
        }
    }

    #[test]
    fn clipping_a_sum_afterwards_would_have_been_biased_and_the_bound_does_bind() {
        // The same enumeration with luck clipped only at the end: the reason for BoundedLuck's trouble.
        fn clipped(state: &ToyState, ply: usize, luck: f64, bound: f64) -> f64 {
            let sign = if ply.is_multiple_of(2) { 1.0 } else { -1.0 };
            if Toy.payoff(state).is_some() {
                return luck.clamp(-bound, bound);
            }
            let measured = fan(Toy, state, ply, &mut Exact);
            let each = dice::shares(Toy.rolls(state, ply)).enumerate().map(|(roll, share)| {
                let after = &measured.plays(roll).after[measured.best(roll)];
                share * clipped(after, ply + 1, luck + sign * measured.points()[roll], bound)
            });
            each.sum()
        }
        assert!(clipped(&Toy.start(), 0, 0.0, 0.3).abs() > 1e-3);
        assert!(clipped(&Toy.start(), 0, 0.0, f64::INFINITY).abs() < 1e-12);
    }

    #[test]
    fn luck_by_number_averages_to_zero_and_its_points_are_the_luck_in_points() {
        for ply in [0, 1] {
            let start = Backgammon.start();
            let rolls = Backgammon.rolls(&start, ply);
            let fan = fan(Backgammon, &start, ply, &mut Pips);
            let mut sums = [0.0; 5];
            for (index, share) in dice::shares(rolls).enumerate() {
                let luck = fan.luck(index);
                assert!((f64::from(luck.points()) - fan.points()[index]).abs() < 1e-6);
                for (sum, number) in sums.iter_mut().zip(luck.0.as_ref()) {
                    *sum += share * f64::from(*number);
                }
            }
            assert!(sums.iter().all(|sum| sum.abs() < 1e-7), "{sums:?}");
        }
    }

    #[test]
    fn luck_is_what_a_plain_computation_makes_of_it() {
        let state = Backgammon.read_position("4HPwATDgc/ABMA").expect("the start");
        let fan = fan(Backgammon, &state, 1, &mut Noise(5));
        let mut values = Vec::new();
        for (roll, _) in Backgammon.rolls(&state, 1) {
            let (mut plays, mut judged) = (Plays::new(), Vec::new());
            Backgammon.plays(&state, *roll, &mut plays);
            Evaluator::<Backgammon>::judge(&mut Noise(5), &plays.after, &mut judged);
            let value = |c: &<Backgammon as Game>::Chances| f64::from(c.flipped().points());
            values.push(judged.iter().map(value).fold(f64::NEG_INFINITY, f64::max));
        }
        let pair = |i: usize| Backgammon.rolls(&state, 1)[i].0;
        let ways = |i: usize| if pair(i).is_double() { 1.0 } else { 2.0 };
        let mean = (0..21).map(|i| ways(i) * values[i]).sum::<f64>() / 36.0;
        for (i, value) in values.iter().enumerate() {
            assert!((fan.points()[i] - (value - mean)).abs() < 1e-6);
        }
    }

    /// Counts what it is asked.
    struct Counting(Vec<usize>);

    impl Evaluator<Backgammon> for Counting {
        fn judge(
            &mut self,
            positions: &[<Backgammon as Game>::State],
            chances: &mut Vec<<Backgammon as Game>::Chances>,
        ) {
            let different: std::collections::HashSet<_> = positions.iter().collect();
            assert_eq!(different.len(), positions.len());
            self.0.push(positions.len());
            Pips.judge(positions, chances);
        }
    }

    #[test]
    fn a_position_that_several_rolls_lead_to_is_judged_once() {
        let mut counting = Counting(Vec::new());
        let start = Backgammon.start();
        let fan = fan(Backgammon, &start, 1, &mut counting);
        let plays: usize = (0..fan.rolls()).map(|roll| fan.plays(roll).len()).sum();
        assert_eq!(counting.0.len(), 1);
        assert!(counting.0[0] < plays, "{} positions after {plays} plays", counting.0[0]);
        for roll in 0..fan.rolls() {
            let mut judged = Vec::new();
            Pips.judge(&fan.plays(roll).after, &mut judged);
            assert_eq!(fan.judged(roll), judged);
        }
    }

    #[test]
    fn the_roll_that_wins_a_race_is_luck_and_the_roll_that_loses_it_is_not() {
        // One checker left on the 6 point of the side on roll, whose opponent bears off whatever comes.
        let (mut own, mut other) = ([0; 25], [0; 25]);
        (own[5], other[0]) = (1, 1);
        let state = ludus_games::backgammon::Position::new(own, other).expect("a position");
        let fan = fan(Backgammon, &state, 9, &mut Pips);
        let luck = |roll: &str| {
            let roll = Backgammon.read_roll(roll).expect("a roll");
            let rolls = Backgammon.rolls(&state, 9);
            fan.luck(rolls.iter().position(|(other, _)| *other == roll).expect("one of the rolls")).points()
        };
        assert!(luck("61") > 0.0);
        assert!(luck("22") > 0.0);
        assert!(luck("21") < 0.0);
    }

    proptest! {
        #[test]
        fn recorded_luck_is_what_was_measured_to_the_last_unit(numbers in prop::array::uniform5(-1.0_f32..=1.0)) {
            type C = <Backgammon as Game>::Chances;
            let mut luck = Luck(C::default());
            luck.0.as_mut().copy_from_slice(&numbers);
            let mut record = GameRecord::default();
            prop_assert!(append_luck(&luck, &mut record.luck).is_some());
            let read: Vec<Luck<C>> = recorded_luck(&record).collect();
            prop_assert_eq!(read.len(), 1);
            for (read, number) in read[0].0.as_ref().iter().zip(numbers) {
                prop_assert!((read - number).abs() <= 0.5 / UNITS + 1e-7);
            }
        }
    }

    #[test]
    fn luck_that_is_not_a_number_is_not_recorded() {
        let mut luck = Luck(<Backgammon as Game>::Chances::default());
        luck.0.as_mut()[2] = f32::NAN;
        assert!(append_luck(&luck, &mut Vec::new()).is_none());
    }
}
