//! Optimisers over plain slices, with a state that can be saved and restored.

use ludus_config::{Learn, Optimizer as Kind};

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
        let keep = 1.0 - step_size * self.weight_decay;
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((parameter, gradient), (mean, square)) in parameters.iter_mut().zip(gradient).zip(moments) {
            *mean = BETA1 * *mean + (1.0 - BETA1) * gradient;
            *square = BETA2 * *square + (1.0 - BETA2) * gradient * gradient;
            *parameter = *parameter * keep - size * *mean / (square.sqrt() * correction + EPSILON);
        }
    }
}

/// The step size after so many games: it falls geometrically from `step_size` to `final_step_size` over `decay_games`.
pub fn step_size(learn: &Learn, games: u64) -> f32 {
    let done = if learn.decay_games == 0 { 1.0 } else { (games as f64 / learn.decay_games as f64).min(1.0) };
    (learn.step_size * (learn.final_step_size / learn.step_size).powf(done)) as f32
}
