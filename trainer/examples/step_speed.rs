//! Measures training steps: `cargo run --release -p ludus-trainer --example step_speed`.

use std::time::Instant;

use ludus_config::Learn;
use ludus_players::input_set::Inputs;
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::{Card, Shape, WeightFile};
use ludus_trainer::network::Network;
use ludus_trainer::optimizer::Optimizer;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (inputs, hidden) in [(198, 80), (206, 120), (250, 128)] {
        let shape = Shape { class: "contact".into(), inputs, hidden, outputs: 5 };
        let fresh = WeightFile::fresh(Card::default(), &[shape], 1)?;
        let mut network = Network::from_weights(&fresh.networks[0]);
        let mut optimizer = Optimizer::new(&Learn::default(), network.parameters().len());
        for batch in [128, 512, 2048] {
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
            let mut gradient = Vec::new();
            let steps = 200_000 / batch;
            let start = Instant::now();
            for _ in 0..steps {
                network.gradient(&lessons, &positions, &mut gradient)?;
                optimizer.step(network.parameters_mut(), &gradient, 0.001);
            }
            let rate = (steps * batch) as f64 / start.elapsed().as_secs_f64();
            println!("{inputs}-{hidden}-5, batch {batch}: {rate:.0} positions/s");
        }
    }
    Ok(())
}
