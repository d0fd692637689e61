//! What learns: the networks, their optimisers and the counters, stepped through rounds of lessons.

use ludus_config::Learn;
use ludus_players::arena::ArenaError;
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::{Card, WeightFile};
use ludus_proto::v1::{ClassLoss, Progress};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

use crate::ledger::Ledger;
use crate::network::Network;
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
}

/// All that changes by learning.
#[derive(Clone, Debug)]
pub struct Learner {
    /// One for each position class, in the order of the input set's classes.
    pub students: Vec<Student>,
    /// What has been done since the run began.
    pub ledger: Ledger,
    learn: Learn,
    seed: u64,
    losses: Vec<LossSum>,
    skipped_in_a_row: u32,
    gradient: Vec<f32>,
}

/// Losses since the last report.
#[derive(Clone, Copy, Debug, Default)]
struct LossSum {
    sum: f64,
    positions: u64,
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
    /// A learner that goes on from `students` and `ledger`. Everything random derives from `seed`.
    pub fn new(students: Vec<Student>, ledger: Ledger, learn: Learn, seed: u64) -> Self {
        let losses = vec![LossSum::default(); students.len()];
        Learner { students, ledger, learn, seed, losses, skipped_in_a_row: 0, gradient: Vec::new() }
    }

    /// Learns a round of lessons, one list for each class: mixes them, so that a step sees positions of many games, and
    /// takes a step for every `batch` of them. Afterwards nothing of the round is left over.
    pub fn learn(&mut self, lessons: &[Lessons]) -> Result<(), LearnError> {
        let mut rng = round_rng(self.seed, self.ledger.rounds);
        let step_size = step_size(&self.learn, self.ledger.games);
        for (class, lessons) in lessons.iter().enumerate() {
            let mut order: Vec<usize> = (0..lessons.len()).collect();
            order.shuffle(&mut rng);
            for batch in even_batches(&order, self.learn.batch) {
                self.step(class, lessons, batch, step_size)?;
            }
            self.ledger.positions += lessons.len() as u64;
        }
        self.ledger.rounds += 1;
        Ok(())
    }

    fn step(
        &mut self,
        class: usize,
        lessons: &Lessons,
        batch: &[usize],
        size: f32,
    ) -> Result<(), LearnError> {
        let student = &mut self.students[class];
        let loss = student.network.gradient(lessons, batch, &mut self.gradient)?;
        if !loss.is_finite() || !self.gradient.iter().all(|g| g.is_finite()) {
            self.ledger.skipped_steps += 1;
            self.skipped_in_a_row += 1;
            tracing::warn!(loss, class, "skipped a training step: its loss or gradient is not finite");
            let lost = self.skipped_in_a_row >= SKIPPED_IN_A_ROW;
            return if lost { Err(LearnError::Diverged) } else { Ok(()) };
        }
        self.skipped_in_a_row = 0;
        student.optimizer.step(student.network.parameters_mut(), &self.gradient, size);
        self.ledger.steps += 1;
        let losses = &mut self.losses[class];
        losses.sum += loss * batch.len() as f64;
        losses.positions += batch.len() as u64;
        Ok(())
    }

    /// The networks as they are now, with `card` about them.
    pub fn weights(&self, card: Card) -> WeightFile {
        WeightFile { card, networks: self.students.iter().map(|student| student.network.weights()).collect() }
    }

    /// The run's counters and the losses since the last [`Learner::forget_losses`].
    pub fn progress(&self) -> Progress {
        let losses = self.students.iter().zip(&self.losses).filter(|(_, losses)| losses.positions > 0);
        Progress {
            games: self.ledger.games,
            positions: self.ledger.positions,
            steps: self.ledger.steps,
            expired: self.ledger.expired,
            skipped_steps: self.ledger.skipped_steps,
            losses: losses
                .map(|(student, losses)| ClassLoss {
                    class: student.network.shape().class.clone(),
                    loss: losses.sum / losses.positions as f64,
                    positions: losses.positions,
                })
                .collect(),
        }
    }

    /// Starts the means of the losses afresh.
    pub fn forget_losses(&mut self) {
        self.losses.fill(LossSum::default());
    }
}

/// The random numbers of one round: with the number of rounds in the checkpoint, they need no state of their own.
fn round_rng(seed: u64, round: u64) -> ChaCha8Rng {
    let key = Sha256::new().chain_update(b"ludus round").chain_update(seed.to_le_bytes());
    ChaCha8Rng::from_seed(key.chain_update(round.to_le_bytes()).finalize().into())
}

/// `order` in parts of nearly equal length near `size`: a small last part would be a noisy step.
fn even_batches(order: &[usize], size: usize) -> impl Iterator<Item = &[usize]> {
    let parts = ((order.len() + size / 2) / size).max(1).min(order.len());
    (0..parts).map(move |part| &order[part * order.len() / parts..(part + 1) * order.len() / parts])
}

#[cfg(test)]
mod tests {
    use ludus_config::Optimizer as Kind;
    use ludus_players::input_set::Inputs;
    use ludus_players::weight_file::Shape;

    use super::*;

    fn learner(batch: usize) -> Learner {
        let shape = Shape { class: "race".into(), inputs: 3, hidden: 4, outputs: 1 };
        let fresh = WeightFile::fresh(Card::default(), &[shape], 1).unwrap();
        let learn = Learn { batch, optimizer: Kind::AdamW, step_size: 0.01, ..Learn::default() };
        let network = Network::from_weights(&fresh.networks[0]);
        let optimizer = Optimizer::new(&learn, network.parameters().len());
        Learner::new(vec![Student { network, optimizer }], Ledger::default(), learn, 7)
    }

    fn lessons(targets: impl Iterator<Item = f32>) -> Vec<Lessons> {
        let mut lessons = Lessons::new(1);
        for (number, target) in targets.enumerate() {
            let mut inputs = Inputs::default();
            inputs.push(number % 3, 1.0);
            lessons.push(&inputs, &[target]);
        }
        vec![lessons]
    }

    #[test]
    fn a_round_takes_a_step_for_every_batch_and_leaves_nothing_over() {
        for (positions, batch, steps) in [(1, 32, 1), (32, 32, 1), (47, 32, 1), (48, 32, 2), (330, 32, 10)] {
            let mut learner = learner(batch);
            learner.learn(&lessons((0..positions).map(|_| 0.5))).unwrap();
            let ledger = &learner.ledger;
            assert_eq!((ledger.steps, ledger.positions, ledger.rounds), (steps, positions as u64, 1));
            assert_eq!(learner.progress().losses[0].positions, positions as u64);
        }
        let mut learner = learner(32);
        learner.learn(&[Lessons::new(1)]).unwrap();
        assert_eq!((learner.ledger.steps, learner.progress().losses.len()), (0, 0));
    }

    #[test]
    fn batches_are_a_partition_of_nearly_equal_parts() {
        for (positions, size) in [(1, 8), (11, 8), (12, 8), (100, 8), (8, 1)] {
            let order: Vec<usize> = (0..positions).collect();
            let parts: Vec<&[usize]> = even_batches(&order, size).collect();
            assert_eq!(parts.concat(), order);
            let lengths = parts.iter().map(|part| part.len());
            assert!(lengths.clone().max().unwrap() - lengths.clone().min().unwrap() <= 1);
            assert!(lengths.max().unwrap() < 2 * size);
        }
    }

    #[test]
    fn a_step_that_is_not_finite_is_skipped_and_changes_nothing() {
        let mut learner = learner(4);
        let before = learner.students.clone();
        learner.learn(&lessons([f32::NAN].into_iter())).unwrap();
        assert_eq!(learner.students, before);
        assert_eq!((learner.ledger.steps, learner.ledger.skipped_steps), (0, 1));
        // A good step in between: it takes several in a row to lose faith.
        for _ in 0..3 {
            learner.learn(&lessons([0.5].into_iter())).unwrap();
            for _ in 0..SKIPPED_IN_A_ROW - 1 {
                learner.learn(&lessons([f32::INFINITY].into_iter())).unwrap();
            }
        }
        assert_eq!(learner.ledger.steps, 3);
        let poison = lessons((0..4 * SKIPPED_IN_A_ROW).map(|_| f32::NAN));
        assert!(matches!(learner.learn(&poison), Err(LearnError::Diverged)));
    }

    #[test]
    fn rounds_are_mixed_by_their_number_alone() {
        let targets = || lessons((0..64).map(|n| (n % 5) as f32 / 4.0));
        let after = |rounds: u64| {
            let mut learner = learner(4);
            learner.ledger.rounds = rounds;
            learner.learn(&targets()).unwrap();
            learner.students
        };
        assert_eq!(after(3), after(3));
        assert_ne!(after(3), after(4));
    }
}
