//! One position class's network, seen by the trainer: a forward pass and a gradient.
//!
//! The parameters are one flat vector, so an optimiser is a loop over slices and a checkpoint a handful of tensors.
//! The gradient is written by hand: for sigmoid outputs and cross-entropy it is short, and it saves the allocations
//! with which Candle's own differentiation spends most of its time on networks of this size. The first layer, whose
//! inputs are mostly zero, is in [`crate::first_layer`]; Candle multiplies the matrices of the second. Without a hidden layer
//! the outputs are the first layer, and there is nothing to multiply.

use std::ops::Range;

use candle_core::{Device, Result, Tensor};
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::{ClassWeights, Shape};

use crate::first_layer::{self, Batch};
use crate::product::product;

/// A network while it learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    shape: Shape,
    /// Hidden weights by input (`[inputs, hidden]`), hidden biases, output weights, output biases. Without a hidden layer the
    /// first two are empty, and the output weights lie by input (`[inputs, outputs]`).
    parameters: Vec<f32>,
}

/// What a pass over some positions gives.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    /// Gradient of the mean loss, in the order of the parameters.
    pub gradient: Vec<f32>,
    /// Loss of each position: the cross-entropy between outputs and targets, added over the outputs.
    pub losses: Vec<f32>,
}

impl Network {
    /// A network that goes on from these weights.
    pub fn from_weights(weights: &ClassWeights) -> Self {
        let parameters =
            [&weights.hidden_weight, &weights.hidden_bias, &weights.output_weight, &weights.output_bias];
        let parameters: Vec<f32> = parameters.into_iter().flatten().copied().collect();
        let shape = weights.shape();
        Network { parameters: from_file_order(&shape, &parameters), shape }
    }

    /// A network with these parameters, in the order of a weight file; `None` when their number does not fit the shape.
    pub fn from_parameters(shape: Shape, parameters: &[f32]) -> Option<Self> {
        let fits = parameters.len() == parts(&shape)[3].end;
        fits.then(|| Network { parameters: from_file_order(&shape, parameters), shape })
    }

    /// The weights as a weight file holds them.
    pub fn weights(&self) -> ClassWeights {
        self.weights_of(&self.parameters)
    }

    /// The same of other parameters of such a network, as many and in the same order.
    pub fn weights_of(&self, parameters: &[f32]) -> ClassWeights {
        let Shape { class, inputs, hidden, outputs } = self.shape.clone();
        let parameters = to_file_order(&self.shape, parameters);
        let [hidden_weight, hidden_bias, output_weight, output_bias] =
            parts(&self.shape).map(|range| parameters[range].to_vec());
        ClassWeights {
            class,
            inputs,
            hidden,
            outputs,
            hidden_weight,
            hidden_bias,
            output_weight,
            output_bias,
        }
    }

    /// Its position class and size.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// All parameters: hidden weights, hidden biases, output weights, output biases, those that read inputs by input.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// All parameters, to be changed by an optimiser.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// The outputs for each position, `[positions, outputs]` row-major.
    pub fn forward(&self, lessons: &Lessons) -> Result<Vec<f32>> {
        let positions: Vec<usize> = (0..lessons.len()).collect();
        let batch = Batch { lessons, positions: &positions };
        let logits = if self.shape.hidden == 0 {
            self.flat_logits(batch)
        } else {
            flat(&self.logits(&self.hidden(batch)?, &self.output_weight()?)?)?
        };
        Ok(logits.into_iter().map(sigmoid).collect())
    }

    /// Replaces the content of `pass` by the gradient and the losses at these positions.
    ///
    /// A target may lie a little outside `[0, 1]`: a luck-adjusted outcome is unbiased without being a probability. The
    /// loss is then still convex, and its derivative by the logit, output minus target, still what it should be.
    pub fn pass(&self, lessons: &Lessons, positions: &[usize], pass: &mut Pass) -> Result<()> {
        let batch = Batch { lessons, positions };
        let Pass { gradient, losses } = pass;
        gradient.clear();
        let outputs = self.shape.outputs;
        if self.shape.hidden == 0 {
            let delta = output_delta(self.flat_logits(batch), batch, losses);
            gradient.resize(self.shape.inputs * outputs, 0.0);
            first_layer::add_gradient(&delta, batch, gradient);
            gradient.extend(column_sums(&delta, outputs));
            return Ok(());
        }
        let weight = self.output_weight()?;
        let hidden = self.hidden(batch)?;
        let delta = output_delta(flat(&self.logits(&hidden, &weight)?)?, batch, losses);

        let output_bias = column_sums(&delta, outputs);
        let delta = Tensor::from_vec(delta, (positions.len(), outputs), &Device::Cpu)?;
        let output_weight = product(&delta.t()?, &hidden)?;
        let mut hidden_delta = flat(&product(&delta, &weight)?)?;
        for (delta, said) in hidden_delta.iter_mut().zip(flat(&hidden)?) {
            // The sigmoid's slope, given what it said.
            *delta *= said * (1.0 - said);
        }

        gradient.resize(self.shape.inputs * self.shape.hidden, 0.0);
        first_layer::add_gradient(&hidden_delta, batch, gradient);
        gradient.extend(column_sums(&hidden_delta, self.shape.hidden));
        gradient.extend(flat(&output_weight)?);
        gradient.extend(output_bias);
        Ok(())
    }

    /// The outputs of a network without a hidden layer before their sigmoid, `[positions, outputs]`.
    fn flat_logits(&self, batch: Batch<'_>) -> Vec<f32> {
        let outputs = self.shape.outputs;
        let [.., weights, bias] = parts(&self.shape).map(|range| &self.parameters[range]);
        let mut logits = Vec::with_capacity(batch.positions.len() * outputs);
        for &position in batch.positions {
            let start = logits.len();
            logits.extend_from_slice(bias);
            let (indices, values) = batch.lessons.inputs(position);
            for (&index, value) in indices.iter().zip(values) {
                let row = usize::from(index) * outputs;
                for (logit, weight) in logits[start..].iter_mut().zip(&weights[row..row + outputs]) {
                    *logit += value * weight;
                }
            }
        }
        logits
    }

    /// What the hidden units say, `[positions, hidden]`.
    fn hidden(&self, batch: Batch<'_>) -> Result<Tensor> {
        let [weights, bias, ..] = parts(&self.shape).map(|range| &self.parameters[range]);
        let mut hidden = Vec::new();
        first_layer::forward(weights, bias, batch, &mut hidden);
        Tensor::from_vec(hidden, (batch.positions.len(), self.shape.hidden), &Device::Cpu)
    }

    /// The output weights, `[outputs, hidden]`.
    fn output_weight(&self) -> Result<Tensor> {
        let weights = &self.parameters[parts(&self.shape)[2].clone()];
        Tensor::from_slice(weights, (self.shape.outputs, self.shape.hidden), &Device::Cpu)
    }

    /// The outputs before their sigmoid, `[positions, outputs]`.
    fn logits(&self, hidden: &Tensor, output_weight: &Tensor) -> Result<Tensor> {
        let bias = &self.parameters[parts(&self.shape)[3].clone()];
        let bias = Tensor::from_slice(bias, self.shape.outputs, &Device::Cpu)?;
        product(hidden, &output_weight.t()?)?.broadcast_add(&bias)
    }
}

/// Turns the outputs' logits, `[positions, outputs]`, into the derivatives of the mean loss by them, and replaces the content
/// of `losses` by the loss of each position.
fn output_delta(mut logits: Vec<f32>, batch: Batch<'_>, losses: &mut Vec<f32>) -> Vec<f32> {
    let share = 1.0 / batch.positions.len() as f32;
    let outputs = logits.len() / batch.positions.len().max(1);
    losses.clear();
    for (delta, &position) in logits.chunks_exact_mut(outputs.max(1)).zip(batch.positions) {
        let mut loss = 0.0;
        for (value, &target) in delta.iter_mut().zip(batch.lessons.target(position)) {
            loss += cross_entropy(*value, target);
            *value = (sigmoid(*value) - target) * share;
        }
        losses.push(loss);
    }
    logits
}

/// Numbers in the order of a network's parameters, such as an optimiser's, in the order of a weight file: there the weights
/// that read inputs lie by unit, `[hidden, inputs]`.
pub fn to_file_order(shape: &Shape, values: &[f32]) -> Vec<f32> {
    let (weights, units) = by_input(shape);
    reordered(values, weights, units)
}

/// The inverse of [`to_file_order`].
pub fn from_file_order(shape: &Shape, values: &[f32]) -> Vec<f32> {
    reordered(values, by_input(shape).0, shape.inputs)
}

/// Where the weights that read inputs lie, and how many units have them.
fn by_input(shape: &Shape) -> (Range<usize>, usize) {
    let [hidden, _, output, _] = parts(shape);
    if shape.hidden > 0 { (hidden, shape.hidden) } else { (output, shape.outputs) }
}

/// The values, with those in `matrix`, which has so many columns, transposed.
fn reordered(values: &[f32], matrix: Range<usize>, columns: usize) -> Vec<f32> {
    let mut ordered = values[..matrix.start].to_vec();
    ordered.extend(transposed(&values[matrix.clone()], columns));
    ordered.extend_from_slice(&values[matrix.end..]);
    ordered
}

/// The transpose of a row-major matrix with so many columns.
fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let mut rows = Vec::with_capacity(matrix.len());
    for column in 0..columns.min(matrix.len()) {
        rows.extend(matrix[column..].iter().step_by(columns));
    }
    rows
}

/// Where the hidden weights, hidden biases, output weights and output biases lie in the parameters.
fn parts(shape: &Shape) -> [Range<usize>; 4] {
    let mut end = 0;
    let read = shape.read_by_outputs();
    [shape.hidden * shape.inputs, shape.hidden, shape.outputs * read, shape.outputs].map(|length| {
        end += length;
        end - length..end
    })
}

/// The logistic function.
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Cross-entropy of a target with the sigmoid of `logit`: `max(x, 0) - x t + ln(1 + exp(-|x|))`, which neither
/// overflows nor takes the logarithm of zero.
fn cross_entropy(logit: f32, target: f32) -> f32 {
    logit.max(0.0) - logit * target + (-logit.abs()).exp().ln_1p()
}

/// Sums over the rows of a row-major matrix.
fn column_sums(matrix: &[f32], columns: usize) -> Vec<f32> {
    let mut sums = vec![0.0; columns];
    for row in matrix.chunks_exact(columns) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    sums
}

/// A tensor's numbers in row-major order.
fn flat(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.flatten_all()?.to_vec1()
}

#[cfg(test)]
mod tests;
