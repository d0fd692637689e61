//! What can be wrong with a weight file.

/// A weight file that cannot be used: where it is and what is wrong with it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct WeightFileError {
    /// The file's path, or whose weights they are.
    pub place: String,
    /// What is wrong.
    pub problem: WeightProblem,
}

/// What is wrong with a weight file, with the place inside it and the way out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WeightProblem {
    /// The file cannot be opened or read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Unwritable(String),
    /// The bytes are not a whole safetensors file.
    #[error("not a weight file, or cut short: {0}; fetch it again")]
    NotSafetensors(String),
    /// Far more than any player needs.
    #[error("{what} is {found}, more than the {limit} allowed: not a player's weights")]
    TooBig {
        /// What is too big.
        what: String,
        /// How big it is.
        found: u64,
        /// How big it may be.
        limit: u64,
    },
    /// Nothing may be empty.
    #[error("{what} is empty")]
    Empty {
        /// What is empty.
        what: String,
    },
    /// A safetensors file of another program.
    #[error("its metadata lacks {0:?}: a safetensors file, but not written by ludus")]
    NoMetadata(&'static str),
    /// A metadata entry that makes no sense.
    #[error("its metadata says {key} = {value:?}, which is not {expected}")]
    BadMetadata {
        /// The entry.
        key: &'static str,
        /// What it says.
        value: String,
        /// What it should be.
        expected: String,
    },
    /// Written by a newer program.
    #[error("weight file format {found:?}; this program reads {known}: use the ludus that wrote it")]
    FormatVersion {
        /// The file's format.
        found: String,
        /// The format that is read.
        known: u32,
    },
    /// Weights of another game.
    #[error("weights for {found}, not for {expected}")]
    Game {
        /// The file's game.
        found: String,
        /// The game at hand.
        expected: String,
    },
    /// Weights from other rules.
    #[error("made for revision {found} of the rules of {game}; this program plays revision {expected}")]
    Revision {
        /// The game.
        game: String,
        /// The file's revision.
        found: u32,
        /// The program's revision.
        expected: u32,
    },
    /// Inputs this program cannot make.
    #[error("made for the inputs {found:?}; this program knows {known} for {game}")]
    UnknownInputs {
        /// The game.
        game: String,
        /// The file's input set.
        found: String,
        /// The input sets there are.
        known: String,
    },
    /// Networks for other position classes than the input set has.
    #[error("networks for the classes {found}, where {inputs} has {expected}")]
    Classes {
        /// The input set.
        inputs: String,
        /// The file's classes.
        found: String,
        /// The input set's classes.
        expected: String,
    },
    /// A class name that cannot be part of a tensor's name.
    #[error("{0:?} is no name for a position class: small letters, digits and hyphens, each name once")]
    ClassName(String),
    /// A network of another size than the game needs.
    #[error("the {class} network has {found} {what}, where {expected} are needed")]
    Layer {
        /// Position class.
        class: String,
        /// `inputs` or `outputs`.
        what: &'static str,
        /// The file's number.
        found: usize,
        /// The number needed.
        expected: usize,
    },
    /// A tensor that the architecture asks for is not there.
    #[error("tensor {0} is missing")]
    MissingTensor(String),
    /// A tensor that belongs to nothing.
    #[error("tensor {0} belongs to no network of the file's architecture")]
    ExtraTensor(String),
    /// A tensor of other numbers than floats of 32 or 16 bits.
    #[error("tensor {tensor} holds {found} numbers, not F32 or F16")]
    NumberType {
        /// The tensor.
        tensor: String,
        /// What it holds.
        found: String,
    },
    /// A tensor of the wrong shape.
    #[error("tensor {tensor} has shape {found:?}, not {expected:?}")]
    Shape {
        /// The tensor.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape of the architecture.
        expected: Vec<usize>,
    },
    /// A weight that is no number, or so large that training must have diverged.
    #[error("tensor {tensor}, number {index}, is {value}: weights are finite and at most {limit} in size")]
    Value {
        /// The tensor.
        tensor: String,
        /// Position in the tensor, row by row, from 0.
        index: usize,
        /// The offending value.
        value: f32,
        /// Largest size allowed.
        limit: f32,
    },
}

impl WeightProblem {
    /// The problem of the weights at `place`.
    pub fn at(self, place: impl Into<String>) -> WeightFileError {
        WeightFileError { place: place.into(), problem: self }
    }
}
