use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::*;
use crate::input_set::{Inputs, Terms};
use crate::weight_file::{Card, Shape, WeightFile};

/// A number in [-1, 1).
fn number(rng: &mut ChaCha8Rng) -> f32 {
    (rng.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0
}

/// Weights of a trained network's size, a few times larger than fresh ones, with biases.
fn weights(inputs: usize, hidden: usize, outputs: usize, scale: f32, seed: u64) -> ClassWeights {
    let shape = Shape { class: "contact".to_owned(), inputs, hidden, outputs };
    let mut file = WeightFile::fresh(Card::default(), &[shape], seed).unwrap();
    let mut weights = file.networks.remove(0);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for bias in weights.hidden_bias.iter_mut().chain(&mut weights.output_bias) {
        *bias = number(&mut rng);
    }
    for weight in weights.hidden_weight.iter_mut().chain(&mut weights.output_weight) {
        *weight *= scale;
    }
    weights
}

/// Every input with this probability: whole, half or any number.
fn inputs(width: usize, density: f64, seed: u64) -> Inputs {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut inputs = Inputs::default();
    for index in 0..width {
        if f64::from(rng.next_u32()) < density * f64::from(u32::MAX) + 1.0 && density > 0.0 {
            let value = [1.0, 0.5, number(&mut rng), 6.0][rng.next_u32() as usize % 4];
            inputs.push(index, value);
        }
    }
    inputs
}

/// The network in double precision, by the definition.
fn reference(weights: &ClassWeights, inputs: &Inputs) -> Vec<f64> {
    let layer = |rows: &[f32], bias: &[f32], x: &[f64]| -> Vec<f64> {
        let sum = |row: &[f32]| row.iter().zip(x).map(|(&w, x)| f64::from(w) * x).sum::<f64>();
        let unit = |(row, &b): (&[f32], &f32)| 1.0 / (1.0 + (-(sum(row) + f64::from(b))).exp());
        rows.chunks_exact(x.len()).zip(bias).map(unit).collect()
    };
    let mut x = vec![0.0; weights.inputs];
    for (&index, &value) in inputs.indices.iter().zip(&inputs.values) {
        x[usize::from(index)] = f64::from(value);
    }
    let hidden = layer(&weights.hidden_weight, &weights.hidden_bias, &x);
    layer(&weights.output_weight, &weights.output_bias, &hidden)
}

fn outputs(kernel: &mut Kernel, network: &Network, inputs: &Inputs) -> Vec<f32> {
    let mut outputs = vec![f32::NAN; network.outputs()];
    kernel.forward(network, inputs, &mut outputs);
    outputs
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// All kernels agree to the bit, and with double precision to 1e-5.
fn check(weights: &ClassWeights, inputs: &Inputs) {
    let network = Network::new(weights);
    let scalar = outputs(&mut Kernel::scalar(), &network, inputs);
    for mut kernel in Kernel::available() {
        let found = outputs(&mut kernel, &network, inputs);
        assert_eq!(bits(&found), bits(&scalar), "{} {found:?} against {scalar:?}", kernel.name());
    }
    for (found, expected) in scalar.iter().zip(reference(weights, inputs)) {
        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} is not {expected}");
    }
}

#[test]
fn kernels_agree_to_the_bit_for_every_size_and_density() {
    for (hidden, width) in [(1, 3), (5, 17), (80, 198), (128, 250), (250, 250)] {
        for n_outputs in [1, 5, 16] {
            for density in [0.0, 0.2, 1.0] {
                let weights = weights(width, hidden, n_outputs, 3.0, hidden as u64);
                check(&weights, &inputs(width, density, 7));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn kernels_agree_to_the_bit_for_any_network(
        width in 1..260usize,
        hidden in 1..300usize,
        n_outputs in 1..=16usize,
        scale in prop_oneof![Just(0.0f32), 0.1..20.0f32],
        density in 0.0..1.0f64,
        seed: u64,
    ) {
        check(&weights(width, hidden, n_outputs, scale, seed), &inputs(width, density, seed));
    }

    #[test]
    fn positions_computed_together_are_to_the_bit_those_computed_alone(
        width in 1..100usize,
        hidden in 1..300usize,
        n_outputs in 1..=16usize,
        positions in prop::collection::vec((0.0..1.0f64, 0..100usize, any::<u64>()), 0..40),
        seed: u64,
    ) {
        let network = Network::new(&weights(width, hidden, n_outputs, 2.0, seed));
        let positions: Vec<(Inputs, usize)> = (positions.into_iter())
            .map(|(density, shared, seed)| (inputs(width, density, seed), shared))
            .collect();
        let alone: Vec<f32> = (positions.iter())
            .flat_map(|(inputs, _)| outputs(&mut Kernel::scalar(), &network, inputs))
            .collect();
        for mut kernel in Kernel::available() {
            let mut sums = Sums::default();
            // Twice, as what was computed before is in the memory.
            for _ in 0..2 {
                for (inputs, shared) in &positions {
                    let first = inputs.below(*shared);
                    kernel.start(&network, first, &mut sums);
                    kernel.add(&network, &sums, inputs.after(first.indices.len()));
                }
                assert_eq!(bits(kernel.finish(&network)), bits(&alone), "{}", kernel.name());
            }
        }
    }
}

#[test]
fn huge_weights_saturate_and_stay_finite_and_equal() {
    let mut weights = weights(20, 33, 5, 1.0, 1);
    for weight in weights.hidden_weight.iter_mut().chain(&mut weights.output_weight) {
        *weight = crate::weight_file::MAX_WEIGHT.copysign(*weight);
    }
    let network = Network::new(&weights);
    let inputs = inputs(20, 1.0, 2);
    let scalar = outputs(&mut Kernel::scalar(), &network, &inputs);
    assert!(scalar.iter().all(|p| (0.0..=1.0).contains(p)), "{scalar:?}");
    for mut kernel in Kernel::available() {
        assert_eq!(bits(&outputs(&mut kernel, &network, &inputs)), bits(&scalar), "{}", kernel.name());
    }
}

#[test]
fn a_position_may_be_computed_in_two_parts() {
    let network = Network::new(&weights(60, 170, 5, 2.0, 4));
    let inputs = inputs(60, 0.5, 4);
    for mut kernel in Kernel::available() {
        let whole = outputs(&mut kernel, &network, &inputs);
        let mut sums = Sums::default();
        for index in 0..=61 {
            let first = inputs.below(index);
            let rest = inputs.after(first.indices.len());
            assert!(first.indices.iter().all(|&found| usize::from(found) < index));
            assert_eq!([first.indices, rest.indices].concat(), inputs.indices);
            assert_eq!([first.values, rest.values].concat(), inputs.values);
            kernel.start(&network, first, &mut sums);
            kernel.add(&network, &sums, rest);
            assert_eq!(bits(kernel.finish(&network)), bits(&whole), "{} at {index}", kernel.name());
        }
    }
}

/// Two networks, and a kernel that has begun with a position for the large one.
fn begun_for_the_large() -> (Network, Network, Kernel, Sums) {
    let (large, small) =
        (Network::new(&weights(30, 90, 5, 2.0, 1)), Network::new(&weights(30, 20, 3, 2.0, 2)));
    let (kernel, mut sums) = (Kernel::best(), Sums::default());
    kernel.start(&large, Terms::default(), &mut sums);
    (large, small, kernel, sums)
}

#[test]
#[should_panic(expected = "sums of another network")]
fn sums_of_another_network_are_refused() {
    let (_, small, mut kernel, sums) = begun_for_the_large();
    kernel.add(&small, &sums, Terms::default());
}

#[test]
#[should_panic(expected = "sums.len() == ends.len() * blocks")]
fn positions_taken_up_for_another_network_are_refused() {
    let (large, small, mut kernel, sums) = begun_for_the_large();
    kernel.add(&large, &sums, Terms::default());
    kernel.finish(&small);
}

#[test]
fn a_kernel_forgets_the_network_it_computed_before() {
    let (large, small) =
        (Network::new(&weights(30, 90, 5, 2.0, 1)), Network::new(&weights(30, 20, 3, 2.0, 2)));
    let inputs = inputs(30, 0.5, 3);
    for mut kernel in Kernel::available() {
        let fresh = outputs(&mut kernel.clone(), &small, &inputs);
        outputs(&mut kernel, &large, &inputs);
        assert_eq!(outputs(&mut kernel, &small, &inputs), fresh);
    }
}

#[test]
#[should_panic(expected = "input 30 of a network of 30")]
fn an_input_outside_the_network_is_refused() {
    let network = Network::new(&weights(30, 20, 3, 1.0, 2));
    let mut inputs = Inputs::default();
    inputs.push(30, 1.0);
    outputs(&mut Kernel::best(), &network, &inputs);
}

#[test]
fn the_sigmoid_is_within_2e7_everywhere_and_the_same_on_all_kernels() {
    let kernels = Kernel::available();
    let mut worst = 0f64;
    // Every number from -100 to 100 that is a multiple of 2^-13, and a geometric ladder of sizes down to 1e-38 and up.
    let even = (-100 * 8192..=100 * 8192).map(|i| i as f32 / 8192.0);
    let ladder = (1..f32::MAX.to_bits()).step_by(30_011).map(f32::from_bits).flat_map(|x| [x, -x]);
    let mut all: Vec<f32> = even.chain(ladder).collect();
    all.resize(all.len().next_multiple_of(LANES), 0.0);
    for x in all.as_chunks().0 {
        let found = kernels[0].sigmoid(Block(*x));
        for (x, found) in x.iter().zip(found.0) {
            let expected = 1.0 / (1.0 + (-f64::from(*x)).exp());
            worst = worst.max((f64::from(found) - expected).abs());
            assert!((0.0..=1.0).contains(&found), "the sigmoid of {x} is {found}");
        }
        for kernel in &kernels[1..] {
            assert_eq!(bits(&kernel.sigmoid(Block(*x)).0), bits(&found.0), "{} at {x:?}", kernel.name());
        }
    }
    assert!(worst <= 2e-7, "{worst}");
    eprintln!("largest error of the sigmoid: {worst:.2e}");
}

#[test]
fn the_sigmoid_has_its_exact_values() {
    for kernel in Kernel::available() {
        let at = |x: f32| kernel.sigmoid(Block([x; LANES])).0[3];
        assert_eq!(at(0.0), 0.5);
        assert_eq!(at(-0.0), 0.5);
        assert_eq!(at(100.0), 1.0);
        assert_eq!(at(f32::INFINITY), 1.0);
        assert!(at(f32::NEG_INFINITY) < 1e-30);
    }
}

#[test]
fn results_are_those_recorded_earlier() {
    // Records are replayed by bits. If this fails, games recorded by older programs cannot be replayed any more.
    let network = Network::new(&weights(198, 80, 5, 3.0, 5));
    let found = outputs(&mut Kernel::best(), &network, &inputs(198, 0.2, 5));
    assert_eq!(bits(&found), [1042280630, 1055681706, 1059521827, 1054324804, 1064545767]);
}
