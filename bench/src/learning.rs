//! Positions a second in the trainer: from records to lessons, and from lessons to steps.

use std::time::{Duration, Instant};

use anyhow::Result;
use ludus_config::{Learn, Optimizer as Kind};
use ludus_players::lessons::Lessons;
use ludus_proto::v1::GameRecord;
use ludus_trainer::network::{Network, Pass};
use ludus_trainer::optimizer::Optimizer;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::samples;

/// Games of a round, whose positions are mixed: enough for a step of 4096 in the class that is met most.
const ROUND: usize = 200;
/// TD(lambda), as by default.
const LAMBDA: f32 = 0.7;
/// Small enough that nothing diverges however long it runs.
const STEP: f32 = 1e-4;

/// How fast one thread learns.
#[derive(Clone, Debug, Serialize)]
pub struct Learning {
    /// The input set.
    pub inputs: String,
    /// Hidden units.
    pub hidden: usize,
    /// The optimiser.
    pub optimizer: Kind,
    /// Positions of a step.
    pub batch: usize,
    /// Positions a second, everything included.
    pub per_second: f64,
    /// Positions a second in replaying records, judging their positions, writing inputs and targets.
    pub lessons_per_second: f64,
    /// Positions a second in forward pass, gradient and optimiser.
    pub steps_per_second: f64,
}

/// Learns from `records` again and again for `duration`, in rounds, as the trainer does: lessons of some games, mixed, then
/// a step for every `batch` of a class.
pub fn measure(
    (inputs, hidden): (&str, usize),
    (kind, batch): (Kind, usize),
    records: &[GameRecord],
    duration: Duration,
) -> Result<Learning> {
    let arena = samples::arena()?;
    let weights = samples::fresh(&*arena, inputs, hidden)?;
    let mut teacher = arena.teacher(&weights)?;
    let settings = Learn { optimizer: kind, ..Learn::default() };
    let (mut students, mut lessons) = (Vec::new(), Vec::new());
    for network in &weights.networks {
        let network = Network::from_weights(network);
        let optimizer = Optimizer::new(&settings, network.parameters().len());
        lessons.push(Lessons::new(network.shape().outputs));
        students.push((network, optimizer));
    }
    let (mut pass, mut rng) = (Pass::default(), ChaCha8Rng::seed_from_u64(1));
    let (mut positions, mut teaching, mut stepping) = (0, Duration::ZERO, Duration::ZERO);
    for round in records.chunks_exact(ROUND).cycle() {
        let start = Instant::now();
        for record in round {
            teacher.teach(record, LAMBDA, &mut lessons)?;
        }
        let taught = Instant::now();
        for ((network, optimizer), lessons) in students.iter_mut().zip(&mut lessons) {
            let mut order: Vec<usize> = (0..lessons.len()).collect();
            order.shuffle(&mut rng);
            for part in parts(&order, batch) {
                network.pass(lessons, part, &mut pass)?;
                optimizer.step(network.parameters_mut(), &pass.gradient, STEP);
            }
            positions += lessons.len();
            lessons.clear();
        }
        teaching += taught - start;
        stepping += taught.elapsed();
        if teaching + stepping >= duration {
            break;
        }
    }
    let rate = |time: Duration| positions as f64 / time.as_secs_f64();
    Ok(Learning {
        inputs: inputs.to_owned(),
        hidden,
        optimizer: kind,
        batch,
        per_second: rate(teaching + stepping),
        lessons_per_second: rate(teaching),
        steps_per_second: rate(stepping),
    })
}

/// `order` in parts of nearly equal length near `size`.
fn parts(order: &[usize], size: usize) -> impl Iterator<Item = &[usize]> {
    let count = ((order.len() + size / 2) / size).max(1).min(order.len());
    (0..count).map(move |part| &order[part * order.len() / count..(part + 1) * order.len() / count])
}

/// Games to learn from.
pub fn records() -> Result<Vec<GameRecord>> {
    let arena = samples::arena()?;
    samples::games(&*arena, &samples::baseline("pubeval"), 10 * ROUND as u64)
}
