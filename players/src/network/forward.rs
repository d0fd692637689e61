//! The forward pass, once for all processors.
//!
//! Everything here is inlined into one function per processor in which its instructions are enabled. Hence no closures
//! and no iterator adaptors: they would be compiled on their own, without those instructions.

use super::lanes::Lanes;
use super::{Block, Network};
use crate::input_set::Terms;

/// Largest number of blocks of hidden units that are summed at a time. More would do for registers of AVX-512, but 80 inputs
/// of so many blocks are 40 KiB of weights, and what stays in the nearest cache from position to position counts for more.
pub(super) const MAX_TILE: usize = 8;
/// Outputs that are summed at a time: few enough for the registers of every processor.
const OUTPUT_TILE: usize = 6;

/// Something to compute, on whatever processor.
pub(super) trait Task {
    /// What comes out.
    type Result;
    /// Computes it. Implementors inline it, so that it is compiled with the processor's instructions.
    fn run<L: Lanes>(self, lanes: L) -> Self::Result;
}

/// Adds inputs of positions to the sums of their hidden units.
pub(super) struct Add<'a> {
    /// The network, which has all of the inputs.
    pub network: &'a Network,
    /// The inputs to add, of one position after the other.
    pub terms: Terms<'a>,
    /// Where those of each position end.
    pub ends: &'a [usize],
    /// The sums of one position after the other, a block each.
    pub sums: &'a mut [Block],
}

impl Task for Add<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        add(lanes, self.network, self.terms, self.ends, self.sums);
    }
}

/// Adds the last inputs of positions and computes their outputs.
pub(super) struct Outputs<'a> {
    /// The last inputs. The sums become the hidden units.
    pub add: Add<'a>,
    /// Room for the outputs of one position after the other, filled up to whole vectors.
    pub outputs: &'a mut [f32],
}

impl Task for Outputs<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Add { network, terms, ends, sums } = self.add;
        add(lanes, network, terms, ends, sums);
        outputs(lanes, network, sums, self.outputs);
    }
}

/// Some blocks of all positions after the other: the positions after the plays of a roll have most inputs in common, so that the
/// same rows of weights are read again and again, and as much of them stays in the nearest cache.
#[inline(always)]
fn add<L: Lanes>(lanes: L, network: &Network, terms: Terms<'_>, ends: &[usize], sums: &mut [Block]) {
    let Network { inputs, blocks, .. } = *network;
    assert!(network.hidden_weight.len() == inputs * blocks && sums.len() == ends.len() * blocks);
    let mut first = 0;
    while first < blocks {
        let rest = blocks - first;
        // Equal tiles: 9 blocks go as 5 and 4 rather than as 6 and 3. Divisions take long, and mostly one tile will do.
        let tile = if rest <= L::TILE { rest } else { rest.div_ceil(rest.div_ceil(L::TILE)) };
        match tile {
            1 => add_to_tile::<L, 1>(lanes, network, terms, ends, first, sums),
            2 => add_to_tile::<L, 2>(lanes, network, terms, ends, first, sums),
            3 => add_to_tile::<L, 3>(lanes, network, terms, ends, first, sums),
            4 => add_to_tile::<L, 4>(lanes, network, terms, ends, first, sums),
            5 => add_to_tile::<L, 5>(lanes, network, terms, ends, first, sums),
            6 => add_to_tile::<L, 6>(lanes, network, terms, ends, first, sums),
            7 => add_to_tile::<L, 7>(lanes, network, terms, ends, first, sums),
            _ => add_to_tile::<L, MAX_TILE>(lanes, network, terms, ends, first, sums),
        }
        first += tile;
    }
}

/// On its own, so that nothing of what a message needs is kept in memory where there is none.
#[cold]
#[inline(never)]
fn foreign_input(index: u16, inputs: usize) -> ! {
    panic!("input {index} of a network of {inputs}");
}

/// Computes the outputs of positions from the sums of their hidden units, which become the hidden units. Several positions go
/// together because what comes last in each is a chain of a dozen operations that wait for each other: so it is begun for
/// the next one in the meantime, and the sigmoid takes the outputs of several.
#[inline(always)]
fn outputs<L: Lanes>(lanes: L, network: &Network, hidden: &mut [Block], outputs: &mut [f32]) {
    for units in hidden.iter_mut() {
        lanes.store(sigmoid(lanes, lanes.load(units)), units);
    }
    let positions = hidden.chunks_exact(network.blocks);
    for (hidden, sums) in positions.zip(outputs.chunks_exact_mut(network.outputs)) {
        let mut first = 0;
        while first < network.outputs {
            match network.outputs - first {
                1 => output_sums::<L, 1>(lanes, network, hidden, first, sums),
                2 => output_sums::<L, 2>(lanes, network, hidden, first, sums),
                3 => output_sums::<L, 3>(lanes, network, hidden, first, sums),
                4 => output_sums::<L, 4>(lanes, network, hidden, first, sums),
                5 => output_sums::<L, 5>(lanes, network, hidden, first, sums),
                _ => output_sums::<L, OUTPUT_TILE>(lanes, network, hidden, first, sums),
            }
            first += OUTPUT_TILE;
        }
    }
    for outputs in outputs.as_chunks_mut().0 {
        let mut block = Block(*outputs);
        lanes.store(sigmoid(lanes, lanes.load(&block)), &mut block);
        *outputs = block.0;
    }
}

/// Adds the inputs of each position to the `N` blocks of its sums from `first` on.
#[inline(always)]
fn add_to_tile<L: Lanes, const N: usize>(
    lanes: L,
    network: &Network,
    terms: Terms<'_>,
    ends: &[usize],
    first: usize,
    sums: &mut [Block],
) {
    let Network { inputs, blocks, .. } = *network;
    let weights = &network.hidden_weight[..];
    let mut begin = 0;
    for (&end, sums) in ends.iter().zip(sums.chunks_exact_mut(blocks)) {
        let sums = &mut sums[first..first + N];
        let mut units = [lanes.splat(0.0); N];
        for (unit, sum) in units.iter_mut().zip(&*sums) {
            *unit = lanes.load(sum);
        }
        for (&index, &value) in terms.indices[begin..end].iter().zip(&terms.values[begin..end]) {
            if usize::from(index) >= inputs {
                foreign_input(index, inputs);
            }
            let start = usize::from(index) * blocks + first;
            // SAFETY: `add` has checked that the weights have `inputs` rows of `blocks`, of which this is one, and a tile of
            // the sums has just been read, which have as many blocks. (Checking the place in the weights would take far longer.)
            let row = unsafe { weights.get_unchecked(start..start + N) };
            let value = lanes.splat(value);
            for (unit, weight) in units.iter_mut().zip(row) {
                *unit = lanes.fma(lanes.load(weight), value, *unit);
            }
        }
        for (unit, sum) in units.iter().zip(sums) {
            lanes.store(*unit, sum);
        }
        begin = end;
    }
}

/// Computes the weighted sums of the `N` outputs of a position from `first` on, each with its bias.
#[inline(always)]
fn output_sums<L: Lanes, const N: usize>(
    lanes: L,
    network: &Network,
    hidden: &[Block],
    first: usize,
    sums: &mut [f32],
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
    let bias = &network.output_bias[first..first + N];
    for ((output, bias), sum) in outputs.iter().zip(bias).zip(&mut sums[first..first + N]) {
        *sum = lanes.sum(*output) + bias;
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
