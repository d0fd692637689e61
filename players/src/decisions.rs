//! Decisions with what their plays are worth, out of the labels of rollout games: what benchmarks are made of.

use std::fmt;

use ludus_games::{Chances, Game};
use ludus_proto::v1::GameRecord;

use crate::arena::Violation;
use crate::record::Replay;

/// A decision of a recorded game of which several plays were rolled out.
#[derive(Clone, Debug, PartialEq)]
pub struct RolledDecision {
    /// The ply of the game.
    pub ply: usize,
    /// Class of the position before the play.
    pub class: &'static str,
    /// The position before the play, seen by the mover, as benchmark files write it.
    pub position: String,
    /// The roll, such as `31`.
    pub roll: String,
    /// The plays that were rolled out, the best first.
    pub plays: Vec<RolledPlay>,
}

/// A play and what rolling out gave.
#[derive(Clone, Debug, PartialEq)]
pub struct RolledPlay {
    /// The position after it, seen by the side that acts next, as benchmark files write it.
    pub position: String,
    /// Chances of the side that acts next.
    pub chances: Vec<f32>,
    /// Points that the mover can expect.
    pub equity: f64,
    /// Standard error of `equity`. Plays of one decision have common dice, so that what one loses against another is
    /// known better than either.
    pub error: f64,
}

/// How a game's decisions are written: the class and the text of a position.
pub trait Wording<G: Game> {
    /// Class of a position that is not finished.
    fn class(&self, state: &G::State) -> Option<&'static str>;
    /// The position as benchmark files write it.
    fn position(&self, state: &G::State) -> String;
}

/// The decisions of a record of which two plays or more were rolled out, in the order of the game.
pub fn decisions<G: Game>(
    game: G,
    record: &GameRecord,
    wording: &dyn Wording<G>,
) -> Result<Vec<RolledDecision>, Violation> {
    let mut decisions = Vec::new();
    let mut replay = Replay::new(game, record);
    while let Some(ply) = replay.next_ply()? {
        let labels = record.labels.iter().filter(|label| label.ply as usize == ply.ply);
        let mut plays = Vec::new();
        for label in labels {
            let (Some(after), Some(chances)) =
                (ply.plays.after.get(label.play as usize), chances::<G::Chances>(&label.chances))
            else {
                let detail = format!("ply {}: of play {}, which is none", label.ply, label.play);
                return Err(Violation { reason: "bad-label", detail });
            };
            plays.push(RolledPlay {
                position: wording.position(after),
                chances: label.chances.clone(),
                equity: -f64::from(chances.points()),
                error: f64::from(label.error),
            });
        }
        if let (2.., Some(class)) = (plays.len(), wording.class(ply.state)) {
            plays.sort_by(|a, b| b.equity.total_cmp(&a.equity));
            let (position, roll) = (wording.position(ply.state), game.write_roll(ply.roll));
            decisions.push(RolledDecision { ply: ply.ply, class, position, roll, plays });
        }
    }
    Ok(decisions)
}

fn chances<C: Chances>(numbers: &[f32]) -> Option<C> {
    let mut chances = C::default();
    let right = numbers.len() == C::LEN;
    right.then(|| {
        chances.as_mut().copy_from_slice(numbers);
        chances
    })
}

/// The lines of a benchmark file, each with its end: for every play `#R POSITION chances` (those of the side that acts
/// next), then `# se` with the standard errors of the plays' equities in points, then the decision.
impl fmt::Display for RolledDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for play in &self.plays {
            write!(f, "#R {}", play.position)?;
            play.chances.iter().try_for_each(|chance| write!(f, " {chance:.5}"))?;
            writeln!(f)?;
        }
        write!(f, "# se")?;
        self.plays.iter().try_for_each(|play| write!(f, " {:.5}", play.error))?;
        write!(f, "\nm {}", self.position)?;
        self.roll.chars().try_for_each(|die| write!(f, " {die}"))?;
        let best = self.plays.first().map_or(0.0, |play| play.equity);
        for (rank, play) in self.plays.iter().enumerate() {
            let number = if rank == 0 { best } else { best - play.equity };
            write!(f, " {} {number:.5}", play.position)?;
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use ludus_games::Backgammon;
    use ludus_proto::v1::{Label, Rollout};

    use super::*;
    use crate::arena::Registry;
    use crate::arena::Table;
    use crate::benchmark::Benchmark;
    use crate::search::ValuePlayer;
    use crate::table::{Seated, SeriesTable};
    use crate::toys::{Pips, named, rollouts};

    fn record() -> GameRecord {
        let rollout = Rollout {
            positions: 5,
            margin: 0.3,
            plays: 4,
            trials: 3,
            horizon: 1,
            balanced: false,
            decisions: true,
        };
        let player = ValuePlayer::new(Backgammon, Box::new(Pips), 0);
        let seated = Seated::alone(Box::new(player));
        let refs = [named("pips"), named("pips")];
        SeriesTable::new(Backgammon, &rollouts(5, rollout), refs, seated).unwrap().play(0).unwrap()
    }

    #[test]
    fn decisions_are_read_back_from_their_lines_with_the_losses_of_the_labels() {
        let record = record();
        let decisions = Registry::standard().find("backgammon").unwrap().decisions(&record).unwrap();
        assert_eq!(decisions.len(), 5);
        let text: String = decisions.iter().map(ToString::to_string).collect();
        let none = |_: &_| Some("any");
        assert_eq!(Benchmark::read(Backgammon, "own", &text, &none).unwrap().len(), 5);
        let mut replay = Replay::new(Backgammon, &record);
        let mut left = decisions.iter();
        while let Some(ply) = replay.next_ply().unwrap() {
            let labels: Vec<&Label> =
                record.labels.iter().filter(|label| label.ply as usize == ply.ply).collect();
            if labels.is_empty() {
                continue;
            }
            let decision = left.next().unwrap();
            assert_eq!((decision.ply, decision.plays.len()), (ply.ply, labels.len()));
            assert_eq!(decision.position, ply.state.key_letters());
            assert!(decision.plays.windows(2).all(|pair| pair[0].equity >= pair[1].equity));
            for label in labels {
                let key = ply.plays.after[label.play as usize].key_letters();
                let play = decision.plays.iter().find(|play| play.position == key).unwrap();
                let [win, gammon, backgammon, lost, worst] = label.chances[..] else {
                    panic!("five chances")
                };
                let points = 2.0 * win - 1.0 + gammon + backgammon - lost - worst;
                assert!((play.equity + f64::from(points)).abs() < 1e-6);
                assert_eq!(play.error, f64::from(label.error));
            }
        }
    }

    #[test]
    fn the_lines_of_a_decision_are_those_of_benchmark_files() {
        let play = |position: &str, win: f32, equity, error| RolledPlay {
            position: position.into(),
            chances: vec![win, 0.1, 0.0, 0.05, 0.0],
            equity,
            error,
        };
        let decision = RolledDecision {
            ply: 3,
            class: "contact",
            position: "BEFORE".into(),
            roll: "31".into(),
            plays: vec![play("BEST", 0.4, 0.15, 0.01), play("NEXT", 0.5, -0.05, 0.012)],
        };
        assert_eq!(
            decision.to_string(),
            "#R BEST 0.40000 0.10000 0.00000 0.05000 0.00000\n\
             #R NEXT 0.50000 0.10000 0.00000 0.05000 0.00000\n\
             # se 0.01000 0.01200\n\
             m BEFORE 3 1 BEST 0.15000 NEXT 0.20000\n"
        );
    }
}
