//! How fast plays are generated: positions of random games, every roll of each.
//!
//! `cargo run --release -p ludus-games --example speed`

use std::time::Instant;

use ludus_games::{Backgammon, Game, Plays};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() {
    let game = Backgammon;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut plays = Plays::new();
    let mut positions = Vec::new();
    let mut state = game.start();
    let rolls = game.rolls(&state, 1);
    while positions.len() < 2_000 {
        positions.push(state);
        game.plays(&state, rolls[rng.random_range(0..rolls.len())].0, &mut plays);
        state = plays.after[rng.random_range(0..plays.len())];
        if state.payoff().is_some() {
            state = game.start();
        }
    }

    let mut best = f64::INFINITY;
    let mut found = 0;
    for _ in 0..20 {
        let started = Instant::now();
        found = 0;
        for state in &positions {
            for &(roll, _) in rolls {
                game.plays(state, roll, &mut plays);
                found += plays.len();
            }
        }
        best = best.min(started.elapsed().as_secs_f64());
    }
    let calls = (positions.len() * rolls.len()) as f64;
    println!("{:.2} million rolls/s", calls / best / 1e6);
    println!("{:.1} million plays/s, {:.1} plays a roll", found as f64 / best / 1e6, found as f64 / calls);
}
