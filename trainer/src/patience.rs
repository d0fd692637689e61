//! Waiting without hurry: how the training thread waits for streams, coordinators and time.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::TrainerError;
use crate::coordination::CoordinationError;
use crate::stats::TrainerStats;

/// First and longest pause between attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(10)];

/// The thread's way to wait: everything ends when the trainer is told to stop.
#[derive(Clone, Debug)]
pub struct Patience {
    /// Runs the futures waited for.
    pub runtime: Handle,
    /// Ends all waiting.
    pub shutdown: CancellationToken,
    /// Where people see what is waited for.
    pub stats: Arc<TrainerStats>,
}

impl Patience {
    /// The future's outcome, `None` when told to stop first.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        self.runtime.block_on(self.shutdown.run_until_cancelled(future))
    }

    /// Waits for so long; `false` when told to stop first.
    pub fn pause(&self, duration: Duration) -> bool {
        // The timer wants to be made within the runtime, so in a block of its own.
        self.wait(async { tokio::time::sleep(duration).await }).is_some()
    }

    /// Whether the trainer was told to stop.
    pub fn is_over(&self) -> bool {
        self.shutdown.is_cancelled()
    }

    /// Repeats `attempt` with growing pauses until it succeeds or fails for good; `None` when told to stop. `what` says
    /// what is being done, for people.
    pub fn persist<T>(
        &self,
        what: &str,
        mut attempt: impl FnMut() -> Result<T, CoordinationError>,
    ) -> Result<Option<T>, TrainerError> {
        let [mut pause, longest] = PAUSES;
        loop {
            match attempt() {
                Ok(value) => {
                    self.stats.wait_for(None);
                    return Ok(Some(value));
                }
                Err(CoordinationError::NotNow(reason)) => {
                    self.say(format!("cannot {what}, trying again: {reason}"));
                    // Between half and whole: trainers that lost the same coordinator do not come back in step.
                    let jitter = rand::rng().random_range(0.5..1.0);
                    if !self.pause(pause.mul_f64(jitter)) {
                        return Ok(None);
                    }
                    pause = (pause * 2).min(longest);
                }
                Err(CoordinationError::FenceLost(reason)) => return Err(TrainerError::FenceLost { reason }),
                Err(CoordinationError::Refused(reason)) => {
                    return Err(TrainerError::Refused { what: what.to_owned(), reason });
                }
            }
        }
    }

    /// Shows what is waited for, and logs it when it is new.
    pub fn say(&self, what: String) {
        if self.stats.snapshot().waiting.as_ref() != Some(&what) {
            tracing::warn!("{what}");
        }
        self.stats.wait_for(Some(what));
    }
}
