//! Labels: what rollouts say about positions.
//!
//! They are learnt from more than once, so they are kept: the newest in [`memory`], to be drawn from; all of them in the
//! [`archive`], a folder of Parquet files ([`shard`]) that fills the memory again after a restart and is made to be read
//! by other programs.

pub mod archive;
pub mod memory;
pub mod shard;

use std::sync::Arc;

/// A position that was rolled out, and what that gave.
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
    /// Mean of the trials: the chances of the side that acts next.
    pub chances: Vec<f32>,
    /// Standard error of the mean of its points.
    pub error: f32,
    /// Trials.
    pub trials: u32,
    /// The weights that played the trials: their sha256 in hex, or the name of a baseline.
    pub player: Arc<str>,
}
