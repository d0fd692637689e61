use ludus_games::Backgammon;
use ludus_games::backgammon::BackgammonChances;
use ludus_proto::v1::{LuckMode, Rollout, Series};
use proptest::prelude::*;

use super::*;
use crate::arena::Table;
use crate::backgammon::Tesauro198;
use crate::record::Replay;
use crate::search::ValuePlayer;
use crate::table::{Seated, SeriesTable};
use crate::toys::{Exact, Noise, Pips, Toy, ToyState, named, rollouts, self_play};

/// Distance allowed between numbers that differ by rounding only.
const ROUNDING: f32 = 1e-6;

fn near(found: &BackgammonChances, expected: [f32; 5], allowed: f32) {
    let far = found.0.iter().zip(expected).any(|(a, b)| (a - b).abs() > allowed);
    assert!(!far, "{:?} instead of {expected:?}", found.0);
}

/// A game of three plies that the side to act first wins with a gammon, and what is thought on the way.
const VALUES: [BackgammonChances; 3] = [
    BackgammonChances([0.6, 0.2, 0.02, 0.1, 0.01]),
    BackgammonChances([0.3, 0.1, 0.01, 0.3, 0.04]),
    BackgammonChances([0.9, 0.5, 0.05, 0.0, 0.0]),
];
const LUCK: [Luck<BackgammonChances>; 3] = [
    Luck(BackgammonChances([0.1, 0.05, 0.0, -0.02, 0.0])),
    Luck(BackgammonChances([-0.2, -0.1, 0.0, 0.15, 0.01])),
    Luck(BackgammonChances([0.05, 0.3, 0.0, 0.0, 0.0])),
];

/// The side that acted last, at ply 2, has won a gammon: the other one, who would act next, has lost it.
fn result() -> BackgammonChances {
    BackgammonChances::from_payoff(-2)
}

fn returns_of(
    luck: &[Luck<BackgammonChances>],
    explored: &[u32],
    lambda: f32,
) -> Vec<Option<BackgammonChances>> {
    let mut found = Vec::new();
    returns(&VALUES, result(), luck, explored, lambda, &mut found);
    found
}

#[test]
fn lambda_one_without_luck_is_the_outcome_seen_from_each_side() {
    let (won, lost) = (BackgammonChances::from_payoff(2), BackgammonChances::from_payoff(-2));
    assert_eq!(returns_of(&[], &[], 1.0), [Some(won), Some(lost), Some(won)]);
}

#[test]
fn lambda_zero_is_the_next_judgement_turned_around_without_the_luck_of_the_roll() {
    let plain = returns_of(&[], &[], 0.0);
    near(&plain[0].unwrap(), [0.7, 0.3, 0.04, 0.1, 0.01], ROUNDING);
    near(&plain[1].unwrap(), [0.1, 0.0, 0.0, 0.5, 0.05], ROUNDING);
    near(&plain[2].unwrap(), [1.0, 1.0, 0.0, 0.0, 0.0], ROUNDING);
    let adjusted = returns_of(&LUCK, &[], 0.0);
    near(&adjusted[0].unwrap(), [0.6, 0.25, 0.04, 0.12, 0.01], ROUNDING);
    near(&adjusted[1].unwrap(), [0.3, 0.1, 0.0, 0.35, 0.04], ROUNDING);
    near(&adjusted[2].unwrap(), [0.95, 0.7, 0.0, 0.0, 0.0], ROUNDING);
}

#[test]
fn lambda_one_with_luck_is_the_outcome_without_all_the_luck_still_to_come() {
    let found = returns_of(&LUCK, &[], 1.0);
    near(&found[2].unwrap(), [0.95, 0.7, 0.0, 0.0, 0.0], ROUNDING);
    near(&found[1].unwrap(), [0.25, 0.1, 0.0, 0.55, -0.01], ROUNDING);
    near(&found[0].unwrap(), [0.65, 0.5, -0.01, 0.12, 0.0], ROUNDING);
    // In points: the payoff of the side that acts first, less its own luck and plus its opponent's.
    let points: f32 = 2.0 - LUCK[0].points() + LUCK[1].points() - LUCK[2].points();
    assert!((found[0].unwrap().points() - points).abs() < ROUNDING);
}

#[test]
fn lambda_between_mixes_the_next_judgement_with_the_next_return() {
    let found = returns_of(&LUCK, &[], 0.25);
    // By hand from the end: 0.75 * V' + 0.25 * G' - luck, V' and G' turned around.
    near(&found[2].unwrap(), [0.95, 0.7, 0.0, 0.0, 0.0], ROUNDING);
    near(&found[1].unwrap(), [0.2875, 0.1, 0.0, 0.4, 0.0275], ROUNDING);
    near(&found[0].unwrap(), [0.603125, 0.275, 0.036875, 0.12, 0.0075], ROUNDING);
}

#[test]
fn a_random_play_teaches_nothing_and_cuts_the_return_before_it() {
    let found = returns_of(&LUCK, &[1], 1.0);
    near(&found[2].unwrap(), [0.95, 0.7, 0.0, 0.0, 0.0], ROUNDING);
    assert_eq!(found[1], None);
    // Position 1's judgement instead of what happened after the random play, whatever lambda is.
    near(&found[0].unwrap(), [0.6, 0.25, 0.04, 0.12, 0.01], ROUNDING);
    assert_eq!(returns_of(&LUCK, &[0, 1, 2], 0.5), [None; 3]);
}

proptest! {
    #[test]
    fn returns_are_linear_in_lambda_one_step_from_the_end_and_change_sign_with_the_side(
        win in 0.0f32..1.0, gammon in 0.0f32..1.0, lambda in 0.0f32..1.0,
    ) {
        let value = BackgammonChances([win, win * gammon, 0.0, (1.0 - win) * gammon, 0.0]);
        let mut found = Vec::new();
        returns(&[value, value], BackgammonChances::from_payoff(1), &[], &[], lambda, &mut found);
        let points = |ply: usize| found[ply].map_or(f32::NAN, |chances| chances.points());
        prop_assert!((points(1) + 1.0).abs() < 1e-5);
        prop_assert!((points(0) - ((1.0 - lambda) * -value.points() + lambda)).abs() < 1e-5);
    }
}

/// One class for each side that may be ahead, so that lessons must find their lists; one input, what a position is worth.
/// It may know the positions where a side has made at least so many steps.
struct Steps {
    knows_from: u8,
}

impl InputSet<Toy> for Steps {
    fn name(&self) -> &'static str {
        "steps"
    }

    fn classes(&self) -> &'static [&'static str] {
        &["ahead", "behind"]
    }

    fn width(&self, _: usize) -> usize {
        1
    }

    fn class(&self, state: &ToyState) -> Option<usize> {
        Toy.payoff(state).is_none().then(|| usize::from(points(state) < 0.0))
    }

    fn known(&self, state: &ToyState) -> Option<BackgammonChances> {
        let mut value = Vec::new();
        Exact.judge(std::slice::from_ref(state), &mut value);
        (state.own.0.max(state.other.0) >= self.knows_from).then(|| value[0])
    }

    fn write(&self, _: usize, state: &ToyState, inputs: &mut Inputs) {
        inputs.clear();
        inputs.push(0, points(state));
    }
}

/// What a position is really worth.
fn points(state: &ToyState) -> f32 {
    let mut value = Vec::new();
    Exact.judge(std::slice::from_ref(state), &mut value);
    value[0].points()
}

fn exact_teacher() -> GameTeacher<Toy> {
    teacher(Steps { knows_from: u8::MAX }, |_| Ok(Box::new(Exact)))
}

fn teacher(
    inputs: Steps,
    judges: impl Fn(&WeightFile) -> Result<Box<dyn Evaluator<Toy>>, ArenaError> + Send + 'static,
) -> GameTeacher<Toy> {
    let weights = WeightFile { card: Default::default(), networks: Vec::new() };
    GameTeacher::new(Toy, Arc::new(inputs), Box::new(judges), &weights).unwrap()
}

fn record(series: &Series, number: u64) -> GameRecord {
    let seated = Seated::alone(Box::new(ValuePlayer::new(Toy, Box::new(Exact), 0)));
    let refs = [named("exact"), named("exact")];
    SeriesTable::new(Toy, series, refs, seated).unwrap().play(number).unwrap()
}

#[test]
fn exact_luck_and_exact_judgement_teach_the_exact_value_of_every_position_for_every_lambda() {
    let mut teacher = exact_teacher();
    let series = self_play(3, LuckMode::LuckPositions, 0.0);
    for lambda in [0.0, 0.3, 1.0] {
        let mut lessons = [Lessons::new(5), Lessons::new(5)];
        let mut positions = 0;
        for number in 0..40 {
            let record = record(&series, number);
            positions += record.rolls.len();
            teacher.teach(&record, lambda, &mut lessons).unwrap();
        }
        assert_eq!(lessons[0].len() + lessons[1].len(), positions);
        assert!(!lessons[0].is_empty() && !lessons[1].is_empty());
        for (class, lessons) in lessons.iter().enumerate() {
            for position in 0..lessons.len() {
                let target = BackgammonChances(lessons.target(position).try_into().unwrap());
                let true_points = lessons.inputs(position).1[0];
                assert_eq!(usize::from(true_points < 0.0), class);
                // Luck is recorded in units of 1/32767, and a game has at most six plies.
                assert!(
                    (target.points() - true_points).abs() < 1e-3,
                    "{target:?} is not worth {true_points}"
                );
            }
        }
    }
}

#[test]
fn outcomes_without_luck_scatter_around_the_value_and_with_luck_they_do_not() {
    let mut teacher = exact_teacher();
    let mut spread = |mode| {
        let series = self_play(3, mode, 0.0);
        let mut lessons = [Lessons::new(5), Lessons::new(5)];
        for number in 0..200 {
            teacher.teach(&record(&series, number), 1.0, &mut lessons).unwrap();
        }
        let errors = lessons.iter().flat_map(|lessons| {
            (0..lessons.len()).map(|position| {
                let target = BackgammonChances(lessons.target(position).try_into().unwrap());
                f64::from(target.points() - lessons.inputs(position).1[0])
            })
        });
        let errors: Vec<f64> = errors.collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        (mean, (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt())
    };
    let ((plain_mean, plain), (_, adjusted)) = (spread(LuckMode::LuckNone), spread(LuckMode::LuckPositions));
    assert!(plain > 0.5, "outcomes scatter by {plain} points");
    assert!(plain_mean.abs() < 0.2, "outcomes are off by {plain_mean} points");
    assert!(adjusted < 1e-3, "luck-adjusted outcomes scatter by {adjusted} points");
}

/// A backgammon's opening roll is no double, so what comes of the start is about 15 rolls, and every judgement about 21.
#[test]
fn the_start_is_no_lesson_where_its_roll_has_a_law_of_its_own() {
    let judges =
        |_: &WeightFile| -> Result<Box<dyn Evaluator<Backgammon>>, ArenaError> { Ok(Box::new(Pips)) };
    let weights = WeightFile { card: Default::default(), networks: Vec::new() };
    let mut teacher = GameTeacher::new(Backgammon, Arc::new(Tesauro198), Box::new(judges), &weights).unwrap();
    let seated = Seated::alone(Box::new(ValuePlayer::new(Backgammon, Box::new(Pips), 0)));
    let series = self_play(3, LuckMode::LuckNone, 0.0);
    let mut table = SeriesTable::new(Backgammon, &series, [named("pips"), named("pips")], seated).unwrap();
    let record = table.play(0).unwrap();
    let mut lessons = [Lessons::new(5), Lessons::new(5), Lessons::new(5)];
    teacher.teach(&record, 1.0, &mut lessons).unwrap();
    assert_eq!(lessons.iter().map(Lessons::len).sum::<usize>(), record.rolls.len() - 1);
}

#[test]
fn random_plays_of_a_record_are_left_out() {
    let series = self_play(5, LuckMode::LuckNone, 0.5);
    let (mut teacher, mut lessons) = (exact_teacher(), [Lessons::new(5), Lessons::new(5)]);
    let (mut plies, mut explored) = (0, 0);
    for number in 0..50 {
        let record = record(&series, number);
        plies += record.rolls.len();
        explored += record.explored.len();
        teacher.teach(&record, 0.5, &mut lessons).unwrap();
    }
    assert!(explored > 20);
    assert_eq!(lessons[0].len() + lessons[1].len(), plies - explored);
}

#[test]
fn what_is_known_is_not_taught_but_is_the_target_of_what_comes_before_it() {
    // Everything but the start is known, so that the start learns from the position after its play, whatever lambda is
    // and however bad the networks are.
    let mut teacher = teacher(Steps { knows_from: 1 }, |_| Ok(Box::new(Noise(7))));
    let series = self_play(3, LuckMode::LuckPositions, 0.0);
    for lambda in [0.0, 1.0] {
        let mut lessons = [Lessons::new(5), Lessons::new(5)];
        for number in 0..30 {
            teacher.teach(&record(&series, number), lambda, &mut lessons).unwrap();
        }
        assert_eq!(lessons[0].len() + lessons[1].len(), 30);
        for lessons in &lessons {
            for position in 0..lessons.len() {
                let target = BackgammonChances(lessons.target(position).try_into().unwrap());
                assert!((target.points() - lessons.inputs(position).1[0]).abs() < 1e-3, "{target:?}");
            }
        }
    }
}

#[test]
fn returns_of_measured_games_are_handed_over_as_labels_for_all_positions_that_a_play_led_to() {
    for (knows_from, explore) in [(u8::MAX, 0.0), (u8::MAX, 0.4), (3, 0.2)] {
        let mut teacher = teacher(Steps { knows_from }, |_| Ok(Box::new(Noise(3))));
        let series = self_play(3, LuckMode::LuckPositions, explore);
        for number in 0..30 {
            let record = record(&series, number);
            let (mut taught, mut none) =
                ([Lessons::new(5), Lessons::new(5)], [Lessons::new(5), Lessons::new(5)]);
            teacher.teach(&record, 0.6, &mut taught).unwrap();
            let first = usize::from(teacher.returns[0].is_some());
            let mut found = [Lessons::new(5), Lessons::new(5)];
            let mut places = Vec::new();
            let collect = &mut |label: LabelLesson<'_>| {
                assert_eq!((label.error, label.trials), (0.0, 1));
                assert_eq!(label.play, record.plays[label.ply as usize]);
                found[label.class].push(label.inputs.unwrap(), label.target);
                places.push((label.ply, label.position));
            };
            teacher.returns(&record, 0.6, &mut none, collect).unwrap();
            assert!(none.iter().all(Lessons::is_empty), "no small networks, no lessons");
            // The same lessons, but for that of the first position.
            let mut after = Vec::new();
            let mut replay = Replay::new(Toy, &record);
            while let Some(ply) = replay.next_ply().unwrap() {
                after.push(Toy.write_position(ply.after));
            }
            assert!(places.iter().all(|(ply, position)| after[*ply as usize] == *position));
            assert!(places.is_sorted() && places.len() + first == taught[0].len() + taught[1].len());
            for (found, mut taught) in found.into_iter().zip(taught) {
                if found.len() < taught.len() {
                    // It comes first where it is.
                    let mut rest = Lessons::new(5);
                    for position in 1..taught.len() {
                        let (indices, values) = taught.inputs(position);
                        let inputs = Inputs { indices: indices.to_vec(), values: values.to_vec() };
                        rest.push(&inputs, taught.target(position));
                    }
                    taught = rest;
                }
                assert_eq!(found, taught);
            }
        }
    }
}

#[test]
fn labels_are_handed_over_with_their_positions_and_what_is_known_is_no_lesson() {
    let rollout = Rollout {
        positions: 2,
        margin: 0.0,
        plays: 1,
        trials: 3,
        horizon: 0,
        balanced: false,
        decisions: false,
    };
    let series = rollouts(3, rollout);
    let mut teacher = teacher(Steps { knows_from: 3 }, |_| Ok(Box::new(Exact)));
    let (mut known, mut labels) = (0, 0);
    for number in 0..30 {
        let record = record(&series, number);
        let mut found = Vec::new();
        let collect = &mut |lesson: LabelLesson<'_>| {
            // With exact judgement a label is exact, and the only input is what the position is worth.
            let target = BackgammonChances(lesson.target.try_into().unwrap());
            if let Some(inputs) = lesson.inputs {
                assert!((target.points() - inputs.values[0]).abs() < 1e-5, "{lesson:?}");
            }
            assert_eq!(lesson.class, usize::from(target.points() < 0.0));
            assert!(lesson.position.starts_with("ToyState"));
            assert_eq!((lesson.trials, lesson.error < 1e-5), (3, true));
            known += usize::from(lesson.inputs.is_none());
            found.push((lesson.ply, lesson.play));
        };
        teacher.labels(&record, collect).unwrap();
        let expected: Vec<_> = record.labels.iter().map(|label| (label.ply, label.play)).collect();
        labels += expected.len();
        assert_eq!(found, expected);
    }
    assert!(known > 0 && known < labels, "{known} of {labels} are known");
    let mut broken = record(&series, 1);
    broken.labels[0].play = 9;
    let violation = teacher.labels(&broken, &mut |lesson| panic!("{lesson:?}")).unwrap_err();
    assert_eq!(violation.reason, "bad-label");
}

#[test]
fn a_record_that_breaks_the_rules_adds_nothing() {
    let mut broken = record(&self_play(1, LuckMode::LuckNone, 0.0), 7);
    *broken.plays.last_mut().unwrap() = 9;
    let mut lessons = [Lessons::new(5), Lessons::new(5)];
    let violation = exact_teacher().teach(&broken, 0.0, &mut lessons).unwrap_err();
    assert_eq!(violation.reason, "illegal-play");
    assert!(lessons[0].is_empty() && lessons[1].is_empty());
}

#[test]
fn lessons_give_back_what_was_put_in_and_forget_on_demand() {
    let mut lessons = Lessons::new(2);
    let inputs = |pairs: &[(usize, f32)]| {
        let mut inputs = Inputs::default();
        pairs.iter().for_each(|&(index, value)| inputs.push(index, value));
        inputs
    };
    lessons.push(&inputs(&[(1, 0.5), (7, 2.0)]), &[0.1, 0.2]);
    lessons.push(&inputs(&[]), &[0.3, 0.4]);
    lessons.push(&inputs(&[(3, 1.0)]), &[0.5, 1.1]);
    assert_eq!(lessons.len(), 3);
    assert_eq!(lessons.inputs(0), ([1, 7].as_slice(), [0.5, 2.0].as_slice()));
    assert_eq!(lessons.inputs(1), ([].as_slice(), [].as_slice()));
    assert_eq!((lessons.inputs(2).0, lessons.target(2)), ([3].as_slice(), [0.5, 1.1].as_slice()));
    lessons.clear();
    assert!(lessons.is_empty());
    lessons.push(&inputs(&[(2, 1.0)]), &[0.0, 1.0]);
    assert_eq!((lessons.inputs(0).0, lessons.target(0)), ([2].as_slice(), [0.0, 1.0].as_slice()));
}
