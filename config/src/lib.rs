//! The configuration of a run, as written in its TOML file.
//!
//! Every key has a documented default, so an empty file is a good run. [`RunConfig::parse`] refuses unknown keys and
//! values that make no sense, and says where and what would be right; [`RunConfig::to_toml`] writes every key with its
//! meaning.
//!
//! Read in this order: `keys` (every key, its default and its meaning), `phases` (what changes in the
//! course of a run), `parse` (reading), `ranges` (what makes sense),
//! `document` (writing), `setting` (one key set outside a file), `effective` (all of these together, and where each value
//! came from).

mod document;
mod effective;
mod keys;
mod parse;
mod phases;
mod ranges;
mod section;
mod setting;

pub use effective::{ConfigFile, Effective, Origin};
pub use keys::{Audit, Gate, Learn, Leases, Network, Optimizer, Rollout, RunConfig, SelfPlay, Variance};
pub use parse::ConfigError;
pub use phases::{Phase, PhaseSettings, StepSchedule};
pub use setting::{Setting, VARIABLES};
