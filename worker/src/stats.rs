//! What a worker has done, for people to look at while it works.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters of a running worker, since it started.
#[derive(Debug, Default)]
pub struct WorkerStats {
    games: AtomicU64,
    positions: AtomicU64,
    evaluations: AtomicU64,
    accepted: AtomicU64,
    repeated: AtomicU64,
    refused: AtomicU64,
    leases: AtomicU64,
    waiting: Mutex<Option<String>>,
}

/// What [`WorkerStats`] said at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerProgress {
    /// Games played to the end.
    pub games: u64,
    /// Positions of those games (plies).
    pub positions: u64,
    /// Positions that networks computed for them, those after plays not made included.
    pub evaluations: u64,
    /// Games the coordinator took.
    pub accepted: u64,
    /// Games it already had.
    pub repeated: u64,
    /// Games it refused.
    pub refused: u64,
    /// Leases taken.
    pub leases: u64,
    /// Why nothing is played just now, if so.
    pub waiting: Option<String>,
}

impl WorkerStats {
    /// A copy of the counters.
    pub fn progress(&self) -> WorkerProgress {
        WorkerProgress {
            games: self.games.load(Relaxed),
            positions: self.positions.load(Relaxed),
            evaluations: self.evaluations.load(Relaxed),
            accepted: self.accepted.load(Relaxed),
            repeated: self.repeated.load(Relaxed),
            refused: self.refused.load(Relaxed),
            leases: self.leases.load(Relaxed),
            waiting: self.waiting.lock().unwrap_or_else(|held| held.into_inner()).clone(),
        }
    }

    pub(crate) fn played(&self, plies: usize) {
        self.games.fetch_add(1, Relaxed);
        self.positions.fetch_add(plies as u64, Relaxed);
    }

    pub(crate) fn evaluated(&self, positions: u64) {
        self.evaluations.fetch_add(positions, Relaxed);
    }

    pub(crate) fn handed_in(&self, accepted: u64, repeated: u64, refused: u64) {
        self.accepted.fetch_add(accepted, Relaxed);
        self.repeated.fetch_add(repeated, Relaxed);
        self.refused.fetch_add(refused, Relaxed);
    }

    pub(crate) fn took_lease(&self) {
        self.leases.fetch_add(1, Relaxed);
        self.set_waiting(None);
    }

    pub(crate) fn waits_for(&self, reason: String) {
        self.set_waiting(Some(reason));
    }

    fn set_waiting(&self, reason: Option<String>) {
        *self.waiting.lock().unwrap_or_else(|held| held.into_inner()) = reason;
    }
}
