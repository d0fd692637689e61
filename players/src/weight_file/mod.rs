//! Weight files: the networks of a player, and what is known about where they come from.
//!
//! A weight file is a [safetensors](https://github.com/huggingface/safetensors) file. For each position class, such as
//! `contact`, it holds four tensors of floats of 32 bits, or of 16 where room is short: `contact.hidden.weight` `[hidden, inputs]`, `contact.hidden.bias`
//! `[hidden]`, `contact.output.weight` `[outputs, hidden]` and `contact.output.bias` `[outputs]`. A network without a
//! hidden layer has the last two alone, and its `output.weight` is `[outputs, inputs]`. The metadata map holds the [`Card`], the
//! `format_version` and the `architecture` as JSON. Equal weights and cards give equal bytes, whose sha256 ([`Digest`])
//! names the version.
//!
//! [`WeightFile::read`] refuses what is broken in itself; whether weights fit a game and its inputs is for
//! [`crate::net_evaluator`] to say, which knows the game.

mod describe;
mod digest;
mod format;
mod problem;
mod store;

use std::collections::BTreeMap;
use std::fmt;

use half::f16;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

pub use digest::{Digest, DigestError};
use format::Numbers;
pub use problem::{WeightFileError, WeightProblem};
pub use store::{check_target, save_bytes};

/// Longest file that is read, in bytes.
pub const MAX_BYTES: u64 = 256 << 20;
/// Largest size of a weight. Far above any useful one, and small enough that no sum of weighted inputs overflows.
pub const MAX_WEIGHT: f32 = 1e6;
/// Largest number of inputs: their indices are 16 bits wide.
pub const MAX_INPUTS: usize = 1 << 16;
/// Largest number of hidden units.
pub const MAX_HIDDEN: usize = 1 << 14;
/// Largest number of outputs: they are computed in one vector of 16.
pub const MAX_OUTPUTS: usize = 16;
/// Largest number of position classes.
pub const MAX_CLASSES: usize = 32;

/// The weights of a player, as read from a safetensors file and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightFile {
    /// What the file says about itself.
    pub card: Card,
    /// One network per position class, in the order of the input set's classes.
    pub networks: Vec<ClassWeights>,
}

/// The metadata of a weight file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    /// The game.
    pub game: String,
    /// Revision of the game's rules.
    pub revision: u32,
    /// Input set.
    pub inputs: String,
    /// Run that made it.
    pub run: String,
    /// Version number in the run, 0 for none.
    pub version: u64,
    /// sha256 of the version it was trained on from, in hex; empty for none.
    pub parent: String,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Training counters (games, positions, steps, ...).
    pub counters: BTreeMap<String, u64>,
}

/// The size of one position class's network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Position class.
    pub class: String,
    /// Number of inputs.
    pub inputs: usize,
    /// Number of hidden units; 0: there is no hidden layer, and the outputs read the inputs.
    pub hidden: usize,
    /// Number of outputs.
    pub outputs: usize,
}

/// One hidden layer of sigmoid units and a layer of sigmoid outputs, or these outputs alone.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassWeights {
    /// Position class.
    pub class: String,
    /// Number of inputs.
    pub inputs: usize,
    /// Number of hidden units; 0: there is no hidden layer, and the outputs read the inputs.
    pub hidden: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// `[hidden, inputs]`, row-major, as PyTorch and Candle store it.
    pub hidden_weight: Vec<f32>,
    /// `[hidden]`.
    pub hidden_bias: Vec<f32>,
    /// `[outputs, hidden]`; without a hidden layer `[outputs, inputs]`.
    pub output_weight: Vec<f32>,
    /// `[outputs]`.
    pub output_bias: Vec<f32>,
}

impl WeightFile {
    /// Random weights to start training from: each uniform within 1/sqrt(number of inputs of its layer), so that sums
    /// start where the sigmoid is steep; biases are zero. Equal seeds give equal weights on every machine.
    pub fn fresh(card: Card, shapes: &[Shape], seed: u64) -> Result<WeightFile, WeightFileError> {
        check_shapes(shapes).map_err(|problem| problem.at(card.label()))?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform = |count: usize, fan_in: usize| {
            let scale = 1.0 / (fan_in as f32).sqrt();
            // 24 random bits are exact in an f32, so no rounding depends on the platform.
            let mut draw = || (rng.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
            (0..count).map(|_| draw() * scale).collect::<Vec<f32>>()
        };
        let networks = shapes
            .iter()
            .map(|shape| ClassWeights {
                class: shape.class.clone(),
                inputs: shape.inputs,
                hidden: shape.hidden,
                outputs: shape.outputs,
                hidden_weight: uniform(shape.hidden * shape.inputs, shape.inputs),
                hidden_bias: vec![0.0; shape.hidden],
                output_weight: uniform(shape.outputs * shape.read_by_outputs(), shape.read_by_outputs()),
                output_bias: vec![0.0; shape.outputs],
            })
            .collect();
        Ok(WeightFile { card, networks })
    }

    /// Reads and checks the bytes of a weight file. `place` is where they come from, for the error message.
    pub fn from_bytes(bytes: &[u8], place: &str) -> Result<WeightFile, WeightFileError> {
        let file = format::read(bytes).map_err(|problem| problem.at(place))?;
        file.check().map_err(|problem| problem.at(place))?;
        Ok(file)
    }

    /// The file's bytes, always the same for the same weights and card. Refuses weights that could not be read back.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WeightFileError> {
        self.check().map_err(|problem| problem.at(self.card.label()))?;
        Ok(format::write(self, Numbers::F32))
    }

    /// The same weights rounded to 16-bit floats: half the bytes, each weight within 1/2048 of itself (below 0.00006,
    /// within 0.00000003). Refuses weights beyond 65,504, the largest such number.
    pub fn to_half_bytes(&self) -> Result<Vec<u8>, WeightFileError> {
        self.check_within(f16::MAX.to_f32()).map_err(|problem| problem.at(self.card.label()))?;
        Ok(format::write(self, Numbers::F16))
    }

    /// The sizes of the networks.
    pub fn shapes(&self) -> Vec<Shape> {
        self.networks.iter().map(ClassWeights::shape).collect()
    }

    /// What is wrong with the weights, if anything: sizes that do not agree, numbers that are not finite.
    pub fn check(&self) -> Result<(), WeightProblem> {
        self.check_within(MAX_WEIGHT)
    }

    fn check_within(&self, limit: f32) -> Result<(), WeightProblem> {
        check_shapes(&self.shapes())?;
        for (tensor, shape, values) in self.networks.iter().flat_map(ClassWeights::tensors) {
            if values.len() != shape.iter().product::<usize>() {
                return Err(WeightProblem::Shape { tensor, found: vec![values.len()], expected: shape });
            }
            // A NaN is in no range.
            if let Some(index) = values.iter().position(|value| !(-limit..=limit).contains(value)) {
                return Err(WeightProblem::Value { tensor, index, value: values[index], limit });
            }
        }
        Ok(())
    }
}

impl Card {
    /// A name for messages: `v12 of run first`, or as much of it as is known.
    pub fn label(&self) -> String {
        match (self.version, self.run.as_str()) {
            (0, "") => "unpublished weights".to_owned(),
            (0, run) => format!("unpublished weights of run {run}"),
            (version, "") => format!("v{version}"),
            (version, run) => format!("v{version} of run {run}"),
        }
    }
}

impl Shape {
    /// How many numbers each output reads: the hidden units, or the inputs where there are none.
    pub fn read_by_outputs(&self) -> usize {
        if self.hidden > 0 { self.hidden } else { self.inputs }
    }

    /// Names and shapes of the tensors, in file order: the four of [`ClassWeights`], the first two left out without a hidden
    /// layer.
    fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        let Shape { class, inputs, hidden, outputs } = self;
        let mut tensors = vec![
            (format!("{class}.hidden.weight"), vec![*hidden, *inputs]),
            (format!("{class}.hidden.bias"), vec![*hidden]),
            (format!("{class}.output.weight"), vec![*outputs, self.read_by_outputs()]),
            (format!("{class}.output.bias"), vec![*outputs]),
        ];
        if *hidden == 0 {
            tensors.drain(..2);
        }
        tensors
    }
}

/// The numbers of inputs, hidden units and outputs, as people write them: `382-160-5`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hidden {
            0 => write!(f, "{}-{}", self.inputs, self.outputs),
            hidden => write!(f, "{}-{hidden}-{}", self.inputs, self.outputs),
        }
    }
}

impl ClassWeights {
    /// The network's size.
    pub fn shape(&self) -> Shape {
        let (inputs, hidden, outputs) = (self.inputs, self.hidden, self.outputs);
        Shape { class: self.class.clone(), inputs, hidden, outputs }
    }

    /// Names, shapes and values of the tensors, in file order.
    pub fn tensors(&self) -> Vec<(String, Vec<usize>, &[f32])> {
        let values = [&self.hidden_weight, &self.hidden_bias, &self.output_weight, &self.output_bias];
        let tensors = self.shape().tensors();
        let left_out = values.len() - tensors.len();
        let named = tensors.into_iter().zip(&values[left_out..]);
        named.map(|((name, shape), values)| (name, shape, values.as_slice())).collect()
    }
}

/// Whether these can be the sizes of a player's networks.
fn check_shapes(shapes: &[Shape]) -> Result<(), WeightProblem> {
    let within = |what: String, found: usize, limit: usize| match found {
        0 => Err(WeightProblem::Empty { what }),
        n if n > limit => Err(WeightProblem::TooBig { what, found: n as u64, limit: limit as u64 }),
        _ => Ok(()),
    };
    within("the list of networks".to_owned(), shapes.len(), MAX_CLASSES)?;
    for (i, shape) in shapes.iter().enumerate() {
        let class = &shape.class;
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let repeated = shapes[..i].iter().any(|earlier| earlier.class == *class);
        if class.is_empty() || class.len() > 40 || repeated || !class.bytes().all(plain) {
            return Err(WeightProblem::ClassName(class.chars().take(60).collect()));
        }
        within(format!("the {class} network's number of inputs"), shape.inputs, MAX_INPUTS)?;
        // None is a number of hidden units, too.
        within(format!("the {class} network's number of hidden units"), shape.hidden.max(1), MAX_HIDDEN)?;
        within(format!("the {class} network's number of outputs"), shape.outputs, MAX_OUTPUTS)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
