//! Looking ahead: negamax with alpha-beta, deeper and deeper.
//!
//! Captures are extended, and where the search ends captures and promotions are still played out. Nothing here depends on a
//! clock or on earlier searches: equal arguments give equal scores, plays and counts of nodes.

use ludus_games::italian_draughts::{Board, Play, Position};

use super::endgame::Endgame;
use super::evaluation::evaluation;
use super::transpositions::{Bound, Known, Transpositions, key_of};

/// What a won game is worth, less the plies until it is won.
pub const WON: i32 = 30_000;
/// Scores from here on are of games that are known to be won.
pub const SURELY_WON: i32 = WON - 1_000;
/// Beyond every score.
const LIMIT: i32 = WON + 1;
/// Deepest search in plies, and how far a line is followed with its extensions.
pub const MAX_DEPTH: u32 = 60;
const MAX_LINE: usize = 128;
/// Plies of promotions that are tried where the search ends.
const QUIET_PLIES: u32 = 2;
/// Plies without a man's move or a capture after which a game is drawn.
const QUIET_DRAW: usize = 80;

/// How far a search may go: both limits at once.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Plies, 1..=[`MAX_DEPTH`].
    pub depth: u32,
    /// Nodes; the search of the depth at which they run out does not count.
    pub nodes: u64,
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The best play; `None` when there is none.
    pub play: Option<Play>,
    /// Its score for the side to act.
    pub score: i32,
    /// Plies looked ahead.
    pub depth: u32,
    /// Boards looked at.
    pub nodes: u64,
}

/// A searcher, with the memory it uses again and again.
pub struct Search {
    known: Transpositions,
    uses_killers: bool,
    endgame: Option<&'static Endgame>,
    killers: [[(u8, u8); 2]; MAX_LINE],
    /// Boards from the last man's move or capture before the search to the one searched.
    path: Vec<Board>,
    /// Index in the path of the first board after the last man's move or capture.
    floor: usize,
    /// Memory for the plays of each ply.
    plays: Vec<Vec<Play>>,
    nodes: u64,
    most_nodes: u64,
}

/// The nodes ran out.
struct Exhausted;

const NO_KILLER: (u8, u8) = (0, 0);

impl Search {
    /// A searcher with or without killer moves, which asks `endgame` about boards with few pieces.
    pub fn new(uses_killers: bool, endgame: Option<&'static Endgame>) -> Search {
        Search {
            known: Transpositions::default(),
            uses_killers,
            endgame,
            killers: [[NO_KILLER; 2]; MAX_LINE],
            path: Vec::new(),
            floor: 0,
            plays: vec![Vec::new(); MAX_LINE + 1],
            nodes: 0,
            most_nodes: 0,
        }
    }

    /// Looks for the best play.
    pub fn run(&mut self, position: &Position, bounds: Bounds) -> Found {
        self.known.clear();
        self.killers = [[NO_KILLER; 2]; MAX_LINE];
        self.nodes = 0;
        let mut legal = Vec::new();
        position.board().plays(&mut legal);
        let mut found = Found { play: legal.first().copied(), score: -WON, depth: 0, nodes: 0 };
        if legal.is_empty() {
            return found;
        }
        for depth in 1..=bounds.depth.min(MAX_DEPTH) {
            // The first ply is always looked at in full.
            self.most_nodes = if depth == 1 { u64::MAX } else { bounds.nodes };
            let Ok((play, score)) = self.root(position, &mut legal, depth) else { break };
            found = Found { play: Some(play), score, depth, nodes: 0 };
            if score.abs() >= SURELY_WON && WON - score.abs() <= depth as i32 {
                break;
            }
        }
        found.nodes = self.nodes;
        found
    }

    /// The best of the plays and its score; the plays are left with the best one first.
    fn root(
        &mut self,
        position: &Position,
        legal: &mut [Play],
        depth: u32,
    ) -> Result<(Play, i32), Exhausted> {
        self.floor = 0;
        self.path.clear();
        self.path.extend_from_slice(position.since());
        self.path.push(*position.board());
        let extends = u32::from(legal[0].captured() != 0);
        let (mut best, mut best_score) = (0, -LIMIT);
        for (index, play) in legal.iter().enumerate() {
            let window = (-LIMIT, -best_score);
            let score = -self.step(position.board(), play, depth - 1 + extends, 1, window)?;
            if score > best_score {
                (best, best_score) = (index, score);
            }
        }
        legal[..=best].rotate_right(1);
        Ok((legal[0], best_score))
    }

    /// The score of the board after a play for the side that then acts.
    fn step(
        &mut self,
        board: &Board,
        play: &Play,
        depth: u32,
        ply: usize,
        (alpha, beta): (i32, i32),
    ) -> Result<i32, Exhausted> {
        let next = board.after(play);
        let floor = self.floor;
        let is_quiet = play.captured() == 0 && board.own()[1] >> play.from() & 1 == 1;
        if is_quiet {
            // Boards an even number of plies back have the same side to act. One of them again, once, is taken for a draw: who
            // can force it once can force it again.
            let since = &self.path[floor..];
            let repeats = since.iter().rev().skip(1).step_by(2).any(|earlier| *earlier == next);
            if repeats || since.len() >= QUIET_DRAW {
                self.nodes += 1;
                return Ok(0);
            }
        } else {
            self.floor = self.path.len();
        }
        self.path.push(next);
        let score = self.node(&next, depth, ply, alpha, beta)?;
        self.path.pop();
        self.floor = floor;
        Ok(score)
    }

    /// Counts a node, as long as there may be one more.
    fn enter(&mut self) -> Result<(), Exhausted> {
        self.nodes += 1;
        if self.nodes > self.most_nodes { Err(Exhausted) } else { Ok(()) }
    }

    fn node(
        &mut self,
        board: &Board,
        depth: u32,
        ply: usize,
        alpha: i32,
        beta: i32,
    ) -> Result<i32, Exhausted> {
        self.enter()?;
        if let Some(result) = self.endgame.and_then(|endgame| endgame.result(board)) {
            return Ok(result.score(ply));
        }
        if ply >= MAX_LINE - 1 {
            return Ok(evaluation(board));
        }
        let mut plays = std::mem::take(&mut self.plays[ply]);
        board.plays(&mut plays);
        let score = match plays.first() {
            None => Ok(ply as i32 - WON),
            // A capture must be made: the board cannot be judged before.
            Some(first) if first.captured() != 0 => {
                self.inner(board, &mut plays, depth.max(1), ply, alpha, beta)
            }
            Some(_) if depth == 0 => self.promotions(board, &plays, QUIET_PLIES, ply, alpha, beta),
            Some(_) => self.inner(board, &mut plays, depth, ply, alpha, beta),
        };
        self.plays[ply] = plays;
        score
    }

    /// A node with plays and some depth left.
    fn inner(
        &mut self,
        board: &Board,
        plays: &mut [Play],
        depth: u32,
        ply: usize,
        mut alpha: i32,
        beta: i32,
    ) -> Result<i32, Exhausted> {
        let key = key_of(board);
        let mut first = NO_KILLER;
        if let Some(known) = self.known.find(key) {
            let score = from_table(i32::from(known.score), ply);
            let tells = match known.bound {
                Bound::Exact => true,
                Bound::AtLeast => score >= beta,
                Bound::AtMost => score <= alpha,
            };
            if tells && u32::from(known.depth) >= depth {
                return Ok(score);
            }
            first = known.best;
        }
        // Where one play captures, all do.
        let captures = plays[0].captured() != 0;
        self.order(plays, first, captures, ply);
        // Captures are extended, but for those at the end of the search, which lead to another end of it.
        let next_depth = if captures && depth > 1 { depth } else { depth - 1 };
        let given = alpha;
        let (mut best, mut best_play) = (-LIMIT, squares(&plays[0]));
        for play in plays.iter() {
            let score = -self.step(board, play, next_depth, ply + 1, (-beta, -alpha))?;
            if score > best {
                (best, best_play) = (score, squares(play));
                alpha = alpha.max(score);
                if alpha >= beta {
                    if self.uses_killers && !captures {
                        self.remember_killer(best_play, ply);
                    }
                    break;
                }
            }
        }
        let bound = match best {
            _ if best >= beta => Bound::AtLeast,
            _ if best <= given => Bound::AtMost,
            _ => Bound::Exact,
        };
        let score = to_table(best, ply) as i16;
        self.known.insert(key, Known { depth: depth as u8, score, bound, best: best_play });
        Ok(best)
    }

    /// The end of the search on a board without captures: its worth at sight, or what promotions make of it.
    fn promotions(
        &mut self,
        board: &Board,
        plays: &[Play],
        plies: u32,
        ply: usize,
        alpha: i32,
        beta: i32,
    ) -> Result<i32, Exhausted> {
        let at_sight = evaluation(board);
        if plies == 0 || at_sight >= beta {
            return Ok(at_sight);
        }
        let men = board.own()[0];
        let promotions = plays.iter().filter(|play| play.to() < 4 && men >> play.from() & 1 == 1);
        self.quieten(board, promotions, plies - 1, ply, at_sight, (alpha, beta))
    }

    /// A board after a promotion where the search has ended.
    fn quiet(
        &mut self,
        board: &Board,
        plies: u32,
        ply: usize,
        alpha: i32,
        beta: i32,
    ) -> Result<i32, Exhausted> {
        self.enter()?;
        if ply >= MAX_LINE - 1 {
            return Ok(evaluation(board));
        }
        let mut plays = std::mem::take(&mut self.plays[ply]);
        board.plays(&mut plays);
        let score = match plays.first() {
            None => Ok(ply as i32 - WON),
            Some(first) if first.captured() != 0 => {
                self.quieten(board, plays.iter(), plies, ply, -LIMIT, (alpha, beta))
            }
            Some(_) => self.promotions(board, &plays, plies, ply, alpha, beta),
        };
        self.plays[ply] = plays;
        score
    }

    /// The best of `best` and of what comes of `plays` where the search has ended.
    fn quieten<'a>(
        &mut self,
        board: &Board,
        plays: impl Iterator<Item = &'a Play>,
        plies: u32,
        ply: usize,
        mut best: i32,
        (mut alpha, beta): (i32, i32),
    ) -> Result<i32, Exhausted> {
        alpha = alpha.max(best);
        for play in plays {
            best = best.max(-self.quiet(&board.after(play), plies, ply + 1, -beta, -alpha)?);
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        Ok(best)
    }

    /// The play the table recommends first, then killers, then promotions, then the rest in their own order.
    fn order(&self, plays: &mut [Play], first: (u8, u8), captures: bool, ply: usize) {
        let killers = if captures || !self.uses_killers { [NO_KILLER; 2] } else { self.killers[ply] };
        plays.sort_by_key(|play| match squares(play) {
            play if play == first => 0,
            play if play == killers[0] => 1,
            play if play == killers[1] => 2,
            (from, to) if to < 4 && from >= 4 => 3,
            _ => 4,
        });
    }

    fn remember_killer(&mut self, play: (u8, u8), ply: usize) {
        let [first, second] = &mut self.killers[ply];
        if *first != play {
            *second = std::mem::replace(first, play);
        }
    }
}

fn squares(play: &Play) -> (u8, u8) {
    (play.from(), play.to())
}

/// Won games are kept with the plies from the board, not from the root.
fn to_table(score: i32, ply: usize) -> i32 {
    if score.abs() >= SURELY_WON { score + score.signum() * ply as i32 } else { score }
}

fn from_table(score: i32, ply: usize) -> i32 {
    if score.abs() >= SURELY_WON { score - score.signum() * ply as i32 } else { score }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(fen: &str, depth: u32, killers: bool) -> Found {
        let position: Position = fen.parse().expect("a position");
        Search::new(killers, None).run(&position, Bounds { depth, nodes: u64::MAX })
    }

    /// Without cuts, memory or order: what `node` should find.
    fn slow(board: &Board, depth: u32, ply: usize) -> i32 {
        let mut plays = Vec::new();
        board.plays(&mut plays);
        let Some(first) = plays.first() else { return ply as i32 - WON };
        let captures = first.captured() != 0;
        let depth = if captures { depth.max(1) } else { depth };
        if depth == 0 {
            return slow_quiet(board, QUIET_PLIES, ply);
        }
        let next = if captures && depth > 1 { depth } else { depth - 1 };
        plays.iter().map(|play| -slow(&board.after(play), next, ply + 1)).max().expect("a play")
    }

    fn slow_quiet(board: &Board, plies: u32, ply: usize) -> i32 {
        let mut plays = Vec::new();
        board.plays(&mut plays);
        let Some(first) = plays.first() else { return ply as i32 - WON };
        if first.captured() != 0 {
            return plays
                .iter()
                .map(|play| -slow_quiet(&board.after(play), plies, ply + 1))
                .max()
                .expect("a play");
        }
        let mut best = evaluation(board);
        if plies > 0 {
            for play in plays.iter().filter(|play| play.to() < 4 && board.own()[0] >> play.from() & 1 == 1) {
                best = best.max(-slow_quiet(&board.after(play), plies - 1, ply + 1));
            }
        }
        best
    }

    #[test]
    fn cuts_memory_and_order_change_nothing_of_the_first_ply_searched() {
        // One ply: nothing of an earlier depth is in the table, and no board repeats.
        for fen in [
            "W:W21-32:B1-12",
            "B:W30,21,22,17,20,K6:B25,28,9,5,1,3",
            "W:W17,18,22,23,26,27,29,31:B2,3,7,9,10,12,15,20",
            "W:W10,30:B6,7,20,12",
            "W:W26,27,30,32:BK22,K23,K19,3,4",
        ] {
            let board = *fen.parse::<Position>().expect("a position").board();
            let mut plays = Vec::new();
            board.plays(&mut plays);
            let extends = u32::from(plays[0].captured() != 0);
            let best = plays.iter().map(|play| -slow(&board.after(play), extends, 1)).max();
            assert_eq!(Some(search(fen, 1, true).score), best, "{fen}");
        }
    }

    #[test]
    fn a_search_is_the_same_however_often_it_is_made_and_with_killers_smaller() {
        let position = Position::start();
        let bounds = Bounds { depth: 7, nodes: u64::MAX };
        let mut searcher = Search::new(true, None);
        let first = searcher.run(&position, bounds);
        let other = "B:W30,21,22,17,20,K6:B25,28,9,5,1,3".parse().expect("a position");
        searcher.run(&other, bounds);
        assert_eq!(searcher.run(&position, bounds), first);
        let without = search("W:W21-32:B1-12", 7, false);
        assert!(first.nodes < without.nodes, "{} with killers, {} without", first.nodes, without.nodes);
    }

    #[test]
    fn a_limit_of_nodes_is_kept_and_leaves_a_play() {
        let bounds = Bounds { depth: MAX_DEPTH, nodes: 5_000 };
        let found = Search::new(true, None).run(&Position::start(), bounds);
        assert!(found.nodes <= 5_001 && found.depth > 3, "{found:?}");
        assert!(found.play.is_some());
    }

    #[test]
    fn a_capture_that_wins_the_game_is_seen_with_its_distance() {
        let found = search("W:WK23:B19", 3, true);
        assert_eq!(found.score, WON - 1);
    }
}
