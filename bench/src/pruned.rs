//! The shipped player with small networks that say which of its plays are worth a judgement: what it takes to measure
//! shortlists without a weight file of one's own.

use anyhow::{Context, Result};
use ludus_config::{Learn, Optimizer as Kind};
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::WeightFile;
use ludus_trainer::network::{Network, Pass};
use ludus_trainer::optimizer::Optimizer;

use crate::samples;

/// Games of the shipped player from which the small networks learn what the large ones make of a position.
const GAMES: u64 = 2000;
/// Games whose positions are at hand together.
const ROUND: usize = 200;
/// How often all games are gone through.
const TIMES: usize = 5;
/// Positions of a step, and its size.
const BATCH: usize = 128;
const STEP: f32 = 3e-3;

/// A weight file for `ludus-2`: the networks of the shipped player, and small ones that have learnt from them for a few
/// seconds. They find good plays, so that games are as long as those of a player that was trained, but none is worth
/// measuring for its strength.
pub fn shipped() -> Result<WeightFile> {
    let arena = samples::arena()?;
    let large = samples::weights(&*arena, "shipped")?;
    let hidden = large.networks.first().context("the shipped player has no networks")?.hidden;
    let mut file = samples::fresh(&*arena, "ludus-2", hidden)?;
    file.networks[..large.networks.len()].clone_from_slice(&large.networks);

    let mut teacher = arena.teacher(&file)?;
    let settings = Learn { optimizer: Kind::AdamW, ..Learn::default() };
    let mut students: Vec<_> = (file.networks.iter())
        .map(|weights| {
            let network = Network::from_weights(weights);
            let optimizer = Optimizer::new(&settings, network.parameters().len());
            (network, optimizer)
        })
        .collect();
    let mut lessons: Vec<_> = file.networks.iter().map(|weights| Lessons::new(weights.outputs)).collect();
    let mut pass = Pass::default();
    let player = samples::seating(large.clone())?;
    let records = samples::games(&*arena, &player, GAMES)?;
    for round in (0..TIMES).flat_map(|_| records.chunks(ROUND)) {
        for record in round {
            // Lambda 0: what the large networks make of the next position.
            teacher.teach(record, 0.0, &mut lessons)?;
        }
        for (class, lessons) in lessons.iter_mut().enumerate() {
            if class >= large.networks.len() {
                let (network, optimizer) = &mut students[class];
                // Positions far apart, so that those of a step are of many games.
                let stride = lessons.len().div_ceil(BATCH).max(1);
                for first in 0..stride {
                    let part: Vec<usize> = (first..lessons.len()).step_by(stride).collect();
                    network.pass(lessons, &part, &mut pass)?;
                    optimizer.step(network.parameters_mut(), &pass.gradient, STEP);
                }
            }
            lessons.clear();
        }
    }
    for (weights, (network, _)) in file.networks.iter_mut().zip(&students).skip(large.networks.len()) {
        *weights = network.weights();
    }
    Ok(file)
}
