use ludus_players::input_set::Inputs;
use ludus_players::network::{Kernel, Network as KernelNetwork, Table};
use ludus_players::weight_file::{Card, WeightFile};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn network(inputs: usize, hidden: usize, outputs: usize, rng: &mut ChaCha8Rng) -> Network {
    let shape = Shape { class: "contact".into(), inputs, hidden, outputs };
    let fresh = WeightFile::fresh(Card::default(), &[shape], rng.random()).unwrap();
    let mut network = Network::from_weights(&fresh.networks[0]);
    // Larger than fresh, and with biases, so that the sigmoids bend and everything matters.
    for parameter in network.parameters_mut() {
        *parameter = 3.0 * *parameter + rng.random_range(-0.5..0.5);
    }
    network
}

fn position(width: usize, rng: &mut ChaCha8Rng) -> Inputs {
    let mut inputs = Inputs::default();
    for index in 0..width {
        if rng.random_bool(0.2) {
            inputs.push(index, rng.random_range(-1.0..2.0));
        }
    }
    inputs
}

/// Targets a little outside [0, 1] too.
fn lessons(network: &Network, count: usize, rng: &mut ChaCha8Rng) -> (Lessons, Vec<Inputs>) {
    let shape = network.shape();
    let mut lessons = Lessons::new(shape.outputs);
    let positions: Vec<Inputs> = (0..count).map(|_| position(shape.inputs, rng)).collect();
    for inputs in &positions {
        let target: Vec<f32> = (0..shape.outputs).map(|_| rng.random_range(-0.2..1.2)).collect();
        lessons.push(inputs, &target);
    }
    (lessons, positions)
}

#[test]
fn the_trainers_forward_pass_is_the_workers_to_1e5() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (inputs, hidden, outputs) in
        [(198, 80, 5), (206, 120, 5), (12, 1, 1), (40, 17, 3), (900, 0, 2), (9, 0, 1)]
    {
        let network = network(inputs, hidden, outputs, &mut rng);
        let (lessons, positions) = lessons(&network, 100, &mut rng);
        let found = network.forward(&lessons).unwrap();
        let weights = network.weights();
        let kernel = |inputs: &Inputs, outputs: &mut [f32]| match hidden {
            0 => Kernel::best().look_up(&Table::new(&weights), inputs.all(), outputs),
            _ => Kernel::best().forward(&KernelNetwork::new(&weights), inputs, outputs),
        };
        let mut worst: f32 = 0.0;
        for (inputs, found) in positions.iter().zip(found.chunks_exact(outputs)) {
            let mut expected = vec![0.0; outputs];
            kernel(inputs, &mut expected);
            for (found, expected) in found.iter().zip(expected) {
                worst = worst.max((found - expected).abs());
            }
        }
        assert!(worst < 1e-5, "{inputs}-{hidden}-{outputs}: off by {worst}");
    }
}

#[test]
fn weights_go_into_a_weight_file_and_come_back() {
    for hidden in [3, 0] {
        let network = network(7, hidden, 2, &mut ChaCha8Rng::seed_from_u64(2));
        assert_eq!(Network::from_weights(&network.weights()), network);
        let weights = network.weights();
        let parameters =
            [weights.hidden_weight, weights.hidden_bias, weights.output_weight, weights.output_bias];
        let parameters = parameters.concat();
        let shape = network.shape().clone();
        assert_eq!(to_file_order(&shape, network.parameters()), parameters);
        assert_eq!(Network::from_parameters(shape.clone(), &parameters), Some(network));
        assert_eq!(Network::from_parameters(shape, &[0.0; 8]), None);
    }
}

/// The mean loss in f64, written down as plainly as possible; parameters as in [`Network::parameters`].
fn plain_loss(shape: &Shape, parameters: &[f64], lessons: &Lessons, positions: &[usize]) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let (hidden_weight, rest) = parameters.split_at(shape.hidden * shape.inputs);
    let (hidden_bias, rest) = rest.split_at(shape.hidden);
    let (output_weight, output_bias) = rest.split_at(shape.outputs * shape.read_by_outputs());
    let mut loss = 0.0;
    for &position in positions {
        let (indices, values) = lessons.inputs(position);
        let hidden: Vec<f64> = (0..shape.hidden)
            .map(|unit| {
                let weight = |i: u16| hidden_weight[usize::from(i) * shape.hidden + unit];
                let terms = indices.iter().zip(values).map(|(&i, &x)| weight(i) * f64::from(x));
                sigmoid(hidden_bias[unit] + terms.sum::<f64>())
            })
            .collect();
        for (output, &target) in lessons.target(position).iter().enumerate() {
            let sum: f64 = if shape.hidden == 0 {
                let weight = |i: u16| output_weight[usize::from(i) * shape.outputs + output];
                indices.iter().zip(values).map(|(&i, &x)| weight(i) * f64::from(x)).sum()
            } else {
                let row = &output_weight[output * shape.hidden..][..shape.hidden];
                row.iter().zip(&hidden).map(|(weight, said)| weight * said).sum()
            };
            let chance = sigmoid(output_bias[output] + sum);
            let target = f64::from(target);
            loss -= target * chance.ln() + (1.0 - target) * (1.0 - chance).ln();
        }
    }
    loss / positions.len() as f64
}

#[test]
fn the_gradient_is_that_of_finite_differences_in_f64() {
    for (hidden, outputs) in [(6, 5), (0, 2)] {
        gradient_is_exact(hidden, outputs);
    }
}

fn gradient_is_exact(hidden: usize, outputs: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let network = network(9, hidden, outputs, &mut rng);
    let (lessons, _) = lessons(&network, 20, &mut rng);
    let positions = [3, 4, 5, 11, 19, 0];
    let mut pass = Pass { gradient: vec![1.0; 2], losses: vec![f32::NAN] };
    network.pass(&lessons, &positions, &mut pass).unwrap();
    let loss = pass.losses.iter().map(|&loss| f64::from(loss)).sum::<f64>() / positions.len() as f64;
    assert_eq!(pass.losses.len(), positions.len());

    let exact: Vec<f64> = network.parameters().iter().map(|&parameter| f64::from(parameter)).collect();
    let plain = |parameters: &[f64]| plain_loss(network.shape(), parameters, &lessons, &positions);
    assert!((loss - plain(&exact)).abs() < 1e-5, "{loss} is not {}", plain(&exact));
    assert_eq!(pass.gradient.len(), exact.len());
    for (index, &found) in pass.gradient.iter().enumerate() {
        let step = 1e-5;
        let shifted = |by: f64| {
            let mut parameters = exact.clone();
            parameters[index] += by;
            plain(&parameters)
        };
        let expected = (shifted(step) - shifted(-step)) / (2.0 * step);
        let error = (f64::from(found) - expected).abs();
        assert!(error < 2e-6 + 1e-5 * expected.abs(), "parameter {index}: {found} is not {expected}");
    }
}

#[test]
fn the_loss_is_finite_and_its_slope_exact_far_out() {
    for logit in [-1e4f32, -100.0, -30.0, 0.0, 30.0, 100.0, 1e4] {
        for target in [-0.1f32, 0.0, 0.3, 1.0, 1.1] {
            let loss = cross_entropy(logit, target);
            assert!(loss.is_finite());
            // Far out the loss is a straight line.
            let expected = f64::from(logit.max(0.0)) - f64::from(logit) * f64::from(target);
            let near = if logit == 0.0 { 2f64.ln() } else { 0.0 };
            assert!((f64::from(loss) - expected - near).abs() < 1e-3 * (1.0 + expected.abs()));
        }
    }
    assert_eq!(sigmoid(-1e4), 0.0);
    assert_eq!(sigmoid(1e4), 1.0);
}
