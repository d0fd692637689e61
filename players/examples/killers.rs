//! Nodes that Saltare's search looks at, with and without killer moves, from the start of a game:
//! `cargo run --release -p ludus-players --example killers [DEPTH]`.

use ludus_games::italian_draughts::Position;
use ludus_players::italian_draughts::search::{Bounds, Search};

fn main() {
    let deepest = std::env::args().nth(1).and_then(|depth| depth.parse().ok()).unwrap_or(7);
    println!("{:>5} {:>12} {:>12} {:>6}", "depth", "with", "without", "score");
    for depth in 1..=deepest {
        let [with, without] = [true, false].map(|killers| {
            Search::new(killers, None).run(&Position::start(), Bounds { depth, nodes: u64::MAX })
        });
        println!("{depth:>5} {:>12} {:>12} {:>6}", with.nodes, without.nodes, with.score);
    }
}
