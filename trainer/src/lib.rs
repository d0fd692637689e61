//! The trainer: learns from finished games and publishes versions.
//!
//! Read in this order, which is the way of the data: `intake` (stream entries to games), [`ludus_players::lessons`]
//! (games to lessons), `labels` (the memory and the archive of what rollouts and measured games gave), `learner` (lessons to
//! steps; with [`network`], under which `first_layer` and `product` compute, [`optimizer`] and `average`), `checkpoint` (with `ledger` and `trained`: what survives), `training` (the
//! loop), `versions` (what it publishes, and when), `run` (from a start to its end), `coordination` and `patience` (the
//! coordinator, and waiting for it).

mod average;
mod checkpoint;
mod coordination;
mod error;
mod first_layer;
mod intake;
mod labels;
mod learner;
mod ledger;
pub mod network;
pub mod optimizer;
mod patience;
mod processor;
mod product;
mod run;
mod stats;
#[cfg(test)]
mod toy;
mod trained;
mod training;
mod versions;

use std::path::PathBuf;

use ludus_players::arena::Registry;
use ludus_players::weight_file::WeightFile;
use ludus_proto::Access;
use ludus_stream::StreamHome;

pub use checkpoint::CheckpointError;
pub use error::TrainerError;
pub use intake::decode as batch_of;
pub use run::run;
pub use stats::{TrainerSnapshot, TrainerStats};

/// What a trainer is told.
#[derive(Clone)]
pub struct TrainerOptions {
    /// Address of the coordinator, such as `http://127.0.0.1:7777`.
    pub coordinator: String,
    /// What it shows to the coordinator, and whom it takes for it.
    pub access: Access,
    /// Name of the run; empty: the only active one.
    pub run: String,
    /// Where the run's stream lives.
    pub stream: StreamHome,
    /// Folder for checkpoints; each run has a folder in it.
    pub dir: PathBuf,
    /// Stable name under which the stream is read: the same after a restart.
    pub name: String,
    /// Whether, told to stop, it learns what it has read and publishes that as a last version. For the end of a training
    /// that people wait for; a trainer that is only restarted goes on from its checkpoint without.
    pub last_version: bool,
    /// Weights that a run without a checkpoint begins with, instead of random ones. A run that has one goes on from that.
    pub from: Option<WeightFile>,
    /// The games this trainer knows.
    pub registry: Registry,
}
