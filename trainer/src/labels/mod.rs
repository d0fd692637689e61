//! Labels: what rollouts, and games whose luck was measured, say about positions.
//!
//! They are learnt from more than once, so they are kept: the newest in [`memory`], to be drawn from; many more
//! (`learn.label_archive`) in the [`archive`], a folder of Parquet files ([`shard`]) that fills the memory again after a
//! restart and is made to be read by other programs.

pub mod archive;
pub mod memory;
pub mod shard;

use std::sync::Arc;

/// A position, and what a rollout, or the rest of a game whose luck was measured, says it is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Series of the game in which it was met.
    pub series: u64,
    /// Number of that game in its series.
    pub game: u64,
    /// Ply whose play led there.
    pub ply: u32,
    /// Index of that play among the legal ones.
    pub play: u32,
    /// The position in the game's notation, seen by the side that acts next, before its roll.
    pub position: String,
    /// Its class, of those of the run's input set.
    pub class: String,
    /// The chances of the side that acts next: the mean of the trials, or the game's TD(lambda) return.
    pub chances: Vec<f32>,
    /// Standard error of the mean of its points; 0 where there is one trial.
    pub error: f32,
    /// Trials; 1 of a game.
    pub trials: u32,
    /// The weights that played: their sha256 in hex, or the name of a baseline.
    pub player: Arc<str>,
}
