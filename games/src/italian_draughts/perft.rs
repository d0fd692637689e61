//! Counting the leaves of the tree of plays, by which move generators are held against each other.

use super::board::{Board, Play};

/// What counts as one play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Every path of a capture.
    Paths,
    /// Paths from one square to another over the same pieces are one play, as in a game.
    Plays,
}

/// Leaves of the tree of plays exactly `depth` plies deep; a game that is over before has none. The draw rules do not count.
pub fn perft(board: &Board, depth: u32, counted: Counted) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut plays = Vec::new();
    fill(board, counted, &mut plays);
    if depth == 1 {
        return plays.len() as u64;
    }
    plays.iter().map(|play| perft(&board.after(play), depth - 1, counted)).sum()
}

fn fill(board: &Board, counted: Counted, plays: &mut Vec<Play>) {
    match counted {
        Counted::Paths => board.paths(plays),
        Counted::Plays => board.plays(plays),
    }
}
