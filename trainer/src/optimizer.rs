//! Optimisers over plain slices, with a state that can be saved and restored.

use ludus_config::{Learn, Optimizer as Kind, StepSchedule};

use crate::processor::for_this_processor;

/// How parameters follow their gradients. The state belongs to one network and survives in its checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Optimizer {
    /// Stochastic gradient descent: no state.
    Sgd,
    /// Adam with decoupled weight decay (Loshchilov and Hutter 2019).
    AdamW(AdamW),
}

/// State and settings of AdamW.
#[derive(Clone, Debug, PartialEq)]
pub struct AdamW {
    /// Steps taken, for the correction of the moments' start at zero.
    pub steps: u64,
    /// Running mean of the gradient.
    pub mean: Vec<f32>,
    /// Running mean of the gradient's square.
    pub square: Vec<f32>,
    /// Decoupled weight decay.
    pub weight_decay: f32,
}

/// Decay of the running mean.
const BETA1: f32 = 0.9;
/// Decay of the running mean square.
const BETA2: f32 = 0.999;
/// Keeps the division finite where the gradient has always been zero.
const EPSILON: f32 = 1e-8;

impl Optimizer {
    /// A fresh optimiser for a network of so many parameters.
    pub fn new(learn: &Learn, parameters: usize) -> Self {
        match learn.optimizer {
            Kind::Sgd => Optimizer::Sgd,
            Kind::AdamW => Optimizer::AdamW(AdamW {
                steps: 0,
                mean: vec![0.0; parameters],
                square: vec![0.0; parameters],
                weight_decay: learn.weight_decay as f32,
            }),
        }
    }

    /// Takes one step of size `step_size` down the gradient.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], step_size: f32) {
        match self {
            Optimizer::Sgd => {
                for (parameter, gradient) in parameters.iter_mut().zip(gradient) {
                    *parameter -= step_size * gradient;
                }
            }
            Optimizer::AdamW(adam) => adam.step(parameters, gradient, step_size),
        }
    }
}

impl AdamW {
    fn step(&mut self, parameters: &mut [f32], gradient: &[f32], step_size: f32) {
        self.steps += 1;
        let steps = self.steps.min(i32::MAX as u64) as i32;
        let size = step_size / (1.0 - BETA1.powi(steps));
        let correction = 1.0 / (1.0 - BETA2.powi(steps)).sqrt();
        let factors = Factors { size, correction, keep: 1.0 - step_size * self.weight_decay };
        adamw(parameters, gradient, &mut self.mean, &mut self.square, factors);
    }
}

/// What a step of AdamW multiplies by.
#[derive(Clone, Copy)]
struct Factors {
    /// The mean gradient: the step size, corrected for the mean's start at zero.
    size: f32,
    /// The root of the mean square, for the same reason.
    correction: f32,
    /// The parameter: what weight decay leaves of it.
    keep: f32,
}

for_this_processor! {
    fn adamw(
        parameters: &mut [f32],
        gradient: &[f32],
        mean: &mut [f32],
        square: &mut [f32],
        factors: Factors
    ) = adamw_loop;
}

/// The same bits with and without fused operations, as it uses none.
#[inline(always)]
fn adamw_loop<const FUSED: bool, const LANES: usize>(
    parameters: &mut [f32],
    gradient: &[f32],
    mean: &mut [f32],
    square: &mut [f32],
    Factors { size, correction, keep }: Factors,
) {
    let moments = mean.iter_mut().zip(square);
    for ((parameter, gradient), (mean, square)) in parameters.iter_mut().zip(gradient).zip(moments) {
        *mean = BETA1 * *mean + (1.0 - BETA1) * gradient;
        *square = BETA2 * *square + (1.0 - BETA2) * gradient * gradient;
        *parameter = *parameter * keep - size * *mean / (square.sqrt() * correction + EPSILON);
    }
}

/// The step size of a schedule after so many games trained on.
pub fn step_size(schedule: &StepSchedule, games: u64) -> f32 {
    let StepSchedule { start, end, games: length, from_games } = *schedule;
    let since = games.saturating_sub(from_games);
    let done = if length == 0 { 1.0 } else { (since as f64 / length as f64).min(1.0) };
    (start * (end / start).powf(done)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(optimizer: Kind, weight_decay: f64) -> Learn {
        Learn { optimizer, weight_decay, ..Learn::default() }
    }

    #[test]
    fn gradient_descent_follows_the_gradient() {
        let mut parameters = [1.0, -2.0];
        Optimizer::new(&learn(Kind::Sgd, 0.0), 2).step(&mut parameters, &[0.5, -1.0], 0.1);
        assert_eq!(parameters, [0.95, -1.9]);
    }

    #[test]
    fn adamw_takes_the_steps_that_its_authors_formulas_give() {
        let (decay, size) = (0.1, 0.01);
        let mut optimizer = Optimizer::new(&learn(Kind::AdamW, decay), 2);
        let mut parameters = [1.0f32, -2.0];
        let mut plain = [1.0f64, -2.0];
        let (mut mean, mut square) = ([0.0f64; 2], [0.0f64; 2]);
        for (t, gradient) in [[0.5f32, -1.0], [0.1, 0.0], [-0.7, 3.0]].into_iter().enumerate() {
            optimizer.step(&mut parameters, &gradient, size as f32);
            for i in 0..2 {
                let g = f64::from(gradient[i]);
                mean[i] = 0.9 * mean[i] + 0.1 * g;
                square[i] = 0.999 * square[i] + 0.001 * g * g;
                let corrected_mean = mean[i] / (1.0 - 0.9f64.powi(t as i32 + 1));
                let corrected_square = square[i] / (1.0 - 0.999f64.powi(t as i32 + 1));
                plain[i] -= size * (corrected_mean / (corrected_square.sqrt() + 1e-8) + decay * plain[i]);
                assert!(
                    (f64::from(parameters[i]) - plain[i]).abs() < 1e-6,
                    "step {t}: {parameters:?}, {plain:?}"
                );
            }
        }
        // The first step is as long as the step size, whatever the gradient's size.
        let mut alone = [0.0f32];
        Optimizer::new(&learn(Kind::AdamW, 0.0), 1).step(&mut alone, &[1e-4], 0.01);
        assert!((alone[0] + 0.01).abs() < 1e-5, "{alone:?}");
    }

    /// `adamw`, in one way or the other.
    type Step = fn(&mut [f32], &[f32], &mut [f32], &mut [f32], Factors);

    #[test]
    fn adamw_takes_the_same_steps_to_the_bit_with_every_processors_instructions() {
        let numbers = |seed: u32| (0..331u32).map(move |i| ((i * 7919 + seed) % 1013) as f32 / 506.0 - 1.0);
        let gradient: Vec<f32> = numbers(3).collect();
        let factors = Factors { size: 0.01, correction: 3.0, keep: 0.999 };
        let steps = |step: Step| {
            let mut state: [Vec<f32>; 3] =
                [numbers(1).collect(), numbers(2).collect(), numbers(4).map(f32::abs).collect()];
            let [parameters, mean, square] = &mut state;
            for _ in 0..3 {
                step(parameters, &gradient, mean, square, factors);
            }
            state.map(|numbers| numbers.into_iter().map(f32::to_bits).collect::<Vec<_>>())
        };
        assert_eq!(steps(adamw), steps(adamw_loop::<false, 4>));
    }

    #[test]
    fn a_parameter_that_never_had_a_gradient_stays_where_it_is() {
        let mut parameters = [0.25];
        Optimizer::new(&learn(Kind::AdamW, 0.0), 1).step(&mut parameters, &[0.0], 0.01);
        assert_eq!(parameters, [0.25]);
    }

    #[test]
    fn the_step_size_falls_geometrically_and_then_stays() {
        for from_games in [0, 700] {
            let schedule = StepSchedule { start: 0.01, end: 0.0001, games: 1000, from_games };
            let at = |games| step_size(&schedule, from_games + games);
            assert!((at(0) - 0.01).abs() < 1e-9);
            assert!((at(500) - 0.001).abs() < 1e-9);
            assert!((at(1000) - 0.0001).abs() < 1e-9);
            assert_eq!(at(1000), at(1_000_000));
            assert_eq!(step_size(&schedule, 0), at(0), "before the schedule begins");
        }
    }
}
