//! The forward pass of the networks: what this project exists to do fast.
//!
//! A [`Network`] is one position class's weights, laid out for the kernel; a [`Kernel`] computes. Read in this order:
//! here, `forward` (the arithmetic, once, for every instruction set), `lanes` (the sixteen-lane vector it is
//! written in), then `scalar`, `avx2`, `avx512` and `neon` (that vector on each kind of processor). A [`Table`] is a network
//! without a hidden layer.
//!
//! Positions are taken up one by one and computed together ([`Kernel::add`], [`Kernel::finish`]), for the sake of speed alone.
//!
//! **The same bits everywhere.** Every kernel does the same IEEE operations in the same order, so a game can be replayed
//! on another machine from its number and the hashes of the weights:
//!
//! - hidden unit: the bias, then each non-zero input in ascending order by fused multiply-add (so that positions which
//!   begin with the same inputs can share these sums: [`Sums`]);
//! - sigmoid: a polynomial of our own (`forward`), no library's `exp`;
//! - output: lane `i` of sixteen adds up the hidden units `i, i + 16, i + 32, ...` by fused multiply-add from zero;
//!   the lanes are added in a fixed tree (`i` and `i + 8`, then 4, 2, 1), then the bias, then the sigmoid.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod forward;
mod kernel;
mod lanes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod table;

pub use kernel::{Kernel, Sums};
pub use table::Table;

use crate::weight_file::{ClassWeights, MAX_OUTPUTS};

/// Lanes of the vectors that everything is computed in, on every processor.
const LANES: usize = 16;

/// Sixteen numbers, aligned so that one load never crosses a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
struct Block([f32; LANES]);

/// One hidden layer of sigmoid units and a layer of sigmoid outputs, laid out input by input: adding an input to all
/// hidden units reads one row.
#[derive(Clone, Debug)]
pub struct Network {
    inputs: usize,
    outputs: usize,
    /// Blocks that hold the hidden units. The last one is filled up with units that no weight leads out of.
    blocks: usize,
    /// `[inputs, blocks]`.
    hidden_weight: Vec<Block>,
    /// `[blocks]`.
    hidden_bias: Vec<Block>,
    /// `[blocks, outputs]`.
    output_weight: Vec<Block>,
    /// `[outputs]`.
    output_bias: Vec<f32>,
}

impl Network {
    /// Lays out weights that were checked (see [`crate::weight_file::WeightFile::check`]).
    ///
    /// # Panics
    /// If a list has another length than the sizes say, there is no hidden layer, or there are more than 16 outputs.
    pub fn new(weights: &ClassWeights) -> Network {
        let ClassWeights { inputs, hidden, outputs, .. } = *weights;
        assert!(hidden > 0, "a network without a hidden layer is a table");
        assert!(outputs <= MAX_OUTPUTS, "{outputs} outputs do not fit one vector");
        for (tensor, shape, values) in weights.tensors() {
            assert_eq!(values.len(), shape.iter().product::<usize>(), "{tensor} is not of its size");
        }
        let blocks = hidden.div_ceil(LANES);
        let mut network = Network {
            inputs,
            outputs,
            blocks,
            hidden_weight: vec![Block::default(); inputs * blocks],
            hidden_bias: vec![Block::default(); blocks],
            output_weight: vec![Block::default(); blocks * outputs],
            output_bias: weights.output_bias.clone(),
        };
        for unit in 0..hidden {
            let (block, lane) = (unit / LANES, unit % LANES);
            network.hidden_bias[block].0[lane] = weights.hidden_bias[unit];
            for input in 0..inputs {
                network.hidden_weight[input * blocks + block].0[lane] =
                    weights.hidden_weight[unit * inputs + input];
            }
            for output in 0..outputs {
                network.output_weight[block * outputs + output].0[lane] =
                    weights.output_weight[output * hidden + unit];
            }
        }
        network
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }
}

#[cfg(test)]
mod tests;
