//! Rollouts: positions of a game judged by playing them on many times over.
//!
//! A trial plays a position on with the series' player, to a horizon or to the end, and takes the luck of every roll out
//! of what comes of it. The mean over trials is a label: what the position is worth when this player plays on. Taking luck
//! out has no bias whatever the evaluator (see [`crate::luck`]), so with the horizon at the end a label errs only by its
//! few trials; with a nearer one it leans on the evaluator's judgement so many plies later. A single trial to a horizon of
//! one ply is exactly what looking one ply ahead gives, unless the evaluator measures luck by a shortlist: then it is so but
//! for the plays that the shortlist misses.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use ludus_games::{Chances, Game, Luck, Plays};
use ludus_proto::v1::{GameRecord, Label, Rollout, Series};
use rand_chacha::ChaCha8Rng;

use crate::arena::PlayError;
use crate::dice;
use crate::luck::{Fan, average};
use crate::player::{Evaluator, Player};
use crate::rivals::{at_sight, near_best};
use crate::table::MAX_PLIES;

/// Rolls out the positions of one series' games. It keeps its memory from game to game, and nothing else.
pub struct Rollouts<G: Game> {
    game: G,
    series: Series,
    settings: Rollout,
    /// The rolls of the position at hand: all its trials begin there.
    opening: Fan<G>,
    /// The play made of each of those rolls, once a trial began with it, and the rolls of the position after it, once a
    /// trial came there.
    replies: Vec<Option<usize>>,
    answers: Vec<Fan<G>>,
    /// The rolls of a position further on.
    further: Fan<G>,
    /// Luck of the rolls of the trial at hand, each for the side that rolled.
    luck: Vec<Luck<G::Chances>>,
    plays: Plays<G>,
    judged: Vec<G::Chances>,
}

/// What rolling out gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<C> {
    /// Mean over the trials, for the side to act. Each number is right on average and within [`LABEL_RANGE`], but not always a
    /// possible chance, nor in order.
    pub chances: C,
    /// Standard error of the mean of the points, from the scatter of the trials; 0 for a single trial. It says nothing of
    /// how far the judgement at a horizon is off.
    pub error: f32,
}

/// Where the numbers of a label lie. What is left of a trial when its luck is taken out rarely is a possible chance; with a few
/// trials their mean is not, either. To make it one would pull every small chance away from 0, and each label of a rare gammon
/// would be too high. So only what is beyond all measure is cut off, that a record can be checked.
pub const LABEL_RANGE: RangeInclusive<f32> = -1.0..=2.0;

/// The mean of trials and its error, trial by trial.
#[derive(Clone, Debug, Default)]
struct Mean<C> {
    trials: Vec<C>,
}

impl<C: Chances> Mean<C> {
    fn add(&mut self, trial: C) {
        self.trials.push(trial);
    }

    fn estimate(&self) -> Estimate<C> {
        let count = self.trials.len() as f64;
        let shares = vec![1.0 / count; self.trials.len()];
        let points = || self.trials.iter().map(|trial| f64::from(trial.points()));
        let middle = points().sum::<f64>() / count;
        let spread: f64 = points().map(|points| (points - middle) * (points - middle)).sum();
        let error = if count > 1.0 { (spread / (count - 1.0) / count).sqrt() } else { 0.0 };
        let mut chances = average(&shares, self.trials.iter().copied());
        for chance in chances.as_mut() {
            *chance = chance.clamp(*LABEL_RANGE.start(), *LABEL_RANGE.end());
        }
        Estimate { chances, error: error as f32 }
    }
}

impl<G: Game> Rollouts<G> {
    /// Rollouts for the games of `series`, with its settings.
    pub fn new(game: G, series: &Series, settings: Rollout) -> Self {
        Rollouts {
            game,
            series: *series,
            settings,
            opening: Fan::default(),
            replies: Vec::new(),
            answers: Vec::new(),
            further: Fan::default(),
            luck: Vec::new(),
            plays: Plays::new(),
            judged: Vec::new(),
        }
    }

    /// The labels of a finished game. `states` are its positions before each roll and the finished one, `player` plays the
    /// trials and must have an evaluator.
    pub fn labels(
        &mut self,
        player: &mut dyn Player<G>,
        record: &GameRecord,
        states: &[G::State],
    ) -> Result<Vec<Label>, PlayError> {
        let mut drawn = Vec::new();
        let mut pools = self.pools(player, record, states)?;
        let mut rng = dice::drawn_of(&self.series, record.number);
        while drawn.len() < self.settings.positions as usize && !pools.is_empty() {
            let class = if pools.len() > 1 { dice::below(&mut rng, pools.len()) } else { 0 };
            let pool = &mut pools[class];
            let ply = pool.swap_remove(dice::below(&mut rng, pool.len()));
            if pool.is_empty() {
                pools.remove(class);
            }
            let plays = self.contenders(player, record, states, ply)?;
            if !plays.is_empty() {
                drawn.push((ply, plays));
            }
        }
        drawn.sort_unstable();

        let mut labels = Vec::new();
        for (ply, contenders) in drawn {
            for play in contenders {
                let after = if play == record.plays[ply] as usize {
                    states[ply + 1].clone()
                } else {
                    self.list(record, states, ply);
                    self.plays.after[play].clone()
                };
                let estimate = self.roll_out(player, &after, record.number, ply)?;
                labels.push(Label {
                    ply: ply as u32,
                    play: play as u32,
                    chances: estimate.chances.as_ref().to_vec(),
                    error: estimate.error,
                    trials: self.settings.trials,
                });
            }
        }
        Ok(labels)
    }

    /// The plies to draw from: lists that are equally likely, none of them empty.
    fn pools(
        &self,
        player: &mut dyn Player<G>,
        record: &GameRecord,
        states: &[G::State],
    ) -> Result<Vec<Vec<usize>>, PlayError> {
        // Every ply whose position after it is not finished: all but the last.
        let plies = 0..record.plays.len().saturating_sub(1);
        if !self.settings.balanced {
            return Ok(if plies.is_empty() { Vec::new() } else { vec![plies.collect()] });
        }
        let evaluator = evaluator(player, record.number)?;
        let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for ply in plies {
            classes.entry(evaluator.class(&states[ply + 1])).or_default().push(ply);
        }
        Ok(classes.into_values().collect())
    }

    /// Fills `plays` with those of a ply.
    fn list(&mut self, record: &GameRecord, states: &[G::State], ply: usize) {
        let (roll, _) = self.game.rolls(&states[ply], ply)[usize::from(record.rolls[ply])];
        self.game.plays(&states[ply], roll, &mut self.plays);
    }

    /// The plays of a ply to roll out, ascending; none when the ply is not to be drawn.
    fn contenders(
        &mut self,
        player: &mut dyn Player<G>,
        record: &GameRecord,
        states: &[G::State],
        ply: usize,
    ) -> Result<Vec<usize>, PlayError> {
        let number = record.number;
        let evaluator = evaluator(player, number)?;
        if evaluator.knows(&states[ply + 1]) {
            return Ok(Vec::new());
        }
        let made = record.plays[ply] as usize;
        if self.settings.margin == 0.0 {
            return Ok(vec![made]);
        }
        self.list(record, states, ply);
        at_sight(evaluator, &self.plays, &mut self.judged, (number, ply))?;
        let mut rivals = near_best(&self.judged, self.settings.margin, (number, ply))?;
        rivals.retain(|&play| self.game.payoff(&self.plays.after[play]).is_none());
        if self.settings.decisions && rivals.len() < 2 {
            return Ok(Vec::new());
        }
        let kept = self.settings.plays as usize;
        rivals.truncate(kept);
        if !rivals.contains(&made) {
            // Drawn at random: it takes the place of the last.
            rivals.truncate(kept - 1);
            rivals.push(made);
        }
        rivals.sort_unstable();
        Ok(rivals)
    }

    /// Rolls out a position that is not finished, which a play at `ply` of game `number` leads to.
    fn roll_out(
        &mut self,
        player: &mut dyn Player<G>,
        position: &G::State,
        number: u64,
        ply: usize,
    ) -> Result<Estimate<G::Chances>, PlayError> {
        let evaluator = evaluator(player, number)?;
        if evaluator.knows(position) {
            return Ok(Estimate { chances: judge_one(evaluator, position, &mut self.judged), error: 0.0 });
        }
        self.opening.close();
        let rolls = self.game.rolls(position, ply + 1).len();
        self.replies.clear();
        self.replies.resize(rolls, None);
        self.answers.resize_with(rolls, Fan::default);
        self.answers.iter_mut().for_each(Fan::close);
        let mut choices = dice::trial_choices_of(&self.series, number, ply as u32);
        let mut mean = Mean::default();
        for trial in 0..self.settings.trials {
            let mut dice = dice::trial_of(&self.series, number, ply as u32, trial);
            let outcome = self.trial(player, position, (number, ply), &mut dice, &mut choices)?;
            if let Some(trouble) = player.trouble() {
                return Err(PlayError::Outside { number, ply: ply + 1, trouble });
            }
            if outcome.as_ref().iter().any(|chance| !chance.is_finite()) {
                return Err(PlayError::NotFinite { number, ply: ply + 1 });
            }
            mean.add(outcome);
        }
        Ok(mean.estimate())
    }

    /// Plays on once from `position`, which a play at `ply` led to, and gives what comes of it without the luck of the
    /// rolls.
    fn trial(
        &mut self,
        player: &mut dyn Player<G>,
        position: &G::State,
        (number, ply): (u64, usize),
        dice: &mut ChaCha8Rng,
        choices: &mut ChaCha8Rng,
    ) -> Result<G::Chances, PlayError> {
        let Rollouts { game, settings, opening, replies, answers, further, luck, judged: alone, .. } = self;
        luck.clear();
        let mut state = position.clone();
        // The first roll: trials that begin with the same one go on from the same position.
        let mut first = 0;
        for depth in 0..MAX_PLIES {
            let rolls = game.rolls(&state, ply + 1 + depth);
            let thrown = dice::throw(dice, rolls);
            let fan = match depth {
                0 => &mut *opening,
                1 => &mut answers[first],
                _ => {
                    further.close();
                    &mut *further
                }
            };
            if !fan.is_open() {
                fan.measure(*game, &state, rolls, evaluator(player, number)?);
            }
            luck.push(fan.luck(thrown));

            let (plays, judged) = (fan.plays(thrown), fan.judged(thrown));
            let mut choose = || match plays.len() {
                1 => 0,
                _ => match judged {
                    Some(judged) => player.choose_judged(&state, rolls[thrown].0, plays, judged, choices),
                    None => player.choose(&state, rolls[thrown].0, plays, choices),
                },
            };
            let play = if depth == 0 {
                first = thrown;
                *replies[first].get_or_insert_with(choose)
            } else {
                choose()
            };
            state.clone_from(&plays.after[play]);
            let end = if let Some(points) = game.payoff(&state) {
                Some(G::Chances::from_payoff(points))
            } else if depth + 1 == settings.horizon as usize || evaluator(player, number)?.knows(&state) {
                Some(match judged {
                    Some(judged) => judged[play],
                    None => judge_one(evaluator(player, number)?, &state, alone),
                })
            } else {
                None
            };
            if let Some(end) = end {
                let without = |after: G::Chances, luck: &Luck<_>| Luck::between(&after.flipped(), &luck.0).0;
                return Ok(luck.iter().rev().fold(end, without));
            }
        }
        Err(PlayError::TooLong { number, plies: MAX_PLIES })
    }
}

/// The judgement of one position; `memory` is overwritten.
fn judge_one<G: Game>(
    evaluator: &mut dyn Evaluator<G>,
    position: &G::State,
    memory: &mut Vec<G::Chances>,
) -> G::Chances {
    evaluator.judge(std::slice::from_ref(position), memory);
    memory[0]
}

/// The evaluator of the player that plays the trials.
fn evaluator<G: Game>(player: &mut dyn Player<G>, number: u64) -> Result<&mut dyn Evaluator<G>, PlayError> {
    player.evaluator().ok_or(PlayError::NoEvaluator { number })
}

#[cfg(test)]
mod tests;
