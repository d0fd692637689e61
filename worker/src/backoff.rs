//! How long to wait when something fails: longer each time, and never all at once.

use std::time::Duration;

/// Waiting times that double from `first` to `longest`, each drawn at random between half of that and all of it, so
/// that a thousand workers that lost the same coordinator do not come back in the same millisecond.
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn between(first: Duration, longest: Duration) -> Self {
        Backoff { first, longest, next: first }
    }

    /// For calls to the coordinator.
    pub(crate) fn for_calls() -> Self {
        Backoff::between(Duration::from_millis(100), Duration::from_secs(15))
    }

    /// The next waiting time.
    pub(crate) fn next(&mut self) -> Duration {
        let bound = self.next;
        self.next = (bound * 2).min(self.longest);
        jittered(bound)
    }

    /// Starts over: it worked.
    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

/// Between half of `bound` and all of it.
pub(crate) fn jittered(bound: Duration) -> Duration {
    bound.mul_f64(rand::random_range(0.5..=1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_start_over_after_success() {
        let mut backoff = Backoff::between(Duration::from_millis(100), Duration::from_millis(350));
        for bound in [100, 200, 350, 350] {
            let wait = backoff.next();
            assert!(
                wait >= Duration::from_millis(bound / 2) && wait <= Duration::from_millis(bound),
                "{wait:?}"
            );
        }
        backoff.reset();
        assert!(backoff.next() <= Duration::from_millis(100));
    }
}
