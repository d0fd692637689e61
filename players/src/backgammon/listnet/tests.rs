use ludus_games::backgammon::Dice;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::backgammon::PubEval;
use crate::backgammon::linear::{LinearPlayer, score};
use crate::player::Player;

const SETTINGS: Training = Training { epochs: 12, seed: 1 };

/// A player to learn from: PubEval with a number of weights changed, whose scores are read as points.
fn teacher() -> LinearWeights {
    let mut teacher = PubEval::weights().clone();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for vector in [&mut teacher.contact, &mut teacher.race] {
        for weight in vector.iter_mut() {
            *weight = (*weight + 2.0 * dice::unit(&mut rng) as f32 - 1.0) / 10.0;
        }
    }
    teacher
}

/// Decisions from games that PubEval plays against itself, with the best of their plays by the teacher's score.
fn decisions(games: u32, listed: usize) -> Benchmark<Backgammon> {
    let teacher = teacher();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut plays = Plays::new();
    let mut text = String::new();
    for _ in 0..games {
        let mut state = Backgammon.start();
        for ply in 0.. {
            if Backgammon.payoff(&state).is_some() {
                break;
            }
            let rolls = Backgammon.rolls(&state, ply);
            let roll: Dice = rolls[dice::throw(&mut rng, rolls)].0;
            Backgammon.plays(&state, roll, &mut plays);
            let weights = if has_contact(&state) { &teacher.contact } else { &teacher.race };
            // A won game is worth more than any score; and no play loses more than a game can.
            let worth = |after: &Position| f64::from(score(weights, after).clamp(-14.0, 9.0)) / 4.0;
            let mut order: Vec<_> = plays.after.iter().map(|after| (worth(after), *after)).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0));
            let best = order[0].0;
            text += &format!("m {} {} {}", state.key_letters(), roll.high(), roll.low());
            for (index, (worth, after)) in order.iter().take(listed).enumerate() {
                let number = if index == 0 { best } else { best - worth };
                text += &format!(" {} {number}", after.key_letters());
            }
            text += "\n";
            state = plays.after[PubEval.choose(&state, roll, &plays, &mut rng)];
        }
    }
    Benchmark::read(Backgammon, "made.bm", &text, &|state| {
        Some(if has_contact(state) { "contact" } else { "race" })
    })
    .expect("a benchmark")
}

fn error_rate(benchmark: &Benchmark<Backgammon>, weights: &LinearWeights, class: &str) -> f64 {
    let player = LinearPlayer(weights.clone().into());
    benchmark.score(Backgammon, "linear", vec![Box::new(player)]).expect("a score").classes[class].er
}

/// Trains on what is not held out, and also gives what each epoch came to.
fn train_on(
    (training, held_out): &(Benchmark<Backgammon>, Benchmark<Backgammon>),
    settings: Training,
) -> (LinearWeights, Vec<Epoch>) {
    let mut epochs = Vec::new();
    let weights = train(PubEval::weights(), training, held_out, settings, &mut |epoch| epochs.push(*epoch));
    (weights, epochs)
}

#[test]
fn a_step_goes_down_the_slope_of_the_loss() {
    let benchmark = decisions(2, 5);
    let lessons = Lessons::of(&benchmark, Vector::Contact);
    let start = PubEval::weights().contact.map(|weight| f64::from(weight) / 10.0);
    let mut learner = Learner::default();
    for index in (0..lessons.len()).step_by(7) {
        let lesson = lessons.lesson(index);
        let mut moved = start;
        learner.learn(lesson, &mut moved, 1.0);
        for input in 0..INPUTS {
            let mut loss_at = |shift: f64| {
                let mut weights = start;
                weights[input] += shift;
                learner.loss(lesson, &weights)
            };
            let slope = (loss_at(1e-5) - loss_at(-1e-5)) / 2e-5;
            let step = moved[input] - start[input];
            assert!((step + slope).abs() < 1e-8, "decision {index}, input {input}: {step} against {slope}");
        }
    }
}

#[test]
fn unlisted_plays_cost_as_much_as_the_worst_listed_and_teach_nothing() {
    let start = PubEval::weights().contact.map(|weight| f64::from(weight) / 10.0);
    let benchmark = decisions(1, 2);
    let lessons = Lessons::of(&benchmark, Vector::Contact);
    let mut learner = Learner::default();
    let mut seen = 0;
    for index in 0..lessons.len() {
        let lesson = lessons.lesson(index);
        let worst = lesson.lost.iter().copied().fold(0.0, f32::max);
        learner.learn(lesson, &mut start.clone(), 1.0);
        for play in (0..lesson.lost.len()).filter(|&play| !lesson.listed[play]) {
            assert_eq!(lesson.lost[play], worst);
            assert_eq!((learner.reference[play], learner.chosen[play]), (0.0, 0.0));
            seen += 1;
        }
        for shares in [&learner.reference, &learner.chosen] {
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
    assert!(seen > 100, "unlisted plays: {seen}");
}

#[test]
fn the_start_is_scaled_to_points_and_plays_as_before() {
    let benchmark = decisions(3, 6);
    let lessons = Lessons::of(&benchmark, Vector::Contact);
    let start = PubEval::weights().contact.map(f64::from);
    let scaled = lessons.in_points(start);
    // What the decisions are worth is a fortieth of PubEval's scores, or so.
    let factor = start[1] / scaled[1];
    assert!([16.0, 32.0, 64.0].contains(&factor), "divided by {factor}");
    assert!(start.iter().zip(&scaled).all(|(before, after)| *before == after * factor));
    assert_eq!(lessons.measure(&scaled).1, lessons.measure(&start).1);
    assert!(lessons.measure(&scaled).0 < lessons.measure(&start).0);
}

#[test]
fn it_learns_to_play_like_the_player_whose_judgement_it_is_shown() {
    let parts = decisions(60, 6).split(Backgammon, 0.25);
    let (weights, epochs) = train_on(&parts, SETTINGS);
    for vector in [Vector::Contact, Vector::Race] {
        let epochs: Vec<_> = epochs.iter().filter(|epoch| epoch.vector == vector).collect();
        let (first, last) = (epochs[0], epochs[epochs.len() - 1]);
        assert_eq!((first.epoch, first.step), (0, 0.1));
        assert!(last.loss < first.loss, "{vector}: {} after {}", last.loss, first.loss);
        for part in [&parts.0, &parts.1] {
            let before = error_rate(part, PubEval::weights(), &vector.to_string());
            let after = error_rate(part, &weights, &vector.to_string());
            assert!(after < 0.5 * before, "{vector}: {after} after {before}");
        }
    }
}

#[test]
fn the_error_rates_of_an_epoch_are_those_of_the_player() {
    let parts = decisions(10, 6).split(Backgammon, 0.3);
    let (_, epochs) = train_on(&parts, Training { epochs: 1, ..SETTINGS });
    for before in epochs.iter().filter(|epoch| epoch.epoch == 0) {
        let class = before.vector.to_string();
        let er = |part| error_rate(part, PubEval::weights(), &class);
        assert!((before.er - er(&parts.0)).abs() < 1e-3, "{before:?}");
        assert!((before.held_out_er.unwrap() - er(&parts.1)).abs() < 1e-3, "{before:?}");
    }
}

#[test]
fn equal_seeds_give_equal_weights_and_what_is_held_out_changes_nothing() {
    let (training, held_out) = decisions(6, 6).split(Backgammon, 0.3);
    let nothing = held_out.clone().split(Backgammon, 1.0).0;
    assert!(nothing.is_empty());
    let settings = Training { epochs: 3, seed: 7 };
    let parts = (training.clone(), held_out);
    let (first, epochs) = train_on(&parts, settings);
    assert_eq!(train_on(&parts, settings), (first.clone(), epochs));
    let (same, epochs) = train_on(&(training.clone(), nothing), settings);
    assert_eq!(same, first);
    assert!(epochs.iter().all(|epoch| epoch.held_out_er.is_none()));
    assert_ne!(train_on(&parts, Training { seed: 8, ..settings }).0, first);
}

#[test]
fn the_step_shrinks_exactly_when_the_error_rate_gets_worse() {
    let parts = decisions(6, 6).split(Backgammon, 0.0);
    let (_, epochs) = train_on(&parts, Training { epochs: 40, seed: 1 });
    let contact: Vec<_> = epochs.iter().filter(|epoch| epoch.vector == Vector::Contact).collect();
    let mut shrunk = 0;
    for pass in contact[1..].windows(2) {
        let [before, after] = pass else { unreachable!("windows of two") };
        let index = before.epoch as usize;
        let worse = contact[index].er > contact[index - 1].er;
        shrunk += usize::from(worse);
        let expected = if worse { before.step / 10.0_f64.sqrt() } else { before.step };
        assert!((after.step / expected - 1.0).abs() < 1e-12, "{after:?}");
    }
    assert!(shrunk > 0, "the test has seen no step shrink");
}

#[test]
fn a_vector_without_decisions_of_its_kind_stays_as_it_is() {
    let race = "m ABAAAABEAAAAAAAAAAAA 2 1 AAAAAAACAAAAAAAAAAAA 1 ABAAAAAEAAAAAAAAAAAA 2\n";
    let benchmark = Benchmark::read(Backgammon, "race.bm", race, &|_| Some("race")).unwrap();
    let (weights, epochs) = train_on(&benchmark.split(Backgammon, 0.0), SETTINGS);
    assert_eq!(weights.contact, PubEval::weights().contact);
    assert!(epochs.iter().all(|epoch| epoch.vector == Vector::Race));
}

#[test]
fn a_decision_that_does_not_list_the_winning_play_teaches_nothing_and_stops_nothing() {
    let (mut own, mut other) = ([0; 25], [0; 25]);
    (own[0], own[5], other[0]) = (1, 1, 1);
    let state = Position::new(own, other).expect("a position");
    let mut plays = Plays::new();
    let roll = Backgammon.read_roll("61").expect("a roll");
    Backgammon.plays(&state, roll, &mut plays);
    let (won, others): (Vec<Position>, Vec<Position>) =
        plays.after.iter().partition(|after| after.other_off() == CHECKERS);
    assert!(!won.is_empty() && !others.is_empty(), "{plays:?}");
    let text = format!("m {} 6 1 {} 0.5\n", state.key_letters(), others[0].key_letters());
    let odd = Benchmark::read(Backgammon, "odd.bm", &text, &|_| Some("race")).expect("a benchmark");
    assert!(Lessons::of(&odd, Vector::Race).is_empty());

    let mut benchmark = decisions(2, 5);
    let (_, none) = benchmark.clone().split(Backgammon, 0.0);
    let (expected, _) = train_on(&(benchmark.clone(), none.clone()), Training { epochs: 1, ..SETTINGS });
    benchmark.append(odd);
    let (found, epochs) = train_on(&(benchmark, none), Training { epochs: 1, ..SETTINGS });
    assert_eq!(found, expected);
    assert!(epochs.iter().all(|epoch| epoch.loss.is_finite()));
}
