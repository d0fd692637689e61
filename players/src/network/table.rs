//! Networks without a hidden layer: every output is the sigmoid of its bias and one weight for each input that is there.
//!
//! With thousands of inputs of which some dozens are there, such a network is a set of tables in which a position looks up
//! what it is worth.

use super::Block;
use crate::input_set::Terms;
use crate::weight_file::{ClassWeights, MAX_OUTPUTS};

/// The weights of outputs that read the inputs, laid out input by input: what a position looks up for one input lies
/// together.
#[derive(Clone, Debug)]
pub struct Table {
    outputs: usize,
    /// `[inputs, outputs]`.
    weight: Vec<f32>,
    /// One lane per output.
    bias: Block,
}

impl Table {
    /// Lays out weights that were checked (see [`crate::weight_file::WeightFile::check`]).
    ///
    /// # Panics
    /// If a list has another length than the sizes say, there is a hidden layer, or there are more than 16 outputs.
    pub fn new(weights: &ClassWeights) -> Table {
        let ClassWeights { inputs, hidden, outputs, .. } = *weights;
        assert!(hidden == 0, "a network with a hidden layer is no table");
        assert!(outputs <= MAX_OUTPUTS, "{outputs} outputs do not fit one vector");
        assert_eq!((weights.output_weight.len(), weights.output_bias.len()), (outputs * inputs, outputs));
        let mut table =
            Table { outputs, weight: Vec::with_capacity(inputs * outputs), bias: Block::default() };
        for input in 0..inputs {
            let column = (0..outputs).map(|output| weights.output_weight[output * inputs + input]);
            table.weight.extend(column);
        }
        table.bias.0[..outputs].copy_from_slice(&weights.output_bias);
        table
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// What the outputs add up to before their sigmoid, one a lane: the bias, then each input in ascending order. Products
    /// and sums are rounded one by one, which is the same on every processor.
    ///
    /// # Panics
    /// If an input is not one of the table's.
    pub(super) fn sums(&self, inputs: Terms<'_>) -> Block {
        let mut sums = self.bias;
        for (&index, &value) in inputs.indices.iter().zip(inputs.values) {
            let row = usize::from(index) * self.outputs;
            for (sum, weight) in sums.0.iter_mut().zip(&self.weight[row..row + self.outputs]) {
                *sum += weight * value;
            }
        }
        sums
    }
}
