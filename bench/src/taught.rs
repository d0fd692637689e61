//! Networks that have learnt from the shipped player for some seconds. They find good plays, so that games are as long as
//! those of a player that was trained, but none is worth measuring for its strength.

use anyhow::{Context, Result};
use ludus_config::{Learn, Optimizer as Kind};
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::WeightFile;
use ludus_proto::v1::{GameRecord, Label};
use ludus_trainer::network::{Network, Pass};
use ludus_trainer::optimizer::Optimizer;

use crate::samples;

/// Games of the shipped player to learn from.
const GAMES: u64 = 2000;
/// Games whose positions are at hand together.
const ROUND: usize = 200;
/// How often all games are gone through.
const TIMES: usize = 5;
/// Positions of a step, and its size.
const BATCH: usize = 128;
const STEP: f32 = 3e-3;

/// A weight file for `ludus-2`: the networks of the shipped player, and small ones that have learnt from them. It takes no
/// weight file of one's own to measure shortlists with it.
pub fn pruned() -> Result<WeightFile> {
    let arena = samples::arena()?;
    let large = samples::weights(&*arena, "shipped")?;
    let hidden = large.networks.first().context("the shipped player has no networks")?.hidden;
    let mut file = samples::fresh(&*arena, "ludus-2", hidden)?;
    file.networks[..large.networks.len()].clone_from_slice(&large.networks);

    let mut teacher = arena.teacher(&file)?;
    let mut students = Students::of(&file, large.networks.len());
    for round in rounds(&games()?) {
        for record in round {
            teacher.teach(record, 0.0, &mut students.lessons)?;
        }
        students.learn()?;
    }
    students.write(&mut file);
    Ok(file)
}

/// A weight file for any input set and number of hidden units, which has learnt what the shipped player makes of positions.
pub fn player(inputs: &str, hidden: usize) -> Result<WeightFile> {
    let arena = samples::arena()?;
    let mut file = samples::fresh(&*arena, inputs, hidden)?;
    let weights = samples::weights(&*arena, "shipped")?;
    let mut shipped = arena.teacher(&weights)?;
    let mut aside: Vec<Lessons> =
        weights.networks.iter().map(|network| Lessons::new(network.outputs)).collect();
    let mut own = arena.teacher(&file)?;
    let mut records = games()?;
    for record in &mut records {
        // As labels they are for networks of any inputs.
        let mut labels = Vec::new();
        shipped.returns(record, 0.0, &mut aside, &mut |lesson| {
            let (ply, play, chances) = (lesson.ply, lesson.play, lesson.target.to_vec());
            labels.push(Label { ply, play, chances, error: lesson.error, trials: lesson.trials });
        })?;
        record.labels = labels;
    }
    let mut students = Students::of(&file, 0);
    for round in rounds(&records) {
        for record in round {
            own.labels(record, &mut |lesson| {
                if let Some(inputs) = lesson.inputs {
                    students.lessons[lesson.class].push(inputs, lesson.target);
                }
            })?;
        }
        students.learn()?;
    }
    students.write(&mut file);
    Ok(file)
}

fn games() -> Result<Vec<GameRecord>> {
    let arena = samples::arena()?;
    let player = samples::seating(samples::weights(&*arena, "shipped")?)?;
    samples::games(&*arena, &player, GAMES)
}

/// The games of one round after the other.
fn rounds(records: &[GameRecord]) -> impl Iterator<Item = &[GameRecord]> {
    (0..TIMES).flat_map(|_| records.chunks(ROUND))
}

/// Networks that learn.
struct Students {
    /// The first of a file's networks that learns.
    first: usize,
    networks: Vec<(Network, Optimizer)>,
    /// For each network of the file.
    lessons: Vec<Lessons>,
    pass: Pass,
}

impl Students {
    /// The networks of a file from number `first` on.
    fn of(file: &WeightFile, first: usize) -> Self {
        let settings = Learn { optimizer: Kind::AdamW, ..Learn::default() };
        let networks = file.networks.iter().map(|weights| {
            let network = Network::from_weights(weights);
            let optimizer = Optimizer::new(&settings, network.parameters().len());
            (network, optimizer)
        });
        let lessons = file.networks.iter().map(|weights| Lessons::new(weights.outputs)).collect();
        Students { first, networks: networks.collect(), lessons, pass: Pass::default() }
    }

    /// Learns all lessons, and forgets them.
    fn learn(&mut self) -> Result<()> {
        for (class, lessons) in self.lessons.iter_mut().enumerate() {
            if class >= self.first && !lessons.is_empty() {
                let (network, optimizer) = &mut self.networks[class];
                // Positions far apart, so that those of a step are of many games.
                let stride = lessons.len().div_ceil(BATCH).max(1);
                for first in 0..stride {
                    let part: Vec<usize> = (first..lessons.len()).step_by(stride).collect();
                    network.pass(lessons, &part, &mut self.pass)?;
                    optimizer.step(network.parameters_mut(), &self.pass.gradient, STEP);
                }
            }
            lessons.clear();
        }
        Ok(())
    }

    /// Puts what has learnt into the file.
    fn write(self, file: &mut WeightFile) {
        for (weights, (network, _)) in file.networks.iter_mut().zip(&self.networks).skip(self.first) {
            *weights = network.weights();
        }
    }
}
