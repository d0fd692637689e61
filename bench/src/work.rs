//! Fixed amounts of work, for counting instructions: they tell on a busy machine what times do not.
//!
//! Everything that is to be counted happens inside [`counted`], so that a tool such as callgrind can leave the rest out:
//! `--toggle-collect='*::counted'`.

use std::hint::black_box;

use anyhow::Result;
use clap::ValueEnum;
use ludus_games::{Backgammon, Game, Plays};
use ludus_players::arena::Arena;
use ludus_players::backgammon::input_sets;
use ludus_players::input_set::{InputSet, Inputs};
use ludus_players::net_evaluator::NetEvaluator;
use ludus_players::player::Evaluator;
use ludus_players::weight_file::WeightFile;
use ludus_proto::v1::GameRecord;
use serde::Serialize;

use crate::samples;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Legal plays of every roll of every position; counted in rolls.
    Plays,
    /// Inputs of the positions after plays; counted in positions.
    Inputs,
    /// Judgements of these, the plays of a roll together; counted in positions.
    Judgements,
    /// Checks of records, as the coordinator does them; counted in games.
    Checks,
}

/// How much was done.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Done {
    /// The work.
    pub work: Work,
    /// How many of its units.
    pub units: usize,
}

/// Does the work on positions of `games` games of PubEval against itself, with these weights where weights are needed.
pub fn run(work: Work, weights: &WeightFile, games: u64) -> Result<Done> {
    let arena = samples::arena()?;
    let player = samples::baseline("pubeval");
    let records = samples::games(&*arena, &player, games)?;
    let turns = samples::turns(&records)?;
    let batches = samples::contact(&turns);
    let units = match work {
        Work::Plays => counted(|| {
            let mut plays = Plays::new();
            let mut rolls = 0;
            for turn in &turns {
                // As from the second ply on, when every roll is possible.
                for &(roll, _) in Backgammon.rolls(&turn.before, 1) {
                    Backgammon.plays(&turn.before, roll, &mut plays);
                    black_box(&plays);
                    rolls += 1;
                }
            }
            Ok(rolls)
        }),
        Work::Inputs => {
            let sets = input_sets();
            let set = sets.iter().find(|set| set.name() == weights.card.inputs);
            counted(|| Ok(set.map_or(0, |set| write_all(&**set, &batches))))
        }
        Work::Judgements => {
            let mut evaluator = NetEvaluator::new(Backgammon, weights, &input_sets())?;
            let mut chances = Vec::new();
            counted(|| {
                let mut judged = 0;
                for batch in &batches {
                    evaluator.judge(batch, &mut chances);
                    judged += black_box(&chances).len();
                }
                Ok(judged)
            })
        }
        Work::Checks => counted(|| check_all(&*arena, &records)),
    }?;
    Ok(Done { work, units })
}

/// Does what is to be counted.
#[inline(never)]
pub fn counted(work: impl FnOnce() -> Result<usize>) -> Result<usize> {
    black_box(work())
}

fn write_all(set: &dyn InputSet<Backgammon>, batches: &[Vec<ludus_games::backgammon::Position>]) -> usize {
    let mut inputs = Inputs::default();
    for position in batches.iter().flatten() {
        set.write(0, position, &mut inputs);
        black_box(&inputs);
    }
    batches.iter().map(Vec::len).sum()
}

fn check_all(arena: &dyn Arena, records: &[GameRecord]) -> Result<usize> {
    let player = samples::baseline("pubeval").player_ref();
    let (series, players) = (samples::series(), [player.clone(), player]);
    for record in records {
        arena.check(&series, &players, record)?;
    }
    Ok(records.len())
}
