use ludus_games::backgammon::{BackgammonChances, Position};
use ludus_games::{Backgammon, Othello, Plays, WinLoss};

use super::*;
use crate::backgammon::{self, Tesauro198, tests::positions};
use crate::lessons;
use crate::othello::Tuples1;
use crate::weight_file::{Card, Shape};

fn fresh() -> WeightFile {
    let card = Card {
        game: "backgammon".to_owned(),
        revision: Backgammon::REVISION,
        inputs: "tesauro-198".to_owned(),
        ..Card::default()
    };
    let shape = |class: &&str| Shape { class: (*class).to_owned(), inputs: 198, hidden: 20, outputs: 5 };
    let shapes: Vec<Shape> = ["contact", "crashed", "race"].iter().map(shape).collect();
    WeightFile::fresh(card, &shapes, 1).unwrap()
}

fn evaluator(weights: &WeightFile) -> NetEvaluator<Backgammon> {
    NetEvaluator::new(Backgammon, weights, &backgammon::input_sets()).unwrap()
}

fn refusal(change: impl FnOnce(&mut WeightFile)) -> String {
    let mut weights = fresh();
    change(&mut weights);
    NetEvaluator::new(Backgammon, &weights, &backgammon::input_sets()).unwrap_err().to_string()
}

#[test]
fn judgements_are_possible_and_finished_games_exact() {
    let mut evaluator = evaluator(&fresh());
    let positions = positions();
    let mut chances = vec![BackgammonChances::default(); 3];
    evaluator.judge(&positions, &mut chances);
    assert_eq!(chances.len(), positions.len());
    let open = positions.iter().filter(|state| state.payoff().is_none()).count();
    assert_eq!((evaluator.evaluated(), evaluator.evaluated()), (open as u64, 0));
    let mut finished = 0;
    for (state, chances) in positions.iter().zip(&chances) {
        assert!(chances.is_valid(), "{chances:?}");
        if let Some(points) = state.payoff() {
            finished += 1;
            assert_eq!(*chances, BackgammonChances::from_payoff(points));
            assert_eq!(chances.points(), f32::from(points));
        } else {
            let [_, win_gammon, _, lose_gammon, _] = chances.0;
            assert!(state.own_off() == 0 || lose_gammon == 0.0);
            assert!(state.other_off() == 0 || win_gammon == 0.0);
        }
    }
    assert_eq!(finished, 100);
}

#[test]
fn a_judgement_depends_on_neither_batch_nor_kernel() {
    // Several classes in turn, finished games, and more than are computed together.
    let positions = &positions()[..10 * TOGETHER];
    let (mut batch, mut one) = (Vec::new(), Vec::new());
    evaluator(&fresh()).judge(positions, &mut batch);
    for size in [2, 7, TOGETHER, TOGETHER + 1] {
        let mut evaluator = evaluator(&fresh());
        for (positions, expected) in positions.chunks(size).zip(batch.chunks(size)) {
            evaluator.judge(positions, &mut one);
            assert_eq!(one, expected, "{size} at a time");
        }
    }
    for kernel in Kernel::available() {
        let mut evaluator = evaluator(&fresh()).with_kernel(kernel);
        for (state, expected) in positions.iter().zip(&batch).rev() {
            evaluator.judge(std::slice::from_ref(state), &mut one);
            assert_eq!(one[0].0.map(f32::to_bits), expected.0.map(f32::to_bits));
        }
    }
}

#[test]
fn without_a_hidden_layer_a_position_is_worth_what_its_inputs_are() {
    let sets: [Arc<dyn InputSet<Othello>>; 1] = [Arc::new(Tuples1)];
    let card = Card {
        game: Othello::NAME.to_owned(),
        revision: Othello::REVISION,
        inputs: Tuples1.name().to_owned(),
        ..Card::default()
    };
    let weights = WeightFile::fresh(card, &lessons::shapes(&Tuples1, 0), 1).unwrap();
    let mut evaluator = NetEvaluator::new(Othello, &weights, &sets).unwrap();
    let (mut state, mut plays) = (Othello.start(), Plays::new());
    let (mut chances, mut inputs) = (Vec::new(), Inputs::default());
    while Othello.payoff(&state).is_none() {
        let class = Tuples1.class(&state).expect("it goes on");
        Tuples1.write(class, &state, &mut inputs);
        let ClassWeights { output_weight, output_bias, inputs: width, .. } = &weights.networks[class];
        let expected = [0, 1].map(|output| {
            let terms = inputs.indices.iter().zip(&inputs.values);
            let terms = terms.map(|(&i, &x)| f64::from(output_weight[output * width + usize::from(i)] * x));
            1.0 / (1.0 + (-f64::from(output_bias[output]) - terms.sum::<f64>()).exp())
        });
        evaluator.judge(&[state], &mut chances);
        // Near even, so that a win and a loss leave room for each other.
        let WinLoss([win, loss]) = chances[0];
        assert!((f64::from(win) - expected[0]).abs() < 1e-6);
        assert!((f64::from(loss) - expected[1].min(1.0 - expected[0])).abs() < 1e-6);
        Othello.plays(&state, (), &mut plays);
        state = plays.after[plays.len() / 2];
    }
}

#[test]
fn each_class_has_its_own_network() {
    let positions = positions();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    evaluator(&fresh()).judge(&positions, &mut before);
    for class in 0..3 {
        let mut weights = fresh();
        weights.networks[class].output_bias[0] += 0.5;
        let mut evaluator = evaluator(&weights);
        evaluator.judge(&positions, &mut after);
        let inputs = evaluator.inputs();
        let mut seen = 0;
        for ((state, before), after) in positions.iter().zip(&before).zip(&after) {
            let of_class = inputs.class(state) == Some(class);
            assert_eq!(before != after, of_class, "{state:?}");
            seen += usize::from(of_class);
        }
        assert!(seen > 0, "no position of {}", inputs.classes()[class]);
    }
}

/// The inputs of `tesauro-198`, with positions of one checker a side known to be even.
struct Knowing;

impl InputSet<Backgammon> for Knowing {
    fn name(&self) -> &'static str {
        Tesauro198.name()
    }

    fn classes(&self) -> &'static [&'static str] {
        InputSet::classes(&Tesauro198)
    }

    fn width(&self, class: usize) -> usize {
        Tesauro198.width(class)
    }

    fn class(&self, state: &Position) -> Option<usize> {
        Tesauro198.class(state)
    }

    fn write(&self, class: usize, state: &Position, inputs: &mut Inputs) {
        Tesauro198.write(class, state, inputs);
    }

    fn known(&self, state: &Position) -> Option<BackgammonChances> {
        let last = state.own_off() == 14 && state.other_off() == 14;
        last.then_some(BackgammonChances([0.5, 0.0, 0.0, 0.0, 0.0]))
    }
}

#[test]
fn no_network_is_asked_about_what_the_input_set_knows() {
    let mut side = [0; 25];
    side[3] = 1;
    let last = Position::new(side, side).unwrap();
    let finished = Position::new([0; 25], side).unwrap();
    let mut chances = Vec::new();
    let mut plain = evaluator(&fresh());
    plain.judge(&[last, Position::START, finished], &mut chances);
    let by_network = chances.clone();
    NetEvaluator::new(Backgammon, &fresh(), &[Arc::new(Knowing)])
        .unwrap()
        .judge(&[last, Position::START, finished], &mut chances);
    assert_eq!(chances[0].0, [0.5, 0.0, 0.0, 0.0, 0.0]);
    assert_ne!(chances[0], by_network[0]);
    assert_eq!(chances[1..], by_network[1..]);
}

#[test]
fn weights_that_do_not_fit_are_refused_with_the_reason() {
    for (part, text) in [
        ("weights for othello, not for backgammon", refusal(|w| w.card.game = "othello".to_owned())),
        ("revision 99 of the rules", refusal(|w| w.card.revision = 99)),
        (
            "inputs \"tesauro-199\"; this program knows ludus-1",
            refusal(|w| w.card.inputs = "tesauro-199".to_owned()),
        ),
        ("classes contact, crashed, where tesauro-198", refusal(|w| drop(w.networks.pop()))),
        ("has contact, crashed, race", refusal(|w| w.networks.swap(0, 1))),
        ("number 3, is NaN", refusal(|w| w.networks[0].hidden_weight[3] = f32::NAN)),
    ] {
        assert!(text.starts_with("unpublished weights: ") && text.contains(part), "{text}");
    }
    let narrow = WeightFile::fresh(
        fresh().card,
        &fresh().shapes().into_iter().map(|shape| Shape { inputs: 197, ..shape }).collect::<Vec<_>>(),
        1,
    );
    let error = NetEvaluator::new(Backgammon, &narrow.unwrap(), &backgammon::input_sets()).unwrap_err();
    assert!(error.to_string().contains("the contact network has 197 inputs, where 198 are needed"));
}
