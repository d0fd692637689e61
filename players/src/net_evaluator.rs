//! Judging positions with networks.

use std::fmt;
use std::sync::Arc;

use ludus_games::{Chances, Game};

use crate::input_set::{InputSet, Inputs};
use crate::network::{Kernel, Network, Sums, Table};
use crate::player::Evaluator;
use crate::shortlist::smallest;
use crate::weight_file::{ClassWeights, WeightFile, WeightFileError, WeightProblem};

/// The evaluator of a weight file: finished positions and those the input set knows exactly, every other by the network of
/// its class, put in order and without results that can no longer happen. Clones share the networks, so that every thread
/// can have its own.
#[derive(Clone)]
pub struct NetEvaluator<G: Game> {
    game: G,
    inputs: Arc<dyn InputSet<G>>,
    /// One per class of the input set.
    networks: Arc<[Model]>,
    kernel: Kernel,
    /// What the positions of each class began with of late, the last first. Two, as plays that hit and plays that do not
    /// take turns.
    beginnings: Vec<[Beginning<G>; 2]>,
    /// What positions the kernel has taken up, and their class.
    waiting: Waiting,
    /// What the small networks make of the plays of a roll.
    guesses: Vec<G::Chances>,
    /// Their points.
    points: Vec<f32>,
    /// Positions computed since somebody asked.
    evaluated: u64,
}

/// Positions that are computed together at most: enough for the plays of most rolls, few enough for their hidden units to stay in
/// a near cache.
const TOGETHER: usize = 32;

/// Positions that the kernel has taken up and whose outputs are not computed yet.
#[derive(Clone, Default)]
struct Waiting {
    /// Their class.
    class: usize,
    /// Their places among the positions that are judged.
    places: Vec<usize>,
}

/// One class's weights, laid out to be computed.
enum Model {
    /// With a hidden layer.
    Layers(Network),
    /// Without.
    Table(Table),
}

impl Model {
    fn new(weights: &ClassWeights) -> Self {
        if weights.hidden > 0 {
            Model::Layers(Network::new(weights))
        } else {
            Model::Table(Table::new(weights))
        }
    }
}

/// How positions of a class begin.
#[derive(Clone)]
struct Beginning<G: Game> {
    /// One that begins like this; none in the beginning.
    state: Option<G::State>,
    /// The inputs of the latest one.
    inputs: Inputs,
    /// How many of them all have in common.
    shared: usize,
    /// What these add up to.
    sums: Sums,
}

impl<G: Game> Default for Beginning<G> {
    fn default() -> Self {
        Beginning { state: None, inputs: Inputs::default(), shared: 0, sums: Sums::default() }
    }
}

impl<G: Game> Beginning<G> {
    /// Whether `state`, of class `class`, begins like this.
    #[inline]
    fn is_of(&self, set: &dyn InputSet<G>, class: usize, state: &G::State) -> bool {
        self.state.as_ref().is_some_and(|own| set.begins_alike(class, own, state))
    }
}

impl<G: Game> NetEvaluator<G> {
    /// The evaluator of these weights, with the fastest kernel of this processor. `known` are the input sets of the game.
    ///
    /// Refuses weights of another game or other rules, weights for inputs that are not among `known`, and networks that
    /// do not fit the input set.
    pub fn new(
        game: G,
        weights: &WeightFile,
        known: &[Arc<dyn InputSet<G>>],
    ) -> Result<Self, WeightFileError> {
        let inputs = fitting(weights, known).map_err(|problem| problem.at(weights.card.label()))?;
        let networks: Arc<[Model]> = weights.networks.iter().map(Model::new).collect();
        let kernel = Kernel::best();
        let beginnings = networks.iter().map(|_| Default::default()).collect();
        Ok(NetEvaluator {
            game,
            inputs,
            networks,
            kernel,
            beginnings,
            waiting: Waiting::default(),
            guesses: Vec::new(),
            points: Vec::new(),
            evaluated: 0,
        })
    }

    /// The same evaluator with another kernel: slower, with the same results.
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// The input set of the networks.
    pub fn inputs(&self) -> &dyn InputSet<G> {
        &*self.inputs
    }

    /// Replaces the content of `chances` by the judgement of each position, by the networks of the classes that `judge` names
    /// for those of the positions. Stops at a position for which it names none.
    fn judge_by(
        &mut self,
        judge: fn(&dyn InputSet<G>, usize) -> Option<usize>,
        positions: &[G::State],
        chances: &mut Vec<G::Chances>,
    ) {
        chances.clear();
        for (place, state) in positions.iter().enumerate() {
            let mut judgement = match self.game.payoff(state) {
                Some(points) => Some(G::Chances::from_payoff(points)),
                None => self.inputs.known(state),
            };
            if judgement.is_none() {
                let Some(class) = judge(&*self.inputs, self.class(state)) else { break };
                if self.waiting.class != class || self.waiting.places.len() == TOGETHER {
                    self.finish(positions, chances);
                    self.waiting.class = class;
                }
                judgement = self.compute(class, state);
                if judgement.is_none() {
                    self.waiting.places.push(place);
                }
            }
            chances.push(judgement.unwrap_or_default());
        }
        self.finish(positions, chances);
    }

    /// Computes what the networks make of the positions that wait.
    fn finish(&mut self, positions: &[G::State], chances: &mut [G::Chances]) {
        let Waiting { class, ref mut places } = self.waiting;
        let Model::Layers(network) = &self.networks[class] else { return };
        if places.is_empty() {
            return;
        }
        let outputs = self.kernel.finish(network).chunks_exact(G::Chances::LEN);
        for (place, outputs) in places.drain(..).zip(outputs) {
            let mut found = G::Chances::default();
            found.as_mut().copy_from_slice(outputs);
            chances[place] = self.inputs.possible(class, &positions[place], found.ordered());
        }
    }

    fn class(&self, state: &G::State) -> usize {
        let Some(class) = self.inputs.class(state) else {
            unreachable!("{} gives no class to {state:?}, which is not finished", self.inputs.name());
        };
        class
    }

    /// What the network of `class` makes of a position, or `None` when the kernel has taken it up: [`NetEvaluator::finish`]
    /// then tells.
    fn compute(&mut self, class: usize, state: &G::State) -> Option<G::Chances> {
        self.evaluated += 1;
        let set = &*self.inputs;
        let [last, before] = &mut self.beginnings[class];
        match &self.networks[class] {
            Model::Table(table) => {
                let mut chances = G::Chances::default();
                set.write(class, state, &mut last.inputs);
                self.kernel.look_up(table, last.inputs.all(), chances.as_mut());
                Some(set.possible(class, state, chances.ordered()))
            }
            Model::Layers(network) => {
                let mut known = last.is_of(set, class, state);
                if !known {
                    std::mem::swap(last, before);
                    known = last.is_of(set, class, state);
                }
                if known {
                    last.inputs.truncate(last.shared);
                    set.write_rest(class, state, &mut last.inputs);
                } else {
                    set.write(class, state, &mut last.inputs);
                    let first = last.inputs.below(set.shared(class));
                    (last.state, last.shared) = (Some(state.clone()), first.indices.len());
                    self.kernel.start(network, first, &mut last.sums);
                }
                self.kernel.add(network, &last.sums, last.inputs.after(last.shared));
                None
            }
        }
    }
}

impl<G: Game> Evaluator<G> for NetEvaluator<G> {
    fn judge(&mut self, positions: &[G::State], chances: &mut Vec<G::Chances>) {
        self.judge_by(|_, class| Some(class), positions, chances);
    }

    fn shortlist(&mut self, after: &[G::State], most: usize, list: &mut Vec<usize>) {
        let mut guesses = std::mem::take(&mut self.guesses);
        guesses.clear();
        if after.len() > most {
            self.judge_by(|set, class| set.pruning(class), after, &mut guesses);
        }
        if guesses.len() == after.len() {
            self.points.clear();
            self.points.extend(guesses.iter().map(G::Chances::points));
            smallest(&self.points, most, list);
        } else {
            // Few plays, or positions for which there is no small network.
            list.clear();
            list.extend(0..after.len());
        }
        self.guesses = guesses;
    }

    fn knows(&self, position: &G::State) -> bool {
        self.inputs.known(position).is_some()
    }

    fn class(&self, position: &G::State) -> usize {
        NetEvaluator::class(self, position)
    }

    fn evaluated(&mut self) -> u64 {
        std::mem::take(&mut self.evaluated)
    }
}

impl<G: Game> fmt::Debug for NetEvaluator<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel = self.kernel.name();
        write!(f, "NetEvaluator({} networks on {}, {kernel})", self.networks.len(), self.inputs.name())
    }
}

/// The input set that the weights were made for, if they fit it and the game.
fn fitting<G: Game>(
    weights: &WeightFile,
    known: &[Arc<dyn InputSet<G>>],
) -> Result<Arc<dyn InputSet<G>>, WeightProblem> {
    let card = &weights.card;
    if card.game != G::NAME {
        return Err(WeightProblem::Game { found: card.game.clone(), expected: G::NAME.to_owned() });
    }
    if card.revision != G::REVISION {
        let (game, found) = (card.game.clone(), card.revision);
        return Err(WeightProblem::Revision { game, found, expected: G::REVISION });
    }
    let Some(inputs) = known.iter().find(|inputs| inputs.name() == card.inputs) else {
        let known = known.iter().map(|inputs| inputs.name()).collect::<Vec<_>>().join(", ");
        let (game, found) = (card.game.clone(), card.inputs.clone());
        return Err(WeightProblem::UnknownInputs { game, found, known });
    };
    weights.check()?;
    if !weights.networks.iter().map(|network| network.class.as_str()).eq(inputs.classes().iter().copied()) {
        let found: Vec<&str> = weights.networks.iter().map(|network| network.class.as_str()).collect();
        return Err(WeightProblem::Classes {
            inputs: inputs.name().to_owned(),
            found: found.join(", "),
            expected: inputs.classes().join(", "),
        });
    }
    for (class, network) in weights.networks.iter().enumerate() {
        for (what, found, expected) in
            [("inputs", network.inputs, inputs.width(class)), ("outputs", network.outputs, G::Chances::LEN)]
        {
            if found != expected {
                return Err(WeightProblem::Layer { class: network.class.clone(), what, found, expected });
            }
        }
    }
    Ok(Arc::clone(inputs))
}

#[cfg(test)]
mod tests;
