//! Weight files.

use std::collections::BTreeMap;

/// The weights of a player, as read from a safetensors file and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightFile {
    /// What the file says about itself.
    pub card: Card,
    /// One network per position class, in the order of the input set's classes.
    pub networks: Vec<ClassWeights>,
}

/// The metadata of a weight file.
#[derive(Clone, Debug, PartialEq)]
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

/// One hidden layer of sigmoid units and a layer of sigmoid outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassWeights {
    /// Position class.
    pub class: String,
    /// Number of inputs.
    pub inputs: usize,
    /// Number of hidden units.
    pub hidden: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// `[hidden, inputs]`, row-major, as PyTorch and Candle store it.
    pub hidden_weight: Vec<f32>,
    /// `[hidden]`.
    pub hidden_bias: Vec<f32>,
    /// `[outputs, hidden]`.
    pub output_weight: Vec<f32>,
    /// `[outputs]`.
    pub output_bias: Vec<f32>,
}

/// A weight file that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WeightFileError {
    /// Not readable as safetensors.
    #[error("not a weight file: {0}")]
    Format(String),
}
