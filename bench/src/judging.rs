//! Positions judged a second, piece by piece.

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context, Result};
use ludus_games::Backgammon;
use ludus_games::backgammon::BackgammonChances;
use ludus_players::backgammon::input_sets;
use ludus_players::input_set::Inputs;
use ludus_players::net_evaluator::NetEvaluator;
use ludus_players::network::{Kernel, Network};
use ludus_players::player::Evaluator;
use ludus_players::speed::rate;
use ludus_players::weight_file::WeightFile;
use serde::Serialize;

use crate::floor::Floor;
use crate::samples::{self, Turn};

/// Games whose positions are judged.
const GAMES: u64 = 40;

/// How fast one thread judges contact positions.
#[derive(Clone, Debug, Serialize)]
pub struct Judging {
    /// The input set.
    pub inputs: String,
    /// Inputs of the contact network.
    pub width: usize,
    /// Its hidden units.
    pub hidden: usize,
    /// The instructions used.
    pub kernel: &'static str,
    /// Inputs that are not zero, on average.
    pub active: f64,
    /// Positions judged a second, the plays of a roll together as a player does: inputs, network, order of the results.
    pub judged_per_second: f64,
    /// Inputs of positions written a second.
    pub inputs_per_second: f64,
    /// Forward passes a second, each from the beginning.
    pub forward_per_second: f64,
    /// What the processor could do.
    pub floor: Option<Floor>,
}

/// The positions of games that the shipped player plays.
pub fn turns() -> Result<Vec<Turn>> {
    let arena = samples::arena()?;
    let player = samples::seating(samples::weights(&*arena, "shipped")?)?;
    samples::turns(&samples::games(&*arena, &player, GAMES)?)
}

/// Measures these weights, a third of `duration` for each piece.
pub fn measure(weights: &WeightFile, turns: &[Turn], duration: Duration) -> Result<Judging> {
    let sets = input_sets();
    let set = sets.iter().find(|set| set.name() == weights.card.inputs).context("unknown inputs")?;
    let batches = samples::contact(turns);
    let contact = weights.networks.first().context("no networks")?;
    let network = Network::new(contact);
    let each = duration / 3;

    let mut evaluator = NetEvaluator::new(Backgammon, weights, &sets)?;
    let mut chances = Vec::new();
    let mut next = batches.iter().cycle();
    let judged_per_second = rate::<anyhow::Error>(each, || {
        let batch = next.next().map_or(&[][..], Vec::as_slice);
        evaluator.judge(batch, &mut chances);
        Ok(black_box(&chances).len())
    })?;

    let mut active = Inputs::default();
    let mut next = batches.iter().cycle();
    let inputs_per_second = rate::<anyhow::Error>(each, || {
        let batch = next.next().map_or(&[][..], Vec::as_slice);
        for position in batch {
            set.write(0, position, &mut active);
            black_box(&active);
        }
        Ok(batch.len())
    })?;

    let written = |position| {
        let mut inputs = Inputs::default();
        set.write(0, position, &mut inputs);
        inputs
    };
    let written: Vec<Inputs> = batches.iter().flatten().map(written).collect();
    let active = written.iter().map(|inputs| inputs.indices.len()).sum::<usize>() as f64;
    let active = active / written.len() as f64;
    let mut kernel = Kernel::best();
    let mut outputs = BackgammonChances::default();
    let mut next = written.chunks(32).cycle();
    let forward_per_second = rate::<anyhow::Error>(each, || {
        let batch = next.next().unwrap_or_default();
        for inputs in batch {
            kernel.forward(&network, inputs, &mut outputs.0);
            black_box(&outputs);
        }
        Ok(batch.len())
    })?;

    Ok(Judging {
        inputs: set.name().to_owned(),
        width: contact.inputs,
        hidden: contact.hidden,
        kernel: kernel.name(),
        active,
        judged_per_second,
        inputs_per_second,
        forward_per_second,
        floor: Floor::of(contact.inputs, contact.hidden, contact.outputs, active),
    })
}
