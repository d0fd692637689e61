//! Counting the leaves of the tree of plays, by which move generators are held against each other.

use super::{Play, Position};

/// Leaves of the tree of plays `depth` plies deep: a pass is one ply, and a game that is over before is a leaf.
pub fn perft(state: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = state.move_bits().count_ones();
    if moves == 0 {
        return if state.is_over() { 1 } else { perft(&state.after(Play::Pass), depth - 1) };
    }
    if depth == 1 {
        return u64::from(moves);
    }
    state.moves().map(|square| perft(&state.after(Play::At(square)), depth - 1)).sum()
}
