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
mod tests {
    use ludus_games::backgammon::BackgammonChances;
    use ludus_games::{Backgammon, Game};
    use proptest::prelude::*;

    use super::*;
    use crate::toys::{Exact, Noise, Pips, Toy, ToyState};

    /// Opens the fan of a position.
    fn fan<G: Game>(game: G, state: &G::State, ply: usize, evaluator: &mut dyn Evaluator<G>) -> Fan<G> {
        let mut fan = Fan::default();
        fan.measure(game, state, game.rolls(state, ply), evaluator);
        fan
    }

    /// Noise with every other play on its shortlists.
    struct Choosy(Noise);

    impl<G: Game<Chances = BackgammonChances>> Evaluator<G> for Choosy {
        fn judge(&mut self, positions: &[G::State], chances: &mut Vec<BackgammonChances>) {
            Evaluator::<G>::judge(&mut self.0, positions, chances);
        }

        fn shortlist(&mut self, after: &[G::State], _: usize, list: &mut Vec<usize>) {
            list.clear();
            list.extend((0..after.len()).rev().step_by(2).collect::<Vec<_>>().into_iter().rev());
        }
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
            let (_, choosy) = enumerate(&start, 0, luck, &mut Choosy(Noise(5)), &mut Noise(5), bound);
            for mean in [good, bad, same, choosy] {
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
            assert_eq!(fan.judged(roll), Some(&judged[..]));
        }
    }

    #[test]
    fn luck_by_a_shortlist_is_that_of_the_best_plays_on_it() {
        let start = Backgammon.start();
        let mut evaluator = Choosy(Noise(8));
        let fan = fan(Backgammon, &start, 1, &mut evaluator);
        let mut judged = Vec::new();
        let mut shorter = 0;
        for (index, (roll, _)) in Backgammon.rolls(&start, 1).iter().enumerate() {
            let mut plays = Plays::new();
            Backgammon.plays(&start, *roll, &mut plays);
            Evaluator::<Backgammon>::judge(&mut evaluator, &plays.after, &mut judged);
            let (list, on_it) = fan.looked_at(index);
            let expected: Vec<usize> =
                (0..plays.len()).filter(|play| (plays.len() - 1 - play) % 2 == 0).collect();
            assert_eq!(list, expected);
            assert_eq!(on_it, expected.iter().map(|&play| judged[play]).collect::<Vec<_>>());
            assert_eq!(fan.best(index), expected[best_play(on_it)]);
            assert_eq!(fan.judged(index).is_some(), plays.len() == 1);
            shorter += usize::from(plays.len() > 1);
        }
        assert_eq!(shorter, 21);
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
