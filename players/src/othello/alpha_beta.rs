//! The player that looks ahead.

use ludus_games::othello::{Play, Position};
use ludus_games::{Othello, Plays};
use rand_chacha::ChaCha8Rng;

use super::positional::{positional, worth_of};
use crate::player::Player;

/// Beyond every score.
const LIMIT: i32 = 1_000_000;
/// A disc more or less when the game is over, beside which squares are worth nothing.
const DISC: i32 = 1_000;
/// What a square more to choose from is worth.
const MOBILITY: i32 = 8;

/// Looks a fixed number of plies ahead by alpha-beta and judges what it then sees by its squares and by how many each side can
/// play. From some number of empty squares on it plays perfectly.
#[derive(Clone, Copy, Debug)]
pub struct AlphaBeta {
    /// Plies it looks ahead, at least 1.
    depth: u32,
    /// Empty squares from which on it looks to the end.
    exact: u32,
}

impl AlphaBeta {
    /// A player that looks `depth` plies ahead, at least one, and to the end from `exact` empty squares on.
    pub fn new(depth: u32, exact: u32) -> AlphaBeta {
        AlphaBeta { depth: depth.max(1), exact }
    }
}

impl Player<Othello> for AlphaBeta {
    fn choose(&mut self, state: &Position, (): (), plays: &Plays<Othello>, _: &mut ChaCha8Rng) -> usize {
        let to_the_end = empties(state) <= self.exact;
        let mut best = (0, -LIMIT);
        for (index, next) in plays.after.iter().enumerate() {
            let score = if to_the_end {
                -exact(next, -LIMIT, -best.1)
            } else {
                -look(next, self.depth - 1, -LIMIT, -best.1)
            };
            if score > best.1 {
                best = (index, score);
            }
        }
        best.0
    }
}

fn empties(position: &Position) -> u32 {
    64 - (position.own() | position.other()).count_ones()
}

/// Discs the side to act wins by (negative: loses by) with best play of both sides, empty squares given to the winner.
pub fn exact_margin(position: &Position) -> i32 {
    exact(position, -LIMIT, LIMIT)
}

/// Of a game that is over.
fn final_margin(position: &Position) -> i32 {
    let margin = i32::from(position.margin());
    margin + margin.signum() * empties(position) as i32
}

fn exact(position: &Position, mut alpha: i32, beta: i32) -> i32 {
    let moves = position.move_bits();
    if moves == 0 {
        let passed = position.after(Play::Pass);
        return if passed.move_bits() == 0 { final_margin(position) } else { -exact(&passed, -beta, -alpha) };
    }
    let mut replies = Replies::new(position);
    // Where the other side has few answers, there is least to look at.
    replies.sort_by_key(|(_, next)| next.move_bits().count_ones() as i32);
    let mut best = -LIMIT;
    for (_, next) in replies.iter() {
        best = best.max(-exact(next, -beta, -alpha.max(best)));
        if best >= beta {
            return best;
        }
        alpha = alpha.max(best);
    }
    best
}

fn look(position: &Position, depth: u32, mut alpha: i32, beta: i32) -> i32 {
    let moves = position.move_bits();
    let passed = position.flipped();
    if moves == 0 && passed.move_bits() == 0 {
        return DISC * final_margin(position);
    }
    if depth == 0 {
        let more = moves.count_ones() as i32 - passed.move_bits().count_ones() as i32;
        return positional(position) + MOBILITY * more;
    }
    if moves == 0 {
        return -look(&passed, depth - 1, -beta, -alpha);
    }
    let mut replies = Replies::new(position);
    replies.sort_by_key(|&(play, _)| -worth_of(play));
    let mut best = -LIMIT;
    for (_, next) in replies.iter() {
        best = best.max(-look(next, depth - 1, -beta, -alpha.max(best)));
        if best >= beta {
            return best;
        }
        alpha = alpha.max(best);
    }
    best
}

/// The plays of a position with where they lead, without an allocation. No position has more than 33 of them.
struct Replies {
    list: [(Play, Position); 64],
    len: usize,
}

impl Replies {
    fn new(position: &Position) -> Replies {
        let mut replies = Replies { list: [(Play::Pass, *position); 64], len: 0 };
        for square in position.moves() {
            let play = Play::At(square);
            replies.list[replies.len] = (play, position.after(play));
            replies.len += 1;
        }
        replies
    }

    /// Smallest keys first, equal ones in the order of their squares.
    fn sort_by_key(&mut self, key: impl Fn(&(Play, Position)) -> i32) {
        self.list[..self.len].sort_by_key(key);
    }

    fn iter(&self) -> impl Iterator<Item = &(Play, Position)> {
        self.list[..self.len].iter()
    }
}

#[cfg(test)]
mod tests {
    use ludus_games::Game;
    use rand::SeedableRng;

    use super::*;
    use crate::dice;

    /// Some positions of random games with so many empty squares.
    fn positions(left: u32) -> Vec<Position> {
        let mut plays = Plays::new();
        let mut positions = Vec::new();
        for game in 0..12 {
            let mut rng = dice::decisions(5, game);
            let mut state = Othello.start();
            while Othello.payoff(&state).is_none() {
                if empties(&state) == left {
                    positions.push(state);
                    break;
                }
                Othello.plays(&state, (), &mut plays);
                state = plays.after[dice::below(&mut rng, plays.len())];
            }
        }
        assert!(positions.len() > 6);
        positions
    }

    /// The same by the definition.
    fn slow_margin(position: &Position) -> i32 {
        if position.is_over() {
            return final_margin(position);
        }
        let mut plays = Plays::new();
        Othello.plays(position, (), &mut plays);
        plays.after.iter().map(|next| -slow_margin(next)).max().expect("a play")
    }

    #[test]
    fn the_end_is_played_as_well_as_can_be() {
        for position in positions(7) {
            assert_eq!(exact_margin(&position), slow_margin(&position), "{position}");
        }
    }

    /// The value of looking ahead without cutting anything off.
    fn slow_look(position: &Position, depth: u32) -> i32 {
        if position.is_over() || depth == 0 {
            return look(position, 0, -LIMIT, LIMIT);
        }
        let mut plays = Plays::new();
        Othello.plays(position, (), &mut plays);
        plays.after.iter().map(|next| -slow_look(next, depth - 1)).max().expect("a play")
    }

    #[test]
    fn the_first_of_the_plays_that_are_best_by_minimax_is_made() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut plays = Plays::new();
        for left in [4, 30, 50] {
            for position in positions(left) {
                Othello.plays(&position, (), &mut plays);
                let values: Vec<i32> = plays.after.iter().map(|next| -slow_look(next, 2)).collect();
                let best = *values.iter().max().expect("a play");
                let chosen = AlphaBeta::new(3, 0).choose(&position, (), &plays, &mut rng);
                assert_eq!(values.iter().position(|&value| value == best), Some(chosen), "{position}");
            }
        }
    }
}
