//! How fast plays are generated: positions of random games, every roll of each.
//!
//! ```text
//! cargo run --release -p ludus-games --example speed
//! valgrind --tool=callgrind --toggle-collect='*speed::generate*' target/release/examples/speed 1
//! ```
//!
//! The number is that of the rounds, of which the best counts; the second line counts the instructions of one.

use std::time::Instant;

use ludus_games::backgammon::{Dice, Position};
use ludus_games::{Backgammon, Game, Plays};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Generates the plays of every roll of every position. Returns how many there are.
#[inline(never)]
fn generate(positions: &[Position], rolls: &[(Dice, f32)], plays: &mut Plays<Backgammon>) -> usize {
    let mut found = 0;
    for state in positions {
        for &(roll, _) in rolls {
            Backgammon.plays(state, roll, plays);
            found += plays.len();
        }
    }
    found
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
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
    for _ in 0..rounds {
        let started = Instant::now();
        found = generate(&positions, rolls, &mut plays);
        best = best.min(started.elapsed().as_secs_f64());
    }
    let calls = (positions.len() * rolls.len()) as f64;
    println!("{:.2} million of {calls} rolls/s", calls / best / 1e6);
    println!("{:.1} million plays/s, {:.1} plays a roll", found as f64 / best / 1e6, found as f64 / calls);
}
