//! Looking at positions: what `ludus moves` and `ludus evaluate` show.

use ludus_games::{Chances, Game, NotationError, Plays};
use serde::Serialize;

use crate::arena::ArenaError;
use crate::player::Evaluator;
use crate::search::Lookahead;

/// Answers questions about positions, in text. Positions may be in any of the game's notations.
pub trait Analyst: Send {
    /// A short name for each probability of a [`Judgement`], in order.
    fn labels(&self) -> &'static [&'static str];

    /// All legal plays of a roll. With a player they come with its equities, best first.
    fn moves(&mut self, position: &str, roll: &str) -> Result<MoveList, ArenaError>;

    /// Judges positions before the roll: for the side on roll, or with `after` for the side that has just moved.
    fn evaluate(&mut self, positions: &[&str], after: bool) -> Result<Vec<Judgement>, ArenaError>;
}

/// The legal plays of a roll.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MoveList {
    /// The position, in the game's main notation.
    pub position: String,
    /// The roll.
    pub dice: String,
    /// The plays.
    pub plays: Vec<ListedPlay>,
}

/// One play of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedPlay {
    /// The play as people write it.
    #[serde(rename = "move")]
    pub play: String,
    /// The position it leads to, seen by the opponent, who is then on roll.
    pub position: String,
    /// Expected points for the mover; only when a player was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equity: Option<f32>,
}

/// A judged position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The position, in the game's main notation.
    pub position: String,
    /// The probabilities, named by [`Analyst::labels`]; for backgammon win, win gammon, win backgammon, lose gammon,
    /// lose backgammon.
    pub probabilities: Vec<f32>,
    /// Expected points.
    pub equity: f32,
}

/// The analyst of a game, with or without a player's evaluator.
pub struct GameAnalyst<G: Game> {
    game: G,
    evaluator: Option<Lookahead<G>>,
    plays: Plays<G>,
    judged: Vec<G::Chances>,
}

impl<G: Game> GameAnalyst<G> {
    /// An analyst that judges by `evaluator`, if there is one.
    pub fn new(game: G, evaluator: Option<Lookahead<G>>) -> Self {
        GameAnalyst { game, evaluator, plays: Plays::new(), judged: Vec::new() }
    }
}

impl<G: Game> Analyst for GameAnalyst<G> {
    fn labels(&self) -> &'static [&'static str] {
        G::Chances::LABELS
    }

    fn moves(&mut self, position: &str, roll: &str) -> Result<MoveList, ArenaError> {
        let game = self.game;
        let (state, roll) = (game.read_position(position)?, game.read_roll(roll)?);
        if game.payoff(&state).is_some() {
            return Err(NotationError::new(position, "position to play in", "the game is over").into());
        }
        game.plays(&state, roll, &mut self.plays);
        let mut plays: Vec<ListedPlay> = self
            .plays
            .moves
            .iter()
            .zip(&self.plays.after)
            .map(|(&play, after)| ListedPlay {
                play: game.write_move(&state, play),
                position: game.write_position(after),
                equity: None,
            })
            .collect();
        if let Some(evaluator) = &mut self.evaluator {
            evaluator.judge(&self.plays.after, &mut self.judged);
            evaluator.trouble().map_or(Ok(()), Err)?;
            for (play, chances) in plays.iter_mut().zip(&self.judged) {
                play.equity = Some(chances.flipped().points());
            }
            let equity = |play: &ListedPlay| play.equity.unwrap_or_default();
            plays.sort_by(|a, b| equity(b).total_cmp(&equity(a)));
        }
        Ok(MoveList { position: game.write_position(&state), dice: game.write_roll(roll), plays })
    }

    fn evaluate(&mut self, positions: &[&str], after: bool) -> Result<Vec<Judgement>, ArenaError> {
        let Some(evaluator) = &mut self.evaluator else {
            return Err(ArenaError::Settings("positions are judged by a player: name one".into()));
        };
        let states =
            positions.iter().map(|text| self.game.read_position(text)).collect::<Result<Vec<_>, _>>()?;
        evaluator.judge(&states, &mut self.judged);
        evaluator.trouble().map_or(Ok(()), Err)?;
        let judgements = states.iter().zip(&self.judged).map(|(state, chances)| {
            let chances = if after { chances.flipped() } else { *chances };
            Judgement {
                position: self.game.write_position(state),
                probabilities: chances.as_ref().to_vec(),
                equity: chances.points(),
            }
        });
        Ok(judgements.collect())
    }
}
