//! The player that searches.

use ludus_games::italian_draughts::Position;
use ludus_games::{ItalianDraughts, Plays};
use rand_chacha::ChaCha8Rng;

use super::endgame::{Endgame, PIECES};
use super::search::{Bounds, MAX_DEPTH, Search};
use crate::player::Player;

/// How far Saltare looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// So many plies, 1..=60, captures extended.
    Depth(u32),
    /// As deep as it comes with so many nodes, but one ply at least.
    Nodes(u64),
}

/// Plays what a search finds best, and positions with three pieces or less as well as can be. It keeps nothing from one play
/// for the next, so its play is a function of the position alone.
pub struct Saltare {
    search: Search,
    bounds: Bounds,
}

impl Saltare {
    /// A player that looks as far as `limit` says.
    pub fn new(limit: Limit) -> Saltare {
        let bounds = match limit {
            Limit::Depth(depth) => Bounds { depth: depth.max(1), nodes: u64::MAX },
            Limit::Nodes(nodes) => Bounds { depth: MAX_DEPTH, nodes },
        };
        Saltare { search: Search::new(true, Some(Endgame::shared())), bounds }
    }
}

impl Player<ItalianDraughts> for Saltare {
    fn choose(
        &mut self,
        state: &Position,
        (): (),
        plays: &Plays<ItalianDraughts>,
        _: &mut ChaCha8Rng,
    ) -> usize {
        let board = state.board();
        let pieces: u32 = [board.own(), board.other()].iter().flatten().map(|bits| bits.count_ones()).sum();
        // The table knows the best play after one ply.
        let bounds = if pieces as usize <= PIECES { Bounds { depth: 1, ..self.bounds } } else { self.bounds };
        let found = self.search.run(state, bounds);
        plays.moves.iter().position(|&play| Some(play) == found.play).unwrap_or(0)
    }
}
