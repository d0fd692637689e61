//! Benchmarks: files of decisions with the loss of each play, and what a player loses on them.
//!
//! The format is that of GNU Backgammon's `.bm` files, a decision a line: `m KEY d1 d2 KEY1 equity KEY2 loss2 ...`. The
//! position before the play is seen by the mover, those after it by the opponent; the first play is the best one, the
//! others come with what they lose against it, in points. A line may begin with the position's class. Settings (`s`),
//! seeds (`r`), remarks and rollouts (`#`), cube positions (`o`) and empty lines are skipped.

use std::collections::BTreeMap;
use std::fmt;

use ludus_games::{Chances, Game, Plays};
use serde::Serialize;

use crate::dice;
use crate::peer::PeerError;
use crate::player::Player;
use crate::weight_file::Digest;

/// The decisions of a benchmark file.
#[derive(Clone, Debug)]
pub struct Benchmark<G: Game> {
    decisions: Vec<Decision<G>>,
}

/// One decision of a benchmark.
#[derive(Clone, Debug)]
pub(crate) struct Decision<G: Game> {
    class: String,
    /// The position before the play, seen by the mover.
    pub(crate) state: G::State,
    /// What was rolled.
    pub(crate) roll: G::Roll,
    /// After-positions and what they lose, in points; the first loses nothing.
    listed: Vec<(G::State, f64)>,
}

/// A line of a benchmark file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct BenchmarkError {
    /// The file's name.
    pub file: String,
    /// The line, counted from 1; 0 when it is about the whole file.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

impl<G: Game> Benchmark<G> {
    /// Reads the text of a benchmark file; `file` is its name, for messages. `class` names the class of a position, for
    /// lines that do not say theirs.
    ///
    /// Of the listed plays the best, or one that is as good, must be legal: otherwise whatever a player does would lose
    /// something. Others need not be, for files list what other programs allow, such as ending a game with one die where
    /// the rules ask for both; nobody can choose them. No play may be listed twice, for it would lose two things.
    pub fn read(
        game: G,
        file: &str,
        text: &str,
        class: &dyn Fn(&G::State) -> Option<&'static str>,
    ) -> Result<Self, BenchmarkError> {
        let at = |line, problem| BenchmarkError { file: file.into(), line, problem };
        let mut plays = Plays::new();
        let mut decisions = Vec::new();
        for (index, line) in text.lines().enumerate() {
            match read_line(game, line, class, &mut plays) {
                Ok(decision) => decisions.extend(decision),
                Err(problem) => return Err(at(index + 1, problem)),
            }
        }
        if decisions.is_empty() {
            return Err(at(0, "there is no decision in it (a line that begins with m)".into()));
        }
        Ok(Benchmark { decisions })
    }

    /// Number of decisions.
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Whether there is none; a benchmark that was read has some, a part of it may have none.
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    /// The decisions, in the order of the file.
    pub(crate) fn decisions(&self) -> &[Decision<G>] {
        &self.decisions
    }

    /// Adds the decisions of another file.
    pub fn append(&mut self, other: Benchmark<G>) {
        self.decisions.extend(other.decisions);
    }

    /// Splits off a `share` of the decisions, 0 to 1: the rest and the share. Which they are depends on the positions
    /// alone, by a hash, so decisions of one position are never parted, whatever else the benchmark holds.
    pub fn split(self, game: G, share: f64) -> (Benchmark<G>, Benchmark<G>) {
        let is_in_share = |decision: &Decision<G>| {
            let Digest(sum) = Digest::of(game.write_position(&decision.state).as_bytes());
            let number = u64::from_le_bytes(std::array::from_fn(|byte| sum[byte]));
            (number as f64) < share * 2.0_f64.powi(64)
        };
        let (split_off, rest) = self.decisions.into_iter().partition(is_in_share);
        (Benchmark { decisions: rest }, Benchmark { decisions: split_off })
    }

    /// Lets players decide, each in a thread of its own; they must be the same player. Fails when a program outside does
    /// not do its part.
    pub fn score(
        &self,
        game: G,
        name: &str,
        players: Vec<Box<dyn Player<G>>>,
    ) -> Result<BenchmarkReport, PeerError> {
        let share = self.decisions.len().div_ceil(players.len().max(1)).max(1);
        let losses: Result<Vec<f64>, PeerError> = std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .decisions
                .chunks(share)
                .zip(players)
                .enumerate()
                .map(|(chunk, (decisions, mut player))| {
                    scope.spawn(move || {
                        let mut plays = Plays::new();
                        let mut number = (chunk * share) as u64;
                        let lose = |decision: &Decision<G>| {
                            number += 1;
                            decision.loss(game, &mut *player, number, &mut plays)
                        };
                        decisions.iter().map(lose).collect::<Result<Vec<f64>, PeerError>>()
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|thread| thread.join().expect("a thread that scores"));
            joined.collect::<Result<Vec<_>, _>>().map(|losses| losses.concat())
        });
        let losses = losses?;

        let mut classes: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (decision, loss) in self.decisions.iter().zip(&losses) {
            classes.entry(decision.class.clone()).or_default().push(*loss);
        }
        Ok(BenchmarkReport {
            player: name.into(),
            classes: classes.iter().map(|(class, losses)| (class.clone(), ErrorRate::of(losses))).collect(),
            overall: ErrorRate::of(&losses),
            losses: classes,
        })
    }
}

/// The decision of a line, `None` for a line that holds none.
fn read_line<G: Game>(
    game: G,
    line: &str,
    class: &dyn Fn(&G::State) -> Option<&'static str>,
    plays: &mut Plays<G>,
) -> Result<Option<Decision<G>>, String> {
    let mut words = line.split_whitespace();
    let first = match words.next() {
        None | Some("s" | "r" | "o") => return Ok(None),
        Some(remark) if remark.starts_with('#') => return Ok(None),
        Some(word) => word,
    };
    let named = first != "m";
    if named && words.next() != Some("m") {
        return Err(
            "expected a decision (m KEY d1 d2 KEY1 equity KEY2 loss ...), perhaps after its class".into()
        );
    }
    let (Some(key), Some(d1), Some(d2)) = (words.next(), words.next(), words.next()) else {
        return Err("the line ends before the dice".into());
    };
    let position = |key: &str| game.read_position(key).map_err(|error| error.to_string());
    let state = position(key)?;
    let roll = game.read_roll(&format!("{d1}{d2}")).map_err(|error| error.to_string())?;
    if game.payoff(&state).is_some() {
        return Err(format!("the game is over in position {key}"));
    }
    game.plays(&state, roll, plays);

    // From winning the most to losing the most.
    let most = 2.0 * f64::from(G::Chances::MAX_POINTS);
    let mut listed = Vec::new();
    while let Some(key) = words.next() {
        let number = words.next().ok_or_else(|| format!("play {key} has no number behind it"))?;
        let value = number.parse().ok().filter(|value: &f64| value.is_finite());
        let value = value.ok_or_else(|| format!("{number:?} is not a number"))?;
        // The first number is the equity of the best play, which loses nothing.
        let loss = if listed.is_empty() { 0.0 } else { value };
        if !(0.0..=most).contains(&loss) {
            return Err(format!(
                "play {key} loses {number}; a loss is 0 or more, and no more than {most} points"
            ));
        }
        let after = position(key)?;
        if listed.iter().any(|(other, _)| *other == after) {
            return Err(format!("play {key} is listed twice"));
        }
        listed.push((after, loss));
    }
    if listed.is_empty() {
        return Err("no play is listed".into());
    }
    if !listed.iter().any(|(after, loss)| *loss == 0.0 && plays.after.contains(after)) {
        return Err(format!("the best of the listed plays is no legal play of {d1}{d2}"));
    }
    let class = if named {
        first.to_owned()
    } else {
        class(&state).ok_or_else(|| format!("position {key} is of no class"))?.to_owned()
    };
    Ok(Some(Decision { class, state, roll, listed }))
}

impl<G: Game> Decision<G> {
    /// What the player loses here, in points: that of the play it makes, or of the worst listed when it is not listed.
    fn loss(
        &self,
        game: G,
        player: &mut dyn Player<G>,
        number: u64,
        plays: &mut Plays<G>,
    ) -> Result<f64, PeerError> {
        game.plays(&self.state, self.roll, plays);
        let choice = player.choose(&self.state, self.roll, plays, &mut dice::decisions(0, number));
        player.trouble().map_or(Ok(()), Err)?;
        Ok(self.loss_of(&plays.after[choice]))
    }

    /// Whether the play that leads to `after` is listed.
    pub(crate) fn lists(&self, after: &G::State) -> bool {
        self.listed.iter().any(|(listed, _)| listed == after)
    }

    /// What the play that leads to `after` loses, in points: as much as the worst listed if it is not listed.
    pub(crate) fn loss_of(&self, after: &G::State) -> f64 {
        let listed = self.listed.iter().find(|(listed, _)| listed == after);
        let losses = self.listed.iter().map(|(_, loss)| *loss);
        listed.map_or_else(|| losses.fold(0.0, f64::max), |(_, loss)| *loss)
    }
}

/// What a player loses on a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchmarkReport {
    /// The player.
    pub player: String,
    /// Error rate by position class.
    pub classes: BTreeMap<String, ErrorRate>,
    /// Over all decisions.
    pub overall: ErrorRate,
    /// What each decision lost, in points, by class and in the order of the file: for comparing players decision by
    /// decision.
    #[serde(skip)]
    pub losses: BTreeMap<String, Vec<f64>>,
}

/// The mean loss of a number of decisions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorRate {
    /// Decisions.
    pub decisions: u64,
    /// 1000 times the mean loss in points.
    pub er: f64,
    /// Standard error of `er`; none for a single decision.
    pub se: Option<f64>,
}

impl ErrorRate {
    fn of(losses: &[f64]) -> Self {
        let count = losses.len() as f64;
        let mean = losses.iter().sum::<f64>() / count;
        let squares: f64 = losses.iter().map(|loss| (loss - mean).powi(2)).sum();
        let se = (losses.len() > 1).then(|| 1000.0 * (squares / (count - 1.0) / count).sqrt());
        ErrorRate { decisions: losses.len() as u64, er: 1000.0 * mean, se }
    }
}

impl fmt::Display for BenchmarkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: error rates (1000 x mean loss in points per decision)", self.player)?;
        writeln!(f, "{:<10}{:>10}{:>9}{:>8}", "class", "decisions", "ER", "+-")?;
        let rows = self.classes.iter().map(|(class, rate)| (class.as_str(), rate));
        for (i, (class, rate)) in rows.chain([("overall", &self.overall)]).enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{class:<10}{:>10}{:>9.2}", rate.decisions, rate.er)?;
            if let Some(se) = rate.se {
                write!(f, "{se:>8.2}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ludus_games::Backgammon;

    use super::*;
    use crate::backgammon::PubEval;
    use crate::player::RandomPlayer;

    const SMALL: &str = include_str!("../tests/fixtures/small.bm");

    fn read(text: &str) -> Result<Benchmark<Backgammon>, String> {
        Benchmark::read(Backgammon, "test.bm", text, &|_| Some("contact")).map_err(|error| error.to_string())
    }

    #[test]
    fn plays_cost_what_the_file_says_and_unlisted_ones_as_much_as_the_worst() {
        let benchmark = read(SMALL).unwrap();
        assert_eq!(benchmark.len(), 4);
        // PubEval's opening plays: 31 is listed second (0.05), 66 first (0), 55 not at all (0.2, the worst listed).
        for threads in [1, 2, 3, 9] {
            let players = (0..threads).map(|_| Box::new(PubEval) as _).collect();
            let report = benchmark.score(Backgammon, "pubeval", players).expect("a score");
            let contact = report.classes["contact"];
            assert_eq!(contact.decisions, 3);
            assert!((contact.er - 250.0 / 3.0).abs() < 1e-9, "{report}");
            // Losses 50, 0 and 200: their squares around the mean add up to 21,667.
            assert!((contact.se.unwrap_or_default() - (65_000.0_f64 / 18.0).sqrt()).abs() < 1e-9, "{report}");
            assert_eq!(report.classes["race"], ErrorRate { decisions: 1, er: 0.0, se: None });
            assert_eq!((report.overall.decisions, report.overall.er), (4, 62.5));
            assert_eq!(report.losses["contact"], [0.05, 0.0, 0.2]);
        }
    }

    #[test]
    fn parts_are_split_off_by_position_and_put_together_again() {
        // Three decisions of the start and one of another position.
        let whole = read(SMALL).unwrap();
        let lengths = |share| {
            let (mut rest, split_off) = whole.clone().split(Backgammon, share);
            let lengths = (rest.len(), split_off.len());
            rest.append(split_off);
            assert_eq!(rest.len(), 4);
            lengths
        };
        assert_eq!((lengths(0.0), lengths(1.0)), ((4, 0), (0, 4)));
        for share in 1..10 {
            let (rest, split_off) = lengths(f64::from(share) / 10.0);
            assert!(
                [0, 1, 3, 4].contains(&rest),
                "decisions of one position were parted: {rest}, {split_off}"
            );
        }
    }

    #[test]
    fn a_random_player_decides_the_same_however_many_threads_there_are() {
        let benchmark = read(&SMALL.repeat(10)).unwrap();
        let score = |threads| {
            let players = (0..threads).map(|_| Box::new(RandomPlayer) as _).collect();
            benchmark.score(Backgammon, "random", players).expect("a score")
        };
        assert_eq!(score(1), score(4));
        assert!(score(1).overall.er > 0.0);
    }

    #[test]
    fn the_report_has_the_shape_that_scripts_expect() {
        let report = read(SMALL).unwrap().score(Backgammon, "pubeval", vec![Box::new(PubEval)]).unwrap();
        let json = serde_json::to_value(&report).expect("a report");
        assert_eq!(json["player"], "pubeval");
        assert_eq!(json["classes"]["contact"]["decisions"], 3);
        assert_eq!(json["overall"]["er"], 62.5);
        assert!(report.to_string().contains("race"));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named_with_what_is_wrong() {
        let start = "OAHDPAABDAOAHDPAABDA";
        let best = "JIGHPAABDAOAHDPAABDA 0.11";
        assert!(read(&format!("m {start} 2 4 {best}")).is_ok());
        // The best is none of our rules, and there is a legal one as good.
        assert!(read(&format!("m {start} 3 1 {best} OAHDOCABCIOAHDPAABDA 0")).is_ok());
        for (line, problem) in [
            (format!("contact {start} 2 4 {best}"), "expected a decision"),
            (format!("m {start} 2"), "ends before the dice"),
            (format!("m {start} 2 7 {best}"), "\"27\" is not a roll"),
            (format!("m {start} 2 4"), "no play is listed"),
            (format!("m {start} 2 4 {best} {start}"), "has no number behind it"),
            (
                format!("m {start} 3 1 {best} OAHDOCABCIOAHDPAABDA 0.1"),
                "the best of the listed plays is no legal play of 31",
            ),
            (
                format!("m {start} 2 4 {best} OAHDOEABCBOAHDPAABDA 0.1 OAHDOEABCBOAHDPAABDA 0.3"),
                "play OAHDOEABCBOAHDPAABDA is listed twice",
            ),
            (format!("m {start} 2 4 {best} JIGHPAABDAOAHDPAABDA 0.5"), "is listed twice"),
            (format!("m {start} 2 4 JIGHPAABDAOAHDPAABDA best"), "\"best\" is not a number"),
            (format!("m {start} 2 4 {best} OAHDOEABCBOAHDPAABDA -0.1"), "a loss is 0 or more"),
            (format!("m {start} 2 4 {best} OAHDOEABCBOAHDPAABDA 1e300"), "no more than 6 points"),
            (format!("m {start} 2 4 {best} OAHDOEABCBOAHDPAABDA NaN"), "\"NaN\" is not a number"),
            ("m OAHDPAABDAOAHDPAABDZ 2 4".to_string(), "OAHDPAABDAOAHDPAABDZ"),
        ] {
            let error = read(&format!("# remark\n{line}\n")).unwrap_err();
            assert!(error.starts_with("test.bm:2: ") && error.contains(problem), "{error}");
        }
        assert!(read("# nothing\n").unwrap_err().contains("no decision"));
    }
}
