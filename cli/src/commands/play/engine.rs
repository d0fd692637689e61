//! What decides in `ludus play`: a player with its judgement, if it has one.

use anyhow::Result;
use ludus_games::backgammon::{BackgammonChances, Dice, OFF, Play, Position};
use ludus_games::{Backgammon, Chances, Game, Plays};
use ludus_players::arena::Seating;
use ludus_players::dice;
use ludus_players::game_arena::GameArena;
use ludus_players::player::{Evaluator, Player};
use ludus_players::search::Lookahead;

use super::cube;

/// A player at work.
pub struct Engine {
    player: Box<dyn Player<Backgammon>>,
    /// What it thinks of positions, for players that think.
    judge: Option<Lookahead<Backgammon>>,
    /// Plies that it looks ahead.
    plies: u32,
    seed: u64,
    /// Decisions made so far: players that play at random draw from another stream each time.
    decisions: u64,
    plays: Plays<Backgammon>,
    judged: Vec<BackgammonChances>,
}

/// A legal play with what it is worth to the mover.
pub struct Rated {
    /// The play.
    pub play: Play,
    /// Expected points, cubeless.
    pub points: f32,
}

impl Engine {
    /// The player of a seating.
    pub fn new(arena: &GameArena<Backgammon>, seating: &Seating, seed: u64) -> Result<Self> {
        let (player, judge) = (arena.player(seating)?, arena.evaluator(seating)?);
        let plies = seating.plies;
        Ok(Engine { player, judge, plies, seed, decisions: 0, plays: Plays::new(), judged: Vec::new() })
    }

    /// Plies that it looks ahead.
    pub fn plies(&self) -> u32 {
        self.plies
    }

    /// Its play of a roll, without steps when there is none, and the position it leads to, seen by the opponent. The game
    /// must not be over.
    pub fn choose(&mut self, state: &Position, roll: Dice) -> Result<(Play, Position)> {
        Backgammon.plays(state, roll, &mut self.plays);
        self.decisions += 1;
        let chosen = match self.plays.len() {
            1 => 0,
            _ => {
                let mut rng = dice::decisions(self.seed, self.decisions);
                self.player.choose(state, roll, &self.plays, &mut rng)
            }
        };
        self.player.trouble().map_or(Ok(()), Err)?;
        Ok((self.plays.moves[chosen], self.plays.after[chosen]))
    }

    /// All plays of a roll, best first; `None` for a player that judges no positions.
    pub fn rated(&mut self, state: &Position, roll: Dice) -> Result<Option<Vec<Rated>>> {
        let Some(judge) = &mut self.judge else { return Ok(None) };
        Backgammon.plays(state, roll, &mut self.plays);
        judge.judge(&self.plays.after, &mut self.judged);
        judge.trouble().map_or(Ok(()), Err)?;
        let worth = self.plays.moves.iter().zip(&self.judged);
        let mut rated: Vec<Rated> =
            worth.map(|(&play, after)| Rated { play, points: after.flipped().points() }).collect();
        rated.sort_by(|a, b| b.points.total_cmp(&a.points));
        Ok(Some(rated))
    }

    /// The chances of the side on roll; `None` for a player that judges no positions.
    pub fn chances(&mut self, position: &Position) -> Result<Option<BackgammonChances>> {
        let Some(judge) = &mut self.judge else { return Ok(None) };
        judge.judge(&[*position], &mut self.judged);
        judge.trouble().map_or(Ok(()), Err)?;
        Ok(self.judged.first().copied())
    }

    /// Whether it takes a double of the side on roll.
    pub fn takes(&mut self, position: &Position) -> Result<bool> {
        Ok(self.chances(position)?.is_none_or(|doubler| cube::is_a_take(&doubler.flipped())))
    }
}

/// A play for programs: each step on its own, without stars, as in `24/18 13/12` or `bar/22 6/off`; empty when there is
/// none.
pub fn steps(play: &Play) -> String {
    let steps = play.steps().iter().map(|step| {
        let from = if step.from == 24 { "bar".to_owned() } else { (step.from + 1).to_string() };
        let to = if step.to == OFF { "off".to_owned() } else { (step.to + 1).to_string() };
        format!("{from}/{to}")
    });
    steps.collect::<Vec<_>>().join(" ")
}
