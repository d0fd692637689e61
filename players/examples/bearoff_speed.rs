//! Measures how long the bear-off database takes to build and to ask.
//!
//! `cargo run --release -p ludus-players --example bearoff_speed`

use std::hint::black_box;
use std::time::Instant;

use ludus_games::backgammon::Position;
use ludus_players::backgammon::bearoff::{Bearoff, known};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const POSITIONS: usize = 1 << 16;

fn main() {
    for _ in 0..3 {
        let start = Instant::now();
        black_box(Bearoff::build());
        println!("built in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    }
    Bearoff::shared();

    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut side = |checkers: usize, points: usize| {
        let mut side = [0; 25];
        (0..checkers).for_each(|_| side[rng.next_u32() as usize % points] += 1);
        side
    };
    for (name, own, other, points) in [
        ("up to 6 checkers", 6, 6, 6),
        ("10 checkers", 10, 10, 6),
        ("15 and 10, gammons lost", 15, 10, 6),
        ("15 each", 15, 15, 6),
        ("unknown: 15 each on 12 points", 15, 15, 12),
    ] {
        let positions: Vec<Position> = (0..POSITIONS)
            .map(|_| Position::new(side(own, points), side(other, points)).expect("a race"))
            .collect();
        let times = (0..7).map(|_| {
            let start = Instant::now();
            for position in &positions {
                black_box(known(black_box(position)));
            }
            start.elapsed().as_secs_f64() * 1e9 / POSITIONS as f64
        });
        println!("{name}: {:.1} ns a position", times.fold(f64::INFINITY, f64::min));
    }
}
