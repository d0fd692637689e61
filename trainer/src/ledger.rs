//! What the trainer has done since the run began, as its checkpoints keep it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::trained::GameSet;

/// Counters, games and entries already dealt with, and the state of publishing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Games trained on, each once.
    pub games: u64,
    /// Positions trained on, those of labels included, each time they were.
    pub positions: u64,
    /// Labels received that a network learns.
    #[serde(default)]
    pub labels: u64,
    /// Lessons drawn from them.
    #[serde(default)]
    pub label_lessons: u64,
    /// Steps taken.
    pub steps: u64,
    /// Rounds of lessons; the random numbers of a round derive from its number.
    pub rounds: u64,
    /// Games dropped because they were too old.
    pub expired: u64,
    /// Games that could not be replayed.
    pub refused: u64,
    /// Steps skipped because a loss or gradient was not finite.
    pub skipped_steps: u64,
    /// Every game counted in `games`, `expired` or `refused`.
    pub seen: GameSet,
    /// Stream entries that are done with and perhaps not yet acknowledged, with the reason of those to be buried.
    pub done: BTreeMap<String, Option<String>>,
    /// Newest version published, 0 for none.
    pub version: u64,
    /// sha256 of its weight file in hex, empty for none.
    pub version_sha256: String,
    /// Games trained on when it was published.
    pub version_games: u64,
    /// Seconds since 1970 at which the weights in this checkpoint were to be published as the next version, when they
    /// were. With it the published bytes can be made again exactly.
    pub publishing: Option<u64>,
}
