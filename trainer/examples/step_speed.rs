//! Measures how fast one thread learns: `cargo run --release -p ludus-trainer --example step_speed [WEIGHTS]`.
//!
//! First training steps on made-up positions, by network size and batch; then, with a weight file of backgammon, what
//! comes before them: turning recorded games into lessons.

use std::sync::Arc;
use std::time::Instant;

use ludus_config::Learn;
use ludus_players::arena::{Registry, Seating, Source};
use ludus_players::input_set::Inputs;
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::{Card, Shape, WeightFile};
use ludus_proto::v1::{Series, SeriesKind};
use ludus_trainer::network::{Network, Pass};
use ludus_trainer::optimizer::Optimizer;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (inputs, hidden) in [(198, 80), (206, 120), (250, 128)] {
        for batch in [128, 512, 2048] {
            let rate = steps(inputs, hidden, batch)?;
            println!("steps of {inputs}-{hidden}-5, batch {batch}: {rate:.0} positions/s");
        }
    }
    if let Some(path) = std::env::args().nth(1) {
        println!("lessons: {:.0} positions/s", lessons(&path)?);
    }
    Ok(())
}

/// Positions a second in training steps with AdamW, 30 non-zero inputs a position.
fn steps(inputs: usize, hidden: usize, batch: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let shape = Shape { class: "contact".into(), inputs, hidden, outputs: 5 };
    let fresh = WeightFile::fresh(Card::default(), &[shape], 1)?;
    let mut network = Network::from_weights(&fresh.networks[0]);
    let mut optimizer = Optimizer::new(&Learn::default(), network.parameters().len());
    let mut lessons = Lessons::new(5);
    for _ in 0..batch {
        let mut active = Inputs::default();
        for index in 0..inputs {
            if rng.random_bool(30.0 / inputs as f64) {
                active.push(index, 1.0);
            }
        }
        let target: [f32; 5] = std::array::from_fn(|_| rng.random());
        lessons.push(&active, &target);
    }
    let positions: Vec<usize> = (0..batch).collect();
    let mut pass = Pass::default();
    let steps = 200_000 / batch;
    let start = Instant::now();
    for _ in 0..steps {
        network.pass(&lessons, &positions, &mut pass)?;
        optimizer.step(network.parameters_mut(), &pass.gradient, 0.001);
    }
    Ok((steps * batch) as f64 / start.elapsed().as_secs_f64())
}

/// Positions a second in lessons from games that the weights play against themselves.
fn lessons(path: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let (file, digest) = WeightFile::read(path.as_ref())?;
    let registry = Registry::standard();
    let arena = registry.find(&file.card.game).ok_or("a game that this program does not know")?;
    let mut teacher = arena.teacher(&file)?;
    let classes = file.networks.iter();
    let mut lessons: Vec<Lessons> = classes.map(|network| Lessons::new(network.outputs)).collect();
    let seat = Seating { source: Source::Weights { digest, file: Arc::new(file) }, plies: 0 };
    let series = Series { kind: SeriesKind::SelfPlay.into(), seed: 1, ..Series::default() };
    let mut table = arena.table(&series, [&seat, &seat])?;
    let games = (0..1000).map(|number| table.play(number)).collect::<Result<Vec<_>, _>>()?;
    let start = Instant::now();
    for game in &games {
        teacher.teach(game, 0.3, &mut lessons)?;
    }
    let positions: usize = lessons.iter().map(Lessons::len).sum();
    Ok(positions as f64 / start.elapsed().as_secs_f64())
}
