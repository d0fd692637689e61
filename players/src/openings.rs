//! Openings for games without dice, so that a pair of games between two players is not always the same.
//!
//! All lines of some plies are enumerated from the start, of those that lead to one position the first is kept, and of the
//! positions those that are about even. Both games of a pair begin with the same one, the players having swapped sides; a series
//! takes each opening once, in an order drawn from its seed, before it takes one again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use ludus_games::{Game, Plays};
use ludus_proto::v1::{GameRecord, Series};
use rand_chacha::ChaCha8Rng;

use crate::arena::{PlayError, Table};
use crate::dice;
use crate::peer::PeerError;
use crate::player::{Evaluator, Player};

/// A line of plays from the start: for each ply the position before it and the index of its play.
type Opening<G> = Vec<(<G as Game>::State, usize)>;

/// Every different opening of so many plies that leads to a position of which `keep` says yes, in the order of their plays. Only
/// for games without dice.
pub fn openings<G: Game>(game: G, plies: usize, keep: &dyn Fn(&G::State) -> bool) -> Vec<Opening<G>> {
    let mut lines: Vec<(Opening<G>, G::State)> = vec![(Vec::new(), game.start())];
    let mut plays = Plays::new();
    for ply in 0..plies {
        let mut longer = Vec::new();
        let mut seen = HashSet::new();
        for (line, state) in &lines {
            if game.payoff(state).is_some() {
                continue;
            }
            let (roll, _) = game.rolls(state, ply)[0];
            game.plays(state, roll, &mut plays);
            for (index, after) in plays.after.iter().enumerate() {
                if seen.insert(after.clone()) {
                    let mut line = line.clone();
                    line.push((state.clone(), index));
                    longer.push((line, after.clone()));
                }
            }
        }
        lines = longer;
    }
    let kept = lines.into_iter().filter(|(_, end)| game.payoff(end).is_none() && keep(end));
    kept.map(|(line, _)| line).collect()
}

/// The opening of the game at hand, which the table turns to and its players read.
type Page<G> = Arc<Mutex<Opening<G>>>;

/// A table whose games begin with openings.
pub struct OpenedTable<G: Game> {
    openings: Vec<Opening<G>>,
    page: Page<G>,
    table: Box<dyn Table>,
}

impl<G: Game> OpenedTable<G> {
    /// A table for `series`. `lay` makes the table it plays at, whose players must all have been given to the function it gets.
    pub fn new<E>(
        mut openings: Vec<Opening<G>>,
        series: &Series,
        lay: impl FnOnce(&dyn Fn(Box<dyn Player<G>>) -> Box<dyn Player<G>>) -> Result<Box<dyn Table>, E>,
    ) -> Result<Self, E> {
        // Fisher and Yates: every order is equally likely.
        let mut rng = dice::openings_of(series);
        for last in (1..openings.len()).rev() {
            openings.swap(last, dice::below(&mut rng, last + 1));
        }
        let page: Page<G> = Arc::default();
        let table = lay(&|player| Box::new(ByTheBook { player, page: page.clone() }))?;
        Ok(OpenedTable { openings, page, table })
    }
}

impl<G: Game> Table for OpenedTable<G> {
    fn play(&mut self, number: u64) -> Result<GameRecord, PlayError> {
        if !self.openings.is_empty() {
            let opening = &self.openings[(number / 2 % self.openings.len() as u64) as usize];
            self.page.lock().unwrap_or_else(PoisonError::into_inner).clone_from(opening);
        }
        self.table.play(number)
    }
}

/// A player that makes the plays of the opening before its own.
struct ByTheBook<G: Game> {
    player: Box<dyn Player<G>>,
    page: Page<G>,
}

impl<G: Game> ByTheBook<G> {
    /// The play of the opening in this position. A position of the opening that comes again later, as none of the games here
    /// lets it, would be played as before.
    fn looked_up(&self, state: &G::State) -> Option<usize> {
        let opening = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        opening.iter().find(|(known, _)| known == state).map(|&(_, play)| play)
    }
}

impl<G: Game> Player<G> for ByTheBook<G> {
    fn choose(&mut self, state: &G::State, roll: G::Roll, plays: &Plays<G>, rng: &mut ChaCha8Rng) -> usize {
        self.looked_up(state).unwrap_or_else(|| self.player.choose(state, roll, plays, rng))
    }

    fn choose_judged(
        &mut self,
        state: &G::State,
        roll: G::Roll,
        plays: &Plays<G>,
        judged: &[G::Chances],
        rng: &mut ChaCha8Rng,
    ) -> usize {
        self.looked_up(state).unwrap_or_else(|| self.player.choose_judged(state, roll, plays, judged, rng))
    }

    fn evaluator(&mut self) -> Option<&mut dyn Evaluator<G>> {
        self.player.evaluator()
    }

    fn trouble(&mut self) -> Option<PeerError> {
        self.player.trouble()
    }
}

#[cfg(test)]
mod tests {
    use ludus_games::Othello;
    use ludus_proto::v1::{LuckMode, SeriesKind};

    use super::*;
    use crate::arena::{Registry, Seating, Source};

    #[test]
    fn there_is_one_opening_for_each_position_that_is_kept() {
        // Published numbers of distinct positions.
        assert_eq!(openings(Othello, 0, &|_| true).len(), 1);
        assert_eq!(openings(Othello, 4, &|_| true).len(), 236);
        assert_eq!(openings(Othello, 6, &|_| true).len(), 7_092);
        assert!(openings(Othello, 4, &|_| false).is_empty());
    }

    #[test]
    fn the_games_of_a_pair_share_their_opening_and_pairs_do_not() {
        let player = |name: &str| Seating { source: Source::Baseline(name.into()), plies: 0 };
        let series = Series {
            kind: SeriesKind::Gate.into(),
            seed: 3,
            mirrored: true,
            luck: LuckMode::LuckNone.into(),
            ..Series::default()
        };
        for (game, name) in [("othello", "positional"), ("italian-draughts", "saltare@depth=1")] {
            let registry = Registry::standard();
            let arena = registry.find(game).expect("a game of this program");
            let seats = [player(name), player("random")];
            let lay = || arena.table(&series, [&seats[0], &seats[1]]).expect("a table");
            let mut table = lay();
            let games: Vec<GameRecord> = (0..6).map(|number| table.play(number).expect("a game")).collect();
            let refs = seats.each_ref().map(Seating::player_ref);
            for record in &games {
                arena.check(&series, &refs, record).unwrap_or_else(|violation| panic!("{game}: {violation}"));
            }
            let opening = |number: usize| &games[number].plays[..6];
            for pair in 0..3 {
                assert_eq!(opening(2 * pair), opening(2 * pair + 1), "{game}");
            }
            assert!(opening(0) != opening(2) || opening(2) != opening(4), "{game}");
            // At another table, in another order, each is the same.
            let mut table = lay();
            for number in [5, 0, 3] {
                assert_eq!(table.play(number as u64).expect("a game"), games[number], "{game}");
            }
        }
    }
}
