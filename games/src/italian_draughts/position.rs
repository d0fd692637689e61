//! A board with whose turn it is and what the draw rules remember.

use super::board::{Board, Play};

/// A position of a game of draughts, seen by the side to act.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    board: Board,
    white_acts: bool,
    /// The boards since the last man's move or capture, oldest first, each seen by the side that acted: what a draw by
    /// repetition or without progress depends on. The present board is not among them.
    since: Vec<Board>,
}

impl Position {
    /// The start of a game; White acts first.
    pub fn start() -> Position {
        Position::new(Board::START, true)
    }

    /// A position without a history.
    pub fn new(board: Board, white_acts: bool) -> Position {
        Position { board, white_acts, since: Vec::new() }
    }

    /// The pieces, seen by the side to act.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Whether White acts.
    pub fn white_acts(&self) -> bool {
        self.white_acts
    }

    /// The boards since the last man's move or capture, oldest first, each seen by the side that acted; the present one is not
    /// among them.
    pub fn since(&self) -> &[Board] {
        &self.since
    }

    /// Plies since the last man's move or capture.
    pub fn quiet_plies(&self) -> usize {
        self.since.len()
    }

    /// How often this position has been on the board with the same side to act, the present time included.
    pub fn occurrences(&self) -> usize {
        // Boards an even number of plies ago were seen by the side that acts now.
        1 + self.since.iter().rev().skip(1).step_by(2).filter(|&&board| board == self.board).count()
    }

    /// The position after a legal play.
    pub fn after(&self, play: &Play) -> Position {
        let is_quiet = play.captured() == 0 && self.board.own_kings >> play.from() & 1 == 1;
        let mut since = Vec::new();
        if is_quiet {
            since.reserve_exact(self.since.len() + 1);
            since.extend_from_slice(&self.since);
            since.push(self.board);
        }
        Position { board: self.board.after(play), white_acts: !self.white_acts, since }
    }
}
