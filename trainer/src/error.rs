//! Why a trainer gives up. A coordinator or stream that is away is no reason: it waits for them.

use std::path::PathBuf;

use ludus_players::weight_file::Card;

use crate::checkpoint::CheckpointError;

/// Why a trainer gave up.
#[derive(Debug, thiserror::Error)]
pub enum TrainerError {
    /// The coordinator will not have it.
    #[error("cannot {what}: {reason}")]
    Refused {
        /// What it wanted to do.
        what: String,
        /// What the coordinator said.
        reason: String,
    },
    /// The coordinator does not take this trainer's word any more; it must not publish.
    #[error("this trainer stops: {reason}")]
    FenceLost {
        /// What the coordinator said.
        reason: String,
    },
    /// The run plays a game or uses inputs that this program does not have.
    #[error("run {run} needs {what}, which this program does not have: use the ludus that made it")]
    Unknown {
        /// The run.
        run: String,
        /// What is missing.
        what: String,
    },
    /// The run's configuration cannot be read.
    #[error("the configuration of run {run}: {source}")]
    Config {
        /// The run.
        run: String,
        /// What is wrong with it.
        source: ludus_config::ConfigError,
    },
    /// The run has been trained elsewhere.
    #[error(
        "run {run} has version v{latest} and {} holds no checkpoint of it: go on with the folder of the trainer that \
         published it (--dir)", .folder.display()
    )]
    Elsewhere {
        /// The run.
        run: String,
        /// The coordinator's newest version.
        latest: u64,
        /// Where checkpoints were looked for.
        folder: PathBuf,
    },
    /// The folder has been used with another coordinator.
    #[error(
        "{} knows version v{known} of run {run} but the coordinator has only v{latest}: it belongs to another run of \
         the same name; choose another folder with --dir", .folder.display()
    )]
    OtherRun {
        /// The run.
        run: String,
        /// The coordinator's newest version.
        latest: u64,
        /// Where the checkpoints lie.
        folder: PathBuf,
        /// The newest version they know of.
        known: u64,
    },
    /// The weights to begin with are none for this run.
    #[error(
        "{} cannot be where run {run} begins: its networks are {found} on {}, and those of the run {wanted} on {inputs} \
         (network.inputs and network.hidden of its configuration)", .from.label(), .from.inputs
    )]
    From {
        /// The run.
        run: String,
        /// The weights.
        from: Box<Card>,
        /// Their networks.
        found: String,
        /// The networks of the run.
        wanted: String,
        /// Its input set.
        inputs: String,
    },
    /// The checkpoints cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The weights cannot be used for the game, or not be published.
    #[error(transparent)]
    Arena(#[from] ludus_players::arena::ArenaError),
    /// The stream's place is none.
    #[error(transparent)]
    Stream(#[from] ludus_stream::StreamError),
    /// Going back to the checkpoint did not help.
    #[error(
        "training diverges: {reason}, {rollbacks} times from the same checkpoint; start a run with a smaller \
         learn.step_size"
    )]
    Diverged {
        /// What happened.
        reason: String,
        /// How often.
        rollbacks: u32,
    },
    /// A fault of this program.
    #[error("the trainer failed ({0}); its last checkpoint is whole, so it may be started again")]
    Fault(String),
}
