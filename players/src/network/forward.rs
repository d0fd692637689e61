//! The forward pass, once for all processors.
//!
//! Everything here is inlined into one function per processor in which its instructions are enabled. Hence no closures
//! and no iterator adaptors: they would be compiled on their own, without those instructions.

use super::lanes::Lanes;
use super::{Block, Network};
use crate::input_set::Inputs;

/// Largest number of blocks of hidden units that are summed at a time.
pub(super) const MAX_TILE: usize = 8;
/// Outputs that are summed at a time: few enough for the registers of every processor.
const OUTPUT_TILE: usize = 6;

/// Computes the outputs of `network`, one a lane. `hidden` is memory for the hidden units, one block each. The indices
/// of the inputs are within the network.
#[inline(always)]
pub(super) fn forward<L: Lanes>(lanes: L, network: &Network, inputs: &Inputs, hidden: &mut [Block]) -> Block {
    let mut first = 0;
    while first < network.blocks {
        let rest = network.blocks - first;
        // Equal tiles: 9 blocks go as 5 and 4 rather than as 6 and 3.
        let tile = rest.div_ceil(rest.div_ceil(L::TILE));
        match tile {
            1 => hidden_units::<L, 1>(lanes, network, inputs, first, hidden),
            2 => hidden_units::<L, 2>(lanes, network, inputs, first, hidden),
            3 => hidden_units::<L, 3>(lanes, network, inputs, first, hidden),
            4 => hidden_units::<L, 4>(lanes, network, inputs, first, hidden),
            5 => hidden_units::<L, 5>(lanes, network, inputs, first, hidden),
            6 => hidden_units::<L, 6>(lanes, network, inputs, first, hidden),
            7 => hidden_units::<L, 7>(lanes, network, inputs, first, hidden),
            _ => hidden_units::<L, MAX_TILE>(lanes, network, inputs, first, hidden),
        }
        first += tile;
    }

    let mut sums = Block::default();
    let mut first = 0;
    while first < network.outputs {
        match network.outputs - first {
            1 => output_sums::<L, 1>(lanes, network, hidden, first, &mut sums),
            2 => output_sums::<L, 2>(lanes, network, hidden, first, &mut sums),
            3 => output_sums::<L, 3>(lanes, network, hidden, first, &mut sums),
            4 => output_sums::<L, 4>(lanes, network, hidden, first, &mut sums),
            5 => output_sums::<L, 5>(lanes, network, hidden, first, &mut sums),
            _ => output_sums::<L, OUTPUT_TILE>(lanes, network, hidden, first, &mut sums),
        }
        first += OUTPUT_TILE;
    }
    let outputs = lanes.add(lanes.load(&sums), lanes.load(&network.output_bias));
    lanes.store(sigmoid(lanes, outputs), &mut sums);
    sums
}

/// Computes the `N` blocks of hidden units from `first` on.
#[inline(always)]
fn hidden_units<L: Lanes, const N: usize>(
    lanes: L,
    network: &Network,
    inputs: &Inputs,
    first: usize,
    hidden: &mut [Block],
) {
    let blocks = network.blocks;
    let mut units = [lanes.splat(0.0); N];
    for (unit, bias) in units.iter_mut().zip(&network.hidden_bias[first..first + N]) {
        *unit = lanes.load(bias);
    }
    for (&index, &value) in inputs.indices.iter().zip(&inputs.values) {
        let start = usize::from(index) * blocks + first;
        let row = &network.hidden_weight[start..start + N];
        let value = lanes.splat(value);
        for (unit, weight) in units.iter_mut().zip(row) {
            *unit = lanes.fma(lanes.load(weight), value, *unit);
        }
    }
    for (unit, out) in units.iter().zip(&mut hidden[first..first + N]) {
        lanes.store(sigmoid(lanes, *unit), out);
    }
}

/// Computes the weighted sums of the `N` outputs from `first` on, each into its lane.
#[inline(always)]
fn output_sums<L: Lanes, const N: usize>(
    lanes: L,
    network: &Network,
    hidden: &[Block],
    first: usize,
    sums: &mut Block,
) {
    let mut outputs = [lanes.splat(0.0); N];
    for (block, units) in hidden.iter().enumerate() {
        let start = block * network.outputs + first;
        let weights = &network.output_weight[start..start + N];
        let units = lanes.load(units);
        for (output, weight) in outputs.iter_mut().zip(weights) {
            *output = lanes.fma(lanes.load(weight), units, *output);
        }
    }
    for (output, sum) in outputs.iter().zip(&mut sums.0[first..first + N]) {
        *sum = lanes.sum(*output);
    }
}

/// Beyond this size of its argument the sigmoid is 0 or 1 to any accuracy that matters, and `exp` stays in range.
const LIMIT: f32 = 80.0;
/// Adding it rounds a small number to a whole one, which then stands in the low bits: 1.5 * 2^23.
const ROUND: f32 = 12_582_912.0;
/// `exp(-s)` for |s| <= ln(2) / 2 by ascending powers of s: the constant is 1, so that the sigmoid of 0 is exactly 1/2;
/// the rest interpolates at Chebyshev points. Relative error below 2.1e-7, which is 0.5e-7 in the sigmoid.
const EXP: [f32; 6] = [1.0, -1.0, 0.4999937, -0.16666576, 0.041875854, -0.008363203];

/// `1 / (1 + exp(-x))`, within 2e-7 for every finite `x`.
#[inline(always)]
pub(super) fn sigmoid<L: Lanes>(lanes: L, x: L::Vector) -> L::Vector {
    let x = lanes.min(lanes.max(x, lanes.splat(-LIMIT)), lanes.splat(LIMIT));
    // -x = n ln(2) - s with a whole number n, so that exp(-x) = 2^n exp(-s).
    let power = lanes.fma(x, lanes.splat(-std::f32::consts::LOG2_E), lanes.splat(ROUND));
    let n = lanes.sub(power, lanes.splat(ROUND));
    let s = lanes.fma(n, lanes.splat(std::f32::consts::LN_2), x);
    let [c0, c1, c2, c3, c4, c5] = EXP;
    let mut exp = lanes.fma(lanes.splat(c5), s, lanes.splat(c4));
    exp = lanes.fma(exp, s, lanes.splat(c3));
    exp = lanes.fma(exp, s, lanes.splat(c2));
    exp = lanes.fma(exp, s, lanes.splat(c1));
    exp = lanes.fma(exp, s, lanes.splat(c0));
    let exp = lanes.scale(exp, power);
    lanes.div(lanes.splat(1.0), lanes.add(lanes.splat(1.0), exp))
}
