//! The first layer of a network, written for its inputs: of a few hundred only some dozens are not zero.
//!
//! A dense product would spend most of its time on zeros. Here every input that is there adds its row of weights to the
//! sums of the hidden units, and its share of their deltas to its row of the gradient. So weights and gradient lie by
//! input: `[inputs, hidden]`, row-major.
//!
//! The loops are plain; compiled for the instructions that the processor has, they are fast. They take some hidden units of all
//! positions and then the next ones: what they read again and again is as many columns of the weights or of the gradient, which
//! stay in a near cache where the whole would not.

use ludus_players::lessons::Lessons;

use crate::processor::for_this_processor;

/// Vectors of hidden units that are worked on at once, at most: as many as are needed for none to wait for the one before it.
const TILE: usize = 8;

/// Some positions of a list of lessons.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The list.
    pub lessons: &'a Lessons,
    /// Which of them.
    pub positions: &'a [usize],
}

/// Replaces the content of `hidden` by what the hidden units say, `[positions, hidden]`: the sigmoid of bias plus weighted
/// inputs.
pub fn forward(weights: &[f32], bias: &[f32], batch: Batch<'_>, hidden: &mut Vec<f32>) {
    hidden.clear();
    hidden.resize(batch.positions.len() * bias.len(), 0.0);
    hidden_units(weights, bias, batch, hidden);
}

for_this_processor! {
    fn hidden_units(weights: &[f32], bias: &[f32], batch: Batch<'_>, hidden: &mut [f32]) = forward_loops;
}

for_this_processor! {
    /// Adds to `gradient`, `[inputs, hidden]`, what the deltas of the hidden units, `[positions, hidden]`, mean for the weights.
    pub fn add_gradient(delta: &[f32], batch: Batch<'_>, gradient: &mut [f32]) = gradient_loops;
}

/// Calls a loop for all hidden units, tile by tile: `$tile::<FUSED, LANES, VECTORS>(arguments, first unit)`. A macro, as a
/// closure would not be compiled for the instructions of the function around it.
macro_rules! tile_by_tile {
    ($units:expr, $tile:ident::<$fused:ident, $lanes:ident>($($argument:expr),*)) => {
        let (mut first, mut vectors) = (0, $units / $lanes);
        while vectors > 0 {
            // Equal tiles: 9 vectors go as 5 and 4 rather than as 8 and 1.
            let tile = vectors.div_ceil(vectors.div_ceil(TILE));
            match tile {
                1 => $tile::<$fused, $lanes, 1>($($argument,)* first),
                2 => $tile::<$fused, $lanes, 2>($($argument,)* first),
                3 => $tile::<$fused, $lanes, 3>($($argument,)* first),
                4 => $tile::<$fused, $lanes, 4>($($argument,)* first),
                5 => $tile::<$fused, $lanes, 5>($($argument,)* first),
                6 => $tile::<$fused, $lanes, 6>($($argument,)* first),
                7 => $tile::<$fused, $lanes, 7>($($argument,)* first),
                _ => $tile::<$fused, $lanes, TILE>($($argument,)* first),
            }
            first += tile * $lanes;
            vectors -= tile;
        }
        while first < $units {
            $tile::<$fused, 1, 1>($($argument,)* first);
            first += 1;
        }
    };
}

#[inline(always)]
fn forward_loops<const FUSED: bool, const LANES: usize>(
    weights: &[f32],
    bias: &[f32],
    batch: Batch<'_>,
    hidden: &mut [f32],
) {
    tile_by_tile!(bias.len(), forward_tile::<FUSED, LANES>(weights, bias, batch, hidden));
}

#[inline(always)]
fn forward_tile<const FUSED: bool, const LANES: usize, const VECTORS: usize>(
    weights: &[f32],
    bias: &[f32],
    batch: Batch<'_>,
    hidden: &mut [f32],
    first: usize,
) {
    let units = bias.len();
    let end = first + VECTORS * LANES;
    for (hidden, &position) in hidden.chunks_exact_mut(units).zip(batch.positions) {
        let (indices, values) = batch.lessons.inputs(position);
        let mut sums = vectors::<LANES, VECTORS>(&bias[first..end]);
        for (&index, &value) in indices.iter().zip(values) {
            let row = usize::from(index) * units;
            let weights = vectors::<LANES, VECTORS>(&weights[row + first..row + end]);
            for (sums, weights) in sums.iter_mut().zip(&weights) {
                for (sum, &weight) in sums.iter_mut().zip(weights) {
                    *sum = multiply_add::<FUSED>(value, weight, *sum);
                }
            }
        }
        for (said, sum) in hidden[first..end].iter_mut().zip(sums.as_flattened()) {
            *said = sigmoid::<FUSED>(*sum);
        }
    }
}

#[inline(always)]
fn gradient_loops<const FUSED: bool, const LANES: usize>(
    delta: &[f32],
    batch: Batch<'_>,
    gradient: &mut [f32],
) {
    let units = delta.len() / batch.positions.len().max(1);
    tile_by_tile!(units, gradient_tile::<FUSED, LANES>(delta, batch, gradient));
}

#[inline(always)]
fn gradient_tile<const FUSED: bool, const LANES: usize, const VECTORS: usize>(
    delta: &[f32],
    batch: Batch<'_>,
    gradient: &mut [f32],
    first: usize,
) {
    let units = delta.len() / batch.positions.len();
    let end = first + VECTORS * LANES;
    for (delta, &position) in delta.chunks_exact(units).zip(batch.positions) {
        let (indices, values) = batch.lessons.inputs(position);
        let delta = vectors::<LANES, VECTORS>(&delta[first..end]);
        for (&index, &value) in indices.iter().zip(values) {
            let row = usize::from(index) * units;
            for (sum, delta) in gradient[row + first..row + end].iter_mut().zip(delta.as_flattened()) {
                *sum = multiply_add::<FUSED>(value, *delta, *sum);
            }
        }
    }
}

/// A copy of so many numbers, which the compiler keeps in registers.
#[inline(always)]
fn vectors<const LANES: usize, const VECTORS: usize>(numbers: &[f32]) -> [[f32; LANES]; VECTORS] {
    let mut vectors = [[0.0; LANES]; VECTORS];
    vectors.as_flattened_mut().copy_from_slice(numbers);
    vectors
}

/// `a b + c`.
#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// The logistic function without a call or a branch, so that a loop over it can be vectorised; right to about the last bit.
///
/// `exp(-x)` is `2^n exp(r)` with `|r| <= ln 2 / 2`; `exp(r)` is its Taylor series.
#[inline(always)]
fn sigmoid<const FUSED: bool>(x: f32) -> f32 {
    /// Adding it rounds to a whole number, which then is in the low bits.
    const ROUND: f32 = 1.5 * (1 << 23) as f32;
    /// ln 2 in two parts, of which the first has so few digits that its multiples are exact.
    const LN2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    /// 1 / k! from k = 7 down.
    const TAYLOR: [f32; 8] = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    // `clamp` keeps what is not a number; beyond the bounds the sigmoid is 0 or 1 for all purposes.
    let y = (-x).clamp(-87.0, 87.0);
    let shifted = multiply_add::<FUSED>(y, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = multiply_add::<FUSED>(n, -LN2[1], multiply_add::<FUSED>(n, -LN2[0], y));
    let mut exp = 0.0;
    for term in TAYLOR {
        exp = multiply_add::<FUSED>(exp, r, term);
    }
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()));
    1.0 / multiply_add::<FUSED>(exp, power, 1.0)
}

#[cfg(test)]
mod tests {
    use ludus_players::input_set::Inputs;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Lessons with some inputs of `inputs`, and their dense form.
    fn lessons(inputs: usize, rng: &mut ChaCha8Rng) -> (Lessons, Vec<Vec<f32>>) {
        let mut lessons = Lessons::new(1);
        let mut dense = Vec::new();
        for _ in 0..9 {
            let mut active = Inputs::default();
            let mut row = vec![0.0; inputs];
            for (index, value) in row.iter_mut().enumerate() {
                *value = if rng.random_bool(0.3) { rng.random_range(-1.0..2.0) } else { 0.0 };
                active.push(index, *value);
            }
            lessons.push(&active, &[0.5]);
            dense.push(row);
        }
        (lessons, dense)
    }

    fn numbers(count: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
        (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    #[test]
    fn it_is_the_dense_layer_whatever_the_instructions_and_the_number_of_units() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for (inputs, units) in [(1, 1), (7, 31), (20, 32), (30, 33), (50, 120), (9, 331)] {
            let (lessons, dense) = lessons(inputs, &mut rng);
            let (weights, bias) = (numbers(inputs * units, &mut rng), numbers(units, &mut rng));
            let positions = [8, 0, 3, 3];
            let batch = Batch { lessons: &lessons, positions: &positions };
            let delta = numbers(positions.len() * units, &mut rng);
            let before = numbers(inputs * units, &mut rng);

            let (mut hidden, mut gradient) = (vec![f32::NAN; 3], before.clone());
            forward(&weights, &bias, batch, &mut hidden);
            add_gradient(&delta, batch, &mut gradient);
            let (mut plain_hidden, mut plain_gradient) = (vec![0.0; positions.len() * units], before.clone());
            forward_loops::<false, 4>(&weights, &bias, batch, &mut plain_hidden);
            gradient_loops::<false, 4>(&delta, batch, &mut plain_gradient);

            for (row, &position) in positions.iter().enumerate() {
                for unit in 0..units {
                    let terms = dense[position].iter().enumerate();
                    let terms =
                        terms.map(|(input, &x)| f64::from(x) * f64::from(weights[input * units + unit]));
                    let expected = 1.0 / (1.0 + (-f64::from(bias[unit]) - terms.sum::<f64>()).exp());
                    for found in [&hidden, &plain_hidden] {
                        let found = f64::from(found[row * units + unit]);
                        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
                    }
                }
            }
            for input in 0..inputs {
                for unit in 0..units {
                    let rows = positions.iter().enumerate();
                    let terms = rows
                        .map(|(row, &p)| f64::from(dense[p][input]) * f64::from(delta[row * units + unit]));
                    let expected = f64::from(before[input * units + unit]) + terms.sum::<f64>();
                    for found in [&gradient, &plain_gradient] {
                        let found = f64::from(found[input * units + unit]);
                        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_sigmoid_is_right_everywhere_and_passes_on_what_is_no_number() {
        for step in -40_000..=40_000 {
            let x = step as f32 / 400.0;
            let expected = 1.0 / (1.0 + (-f64::from(x)).exp());
            for found in [sigmoid::<true>(x), sigmoid::<false>(x)] {
                let error = (f64::from(found) - expected).abs();
                assert!(error <= 2e-7 * expected + 1e-37, "sigmoid({x}) is not {found}");
            }
        }
        assert_eq!((sigmoid::<true>(f32::INFINITY), sigmoid::<false>(1e9)), (1.0, 1.0));
        assert!(sigmoid::<true>(f32::NEG_INFINITY) < 1e-37);
        assert!(sigmoid::<true>(f32::NAN).is_nan() && sigmoid::<false>(f32::NAN).is_nan());
    }
}
