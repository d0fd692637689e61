//! Matches: pairs of games on mirrored dice between two players, and what they say about who is better.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use ludus_proto::v1::{GameRecord, LuckMode, Series, SeriesKind};
use serde::Serialize;

use crate::arena::{Arena, ArenaError, PlayError, Seating, Table};

/// How to play a match.
#[derive(Clone, Copy, Debug)]
pub struct MatchSettings {
    /// Pairs of games; the games of a pair share their dice, and the players swap sides.
    pub pairs: u64,
    /// Seed of the match's series.
    pub seed: u64,
    /// Whether results are luck-adjusted: each is the payoff minus the first player's luck plus the second's.
    pub luck: bool,
    /// Threads that play; at least one.
    pub threads: usize,
}

/// How results were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// As they fell.
    Plain,
    /// With the luck of the dice taken out.
    Luck,
}

/// The result of a match, for the first player.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchReport {
    /// The first and the second player.
    pub players: [String; 2],
    /// Pairs played.
    pub pairs: u64,
    /// Points per game.
    pub ppg: f64,
    /// Standard error of `ppg`, from the pairs; none for a single pair.
    pub se: Option<f64>,
    /// Games won, however high.
    pub wins: u64,
    /// Games lost, however high.
    pub losses: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games won for exactly two points.
    pub gammons_won: u64,
    /// Games lost for exactly two points.
    pub gammons_lost: u64,
    /// Games won for three points.
    pub backgammons_won: u64,
    /// Games lost for three points.
    pub backgammons_lost: u64,
    /// How `ppg` was counted; games are counted as they fell.
    pub method: Method,
}

/// Plays a match. `progress` is told now and then how it stands.
///
/// The result depends on the players and settings alone, not on the number of threads.
pub fn play_match(
    arena: &dyn Arena,
    seats: [&Seating; 2],
    names: [&str; 2],
    settings: &MatchSettings,
    progress: &mut dyn FnMut(&MatchReport),
) -> Result<MatchReport, ArenaError> {
    play_pairs(&|series| arena.table(series, seats), names, settings, progress)
}

/// A pair of games as the match counts it: the first player's points and luck in both.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    payoffs: [i32; 2],
    luck: f64,
}

/// A table for a thread, or why there is none.
type Laid = Result<Box<dyn Table>, ArenaError>;

/// Plays the pairs of a match at tables that `lay` sets up, one for each thread.
fn play_pairs(
    lay: &dyn Fn(&Series) -> Laid,
    names: [&str; 2],
    settings: &MatchSettings,
    progress: &mut dyn FnMut(&MatchReport),
) -> Result<MatchReport, ArenaError> {
    let MatchSettings { pairs, seed, luck, threads } = *settings;
    if pairs == 0 {
        return Err(ArenaError::Settings("a match needs at least one pair of games".into()));
    }
    let series = Series {
        kind: SeriesKind::Gate.into(),
        seed,
        mirrored: true,
        luck: if luck { LuckMode::LuckTotal } else { LuckMode::LuckNone }.into(),
        luck_bound: f64::INFINITY,
        ..Series::default()
    };
    let tables = (0..threads.max(1)).map(|_| lay(&series)).collect::<Result<Vec<_>, _>>()?;
    let method = if luck { Method::Luck } else { Method::Plain };
    let players = names.map(String::from);

    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut played = vec![Pair::default(); pairs as usize];
    let mut standing = Tally::default();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for mut table in tables {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= pairs || sender.send((number, play_pair(&mut *table, number))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (number, pair) in receiver {
            let pair = pair.inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            played[number as usize] = pair;
            standing.add(&pair);
            progress(&standing.report(&players, method));
        }
        Ok::<(), PlayError>(())
    })?;

    // Added up once more in the order of their numbers, so that rounding does not depend on which came first.
    let mut tally = Tally::default();
    played.iter().for_each(|pair| tally.add(pair));
    Ok(tally.report(&players, method))
}

fn play_pair(table: &mut dyn Table, number: u64) -> Result<Pair, PlayError> {
    let games: [GameRecord; 2] = [table.play(2 * number)?, table.play(2 * number + 1)?];
    Ok(Pair {
        payoffs: [games[0].payoff, games[1].payoff],
        luck: games.iter().map(|game| game.total_luck).sum(),
    })
}

/// Sums over pairs.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    pairs: u64,
    /// Of the points per game of each pair: their mean, and the sum of squares around it (Welford's method).
    mean: f64,
    squares: f64,
    /// Games by the first player's points, from -3 to 3.
    games: [u64; 7],
}

impl Tally {
    fn add(&mut self, pair: &Pair) {
        let payoff: i32 = pair.payoffs.iter().sum();
        let points = (f64::from(payoff) - pair.luck) / 2.0;
        self.pairs += 1;
        let apart = points - self.mean;
        self.mean += apart / self.pairs as f64;
        self.squares += apart * (points - self.mean);
        for payoff in pair.payoffs {
            self.games[(payoff.clamp(-3, 3) + 3) as usize] += 1;
        }
    }

    fn report(&self, players: &[String; 2], method: Method) -> MatchReport {
        let [backgammons_lost, gammons_lost, singles_lost, draws, singles_won, gammons_won, backgammons_won] =
            self.games;
        let pairs = self.pairs as f64;
        MatchReport {
            players: players.clone(),
            pairs: self.pairs,
            ppg: self.mean,
            se: (self.pairs > 1).then(|| (self.squares / (pairs - 1.0) / pairs).sqrt()),
            wins: singles_won + gammons_won + backgammons_won,
            losses: singles_lost + gammons_lost + backgammons_lost,
            draws,
            gammons_won,
            gammons_lost,
            backgammons_won,
            backgammons_lost,
            method,
        }
    }
}

impl fmt::Display for MatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.players;
        let games = 2 * self.pairs;
        let share = |count: u64| 100.0 * count as f64 / games as f64;
        let adjusted = if self.method == Method::Luck { ", luck-adjusted" } else { "" };
        writeln!(f, "{first} against {second}: {} pairs, {games} games{adjusted}", self.pairs)?;
        match self.se {
            Some(se) => writeln!(f, "points per game  {:+.4} +-{se:.4} (standard error)", self.ppg)?,
            None => writeln!(f, "points per game  {:+.4}", self.ppg)?,
        }
        let line = |name: &str, count, gammons, backgammons| {
            let percent = share(count);
            let mut text = format!("{name:<17}{count} ({percent:.1}%)");
            if gammons + backgammons > 0 {
                text += &format!(", of them {gammons} gammons and {backgammons} backgammons");
            }
            text
        };
        writeln!(f, "{}", line("won", self.wins, self.gammons_won, self.backgammons_won))?;
        write!(f, "{}", line("lost", self.losses, self.gammons_lost, self.backgammons_lost))?;
        if self.draws > 0 {
            write!(f, "\n{}", line("drawn", self.draws, 0, 0))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ludus_games::Backgammon;

    use super::*;
    use crate::backgammon::PubEval;
    use crate::player::{Evaluator, Player, RandomPlayer};
    use crate::search::ValuePlayer;
    use crate::table::{Seated, SeriesTable};
    use crate::toys::{Noise, Pips, named};

    type Chooser = Box<dyn Player<Backgammon>>;

    fn by(evaluator: impl Evaluator<Backgammon> + 'static) -> Chooser {
        Box::new(ValuePlayer::new(Backgammon, Box::new(evaluator), 0))
    }

    fn play(
        pairs: u64,
        luck: bool,
        threads: usize,
        first: fn() -> Chooser,
        second: fn() -> Chooser,
    ) -> MatchReport {
        let settings = MatchSettings { pairs, seed: 17, luck, threads };
        let lay = move |series: &Series| {
            let refs = [named("first"), named("second")];
            let table = SeriesTable::new(Backgammon, series, refs, Seated::opposed([first(), second()]))?;
            Ok(Box::new(table) as Box<dyn Table>)
        };
        let mut last = 0;
        let mut told = |report: &MatchReport| last = report.pairs;
        let report = play_pairs(&lay, ["first", "second"], &settings, &mut told).unwrap();
        assert_eq!(last, pairs);
        assert_eq!(report.wins + report.losses, 2 * pairs);
        report
    }

    fn pips() -> Chooser {
        by(Pips)
    }

    fn noise() -> Chooser {
        by(Noise(1))
    }

    fn random() -> Chooser {
        Box::new(RandomPlayer)
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        assert_eq!(play(12, false, 1, pips, random), play(12, false, 3, pips, random));
    }

    #[test]
    fn a_player_is_exactly_as_good_as_itself_on_mirrored_dice() {
        let report = play(20, false, 1, pips, pips);
        assert_eq!((report.ppg, report.se), (0.0, Some(0.0)));
        assert_eq!(report.wins, 20);
        assert_eq!(report.gammons_won, report.gammons_lost);
    }

    #[test]
    fn the_second_player_loses_what_the_first_wins() {
        let (there, back) = (play(20, false, 1, pips, noise), play(20, false, 1, noise, pips));
        assert_eq!(there.ppg, -back.ppg);
        assert_eq!(there.se, back.se);
        assert_eq!((there.wins, there.gammons_won), (back.losses, back.gammons_lost));
        assert!(there.ppg > 0.5, "{there}");
    }

    /// A match as it fell and luck-adjusted: the same games, so the difference of the means is the mean luck.
    fn both(pairs: u64, first: fn() -> Chooser, second: fn() -> Chooser) -> (MatchReport, MatchReport) {
        let (plain, adjusted) = (play(pairs, false, 2, first, second), play(pairs, true, 2, first, second));
        assert_eq!((plain.wins, plain.gammons_won), (adjusted.wins, adjusted.gammons_won));
        (plain, adjusted)
    }

    /// Both are unbiased, so they agree within their errors.
    fn agree((plain, adjusted): &(MatchReport, MatchReport)) -> bool {
        let error = plain.se.zip(adjusted.se).map_or(0.0, |(a, b)| a.hypot(b));
        (plain.ppg - adjusted.ppg).abs() < 3.0 * error
    }

    #[test]
    fn luck_adjusted_and_plain_means_agree_and_the_error_shrinks() {
        let reports = both(60, pips, || Box::new(PubEval));
        assert!(agree(&reports), "{reports:?}");
        assert!(reports.1.se < reports.0.se, "{reports:?}");
        assert_eq!(reports.1.method, Method::Luck);
    }

    #[test]
    fn the_means_agree_between_unequal_players_and_with_a_bad_evaluator_too() {
        let unequal = both(60, pips, random);
        assert!(agree(&unequal), "{unequal:?}");
        let bad = both(60, noise, random);
        assert!(agree(&bad), "{bad:?}");
    }

    #[test]
    fn a_report_counts_games_by_what_they_were_worth() {
        let mut tally = Tally::default();
        for (payoffs, luck) in [([1, -1], 0.0), ([2, 3], 1.0), ([-2, -3], -2.0), ([0, 1], 0.0)] {
            tally.add(&Pair { payoffs, luck });
        }
        let report = tally.report(&["a".into(), "b".into()], Method::Luck);
        assert_eq!((report.wins, report.losses, report.draws), (4, 3, 1));
        assert_eq!((report.gammons_won, report.gammons_lost), (1, 1));
        assert_eq!((report.backgammons_won, report.backgammons_lost), (1, 1));
        // Pairs are worth 0, 2, -1.5 and 0.5 points per game.
        assert!((report.ppg - 0.25).abs() < 1e-12);
        let variance: f64 = (0.0625 + 3.0625 + 3.0625 + 0.0625) / 3.0;
        assert!((report.se.unwrap_or_default() - (variance / 4.0).sqrt()).abs() < 1e-12);
        let shown = report.to_string();
        assert!(shown.contains("+0.2500 +-0.7217") && shown.contains("drawn"), "{shown}");
        assert_eq!(serde_json::to_value(&report).expect("a report")["method"], "luck");
    }

    #[test]
    fn a_match_without_games_and_luck_without_an_evaluator_are_refused() {
        let lay = |series: &Series| {
            let refs = [named("first"), named("second")];
            let table = SeriesTable::new(Backgammon, series, refs, Seated::opposed([random(), random()]))?;
            Ok(Box::new(table) as Box<dyn Table>)
        };
        let none = MatchSettings { pairs: 0, seed: 1, luck: false, threads: 1 };
        assert!(play_pairs(&lay, ["a", "b"], &none, &mut |_| {}).is_err());
        let luck = MatchSettings { pairs: 1, luck: true, ..none };
        let error = play_pairs(&lay, ["a", "b"], &luck, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("neither first nor second has one"), "{error}");
    }
}
