//! Lessons: what a finished game teaches about the positions it went through.
//!
//! A lesson is a position before its roll, seen by the side to act, with the chances to learn for it. They are
//! TD(lambda) returns, in which the luck of the dice is taken out where the record says how much there was.

use std::sync::Arc;

use ludus_games::{Chances, Game, Luck, NotationError};
use ludus_proto::v1::GameRecord;

use crate::arena::{ArenaError, Violation};
use crate::input_set::{InputSet, Inputs};
use crate::luck::recorded_luck;
use crate::player::Evaluator;
use crate::record::{Replay, labelled_positions, seat_at};
use crate::weight_file::{Shape, WeightFile};

/// Lessons for the network of one position class, packed: thousands of positions without an allocation each.
#[derive(Clone, Debug, PartialEq)]
pub struct Lessons {
    /// Numbers in a target.
    outputs: usize,
    /// Where the inputs of each position start; one more than there are positions.
    starts: Vec<u32>,
    indices: Vec<u16>,
    values: Vec<f32>,
    /// `[positions, outputs]`, row-major.
    targets: Vec<f32>,
}

impl Lessons {
    /// No lessons yet, for networks with so many outputs.
    pub fn new(outputs: usize) -> Self {
        Lessons { outputs, starts: vec![0], indices: Vec::new(), values: Vec::new(), targets: Vec::new() }
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all lessons and keeps the memory.
    pub fn clear(&mut self) {
        self.starts.truncate(1);
        self.indices.clear();
        self.values.clear();
        self.targets.clear();
    }

    /// Adds a position. `target` has as many numbers as the network has outputs; they are near `[0, 1]`, and with luck
    /// taken out they may lie a little outside.
    pub fn push(&mut self, inputs: &Inputs, target: &[f32]) {
        assert_eq!(target.len(), self.outputs, "a target has a number for every output");
        self.indices.extend_from_slice(&inputs.indices);
        self.values.extend_from_slice(&inputs.values);
        self.starts.push(self.indices.len() as u32);
        self.targets.extend_from_slice(target);
    }

    /// The non-zero inputs of a position: their indices, ascending, and their values.
    pub fn inputs(&self, position: usize) -> (&[u16], &[f32]) {
        let range = self.starts[position] as usize..self.starts[position + 1] as usize;
        (&self.indices[range.clone()], &self.values[range])
    }

    /// What to learn for a position.
    pub fn target(&self, position: usize) -> &[f32] {
        &self.targets[position * self.outputs..(position + 1) * self.outputs]
    }
}

/// The TD(lambda) return of every position of a game, with luck as control variate.
///
/// `values[t]` is the networks' judgement of position `t` for the side to act there, `result` the exact chances of the
/// finished position for the side that would act next, `luck[t]` the luck of roll `t` for the side that rolled (empty:
/// none is taken out), `cuts` the plies, ascending, where returns end. Replaces the content of `returns` by, for the side
/// to act at `t`,
///
/// `G(t) = (1 - lambda) flip(V(t+1)) + lambda flip(G(t+1)) - luck(t)`,
///
/// where `G` of the finished position is its result. With lambda 0 each position learns from the next one's judgement,
/// with lambda 1 from the outcome without all the luck still to come. Luck has mean zero whatever evaluator measured
/// it, as long as its expectation runs over all rolls, so taking it out removes noise and adds no bias.
///
/// What follows a random play says nothing about the value of the position before it, and what follows a position whose
/// chances are known says nothing new. Both are cuts: there the return is `None`, and earlier positions learn from that
/// position's judgement.
pub fn returns<C: Chances>(
    values: &[C],
    result: C,
    luck: &[Luck<C>],
    cuts: &[u32],
    lambda: f32,
    returns: &mut Vec<Option<C>>,
) {
    returns.clear();
    returns.resize(values.len(), None);
    let mut cuts = cuts.iter().rev().peekable();
    // What position t + 1 is judged to be, and its return; both for the side to act there.
    let (mut next_value, mut next_return) = (result, result);
    for (ply, value) in values.iter().enumerate().rev() {
        if cuts.next_if(|&&cut| cut as usize == ply).is_some() {
            (next_value, next_return) = (*value, *value);
            continue;
        }
        let mut target = mixed(&next_value.flipped(), &next_return.flipped(), lambda);
        if let Some(luck) = luck.get(ply) {
            for (target, luck) in target.as_mut().iter_mut().zip(luck.0.as_ref()) {
                *target -= luck;
            }
        }
        returns[ply] = Some(target);
        (next_value, next_return) = (*value, target);
    }
}

/// `(1 - weight) a + weight b`, number by number.
fn mixed<C: Chances>(a: &C, b: &C, weight: f32) -> C {
    let mut mixed = *a;
    for (a, b) in mixed.as_mut().iter_mut().zip(b.as_ref()) {
        *a = (1.0 - weight) * *a + weight * b;
    }
    mixed
}

/// Turns finished games into lessons, for networks that read one input set.
pub trait Teacher: Send {
    /// Takes the networks whose judgement later lessons lean on.
    fn follow(&mut self, weights: &WeightFile) -> Result<(), ArenaError>;
    /// Replays a game by the rules and adds a lesson for each of its positions to the list of the position's class, unless
    /// a random play or known chances leave nothing to learn there; see [`returns`]. A record that cannot be replayed adds
    /// nothing.
    fn teach(&mut self, record: &GameRecord, lambda: f32, lessons: &mut [Lessons]) -> Result<(), Violation>;
    /// The same for a game in which the luck of every roll was measured: without it a return says nearly what a rollout would,
    /// so it is handed over as a label, to be learnt as such; in order, for all positions but the first of the game, where no
    /// play led to. Small networks, which learn no labels, get theirs as lessons.
    fn returns(
        &mut self,
        record: &GameRecord,
        lambda: f32,
        lessons: &mut [Lessons],
        collect: &mut dyn FnMut(LabelLesson<'_>),
    ) -> Result<(), Violation>;
    /// Replays a game by the rules and hands over each of its labels, in order, with the position it is about. A record that
    /// cannot be replayed hands over nothing.
    fn labels(
        &mut self,
        record: &GameRecord,
        collect: &mut dyn FnMut(LabelLesson<'_>),
    ) -> Result<(), Violation>;
    /// The class and the inputs of a position in the game's notation, such as that of a [`LabelLesson`]; `None` when no
    /// network has to learn it.
    fn recall(&mut self, position: &str) -> Result<Option<(usize, &Inputs)>, NotationError>;
    /// Names of the game's chances, in the order of a target.
    fn chances(&self) -> &'static [&'static str];
}

/// A position that was rolled out, and what there is to learn about it.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelLesson<'a> {
    /// The ply whose play led to the position.
    pub ply: u32,
    /// Index of that play among those of the ply.
    pub play: u32,
    /// The position before the roll, seen by the side to act, in the game's main notation.
    pub position: String,
    /// Its class, an index into the classes of the input set.
    pub class: usize,
    /// Its inputs for the network of its class; `None` when the input set knows the position, so that no network has to
    /// learn it.
    pub inputs: Option<&'a Inputs>,
    /// Its chances, as many as the network has outputs.
    pub target: &'a [f32],
    /// Standard error of the points of `target`.
    pub error: f32,
    /// Trials behind it.
    pub trials: u32,
}

/// The networks that read an input set, one for each position class, if each has so many hidden units, unless the input set
/// says otherwise.
pub fn shapes<G: Game>(inputs: &dyn InputSet<G>, hidden: usize) -> Vec<Shape> {
    let classes = inputs.classes().iter().enumerate();
    classes
        .map(|(class, name)| Shape {
            class: (*name).to_owned(),
            inputs: inputs.width(class),
            hidden: inputs.hidden(class).unwrap_or(hidden),
            outputs: G::Chances::LEN,
        })
        .collect()
}

/// Makes the evaluator of a game's networks.
pub type Judges<G> = Box<dyn Fn(&WeightFile) -> Result<Box<dyn Evaluator<G>>, ArenaError> + Send>;

/// The [`Teacher`] of any game.
pub struct GameTeacher<G: Game> {
    game: G,
    inputs: Arc<dyn InputSet<G>>,
    judges: Judges<G>,
    evaluator: Box<dyn Evaluator<G>>,
    // Kept from game to game, so that none allocates.
    states: Vec<G::State>,
    values: Vec<G::Chances>,
    luck: Vec<Luck<G::Chances>>,
    cuts: Vec<u32>,
    returns: Vec<Option<G::Chances>>,
    active: Inputs,
}

impl<G: Game> GameTeacher<G> {
    /// A teacher for networks that read `inputs` and that `judges` makes evaluators of. Its lessons lean on `weights`
    /// at first.
    pub fn new(
        game: G,
        inputs: Arc<dyn InputSet<G>>,
        judges: Judges<G>,
        weights: &WeightFile,
    ) -> Result<Self, ArenaError> {
        Ok(GameTeacher {
            game,
            inputs,
            evaluator: judges(weights)?,
            judges,
            states: Vec::new(),
            values: Vec::new(),
            luck: Vec::new(),
            cuts: Vec::new(),
            returns: Vec::new(),
            active: Inputs::default(),
        })
    }

    /// Replays the record into `states`, every position before its roll, and gives the chances of the finished one.
    fn replay(&mut self, record: &GameRecord) -> Result<G::Chances, Violation> {
        self.states.clear();
        let mut replay = Replay::new(self.game, record);
        while let Some(ply) = replay.next_ply()? {
            self.states.push(ply.state.clone());
        }
        // The payoff is seat 0's; the result is wanted for the side that would act next.
        let payoff = replay.payoff().unwrap_or_default();
        let seat = seat_at(record.number, replay.plies());
        Ok(G::Chances::from_payoff(if seat == 0 { payoff } else { -payoff }))
    }

    /// Replays the record into `states` and `returns`.
    fn find_returns(&mut self, record: &GameRecord, lambda: f32) -> Result<(), Violation> {
        let result = self.replay(record)?;
        self.evaluator.judge(&self.states, &mut self.values);
        self.luck.clear();
        self.luck.extend(recorded_luck::<G::Chances>(record));
        self.cut(record);
        returns(&self.values, result, &self.luck, &self.cuts, lambda, &mut self.returns);
        Ok(())
    }

    /// Cuts the returns at random plays and at positions the input set knows, whose judgement becomes exact. No network
    /// is asked about those, so none has to learn them.
    fn cut(&mut self, record: &GameRecord) {
        self.cuts.clear();
        let mut random_plays = record.explored.iter().peekable();
        for (ply, (state, value)) in (0..).zip(self.states.iter().zip(&mut self.values)) {
            let random = random_plays.next_if_eq(&&ply).is_some();
            let known = self.inputs.known(state);
            if random || known.is_some() {
                self.cuts.push(ply);
            }
            *value = known.unwrap_or(*value);
        }
    }
}

impl<G: Game> Teacher for GameTeacher<G> {
    fn follow(&mut self, weights: &WeightFile) -> Result<(), ArenaError> {
        self.evaluator = (self.judges)(weights)?;
        Ok(())
    }

    fn teach(&mut self, record: &GameRecord, lambda: f32, lessons: &mut [Lessons]) -> Result<(), Violation> {
        self.find_returns(record, lambda)?;
        // Where the first roll has a law of its own, such as no doubles, the first position's return is about that law; its
        // judgement is about any other ply, as everywhere.
        let start = &self.states[0];
        let first = usize::from(self.game.rolls(start, 0) != self.game.rolls(start, 1));
        for (state, target) in self.states.iter().zip(&self.returns).skip(first) {
            if let (Some(target), Some(class)) = (target, self.inputs.class(state)) {
                for class in [Some(class), self.inputs.pruning(class)].into_iter().flatten() {
                    self.inputs.write(class, state, &mut self.active);
                    lessons[class].push(&self.active, target.as_ref());
                }
            }
        }
        Ok(())
    }

    fn returns(
        &mut self,
        record: &GameRecord,
        lambda: f32,
        lessons: &mut [Lessons],
        collect: &mut dyn FnMut(LabelLesson<'_>),
    ) -> Result<(), Violation> {
        self.find_returns(record, lambda)?;
        let after = self.states.iter().zip(&self.returns).skip(1);
        for ((ply, play), (state, target)) in (0..).zip(&record.plays).zip(after) {
            let (Some(target), Some(class)) = (target, self.inputs.class(state)) else { continue };
            if let Some(small) = self.inputs.pruning(class) {
                self.inputs.write(small, state, &mut self.active);
                lessons[small].push(&self.active, target.as_ref());
            }
            self.inputs.write(class, state, &mut self.active);
            collect(LabelLesson {
                ply,
                play: *play,
                position: self.game.write_position(state),
                class,
                // What is known has no return.
                inputs: Some(&self.active),
                target: target.as_ref(),
                error: 0.0,
                trials: 1,
            });
        }
        Ok(())
    }

    fn labels(
        &mut self,
        record: &GameRecord,
        collect: &mut dyn FnMut(LabelLesson<'_>),
    ) -> Result<(), Violation> {
        labelled_positions(self.game, record, &mut self.states)?;
        for (label, state) in record.labels.iter().zip(&self.states) {
            // Every position that is not finished has a class.
            let Some(class) = self.inputs.class(state) else { continue };
            let known = self.inputs.known(state).is_some();
            if !known {
                self.inputs.write(class, state, &mut self.active);
            }
            collect(LabelLesson {
                ply: label.ply,
                play: label.play,
                position: self.game.write_position(state),
                class,
                inputs: (!known).then_some(&self.active),
                target: &label.chances,
                error: label.error,
                trials: label.trials,
            });
        }
        Ok(())
    }

    fn recall(&mut self, position: &str) -> Result<Option<(usize, &Inputs)>, NotationError> {
        let state = self.game.read_position(position)?;
        let unknown = self.inputs.known(&state).is_none();
        let Some(class) = self.inputs.class(&state).filter(|_| unknown) else { return Ok(None) };
        self.inputs.write(class, &state, &mut self.active);
        Ok(Some((class, &self.active)))
    }

    fn chances(&self) -> &'static [&'static str] {
        G::Chances::LABELS
    }
}

#[cfg(test)]
mod tests;
