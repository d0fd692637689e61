//! Captures and their order of precedence.

use super::board::{Board, OUTSIDE, Play, neighbours, squares};

/// What makes one capture go before another: compared from the first field to the last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Rank {
    /// The most pieces (rule 6.6).
    pieces: u8,
    /// With a king rather than a man (6.7).
    by_king: bool,
    /// The most kings (6.8).
    kings: u8,
    /// Kings met earliest along the path (6.9): the first piece is the highest bit, a king is a one.
    order: u16,
}

/// A capture on its way.
struct Search<'a> {
    board: &'a Board,
    /// Squares no piece can land on. Captured pieces are lifted only at the end, the moving piece has left its square.
    occupied: u32,
    path: [u8; 10],
    best: Rank,
    plays: &'a mut Vec<Play>,
}

impl Board {
    /// Adds every path of every capture that may be made.
    pub(super) fn capture_paths(&self, plays: &mut Vec<Play>) {
        let all = self.own_men | self.own_kings | self.other_men | self.other_kings;
        let mut search = Search { board: self, occupied: 0, path: [0; 10], best: Rank::default(), plays };
        for from in squares(self.own_men | self.own_kings) {
            search.occupied = all & !(1 << from);
            search.path[0] = from;
            let by_king = self.own_kings >> from & 1 == 1;
            search.go_on(from, Rank { by_king, ..Rank::default() }, 0);
        }
    }
}

impl Search<'_> {
    /// Captures on from `at`. A capture that could go on is never the one with the most pieces, so only ends are kept.
    fn go_on(&mut self, at: u8, rank: Rank, captured: u32) {
        let Board { other_men, other_kings, .. } = *self.board;
        let targets = (if rank.by_king { other_men | other_kings } else { other_men }) & !captured;
        let directions = neighbours(at, rank.by_king).iter().enumerate();
        let mut ends = true;
        for (direction, &over) in directions {
            if over == OUTSIDE || targets >> over & 1 == 0 {
                continue;
            }
            let land = neighbours(over, true)[direction];
            if land == OUTSIDE || self.occupied >> land & 1 == 1 {
                continue;
            }
            ends = false;
            let king = other_kings >> over & 1 == 1;
            let next = Rank {
                pieces: rank.pieces + 1,
                kings: rank.kings + u8::from(king),
                order: rank.order | u16::from(king) << (15 - rank.pieces),
                ..rank
            };
            self.path[usize::from(next.pieces)] = land;
            self.go_on(land, next, captured | 1 << over);
        }
        if ends && captured != 0 && rank >= self.best {
            if rank > self.best {
                self.best = rank;
                self.plays.clear();
            }
            self.plays.push(Play::new(&self.path[..=usize::from(rank.pieces)], captured));
        }
    }
}
