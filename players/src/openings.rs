//! Openings for games without dice, so that the pairs of games between two players differ.
//!
//! All lines of some plies are enumerated from the start; of those that lead to one position the first is kept, and of the
//! positions those that are about even. Both games of a pair begin with the same opening, the players having swapped sides.
//! Every pair draws its own, independently of the others, which is what the gate's test takes for granted; and it is drawn from
//! the series' seed and the pair's number, so that whoever checks a record knows which opening the game must have had.

use std::collections::HashSet;

use ludus_games::{Game, Plays};
use ludus_proto::v1::{Series, SeriesKind};

use crate::dice;

/// The openings of a game without dice.
#[derive(Clone, Debug)]
pub struct Openings {
    /// Each as the indices of its plays among the legal ones, all of one length.
    lines: Vec<Vec<u32>>,
}

impl Openings {
    /// Every different opening of so many plies that leads to a position of which `keep` says yes, in the order of their
    /// plays. Only for games without dice. Another order or choice means a new [`Game::REVISION`], for records depend on it.
    pub fn enumerate<G: Game>(game: G, plies: usize, keep: impl Fn(&G::State) -> bool) -> Self {
        let mut lines = vec![(Vec::new(), game.start())];
        let mut plays = Plays::new();
        for ply in 0..plies {
            let mut longer = Vec::new();
            let mut seen = HashSet::new();
            for (line, state) in lines.iter().filter(|(_, state)| game.payoff(state).is_none()) {
                let (roll, _) = game.rolls(state, ply)[0];
                game.plays(state, roll, &mut plays);
                for (index, after) in (0..).zip(&plays.after) {
                    if seen.insert(after.clone()) {
                        longer.push(([&line[..], &[index]].concat(), after.clone()));
                    }
                }
            }
            lines = longer;
        }
        let kept = lines.into_iter().filter(|(_, end)| game.payoff(end).is_none() && keep(end));
        Openings { lines: kept.map(|(line, _)| line).collect() }
    }

    /// Number of openings.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The plays that game `number` of a series begins with: an opening in a match, none in self-play.
    pub fn of(&self, series: &Series, number: u64) -> &[u32] {
        if self.is_empty() || series.kind() != SeriesKind::Gate {
            return &[];
        }
        &self.lines[dice::below(&mut dice::opening_of(series, number), self.len())]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ludus_games::{Game, ItalianDraughts, Othello};
    use ludus_proto::v1::{GameRecord, PlayerRef};

    use super::*;
    use crate::arena::{Arena, Registry, Seating, Source};
    use crate::record;

    #[test]
    fn there_is_one_opening_for_each_position_that_is_kept() {
        // Published numbers of distinct positions.
        for (plies, positions) in [(0, 1), (4, 236), (6, 7_092)] {
            assert_eq!(Openings::enumerate(Othello, plies, |_| true).len(), positions);
        }
        assert!(Openings::enumerate(Othello, 4, |_| false).is_empty());
    }

    fn series(kind: SeriesKind) -> Series {
        Series { kind: kind.into(), seed: 3, mirrored: true, explore: 0.0, ..Series::default() }
    }

    #[test]
    fn every_pair_of_a_match_draws_an_opening_and_self_play_has_none() {
        let openings = Openings::enumerate(Othello, 4, |_| true);
        let matches = series(SeriesKind::Gate);
        let mut drawn = HashSet::new();
        for pair in 0..2_000 {
            let opening = openings.of(&matches, 2 * pair);
            assert_eq!(opening, openings.of(&matches, 2 * pair + 1));
            drawn.insert(opening);
            assert!(openings.of(&series(SeriesKind::SelfPlay), pair).is_empty());
        }
        // Each is left out with probability exp(-2000/236), so 0.05 are expected to be.
        assert!(drawn.len() >= 234, "{}", drawn.len());
        let others = Series { seed: 4, ..matches };
        assert!((0..9).any(|pair| openings.of(&others, 2 * pair) != openings.of(&matches, 2 * pair)));
    }

    /// Some games of a match, with what is needed to check them.
    struct Match {
        game: &'static str,
        arena: Arc<dyn Arena>,
        seats: [Seating; 2],
        games: Vec<GameRecord>,
    }

    /// A match of each game without dice.
    fn matches() -> Vec<Match> {
        let player = |name: &str| Seating { source: Source::Baseline(name.into()), plies: 0 };
        let games = [("othello", "positional"), ("italian-draughts", "saltare@depth=1")];
        let play = |(game, name)| {
            let arena = Registry::standard().find(game).expect("a game of this program").clone();
            let seats = [player(name), player("random")];
            let mut table = arena.table(&series(SeriesKind::Gate), [&seats[0], &seats[1]]).expect("a table");
            let games = (0..6).map(|number| table.play(number).expect("a game")).collect();
            Match { game, arena, seats, games }
        };
        games.into_iter().map(play).collect()
    }

    #[test]
    fn games_begin_with_their_openings_and_are_the_same_at_another_table_in_another_order() {
        for Match { game, arena, seats, games } in matches() {
            let opening = |number: usize| &games[number].plays[..6];
            for pair in 0..3 {
                assert_eq!(opening(2 * pair), opening(2 * pair + 1), "{game}");
            }
            assert!(opening(0) != opening(2) || opening(2) != opening(4), "{game}");
            let mut table = arena.table(&series(SeriesKind::Gate), [&seats[0], &seats[1]]).expect("a table");
            for number in [5, 0, 3] {
                assert_eq!(table.play(number as u64).expect("a game"), games[number], "{game}");
            }
        }
    }

    #[test]
    fn records_are_checked_and_forged_ones_refused() {
        for Match { game, arena, seats, games } in matches() {
            let (series, refs) = (series(SeriesKind::Gate), seats.each_ref().map(Seating::player_ref));
            let check = |record: &GameRecord| arena.check(&series, &refs, record);
            let reason = |record: &GameRecord| check(record).expect_err("a forged record").reason;
            let digest: fn(&Series, &[PlayerRef], &GameRecord) -> Vec<u8> = match game {
                Othello::NAME => record::digest::<Othello>,
                _ => record::digest::<ItalianDraughts>,
            };
            let resigned =
                |record: GameRecord| GameRecord { digest: digest(&series, &refs, &record), ..record };
            for record in &games {
                let checked = check(record).unwrap_or_else(|violation| panic!("{game}: {violation}"));
                assert_eq!((checked.plies, i32::from(checked.payoff)), (record.plays.len(), record.payoff));
            }
            let good = &games[0];
            // The game of another pair under this number.
            let other = GameRecord { number: 0, ..games[2].clone() };
            assert_eq!(reason(&resigned(other)), "wrong-opening", "{game}");
            let mut illegal = good.clone();
            illegal.plays[9] = 99;
            assert_eq!(reason(&illegal), "bad-digest", "{game}");
            assert_eq!(reason(&resigned(illegal)), "illegal-play", "{game}");
            let better =
                GameRecord { payoff: if good.payoff == 1 { 0 } else { good.payoff + 1 }, ..good.clone() };
            assert_eq!(reason(&resigned(better)), "wrong-result", "{game}");
            let mut short = good.clone();
            short.plays.pop();
            short.rolls.pop();
            assert_eq!(reason(&resigned(short)), "unfinished", "{game}");
            let mut rolled = good.clone();
            rolled.rolls[3] = 1;
            assert_eq!(reason(&resigned(rolled)), "illegal-roll", "{game}");
        }
    }
}
