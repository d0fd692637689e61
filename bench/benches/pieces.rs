//! The pieces of a player and of the trainer, one by one: `cargo bench -p ludus-bench`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use ludus_bench::{learning, samples};
use ludus_config::Learn;
use ludus_games::backgammon::{BackgammonChances, Position};
use ludus_games::{Backgammon, Game, Plays};
use ludus_players::backgammon::{Ludus1, Player35, Tesauro198, input_sets};
use ludus_players::input_set::{InputSet, Inputs};
use ludus_players::lessons::Lessons;
use ludus_players::net_evaluator::NetEvaluator;
use ludus_players::network::{Kernel, Network};
use ludus_players::player::Evaluator;
use ludus_trainer::network::{Network as Student, Pass};
use ludus_trainer::optimizer::Optimizer;

fn main() {
    divan::main();
}

/// Games whose positions are used.
const GAMES: u64 = 10;
/// Hidden units of the networks, as in the comparisons with others.
const HIDDEN: usize = 120;

/// What is judged in some games of PubEval with the contact network, roll by roll.
fn batches() -> Vec<Vec<Position>> {
    let arena = samples::arena().expect("backgammon");
    let games = samples::games(&*arena, &samples::baseline("pubeval"), GAMES).expect("games");
    samples::contact(&samples::turns(&games).expect("legal games"))
}

fn inputs(set: &dyn InputSet<Backgammon>) -> Vec<Inputs> {
    let write = |position| {
        let mut inputs = Inputs::default();
        set.write(0, position, &mut inputs);
        inputs
    };
    batches().iter().flatten().map(write).collect()
}

/// Legal plays of every roll of every position.
#[divan::bench]
fn plays_of_a_roll(bencher: Bencher<'_, '_>) {
    let positions: Vec<Position> = batches().iter().filter_map(|batch| batch.first().copied()).collect();
    let rolls = Backgammon.rolls(&Position::START, 1);
    let mut plays = Plays::new();
    bencher.counter(ItemsCount::new(positions.len() * rolls.len())).bench_local(|| {
        for position in &positions {
            for &(roll, _) in rolls {
                Backgammon.plays(position, roll, &mut plays);
                black_box(&plays);
            }
        }
    });
}

/// Inputs of positions.
#[divan::bench(types = [Ludus1, Player35, Tesauro198])]
fn inputs_written<S: InputSet<Backgammon> + Default>(bencher: Bencher<'_, '_>) {
    let (set, batches) = (S::default(), batches());
    let mut inputs = Inputs::default();
    bencher.counter(ItemsCount::new(batches.iter().map(Vec::len).sum::<usize>())).bench_local(|| {
        for position in batches.iter().flatten() {
            set.write(0, position, &mut inputs);
            black_box(&inputs);
        }
    });
}

/// Forward passes, each from the beginning.
#[divan::bench(types = [Ludus1, Player35, Tesauro198])]
fn forward<S: InputSet<Backgammon> + Default>(bencher: Bencher<'_, '_>) {
    let set = S::default();
    let inputs = inputs(&set);
    let weights = samples::fresh(&*samples::arena().expect("backgammon"), set.name(), HIDDEN);
    let network = Network::new(&weights.expect("weights").networks[0]);
    let (mut kernel, mut outputs) = (Kernel::best(), BackgammonChances::default());
    bencher.counter(ItemsCount::new(inputs.len())).bench_local(|| {
        for inputs in &inputs {
            kernel.forward(&network, inputs, &mut outputs.0);
            black_box(&outputs);
        }
    });
}

/// Judgements: class, inputs, network, order, the plays of a roll together.
#[divan::bench(types = [Ludus1, Player35, Tesauro198])]
fn judged<S: InputSet<Backgammon> + Default>(bencher: Bencher<'_, '_>) {
    let batches = batches();
    let weights = samples::fresh(&*samples::arena().expect("backgammon"), S::default().name(), HIDDEN);
    let weights = weights.expect("weights");
    let mut evaluator = NetEvaluator::new(Backgammon, &weights, &input_sets()).expect("weights that fit");
    let mut chances = Vec::new();
    bencher.counter(ItemsCount::new(batches.iter().map(Vec::len).sum::<usize>())).bench_local(|| {
        for batch in &batches {
            evaluator.judge(batch, &mut chances);
            black_box(&chances);
        }
    });
}

/// Steps of the trainer on lessons that are there: forward pass, gradient, optimiser.
#[divan::bench(args = [128, 512, 4096])]
fn step(bencher: Bencher<'_, '_>, batch: usize) {
    let weights = samples::fresh(&*samples::arena().expect("backgammon"), Player35.name(), HIDDEN);
    let mut network = Student::from_weights(&weights.expect("weights").networks[0]);
    let mut optimizer = Optimizer::new(&Learn::default(), network.parameters().len());
    let mut lessons = Lessons::new(5);
    for inputs in inputs(&Player35).iter().cycle().take(batch) {
        lessons.push(inputs, &[0.5, 0.1, 0.0, 0.1, 0.0]);
    }
    let positions: Vec<usize> = (0..batch).collect();
    let mut pass = Pass::default();
    bencher.counter(ItemsCount::new(batch)).bench_local(|| {
        network.pass(&lessons, &positions, &mut pass).expect("a pass");
        optimizer.step(network.parameters_mut(), &pass.gradient, 1e-4);
    });
}

/// Lessons of records: replay, judgements, inputs, targets.
#[divan::bench]
fn lessons_of_a_game(bencher: Bencher<'_, '_>) {
    let arena = samples::arena().expect("backgammon");
    let weights = samples::fresh(&*arena, Player35.name(), HIDDEN).expect("weights");
    let mut teacher = arena.teacher(&weights).expect("a teacher");
    let mut lessons = vec![Lessons::new(5); weights.networks.len()];
    let records = learning::records().expect("games");
    let mut next = records.iter().cycle();
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        lessons.iter_mut().for_each(Lessons::clear);
        if let Some(record) = next.next() {
            teacher.teach(record, 0.7, &mut lessons).expect("a legal game");
        }
    });
}
