//! Measures how many positions a second networks judge, on one thread, by kernel:
//! `cargo run --release -p ludus-players --example network_speed`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ludus_games::backgammon::Position;
use ludus_games::{Backgammon, Game, Plays};
use ludus_players::backgammon::{PubEval, Tesauro198, input_sets};
use ludus_players::input_set::{InputSet, Inputs};
use ludus_players::net_evaluator::NetEvaluator;
use ludus_players::network::{Kernel, Network};
use ludus_players::player::{Evaluator, Player};
use ludus_players::weight_file::{Card, Shape, WeightFile};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// How long each figure is measured.
const DURATION: Duration = Duration::from_millis(400);
/// Things between two looks at the clock.
const PIECE: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let positions = candidates(40);
    let inputs: Vec<Inputs> = positions.iter().map(tesauro).collect();
    let active = inputs.iter().map(|inputs| inputs.indices.len()).sum::<usize>() as f64 / inputs.len() as f64;
    println!("{} positions after plays, {active:.1} inputs not zero", positions.len());

    let mut active = Inputs::default();
    let write = rate(&positions, |positions| {
        for position in positions {
            Tesauro198.write(0, position, &mut active);
            black_box(&active);
        }
    });
    println!("{:30} {:>10.0}/s", "inputs alone", write);

    for set in input_sets() {
        let contact = positions.iter().copied().filter(|position| set.class(position) == Some(0));
        let contact: Vec<Position> = contact.collect();
        let write = rate(&contact, |positions| {
            for position in positions {
                set.write(0, position, &mut active);
                black_box(&active);
            }
        });
        let count = |position| {
            set.write(0, position, &mut active);
            active.indices.len()
        };
        let not_zero: usize = contact.iter().map(count).sum();
        let weights = fresh_of(&*set, 120)?;
        let mut evaluator = NetEvaluator::new(Backgammon, &weights, &input_sets())?;
        let mut chances = Vec::new();
        let judged = rate(&contact, |positions| {
            evaluator.judge(positions, &mut chances);
            black_box(&chances);
        });
        println!(
            "{:30} contact: {:.1} of {} inputs not zero in {:.0} ns; {judged:.0}/s judged with 120 hidden",
            set.name(),
            not_zero as f64 / contact.len() as f64,
            set.width(0),
            1e9 / write,
        );
    }

    for kernel in Kernel::available() {
        for (width, hidden) in [(198, 40), (198, 80), (206, 120), (250, 128)] {
            let weights = fresh(width, hidden)?;
            let network = Network::new(&weights.networks[0]);
            let mut kernel = kernel.clone();
            let mut outputs = [0.0; 5];
            let alone = rate(&inputs, |inputs| {
                for inputs in inputs {
                    kernel.forward(&network, inputs, &mut outputs);
                    black_box(&outputs);
                }
            });
            let name = format!("{} {width}-{hidden}-5", kernel.name());
            print!("{name:30} {alone:>10.0}/s");
            if width == 198 {
                let mut evaluator =
                    NetEvaluator::new(Backgammon, &weights, &input_sets())?.with_kernel(kernel);
                let mut chances = Vec::new();
                let judged = rate(&positions, |positions| {
                    evaluator.judge(positions, &mut chances);
                    black_box(&chances);
                });
                print!(", with class, inputs and ordering {judged:>10.0}/s");
            }
            println!();
        }
    }
    Ok(())
}

/// Things a second, when they are gone through in pieces so short that some passes are not interrupted by other work on the
/// machine: of each piece the fastest pass counts. All pieces come before any comes again, so that the processor cannot
/// learn them by heart.
fn rate<T>(things: &[T], mut pass: impl FnMut(&[T])) -> f64 {
    let start = Instant::now();
    let mut fastest = vec![Duration::MAX; things.len().div_ceil(PIECE)];
    // Two passes at least: the first warms up.
    for round in 0.. {
        for (fastest, piece) in fastest.iter_mut().zip(things.chunks(PIECE)) {
            let start = Instant::now();
            pass(piece);
            *fastest = (*fastest).min(start.elapsed());
        }
        if round > 0 && start.elapsed() > DURATION {
            break;
        }
    }
    things.len() as f64 / fastest.iter().sum::<Duration>().as_secs_f64()
}

/// What a player judges in `games` games of PubEval against itself: the positions after all the plays of each roll.
fn candidates(games: usize) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut plays = Plays::new();
    let mut positions = Vec::new();
    for _ in 0..games {
        let mut state = Backgammon.start();
        let mut ply = 0;
        while Backgammon.payoff(&state).is_none() {
            let rolls = Backgammon.rolls(&state, ply);
            let (roll, _) = rolls[rng.next_u32() as usize % rolls.len()];
            Backgammon.plays(&state, roll, &mut plays);
            positions.extend(plays.after.iter().filter(|after| Backgammon.payoff(after).is_none()));
            state = plays.after[PubEval.choose(&state, roll, &plays, &mut rng)];
            ply += 1;
        }
    }
    positions
}

fn tesauro(position: &Position) -> Inputs {
    let mut inputs = Inputs::default();
    Tesauro198.write(0, position, &mut inputs);
    inputs
}

/// Fresh networks on an input set.
fn fresh_of(set: &dyn InputSet<Backgammon>, hidden: usize) -> Result<WeightFile, Box<dyn std::error::Error>> {
    let card = Card {
        game: Backgammon::NAME.to_owned(),
        revision: Backgammon::REVISION,
        inputs: set.name().to_owned(),
        ..Card::default()
    };
    let shape = |(class, name): (usize, &&str)| Shape {
        class: (*name).to_owned(),
        inputs: set.width(class),
        hidden,
        outputs: 5,
    };
    let shapes: Vec<Shape> = set.classes().iter().enumerate().map(shape).collect();
    Ok(WeightFile::fresh(card, &shapes, 1)?)
}

fn fresh(width: usize, hidden: usize) -> Result<WeightFile, Box<dyn std::error::Error>> {
    let card = Card {
        game: Backgammon::NAME.to_owned(),
        revision: Backgammon::REVISION,
        inputs: Tesauro198.name().to_owned(),
        ..Card::default()
    };
    let shapes: Vec<Shape> = Tesauro198
        .classes()
        .iter()
        .map(|class| Shape { class: (*class).to_owned(), inputs: width, hidden, outputs: 5 })
        .collect();
    Ok(WeightFile::fresh(card, &shapes, 1)?)
}
