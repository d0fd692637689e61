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
