//! Games and positions as people look at them: every ply with its best plays and the luck of its roll.

use std::sync::Arc;

use ludus_games::{Chances, Game, NotationError};
use ludus_proto::v1::GameRecord;
use serde::Serialize;

use crate::analyst::{Judgement, ListedPlay};
use crate::arena::ArenaError;
use crate::dice;
use crate::game_arena::Roster;
use crate::input_set::{InputSet, Inputs};
use crate::luck::Fan;
use crate::player::Evaluator;
use crate::record::{Replay, seat_at};
use crate::search::Lookahead;

/// Best plays that are shown of a roll.
pub const BEST_SHOWN: usize = 5;
/// Plies up to which a game is shown: no game that anybody wants to look at is longer, and each ply takes work.
pub const MOST_PLIES: usize = 2000;

/// Replays games and studies positions, with the judgement of a player or, without one, by the rules alone.
pub trait Viewer: Send {
    /// A short name for each probability of a [`Judgement`], in order.
    fn labels(&self) -> &'static [&'static str];

    /// A game, ply by ply. `names` are those of seat 0 and seat 1, for its file.
    fn game(&mut self, record: &GameRecord, names: [&str; 2]) -> Result<ShownGame, ArenaError>;

    /// A position in any of the game's notations, with its best plays of one roll, or with an empty `roll` of every
    /// roll.
    fn position(&mut self, position: &str, roll: &str) -> Result<Study, ArenaError>;
}

/// A position in one more notation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notation {
    /// What the notation is called, such as `XGID`.
    pub name: &'static str,
    /// The position in it.
    pub text: String,
}

/// A replayed game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownGame {
    /// Every ply, from the start.
    pub plies: Vec<ShownPly>,
    /// The position at the end in the game's main notation, seen by the seat that would act.
    pub end: String,
    /// The seat that would act.
    pub end_seat: usize,
    /// Points of seat 0.
    pub payoff: i8,
    /// The game as other programs read it.
    pub file: Option<GameFile>,
}

/// A game as other programs read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameFile {
    /// How the file's name ends, such as `mat`.
    pub ending: &'static str,
    /// What is in it.
    pub text: String,
}

/// One ply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownPly {
    /// The seat that acts.
    pub seat: usize,
    /// The position before the play in the game's main notation, seen by that seat.
    pub position: String,
    /// The same in other notations, with the roll where they can say it.
    pub notations: Vec<Notation>,
    /// The roll; empty in games without dice.
    pub roll: String,
    /// Number of legal plays.
    pub legal: usize,
    /// The play made.
    pub play: String,
    /// Whether exploration drew it.
    pub explored: bool,
    /// Expected points of the side that acts before its roll.
    pub equity: Option<f32>,
    /// Points that the roll was worth to the side that rolled.
    pub luck: Option<f32>,
    /// The best plays with their equities, best first.
    pub best: Vec<ListedPlay>,
    /// Place of the play made among all plays, from 1.
    pub rank: Option<usize>,
    /// Points by which the play made falls behind the best.
    pub loss: Option<f32>,
}

/// A position that was looked into.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// The position in the game's main notation.
    pub position: String,
    /// The same in other notations.
    pub notations: Vec<Notation>,
    /// What each probability of the judgement is called.
    pub labels: &'static [&'static str],
    /// The judgement before the roll, when there is a player that judges.
    pub judgement: Option<Judgement>,
    /// What the network that judges reads of it, when one does.
    pub inputs: Option<NetworkInputs>,
    /// Points for the side to act, when the game is over.
    pub over: Option<i8>,
    /// The roll that was asked for, or every roll.
    pub rolls: Vec<StudiedRoll>,
}

/// The inputs of a network, for those who want to compute with its weights themselves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkInputs {
    /// The position class, which says whose network it is.
    pub class: &'static str,
    /// How many inputs that network has.
    pub width: usize,
    /// Indices of those that are not zero, ascending.
    pub indices: Vec<u16>,
    /// Their values.
    pub values: Vec<f32>,
}

/// A roll and what can be played with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudiedRoll {
    /// The roll; empty in games without dice.
    pub roll: String,
    /// How probable it is.
    pub probability: f64,
    /// Points that it is worth, compared with the mean over all rolls.
    pub luck: Option<f32>,
    /// Number of legal plays.
    pub legal: usize,
    /// The best plays, best first; without a player the first ones in the order of the rules.
    pub plays: Vec<ListedPlay>,
}

/// The viewer of any game.
pub struct GameViewer<G: Roster> {
    game: G,
    evaluator: Option<Lookahead<G>>,
    /// What the networks of the evaluator read, when it has some.
    inputs: Option<Arc<dyn InputSet<G>>>,
    fan: Fan<G>,
}

impl<G: Roster> GameViewer<G> {
    /// A viewer that judges by `evaluator`, if there is one, whose networks read `inputs`.
    pub fn new(game: G, evaluator: Option<Lookahead<G>>, inputs: Option<Arc<dyn InputSet<G>>>) -> Self {
        GameViewer { game, evaluator, inputs, fan: Fan::default() }
    }

    fn inputs(&self, state: &G::State) -> Option<NetworkInputs> {
        let set = self.inputs.as_ref()?;
        let class = set.class(state)?;
        let mut inputs = Inputs::default();
        set.write(class, state, &mut inputs);
        let Inputs { indices, values } = inputs;
        Some(NetworkInputs { class: set.classes()[class], width: set.width(class), indices, values })
    }

    /// Fans a position out and judges it; `false` without an evaluator.
    fn judge(&mut self, state: &G::State, ply: usize) -> Result<bool, ArenaError> {
        let Some(evaluator) = &mut self.evaluator else { return Ok(false) };
        self.fan.open(self.game, state, self.game.rolls(state, ply), evaluator);
        evaluator.trouble().map_or(Ok(true), Err).map_err(ArenaError::from)
    }

    /// The plays of an opened roll as indices, best first, with their equities for the side that acts.
    fn ranked(&self, roll: usize) -> Vec<(usize, f32)> {
        let judged =
            self.fan.judged(roll).unwrap_or_default().iter().map(|chances| chances.flipped().points());
        let mut ranked: Vec<(usize, f32)> = judged.enumerate().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranked
    }

    fn listed(&self, state: &G::State, roll: usize, ranked: &[(usize, f32)]) -> Vec<ListedPlay> {
        let plays = self.fan.plays(roll);
        let shown = ranked.iter().take(BEST_SHOWN);
        shown
            .map(|&(play, equity)| ListedPlay {
                play: self.game.write_move(state, plays.moves[play]),
                position: self.game.write_position(&plays.after[play]),
                equity: Some(equity),
            })
            .collect()
    }
}

impl<G: Roster> Viewer for GameViewer<G> {
    fn labels(&self) -> &'static [&'static str] {
        G::Chances::LABELS
    }

    fn game(&mut self, record: &GameRecord, names: [&str; 2]) -> Result<ShownGame, ArenaError> {
        let game = self.game;
        if record.rolls.len() > MOST_PLIES {
            let plies = record.rolls.len();
            return Err(ArenaError::Settings(format!(
                "the game has {plies} plies; {MOST_PLIES} can be shown"
            )));
        }
        let mut replay = Replay::new(game, record);
        let (mut plies, mut turns) = (Vec::new(), Vec::new());
        let mut end = game.start();
        while let Some(ply) = replay.next_ply()? {
            let (state, play) = (ply.state.clone(), ply.plays.moves[ply.play]);
            let mut shown = ShownPly {
                seat: ply.seat,
                position: game.write_position(&state),
                notations: game.notations(&state, Some(ply.roll), ply.seat),
                roll: game.write_roll(ply.roll),
                legal: ply.plays.len(),
                play: game.write_move(&state, play),
                explored: ply.plays.len() > 1 && record.explored.binary_search(&(ply.ply as u32)).is_ok(),
                equity: None,
                luck: None,
                best: Vec::new(),
                rank: None,
                loss: None,
            };
            turns.push((ply.roll, play));
            end.clone_from(ply.after);
            let (number, made, roll) = (ply.ply, ply.play, usize::from(record.rolls[ply.ply]));
            if self.judge(&state, number)? {
                let ranked = self.ranked(roll);
                let place = ranked.iter().position(|&(play, _)| play == made);
                shown.equity = Some(self.fan.expected().points());
                shown.luck = Some(self.fan.points()[roll] as f32);
                shown.rank = place.map(|place| place + 1);
                shown.loss = place.map(|place| ranked[0].1 - ranked[place].1);
                shown.best = self.listed(&state, roll, &ranked);
            }
            plies.push(shown);
        }
        let (payoff, count) = (replay.payoff().unwrap_or_default(), turns.len());
        let file = game.game_file(names, seat_at(record.number, 0), &turns, payoff);
        let end_seat = seat_at(record.number, count);
        Ok(ShownGame { plies, end: game.write_position(&end), end_seat, payoff, file })
    }

    fn position(&mut self, position: &str, roll: &str) -> Result<Study, ArenaError> {
        let game = self.game;
        let state = game.read_position(position)?;
        let wanted = if roll.is_empty() { None } else { Some(game.read_roll(roll)?) };
        let mut study = Study {
            position: game.write_position(&state),
            notations: game.notations(&state, wanted, 0),
            labels: G::Chances::LABELS,
            judgement: None,
            inputs: self.inputs(&state),
            over: game.payoff(&state),
            rolls: Vec::new(),
        };
        if let Some(evaluator) = &mut self.evaluator {
            let mut judged = Vec::new();
            evaluator.judge(std::slice::from_ref(&state), &mut judged);
            evaluator.trouble().map_or(Ok(()), Err)?;
            study.judgement = judged.first().map(|chances| Judgement {
                position: study.position.clone(),
                probabilities: chances.as_ref().to_vec(),
                equity: chances.points(),
            });
        }
        if study.over.is_some() {
            return Ok(study);
        }
        // The opening roll of a game is one roll among the others here.
        const UNDER_WAY: usize = 1;
        let rolls = game.rolls(&state, UNDER_WAY);
        if wanted.is_some_and(|wanted| !rolls.iter().any(|(roll, _)| *roll == wanted)) {
            return Err(NotationError::new(roll, "roll", "it cannot come up in this position").into());
        }
        let judged = self.judge(&state, UNDER_WAY)?;
        for (index, (&(roll, _), probability)) in rolls.iter().zip(dice::shares(rolls)).enumerate() {
            if wanted.is_some_and(|wanted| wanted != roll) {
                continue;
            }
            let (legal, plays) = if judged {
                let ranked = self.ranked(index);
                (ranked.len(), self.listed(&state, index, &ranked))
            } else {
                by_the_rules(game, &state, roll)
            };
            study.rolls.push(StudiedRoll {
                roll: game.write_roll(roll),
                probability,
                luck: judged.then(|| self.fan.points()[index] as f32),
                legal,
                plays,
            });
        }
        Ok(study)
    }
}

/// How many plays there are, and the first ones.
fn by_the_rules<G: Game>(game: G, state: &G::State, roll: G::Roll) -> (usize, Vec<ListedPlay>) {
    let mut plays = ludus_games::Plays::new();
    game.plays(state, roll, &mut plays);
    let shown = plays.moves.iter().zip(&plays.after).take(BEST_SHOWN);
    let shown = shown.map(|(&play, after)| ListedPlay {
        play: game.write_move(state, play),
        position: game.write_position(after),
        equity: None,
    });
    (plays.len(), shown.collect())
}

#[cfg(test)]
mod tests {
    use ludus_games::{Backgammon, Othello};
    use ludus_proto::v1::{LuckMode, Series, SeriesKind};

    use crate::arena::{Arena, Seating, Source};
    use crate::game_arena::GameArena;

    fn shipped() -> Seating {
        Seating { source: GameArena::<Backgammon>::default().shipped().expect("it comes with one"), plies: 0 }
    }

    #[test]
    fn a_game_is_shown_with_the_luck_that_its_record_measured_and_a_best_play_that_lost_nothing() {
        let (arena, player) = (GameArena::<Backgammon>::default(), shipped());
        let series = Series {
            kind: SeriesKind::SelfPlay.into(),
            seed: 3,
            luck: LuckMode::LuckTotal.into(),
            luck_bound: f64::INFINITY,
            ..Series::default()
        };
        for number in [0, 1] {
            let mut table = arena.table(&series, [&player, &player]).expect("a table");
            let record = table.play(number).expect("a game");
            let mut viewer = arena.viewer(Some(&player)).expect("a viewer");
            let shown = viewer.game(&record, ["one", "two"]).expect("shown");
            assert_eq!(shown.plies.len(), record.rolls.len());
            assert_eq!(i32::from(shown.payoff), record.payoff);
            let of = |ply: &super::ShownPly| f64::from(ply.luck.expect("judged"));
            let luck: f64 =
                shown.plies.iter().map(|ply| if ply.seat == 0 { of(ply) } else { -of(ply) }).sum();
            assert!((luck - record.total_luck).abs() < 1e-4, "{luck} and {}", record.total_luck);
            for ply in &shown.plies {
                assert_eq!((ply.rank, ply.loss), (Some(1), Some(0.0)), "it plays what it judges best");
                assert_eq!(ply.best[0].play, ply.play);
                assert!(ply.best.len() <= super::BEST_SHOWN && ply.best.len() <= ply.legal);
            }
            let file = shown.file.expect("a .mat file");
            assert_eq!(file.ending, "mat");
            assert!(file.text.contains("one : 0") && file.text.contains("Wins"), "{}", file.text);
        }
    }

    #[test]
    fn a_position_is_studied_for_every_roll_or_for_one_and_with_or_without_a_player() {
        let (arena, player) = (GameArena::<Backgammon>::default(), shipped());
        let mut viewer = arena.viewer(Some(&player)).expect("a viewer");
        let all = viewer.position("4HPwATDgc/ABMA", "").expect("the start");
        assert_eq!(all.rolls.len(), 21);
        assert!((all.rolls.iter().map(|roll| roll.probability).sum::<f64>() - 1.0).abs() < 1e-9);
        let luck: f64 =
            all.rolls.iter().map(|roll| roll.probability * f64::from(roll.luck.expect("judged"))).sum();
        assert!(luck.abs() < 1e-6, "luck is zero in the mean: {luck}");
        let one = viewer.position(&all.notations[0].text, "31").expect("by its XGID");
        assert_eq!((one.rolls.len(), one.rolls[0].plays[0].play.as_str()), (1, "8/5 6/5"));
        let inputs = one.inputs.expect("a network reads it");
        assert_eq!((inputs.class, inputs.indices.len()), ("contact", inputs.values.len()));
        assert!(inputs.indices.iter().all(|&index| usize::from(index) < inputs.width));
        assert_eq!(one.labels.len(), one.judgement.expect("judged").probabilities.len());
        assert!(viewer.position("4HPwATDgc/ABMA", "70").is_err());

        let mut rules = arena.viewer(None).expect("by the rules");
        let rolled = rules.position("4HPwATDgc/ABMA", "31").expect("listed");
        assert_eq!((rolled.rolls[0].luck, rolled.judgement), (None, None));
        assert!(rolled.rolls[0].legal > super::BEST_SHOWN && rolled.rolls[0].plays[0].equity.is_none());
    }

    #[test]
    fn a_game_without_dice_is_shown_by_the_rules() {
        let arena = GameArena::<Othello>::default();
        let random = Seating { source: Source::Baseline("random".into()), plies: 0 };
        let series = Series { kind: SeriesKind::SelfPlay.into(), ..Series::default() };
        let record = arena.table(&series, [&random, &random]).expect("a table").play(1).expect("a game");
        let shown = arena.viewer(None).expect("a viewer").game(&record, ["a", "b"]).expect("shown");
        assert_eq!(shown.plies[0].seat, 1);
        assert!(
            shown.plies.iter().all(|ply| ply.roll.is_empty() && ply.luck.is_none() && ply.best.is_empty())
        );
    }
}
