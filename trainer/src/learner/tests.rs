use ludus_config::{Optimizer as Kind, Phase};
use ludus_players::input_set::Inputs;
use ludus_players::weight_file::Shape;

use super::*;

fn learner(batch: usize) -> Learner {
    let shape = Shape { class: "race".into(), inputs: 3, hidden: 4, outputs: 1 };
    let fresh = WeightFile::fresh(Card::default(), &[shape], 1).unwrap();
    let mut config = RunConfig { seed: 7, ..RunConfig::default() };
    config.learn.batch = batch;
    config.learn.optimizer = Kind::AdamW;
    config.learn.step_size = 0.01;
    let student = Student::new(Network::from_weights(&fresh.networks[0]), &config.learn);
    Learner::new(vec![student], Ledger::default(), config)
}

fn lessons(targets: impl Iterator<Item = f32>) -> Vec<Lessons> {
    let mut lessons = Lessons::new(1);
    for (number, target) in targets.enumerate() {
        let mut inputs = Inputs::default();
        inputs.push(number % 3, 1.0);
        lessons.push(&inputs, &[target]);
    }
    vec![lessons]
}

#[test]
fn a_round_takes_a_step_for_every_batch_and_leaves_nothing_over() {
    for (positions, batch, steps) in [(1, 32, 1), (32, 32, 1), (47, 32, 1), (48, 32, 2), (330, 32, 10)] {
        let mut learner = learner(batch);
        learner.learn(&mut lessons((0..positions).map(|_| 0.5))).unwrap();
        let ledger = &learner.ledger;
        assert_eq!((ledger.steps, ledger.positions, ledger.rounds), (steps, positions as u64, 1));
        assert_eq!(learner.progress().losses[0].positions, positions as u64);
    }
    let mut learner = learner(32);
    learner.learn(&mut [Lessons::new(1)]).unwrap();
    assert_eq!((learner.ledger.steps, learner.progress().losses.len()), (0, 0));
}

#[test]
fn batches_are_a_partition_of_nearly_equal_parts() {
    for (positions, size) in [(1, 8), (11, 8), (12, 8), (100, 8), (8, 1)] {
        let order: Vec<usize> = (0..positions).collect();
        let parts: Vec<&[usize]> = even_batches(&order, size).collect();
        assert_eq!(parts.concat(), order);
        let lengths = parts.iter().map(|part| part.len());
        assert!(lengths.clone().max().unwrap() - lengths.clone().min().unwrap() <= 1);
        assert!(lengths.max().unwrap() < 2 * size);
    }
}

#[test]
fn a_step_that_is_not_finite_is_skipped_and_changes_nothing() {
    let mut learner = learner(4);
    let before = learner.students.clone();
    learner.learn(&mut lessons([f32::NAN].into_iter())).unwrap();
    assert_eq!(learner.students, before);
    assert_eq!((learner.ledger.steps, learner.ledger.skipped_steps), (0, 1));
    // A good step in between: it takes several in a row to lose faith.
    for _ in 0..3 {
        learner.learn(&mut lessons([0.5].into_iter())).unwrap();
        for _ in 0..SKIPPED_IN_A_ROW - 1 {
            learner.learn(&mut lessons([f32::INFINITY].into_iter())).unwrap();
        }
    }
    assert_eq!(learner.ledger.steps, 3);
    let mut poison = lessons((0..4 * SKIPPED_IN_A_ROW).map(|_| f32::NAN));
    assert!(matches!(learner.learn(&mut poison), Err(LearnError::Diverged)));
}

#[test]
fn rounds_are_mixed_by_their_number_alone() {
    let targets = || lessons((0..64).map(|n| (n % 5) as f32 / 4.0));
    let after = |rounds: u64| {
        let mut learner = learner(4);
        learner.ledger.rounds = rounds;
        learner.learn(&mut targets()).unwrap();
        learner.students
    };
    assert_eq!(after(3), after(3));
    assert_ne!(after(3), after(4));
}

/// A learner with so many labels received, each saying its number.
fn taught(labels: usize, kept: usize) -> Learner {
    let mut learner = learner(16);
    learner.memory = LabelMemory::new(kept, 1);
    for number in 0..labels {
        let mut inputs = Inputs::default();
        inputs.push(number % 3, 1.0);
        learner.receive(0, &inputs, &[number as f32 / labels as f32]);
    }
    learner
}

#[test]
fn every_label_received_grants_its_lessons_once_and_the_next_round_draws_them() {
    let mut learner = taught(25, 1000);
    learner.config.learn.replay = 3;
    assert_eq!(learner.owed(), 75);
    let mut round = lessons([0.5; 40].into_iter());
    learner.learn(&mut round).unwrap();
    assert_eq!((learner.owed(), round[0].len()), (0, 115));
    let ledger = &learner.ledger;
    assert_eq!((ledger.labels, ledger.label_lessons, ledger.positions, ledger.steps), (25, 75, 115, 7));
    let losses = learner.progress().losses;
    let named: Vec<_> = losses.iter().map(|loss| (loss.class.as_str(), loss.positions)).collect();
    assert_eq!(named, [("race", 40), ("race labels", 75)]);
    // A round of labels alone is a round like any other, and without new ones nothing is drawn.
    learner.receive(0, &Inputs::default(), &[0.5]);
    learner.learn(&mut [Lessons::new(1)]).unwrap();
    assert_eq!((learner.ledger.label_lessons, learner.ledger.positions), (78, 118));
    learner.learn(&mut [Lessons::new(1)]).unwrap();
    assert_eq!((learner.ledger.label_lessons, learner.ledger.rounds), (78, 3));
}

#[test]
fn lessons_are_drawn_from_all_of_the_memory_alike_and_by_the_rounds_number_alone() {
    let drawn = |rounds: u64| {
        let mut learner = taught(400, 100);
        learner.config.learn.replay = 30;
        learner.ledger.rounds = rounds;
        let mut round = [Lessons::new(1)];
        learner.learn(&mut round).unwrap();
        (0..round[0].len()).map(|lesson| (round[0].target(lesson)[0] * 400.0).round() as usize).collect()
    };
    let first: Vec<usize> = drawn(3);
    assert_eq!(first.len(), 12_000);
    let mut counts = [0; 400];
    first.iter().for_each(|&label| counts[label] += 1);
    assert_eq!(counts[..300], [0; 300], "what is forgotten is not drawn");
    // 120 are expected of each, with a standard deviation of 11.
    assert!(counts[300..].iter().all(|count| (70..170).contains(count)), "{counts:?}");
    assert_eq!(first, drawn(3));
    assert_ne!(first, drawn(4));
}

#[test]
fn the_step_size_is_that_of_the_phase() {
    let mut learner = learner(4);
    learner.config.phases = vec![Phase {
        from_games: 50,
        step_size: Some(1e-9),
        final_step_size: Some(1e-9),
        ..Phase::default()
    }];
    let mut moved = |games: u64| {
        let before = learner.students[0].network.parameters().to_vec();
        learner.ledger.games = games;
        learner.learn(&mut lessons([0.9; 4].into_iter())).unwrap();
        let after = learner.students[0].network.parameters();
        before.iter().zip(after).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    assert!(moved(49) > 1e-3);
    assert!(moved(50) < 1e-6);
}

#[test]
fn what_is_published_is_the_average_of_the_latest_steps() {
    let mut averaging = learner(1);
    let mut last = learner(1);
    last.config.learn.average = 0.0;
    for learner in [&mut averaging, &mut last] {
        // Targets that contradict each other keep the weights moving.
        for _ in 0..40 {
            learner.learn(&mut lessons((0..30).map(|n| f32::from(u8::from(n % 2 == 0))))).unwrap();
        }
    }
    let published = |learner: &Learner| learner.weights(Card::default()).networks[0].clone();
    assert_eq!(
        averaging.students[0].network, last.students[0].network,
        "averages change nothing of the steps"
    );
    assert_eq!(published(&last), last.students[0].network.weights());
    let mut average = Average::new(learner(1).students[0].network.parameters());
    assert_ne!(published(&averaging), published(&last));
    // The same steps again, the average followed from outside.
    let mut again = learner(1);
    again.config.learn.average = 0.0;
    for _ in 0..40 {
        let mut round = lessons((0..30).map(|n| f32::from(u8::from(n % 2 == 0))));
        let mut rng = round_rng(again.config.seed, again.ledger.rounds);
        let mut order: Vec<usize> = (0..30).collect();
        order.shuffle(&mut rng);
        for position in order {
            again.step(0, (&round[0], 30), &[position], &again.config.phase(0).step).unwrap();
            average.follow(again.students[0].network.parameters(), 0.1);
        }
        again.ledger.rounds += 1;
        round.clear();
    }
    assert_eq!(averaging.students[0].average, average);
}

#[test]
fn the_average_begins_anew_with_each_schedule_of_the_step_size_and_with_no_other_phase() {
    let mut learner = learner(1);
    learner.config.phases = vec![
        Phase { from_games: 10, lambda: Some(0.5), ..Phase::default() },
        Phase { from_games: 20, step_size: Some(0.001), ..Phase::default() },
    ];
    let mut steps_at = |games: u64| {
        learner.ledger.games = games;
        let before = learner.students[0].network.parameters().to_vec();
        learner.learn(&mut lessons([0.1, 0.9, 0.5].into_iter())).unwrap();
        (learner.students[0].average.steps, before, learner.students[0].average.parameters.clone())
    };
    let steps = [5, 15, 19].map(|games| steps_at(games).0);
    assert_eq!(steps, [3, 6, 9]);
    let (steps, before, average) = steps_at(20);
    assert_eq!(steps, 3);
    // Nothing of the average before is left: it starts with the first step from here.
    let moved =
        |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(moved(&before, &average) <= 3.0 * 0.0011, "three steps of 0.001 from where it was");
    assert_eq!(steps_at(21).0, 6);
    // A network without lessons keeps what it was averaged to, for as long as it has none.
    learner.students[0].averaged_since = Some(0);
    let kept = learner.students[0].average.clone();
    learner.learn(&mut lessons([].into_iter())).unwrap();
    assert_eq!(learner.students[0].average, kept);
    // And a checkpoint that does not say when an average began is gone on from as it is.
    learner.students[0].averaged_since = None;
    learner.learn(&mut lessons([0.1, 0.9, 0.5].into_iter())).unwrap();
    assert_eq!((learner.students[0].average.steps, learner.students[0].averaged_since), (9, Some(20)));
}
