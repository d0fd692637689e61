//! One position class's network, seen by the trainer: a forward pass and a gradient, both with Candle's matrix products.
//!
//! The parameters are one flat vector, so an optimiser is a loop over slices and a checkpoint a handful of tensors.
//! The gradient is written by hand: for sigmoid outputs and cross-entropy it is short, and it saves the allocations
//! with which Candle's own differentiation spends most of its time on networks of this size.

use std::ops::Range;

use candle_core::{CpuStorage, Device, InplaceOp2, Layout, Result, Tensor, bail};
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::{ClassWeights, Shape};

use crate::product::product;

/// A network while it learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    shape: Shape,
    /// Hidden weights, hidden biases, output weights, output biases.
    parameters: Vec<f32>,
}

impl Network {
    /// A network that goes on from these weights.
    pub fn from_weights(weights: &ClassWeights) -> Self {
        let parameters =
            [&weights.hidden_weight, &weights.hidden_bias, &weights.output_weight, &weights.output_bias];
        Network { shape: weights.shape(), parameters: parameters.into_iter().flatten().copied().collect() }
    }

    /// A network with these parameters, `None` when their number does not fit the shape.
    pub fn from_parameters(shape: Shape, parameters: Vec<f32>) -> Option<Self> {
        (parameters.len() == parts(&shape)[3].end).then_some(Network { shape, parameters })
    }

    /// The weights as a weight file holds them.
    pub fn weights(&self) -> ClassWeights {
        let Shape { class, inputs, hidden, outputs } = self.shape.clone();
        let [hidden_weight, hidden_bias, output_weight, output_bias] =
            parts(&self.shape).map(|range| self.parameters[range].to_vec());
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

    /// All parameters: hidden weights, hidden biases, output weights, output biases.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// All parameters, to be changed by an optimiser.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// The outputs for each position, `[positions, outputs]` row-major.
    pub fn forward(&self, lessons: &Lessons) -> Result<Vec<f32>> {
        let layers = self.layers()?;
        let positions: Vec<usize> = (0..lessons.len()).collect();
        let logits = layers.logits(&layers.hidden(&self.inputs(lessons, &positions)?)?)?;
        Ok(flat(&logits)?.into_iter().map(sigmoid).collect())
    }

    /// Replaces the content of `gradient` by the gradient of the mean loss of these positions, and the content of `losses`
    /// by the loss of each: the cross-entropy between outputs and targets, added over the outputs.
    ///
    /// A target may lie a little outside `[0, 1]`: a luck-adjusted outcome is unbiased without being a probability. The
    /// loss is then still convex, and its derivative by the logit, output minus target, still what it should be.
    pub fn gradient(
        &self,
        lessons: &Lessons,
        positions: &[usize],
        gradient: &mut Vec<f32>,
        losses: &mut Vec<f32>,
    ) -> Result<()> {
        let layers = self.layers()?;
        let inputs = self.inputs(lessons, positions)?;
        let hidden = layers.hidden(&inputs)?;

        let outputs = self.shape.outputs;
        let share = 1.0 / positions.len() as f32;
        losses.clear();
        let mut delta = flat(&layers.logits(&hidden)?)?;
        for (delta, &position) in delta.chunks_exact_mut(outputs).zip(positions) {
            let mut loss = 0.0;
            for (value, &target) in delta.iter_mut().zip(lessons.target(position)) {
                loss += cross_entropy(*value, target);
                *value = (sigmoid(*value) - target) * share;
            }
            losses.push(loss);
        }

        let output_bias = column_sums(&delta, outputs);
        let delta = Tensor::from_vec(delta, (positions.len(), outputs), &Device::Cpu)?;
        let output_weight = product(&delta.t()?, &hidden)?;
        let hidden_delta = product(&delta, &layers.output_weight)?;
        hidden_delta.inplace_op2(&hidden, &TimesSlope)?;
        let hidden_weight = product(&hidden_delta.t()?, &inputs)?;
        let hidden_bias = column_sums(&flat(&hidden_delta)?, self.shape.hidden);

        gradient.clear();
        gradient.extend(flat(&hidden_weight)?);
        gradient.extend(hidden_bias);
        gradient.extend(flat(&output_weight)?);
        gradient.extend(output_bias);
        Ok(())
    }

    /// The chosen positions' inputs, `[positions, inputs]`.
    fn inputs(&self, lessons: &Lessons, positions: &[usize]) -> Result<Tensor> {
        let width = self.shape.inputs;
        let mut dense = vec![0.0; positions.len() * width];
        for (row, &position) in dense.chunks_exact_mut(width).zip(positions) {
            let (indices, values) = lessons.inputs(position);
            for (&index, &value) in indices.iter().zip(values) {
                row[usize::from(index)] = value;
            }
        }
        Tensor::from_vec(dense, (positions.len(), width), &Device::Cpu)
    }

    /// The parameters as tensors.
    fn layers(&self) -> Result<Layers> {
        let Shape { inputs, hidden, outputs, .. } = self.shape;
        let [hidden_weight, hidden_bias, output_weight, output_bias] =
            parts(&self.shape).map(|range| &self.parameters[range]);
        Ok(Layers {
            hidden_weight: Tensor::from_slice(hidden_weight, (hidden, inputs), &Device::Cpu)?,
            hidden_bias: Tensor::from_slice(hidden_bias, hidden, &Device::Cpu)?,
            output_weight: Tensor::from_slice(output_weight, (outputs, hidden), &Device::Cpu)?,
            output_bias: Tensor::from_slice(output_bias, outputs, &Device::Cpu)?,
        })
    }
}

/// Where the hidden weights, hidden biases, output weights and output biases lie in the parameters.
fn parts(shape: &Shape) -> [Range<usize>; 4] {
    let mut end = 0;
    [shape.hidden * shape.inputs, shape.hidden, shape.outputs * shape.hidden, shape.outputs].map(|length| {
        end += length;
        end - length..end
    })
}

/// The parameters of a network as tensors.
struct Layers {
    /// `[hidden, inputs]`.
    hidden_weight: Tensor,
    /// `[hidden]`.
    hidden_bias: Tensor,
    /// `[outputs, hidden]`.
    output_weight: Tensor,
    /// `[outputs]`.
    output_bias: Tensor,
}

impl Layers {
    /// What the hidden units say, `[positions, hidden]`.
    fn hidden(&self, inputs: &Tensor) -> Result<Tensor> {
        let hidden = product(inputs, &self.hidden_weight.t()?)?;
        hidden.inplace_op2(&self.hidden_bias, &AddBiasThenSigmoid)?;
        Ok(hidden)
    }

    /// The outputs before their sigmoid, `[positions, outputs]`.
    fn logits(&self, hidden: &Tensor) -> Result<Tensor> {
        product(hidden, &self.output_weight.t()?)?.broadcast_add(&self.output_bias)
    }
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

/// In place, in one pass: adds a bias to every row and takes the sigmoid.
struct AddBiasThenSigmoid;

impl InplaceOp2 for AddBiasThenSigmoid {
    fn name(&self) -> &'static str {
        "add-bias-then-sigmoid"
    }

    fn cpu_fwd(&self, s1: &mut CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<()> {
        let (rows, bias) = pair(s1, l1, s2, l2)?;
        for row in rows.chunks_exact_mut(bias.len()) {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value = sigmoid(*value + bias);
            }
        }
        Ok(())
    }
}

/// In place: multiplies by the sigmoid's slope, given what the sigmoid said.
struct TimesSlope;

impl InplaceOp2 for TimesSlope {
    fn name(&self) -> &'static str {
        "times-slope"
    }

    fn cpu_fwd(&self, s1: &mut CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<()> {
        let (deltas, said) = pair(s1, l1, s2, l2)?;
        for (delta, said) in deltas.iter_mut().zip(said) {
            *delta *= said * (1.0 - said);
        }
        Ok(())
    }
}

/// The numbers of two contiguous tensors, the first to be changed.
fn pair<'a>(
    s1: &'a mut CpuStorage,
    l1: &Layout,
    s2: &'a CpuStorage,
    l2: &Layout,
) -> Result<(&'a mut [f32], &'a [f32])> {
    match (s1, l1.contiguous_offsets(), s2, l2.contiguous_offsets()) {
        (CpuStorage::F32(a), Some((a0, a1)), CpuStorage::F32(b), Some((b0, b1))) => {
            Ok((&mut a[a0..a1], &b[b0..b1]))
        }
        _ => bail!("expected two contiguous f32 tensors"),
    }
}

#[cfg(test)]
mod tests;
