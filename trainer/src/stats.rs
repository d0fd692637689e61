//! What a running trainer shows of itself.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use ludus_proto::v1::ClassLoss;
use ludus_stream::Depths;

use crate::ledger::Ledger;

/// Live figures of a trainer, written by it and read by whoever shows them.
#[derive(Debug, Default)]
pub struct TrainerStats {
    games: AtomicU64,
    positions: AtomicU64,
    steps: AtomicU64,
    labels: AtomicU64,
    label_lessons: AtomicU64,
    expired: AtomicU64,
    skipped_steps: AtomicU64,
    refused: AtomicU64,
    buried: AtomicU64,
    version: AtomicU64,
    rollbacks: AtomicU64,
    checkpoints: AtomicU64,
    words: Mutex<Words>,
}

/// The figures that are no plain numbers.
#[derive(Debug, Default)]
struct Words {
    losses: Vec<ClassLoss>,
    waiting: Option<String>,
    stream: Option<Depths>,
}

/// The figures at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainerSnapshot {
    /// Games trained on since the run began.
    pub games: u64,
    /// Positions trained on since the run began.
    pub positions: u64,
    /// Steps taken since the run began.
    pub steps: u64,
    /// Labels received since the run began, of rollouts and of games whose luck was measured, those that no network learns left out.
    pub labels: u64,
    /// Positions trained on because of them; each label is learnt several times.
    pub label_lessons: u64,
    /// Games dropped because they were too old.
    pub expired: u64,
    /// Steps skipped because a loss or gradient was not finite.
    pub skipped_steps: u64,
    /// Games that could not be replayed.
    pub refused: u64,
    /// Stream entries moved to the dead letters by this process.
    pub buried: u64,
    /// Newest version, 0 before the first.
    pub version: u64,
    /// Times this process went back to the last checkpoint because training diverged.
    pub rollbacks: u64,
    /// Checkpoints written by this process.
    pub checkpoints: u64,
    /// Mean loss over the last checkpoint interval, by position class.
    pub losses: Vec<ClassLoss>,
    /// What the trainer waits for, if it waits.
    pub waiting: Option<String>,
    /// How full the stream was at the last checkpoint; `None` before the first, and when the stream did not answer.
    pub stream: Option<Depths>,
}

impl TrainerSnapshot {
    /// Positions received since the run began that a network learns, each counted once: a position of a game is learnt
    /// once, a label of a rollout or of a game whose luck was measured as often as `learn.replay` says.
    pub fn positions_received(&self) -> u64 {
        self.positions.saturating_sub(self.label_lessons) + self.labels
    }

    /// Times a position received was learnt, in the mean; `None` before the first.
    pub fn replay_ratio(&self) -> Option<f64> {
        let received = self.positions_received();
        (received > 0).then(|| self.positions as f64 / received as f64)
    }
}

impl TrainerStats {
    /// The figures now.
    pub fn snapshot(&self) -> TrainerSnapshot {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        TrainerSnapshot {
            games: self.games.load(Relaxed),
            positions: self.positions.load(Relaxed),
            steps: self.steps.load(Relaxed),
            labels: self.labels.load(Relaxed),
            label_lessons: self.label_lessons.load(Relaxed),
            expired: self.expired.load(Relaxed),
            skipped_steps: self.skipped_steps.load(Relaxed),
            refused: self.refused.load(Relaxed),
            buried: self.buried.load(Relaxed),
            version: self.version.load(Relaxed),
            rollbacks: self.rollbacks.load(Relaxed),
            checkpoints: self.checkpoints.load(Relaxed),
            losses: words.losses.clone(),
            waiting: words.waiting.clone(),
            stream: words.stream,
        }
    }

    /// Shows the counters of the run.
    pub(crate) fn show(&self, ledger: &Ledger) {
        self.games.store(ledger.games, Relaxed);
        self.positions.store(ledger.positions, Relaxed);
        self.steps.store(ledger.steps, Relaxed);
        self.labels.store(ledger.labels, Relaxed);
        self.label_lessons.store(ledger.label_lessons, Relaxed);
        self.expired.store(ledger.expired, Relaxed);
        self.skipped_steps.store(ledger.skipped_steps, Relaxed);
        self.refused.store(ledger.refused, Relaxed);
        self.version.store(ledger.version, Relaxed);
    }

    /// Shows the losses of the last checkpoint interval.
    pub(crate) fn show_losses(&self, losses: &[ClassLoss]) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).losses = losses.to_vec();
    }

    /// Says what the trainer waits for; `None`: it works.
    pub(crate) fn wait_for(&self, what: Option<String>) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).waiting = what;
    }

    /// Shows how full the stream is, if it answered.
    pub(crate) fn show_stream(&self, depths: Option<Depths>) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).stream = depths;
    }

    pub(crate) fn count_buried(&self) {
        self.buried.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_rollback(&self) {
        self.rollbacks.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_checkpoint(&self) {
        self.checkpoints.fetch_add(1, Relaxed);
    }
}
