//! What learns: the networks, their optimisers and the counters, stepped through rounds of lessons.

use ludus_config::{Learn, RunConfig, StepSchedule};
use ludus_players::arena::ArenaError;
use ludus_players::input_set::Inputs;
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::{Card, WeightFile};
use ludus_proto::v1::{ClassLoss, Progress};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

use crate::average::Average;
use crate::labels::memory::LabelMemory;
use crate::ledger::Ledger;
use crate::network::{Network, Pass};
use crate::optimizer::{Optimizer, step_size};

/// Steps in a row that may be skipped because a loss or gradient is not finite. One alone is bad luck; several mean
/// that the weights themselves are lost.
const SKIPPED_IN_A_ROW: u32 = 5;

/// One position class's network and its optimiser.
#[derive(Clone, Debug, PartialEq)]
pub struct Student {
    /// The network.
    pub network: Network,
    /// Its optimiser, with its state.
    pub optimizer: Optimizer,
    /// What is published of it.
    pub average: Average,
    /// Games at which the schedule of the step size began in which the average did; `None` before the first step, or where a
    /// checkpoint does not say.
    pub averaged_since: Option<u64>,
}

impl Student {
    /// A student that has learnt nothing here yet.
    pub fn new(network: Network, learn: &Learn) -> Self {
        let optimizer = Optimizer::new(learn, network.parameters().len());
        let average = Average::new(network.parameters());
        Student { network, optimizer, average, averaged_since: None }
    }
}

/// All that changes by learning.
#[derive(Clone, Debug)]
pub struct Learner {
    /// One for each position class, in the order of the input set's classes.
    pub students: Vec<Student>,
    /// What has been done since the run began.
    pub ledger: Ledger,
    /// Labels to draw lessons from.
    pub memory: LabelMemory,
    config: RunConfig,
    losses: Vec<Losses>,
    skipped_in_a_row: u32,
    // Kept from step to step, so that none allocates.
    pass: Pass,
    inputs: Inputs,
}

/// Losses of one class since the last report.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    /// Of the lessons of games.
    games: Loss,
    /// Of the lessons drawn from labels.
    labels: Loss,
}

/// A mean in the making.
#[derive(Clone, Copy, Debug, Default)]
struct Loss {
    sum: f64,
    positions: u64,
}

impl Loss {
    fn add(&mut self, loss: f32) {
        self.sum += f64::from(loss);
        self.positions += 1;
    }

    /// The mean, `None` when there is nothing to take it of.
    fn of(&self, class: String) -> Option<ClassLoss> {
        let &Loss { sum, positions } = self;
        (positions > 0).then(|| ClassLoss { class, loss: sum / positions as f64, positions })
    }
}

/// Why a round was given up.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The weights are lost.
    #[error("training steps in a row whose loss or gradient is not finite, or weights beyond all bounds")]
    Diverged,
    /// The weights that were made here do not fit the game: a fault of this program.
    #[error(transparent)]
    Teacher(#[from] ArenaError),
    /// Candle refuses: a fault of this program.
    #[error("Candle: {0}")]
    Candle(#[from] candle_core::Error),
}

impl Learner {
    /// A learner that goes on from `students` and `ledger`, as `config` tells it to. Its memory of labels is empty.
    pub fn new(students: Vec<Student>, ledger: Ledger, config: RunConfig) -> Self {
        let outputs = students.first().map_or(0, |student| student.network.shape().outputs);
        Learner {
            memory: LabelMemory::new(config.learn.label_memory, outputs),
            losses: vec![Losses::default(); students.len()],
            students,
            ledger,
            config,
            skipped_in_a_row: 0,
            pass: Pass::default(),
            inputs: Inputs::default(),
        }
    }

    /// Takes in a label: what a position of a class, with these inputs, is worth. Some lessons will be drawn for it.
    pub fn receive(&mut self, class: usize, inputs: &Inputs, chances: &[f32]) {
        self.memory.add(class, inputs, chances);
        self.ledger.labels += 1;
    }

    /// Lessons still to be drawn for the labels received. Every round draws them all, so between rounds there are none.
    pub fn owed(&self) -> usize {
        let granted = self.ledger.labels * u64::from(self.config.learn.replay);
        if self.memory.len() == 0 { 0 } else { granted.saturating_sub(self.ledger.label_lessons) as usize }
    }

    /// Learns a round of lessons, one list for each class: adds those to be drawn from labels, mixes them all, so that a
    /// step sees positions of many games, and takes a step for every `batch` of them. Afterwards nothing of the round is
    /// left over.
    pub fn learn(&mut self, lessons: &mut [Lessons]) -> Result<(), LearnError> {
        let mut rng = round_rng(self.config.seed, self.ledger.rounds);
        let schedule = schedule(&self.config, &self.ledger);
        let of_games: Vec<usize> = lessons.iter().map(Lessons::len).collect();
        for _ in 0..self.owed() {
            let index = rng.random_range(0..self.memory.len());
            self.memory.copy(index, lessons, &mut self.inputs);
            self.ledger.label_lessons += 1;
        }
        for (class, lessons) in lessons.iter().enumerate() {
            let mut order: Vec<usize> = (0..lessons.len()).collect();
            order.shuffle(&mut rng);
            for batch in even_batches(&order, self.config.learn.batch) {
                self.step(class, (lessons, of_games[class]), batch, &schedule)?;
            }
            self.ledger.positions += lessons.len() as u64;
        }
        self.ledger.rounds += 1;
        Ok(())
    }

    /// Takes a step for a batch of lessons, of which the first `of_games` are not of labels.
    fn step(
        &mut self,
        class: usize,
        (lessons, of_games): (&Lessons, usize),
        batch: &[usize],
        schedule: &StepSchedule,
    ) -> Result<(), LearnError> {
        let student = &mut self.students[class];
        student.network.pass(lessons, batch, &mut self.pass)?;
        let Pass { gradient, losses: position_losses } = &self.pass;
        let loss = position_losses.iter().sum::<f32>() / batch.len() as f32;
        if !loss.is_finite() || !all_finite(gradient) {
            self.ledger.skipped_steps += 1;
            self.skipped_in_a_row += 1;
            tracing::warn!(loss, class, "skipped a training step: its loss or gradient is not finite");
            let lost = self.skipped_in_a_row >= SKIPPED_IN_A_ROW;
            return if lost { Err(LearnError::Diverged) } else { Ok(()) };
        }
        self.skipped_in_a_row = 0;
        // The first steps of a new schedule are large: what was learnt before is no part of what they lead to. A network
        // that takes none, for want of lessons, keeps its average.
        if student.averaged_since.is_some_and(|since| since != schedule.from_games) {
            student.average = Average::new(student.network.parameters());
        }
        student.averaged_since = Some(schedule.from_games);
        let size = step_size(schedule, done_with(&self.ledger));
        student.optimizer.step(student.network.parameters_mut(), gradient, size);
        student.average.follow(student.network.parameters(), self.config.learn.average);
        self.ledger.steps += 1;
        let losses = &mut self.losses[class];
        for (&position, &loss) in batch.iter().zip(position_losses) {
            if position < of_games { losses.games.add(loss) } else { losses.labels.add(loss) }
        }
        Ok(())
    }

    /// The networks as they are now, averaged over the latest steps, with `card` about them.
    pub fn weights(&self, card: Card) -> WeightFile {
        let weights = |student: &Student| student.network.weights_of(&student.average.parameters);
        WeightFile { card, networks: self.students.iter().map(weights).collect() }
    }

    /// The run's counters and the losses since the last [`Learner::forget_losses`], those of labels under names of their
    /// own.
    pub fn progress(&self) -> Progress {
        let classes = || self.students.iter().map(|student| &student.network.shape().class).zip(&self.losses);
        let games = classes().filter_map(|(class, losses)| losses.games.of(class.clone()));
        let labels = classes().filter_map(|(class, losses)| losses.labels.of(format!("{class} labels")));
        Progress {
            games: self.ledger.games,
            positions: self.ledger.positions,
            steps: self.ledger.steps,
            expired: self.ledger.expired,
            skipped_steps: self.ledger.skipped_steps,
            losses: games.chain(labels).collect(),
        }
    }

    /// Starts the means of the losses afresh.
    pub fn forget_losses(&mut self) {
        self.losses.fill(Losses::default());
    }
}

/// Games by which phases begin and schedules run: accepted ones, of which some may have expired untrained.
fn done_with(ledger: &Ledger) -> u64 {
    ledger.games + ledger.expired
}

/// The schedule of the step size that holds now.
fn schedule(config: &RunConfig, ledger: &Ledger) -> StepSchedule {
    config.phase(config.phase_at(done_with(ledger))).step
}

/// The random numbers of one round: with the number of rounds in the checkpoint, they need no state of their own.
fn round_rng(seed: u64, round: u64) -> ChaCha8Rng {
    let key = Sha256::new().chain_update(b"ludus round").chain_update(seed.to_le_bytes());
    ChaCha8Rng::from_seed(key.chain_update(round.to_le_bytes()).finalize().into())
}

/// Whether every one is a number. Without a branch for each, so that several are looked at at once.
fn all_finite(numbers: &[f32]) -> bool {
    numbers.chunks(64).all(|numbers| numbers.iter().fold(true, |all, number| all & number.is_finite()))
}

/// `order` in parts of nearly equal length near `size`: a small last part would be a noisy step.
fn even_batches(order: &[usize], size: usize) -> impl Iterator<Item = &[usize]> {
    let parts = ((order.len() + size / 2) / size).max(1).min(order.len());
    (0..parts).map(move |part| &order[part * order.len() / parts..(part + 1) * order.len() / parts])
}

#[cfg(test)]
mod tests;
