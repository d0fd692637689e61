//! Counts the nodes that Saltare searches, with and without killers: `cargo run --release -p ludus-players --example
//! saltare_nodes`. The counts are the same on every machine.

use ludus_games::italian_draughts::Position;
use ludus_players::italian_draughts::search::{Bounds, Search};

const POSITIONS: [(&str, &str); 3] = [
    ("the start", "W:W21-32:B1-12"),
    ("the middle of a game", "W:W17,18,22,23,26,27,29,31:B2,3,7,9,10,12,15,20"),
    ("an endgame of kings", "W:WK1,K14,26:BK23,K28,8"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:22} {:>5} {:>12} {:>12} {:>6}", "position", "depth", "with", "without", "ratio");
    for (name, fen) in POSITIONS {
        let position: Position = fen.parse()?;
        for depth in [5, 7, 9, 11] {
            let nodes = [true, false].map(|killers| {
                Search::new(killers, None).run(&position, Bounds { depth, nodes: u64::MAX }).nodes
            });
            let ratio = nodes[0] as f64 / nodes[1] as f64;
            println!("{name:22} {depth:5} {:12} {:12} {ratio:6.2}", nodes[0], nodes[1]);
        }
    }
    Ok(())
}
