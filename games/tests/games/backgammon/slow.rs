//! A play generator that tries everything, on a board of its own: slow, and right at a glance.

use std::collections::BTreeSet;

use ludus_games::backgammon::{BAR, Dice, Position};

/// The board seen by the mover: `points[1..=24]` its points, positive for its own checkers and negative for the
/// opponent's; `points[25]` its bar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Board {
    points: [i8; 26],
    opponent_bar: u8,
}

impl Board {
    fn of(position: &Position) -> Board {
        let mut points = [0; 26];
        for slot in 0..24 {
            points[slot + 1] += position.own()[slot] as i8;
            points[24 - slot] -= position.other()[slot] as i8;
        }
        points[25] = position.own()[BAR] as i8;
        Board { points, opponent_bar: position.other()[BAR] }
    }

    /// The position as the opponent sees it.
    fn seen_by_opponent(&self) -> Position {
        let (mut own, mut other) = ([0; 25], [0; 25]);
        for point in 1..=24 {
            let checkers = self.points[point];
            if checkers > 0 {
                own[point - 1] = checkers as u8;
            } else {
                other[24 - point] = -checkers as u8;
            }
        }
        own[BAR] = self.points[25] as u8;
        other[BAR] = self.opponent_bar;
        Position::new(other, own).expect("a play leads to a position that can stand")
    }

    /// The board after one checker has moved from `from` by `die`, if it may.
    fn step(&self, from: usize, die: usize) -> Option<Board> {
        if self.points[from] <= 0 || (self.points[25] > 0 && from != 25) {
            return None;
        }
        let mut board = *self;
        board.points[from] -= 1;
        if from > die {
            let to = from - die;
            if self.points[to] < -1 {
                return None;
            }
            if self.points[to] == -1 {
                board.points[to] = 0;
                board.opponent_bar += 1;
            }
            board.points[to] += 1;
            return Some(board);
        }
        let all_home = (7..=25).all(|point| self.points[point] <= 0);
        let rearmost = (1..=25).rev().find(|&point| self.points[point] > 0);
        (all_home && (from == die || rearmost == Some(from))).then_some(board)
    }
}

/// The boards that a sequence of dice can lead to: after none of them, after the first, after the first two, ...
fn levels(start: Board, dice: &[u8]) -> Vec<BTreeSet<Board>> {
    let mut levels = vec![BTreeSet::from([start])];
    for &die in dice {
        let boards = levels.last().expect("the start");
        let next = boards.iter().flat_map(|board| (1..=25).filter_map(|from| board.step(from, die.into())));
        levels.push(next.collect());
    }
    levels
}

/// Every position that a legal play of `dice` leads to, as its key, seen by the opponent.
pub fn after(position: &Position, dice: Dice) -> BTreeSet<[u8; 10]> {
    let start = Board::of(position);
    let boards = if dice.is_double() {
        let mut levels = levels(start, &[dice.high(); 4]);
        levels.retain(|boards| !boards.is_empty());
        levels.pop().expect("the start")
    } else {
        let mut high_first = levels(start, &[dice.high(), dice.low()]);
        let mut low_first = levels(start, &[dice.low(), dice.high()]);
        if !high_first[2].is_empty() || !low_first[2].is_empty() {
            high_first[2].append(&mut low_first[2]);
            high_first.swap_remove(2)
        } else if !high_first[1].is_empty() {
            high_first.swap_remove(1)
        } else if !low_first[1].is_empty() {
            low_first.swap_remove(1)
        } else {
            high_first.swap_remove(0)
        }
    };
    boards.iter().map(|board| board.seen_by_opponent().key()).collect()
}
