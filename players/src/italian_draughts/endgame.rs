//! Positions with few pieces, judged exactly by retrograde analysis.
//!
//! A board is seen by the side to act, so one table serves both sides. The draw rules play no part: what is won here is won in
//! fewer plies than they allow without progress.

use std::sync::OnceLock;

use ludus_games::italian_draughts::{Board, Play};

use super::search::WON;

/// Most pieces of both sides together.
pub const PIECES: usize = 3;

/// How a position ends when both sides play as well as can be, for the side to act.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Won, in so many plies: then the other side cannot act.
    Win(u8),
    /// Neither side can win.
    Draw,
    /// Lost, in so many plies.
    Loss(u8),
}

impl Outcome {
    /// As a score of a search, `ply` plies from its root.
    pub fn score(self, ply: usize) -> i32 {
        match self {
            Outcome::Win(plies) => WON - i32::from(plies) - ply as i32,
            Outcome::Draw => 0,
            Outcome::Loss(plies) => i32::from(plies) + ply as i32 - WON,
        }
    }
}

/// What a table says about all positions of so many pieces, both sides having some.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Counts {
    /// Pieces of both sides together.
    pub pieces: usize,
    /// Positions with one side to act.
    pub positions: usize,
    /// Of them, those won by the side to act.
    pub wins: usize,
    /// Those that are drawn.
    pub draws: usize,
    /// Those it loses.
    pub losses: usize,
    /// Plies of the longest win or loss.
    pub longest: u8,
}

/// The outcome of every position with up to some number of pieces.
pub struct Endgame {
    /// By index (see [`index_of`]): plies plus one of a win, the negative of it for a loss, 0 for a draw or no position.
    plies: Vec<i8>,
    pieces: usize,
}

/// Kind (own man, own king, other's man, other's king) and square of a piece: 32 * kind + square.
const PIECE_CODES: usize = 4 * 32;
/// An index has a digit for each piece, its code plus one, in ascending order.
const BASE: usize = PIECE_CODES + 1;

/// The index of a board of up to [`PIECES`] pieces.
fn index_of(board: &Board) -> usize {
    let mut index = 0;
    let sets = [board.own()[0], board.own()[1], board.other()[0], board.other()[1]];
    for (kind, mut bits) in sets.into_iter().enumerate() {
        while bits != 0 {
            index = index * BASE + kind * 32 + bits.trailing_zeros() as usize + 1;
            bits &= bits - 1;
        }
    }
    index
}

/// Every board of so many pieces with both sides present.
fn boards(pieces: usize) -> Vec<Board> {
    let mut boards = Vec::new();
    add_boards(pieces, 0, [0; 4], &mut boards);
    boards
}

/// Adds the boards that come from adding `left` pieces with codes from `from` on to the sets of each kind.
fn add_boards(left: usize, from: usize, sets: [u32; 4], boards: &mut Vec<Board>) {
    if left == 0 {
        let [own, other] = [[sets[0], sets[1]], [sets[2], sets[3]]];
        if own != [0, 0] && other != [0, 0] {
            // Two on a square, or a man on its last row, is no board.
            boards.extend(Board::new(own, other));
        }
        return;
    }
    for code in from..PIECE_CODES {
        let mut more = sets;
        more[code / 32] |= 1 << (code % 32);
        add_boards(left - 1, code + 1, more, boards);
    }
}

impl Endgame {
    /// The table of all positions with up to `pieces` pieces, at most [`PIECES`]. Takes a second or less.
    pub fn build(pieces: usize) -> Endgame {
        let pieces = pieces.min(PIECES);
        let mut endgame = Endgame { plies: vec![0; BASE.pow(pieces as u32)], pieces };
        for pieces in 2..=pieces {
            endgame.solve(pieces);
        }
        endgame
    }

    /// The table that players share, built when first asked for.
    pub fn shared() -> &'static Endgame {
        static SHARED: OnceLock<Endgame> = OnceLock::new();
        SHARED.get_or_init(|| Endgame::build(PIECES))
    }

    /// How a position ends; `None` when it has too many pieces, or a side has none.
    pub fn result(&self, board: &Board) -> Option<Outcome> {
        let ([own_men, own_kings], [other_men, other_kings]) = (board.own(), board.other());
        let (own, other) = (own_men | own_kings, other_men | other_kings);
        if own == 0 || other == 0 || (own | other).count_ones() as usize > self.pieces {
            return None;
        }
        Some(match self.plies[index_of(board)] {
            0 => Outcome::Draw,
            plies if plies > 0 => Outcome::Win(plies as u8 - 1),
            plies => Outcome::Loss(plies.unsigned_abs() - 1),
        })
    }

    /// Of all positions with so many pieces.
    pub fn counts(&self, pieces: usize) -> Counts {
        let mut counts = Counts { pieces, ..Counts::default() };
        for outcome in boards(pieces).iter().filter_map(|board| self.result(board)) {
            counts.positions += 1;
            match outcome {
                Outcome::Draw => counts.draws += 1,
                Outcome::Win(plies) => {
                    counts.wins += 1;
                    counts.longest = counts.longest.max(plies);
                }
                Outcome::Loss(plies) => {
                    counts.losses += 1;
                    counts.longest = counts.longest.max(plies);
                }
            }
        }
        counts
    }

    /// Fills in the positions with exactly so many pieces; those with fewer are there.
    fn solve(&mut self, pieces: usize) {
        let boards = boards(pieces);
        // Where each board's successors end in one long list of indices.
        let (mut ends, mut successors) = (Vec::with_capacity(boards.len()), Vec::new());
        let mut plays: Vec<Play> = Vec::new();
        for board in &boards {
            board.plays(&mut plays);
            for play in &plays {
                let next = board.after(play);
                // The last piece captured: index 0 stands for a side that has lost.
                successors.push(if next.own() == [0, 0] { LOST } else { index_of(&next) as u32 });
            }
            ends.push(successors.len());
        }
        let mut open: Vec<usize> = (0..boards.len()).collect();
        let deepest = self.plies.iter().map(|plies| plies.unsigned_abs()).max().unwrap_or(0);
        // One ply farther from the end at a time, so that a first outcome is the quickest win or the slowest loss.
        for plies in 0_i8..i8::MAX {
            let mut found = Vec::new();
            open.retain(|&board| {
                let begin = if board == 0 { 0 } else { ends[board - 1] };
                let outcome = self.outcome(&successors[begin..ends[board]], plies);
                found.extend(outcome.map(|outcome| (board, outcome)));
                outcome.is_none()
            });
            if found.is_empty() && plies as u8 > deepest {
                break;
            }
            for (board, outcome) in found {
                self.plies[index_of(&boards[board])] = outcome;
            }
        }
    }

    /// The outcome of a position with these successors if it is `plies` plies long and they know theirs.
    fn outcome(&self, successors: &[u32], plies: i8) -> Option<i8> {
        // Of a side that has lost already the value is -1: in no plies.
        let value = |&index: &u32| if index == LOST { -1 } else { self.plies[index as usize] };
        if successors.iter().any(|next| value(next) == -plies && plies > 0) {
            return Some(plies + 1);
        }
        let lost = successors.iter().all(|next| (1..=plies).contains(&value(next)));
        lost.then_some(-(plies + 1))
    }
}

/// Stands for a board on which the side to act has no piece.
const LOST: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use ludus_games::italian_draughts::Position;

    use super::*;

    fn board(fen: &str) -> Board {
        *fen.parse::<Position>().expect("a position").board()
    }

    #[test]
    fn there_are_as_many_wins_draws_and_losses_as_published() {
        let endgame = Endgame::shared();
        let counts = |pieces, positions, wins, draws, losses, longest| Counts {
            pieces,
            positions,
            wins,
            draws,
            losses,
            longest,
        };
        assert_eq!(endgame.counts(2), counts(2, 3_488, 866, 2_087, 535, 13));
        assert_eq!(endgame.counts(3), counts(3, 196_032, 96_116, 17_204, 82_712, 66));
    }

    #[test]
    fn outcomes_agree_with_those_one_ply_on() {
        let endgame = Endgame::shared();
        let mut plays = Vec::new();
        for board in boards(2).iter().chain(boards(3).iter().step_by(7)) {
            board.plays(&mut plays);
            let next = plays.iter().map(|play| {
                let after = board.after(play);
                endgame.result(&after).unwrap_or(Outcome::Loss(0))
            });
            // What is best for the side to act, by the score of a search.
            let best = next.map(|outcome| -outcome.score(1)).max().unwrap_or(-WON);
            assert_eq!(endgame.result(board).map(|outcome| outcome.score(0)), Some(best), "{board:?}");
        }
    }

    #[test]
    fn boards_beyond_the_table_are_not_in_it() {
        let endgame = Endgame::build(2);
        assert_eq!(endgame.result(&board("W:WK1,K2:BK32")), None);
        assert_eq!(endgame.result(&board("W:W:B5")), None);
        assert_eq!(endgame.result(&board("W:WK23:B19")), Some(Outcome::Win(1)));
    }
}
