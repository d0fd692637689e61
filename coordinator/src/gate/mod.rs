//! The gate: is the candidate really better than the champion?
//!
//! A pure fold over the outcomes of pairs, with no clock, no disk and no network, so that anybody can repeat it from the
//! log and get the same verdict. `docs/gate.md` tells the whole story; here is the order in which to read the code:
//!
//! 1. [`PairOutcome`] and [`Prefix`]: games finish in any order; the gate reads pairs in the order of their numbers.
//! 2. [`GateRule`]: what was promised before the first game.
//! 3. `bettors`: one e-process, a table of bettors who bet against a claim.
//! 4. [`Gate`]: two e-processes and the sticky verdict; [`verify`] folds a stored log again.
//! 5. [`Interval`]: how many points a game the candidate is worth, valid at whatever moment one looks.
//! 6. [`compare_benchmark`]: the condition on error rates that comes before the head-to-head test.
//!
//! **Restart**: the state is not stored. The finished games are; they go through a [`Prefix`] again, or the pair log
//! through [`Gate::replay`], to the same bits.

mod benchmark;
mod bettors;
mod fold;
mod interval;
mod prefix;
mod rule;
#[cfg(test)]
mod simulation;

pub use benchmark::{BenchmarkError, BenchmarkReport, ClassDifference, ClassLosses, compare_benchmark};
pub use fold::{Gate, GateError, GateReport, Verdict, verify};
pub use interval::Interval;
pub(crate) use interval::{IntervalRule, Moments};
pub use prefix::{PairOutcome, Prefix};
pub use rule::{GateRule, RuleError};
