//! The worker: takes leases, plays their games, hands the records in. It holds no state worth keeping.
//!
//! Data flows one way, and so does the reading order: `hand` is one player thread with what feeds and empties it;
//! `leases` asks the coordinator for work and gathers the weights it names (`weight_cache`); `play` plays it on a plain
//! thread; `hand_in` carries the records back. `link` is the connection, `backoff` how long to wait when it fails, and
//! [`WorkerStats`] what people get to see.

mod backoff;
mod hand;
mod hand_in;
mod leases;
mod link;
mod play;
mod stats;
mod weight_cache;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ludus_players::arena::Registry;
use ludus_proto::{Access, NoAddress};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use stats::{WorkerProgress, WorkerStats};

/// How long finished games may still be handed in once the worker was told to stop. Shorter than the 30 seconds that
/// Kubernetes grants, long enough for a coordinator that restarts.
const GRACE: Duration = Duration::from_secs(5);

/// What a worker is told.
#[derive(Clone)]
pub struct WorkerOptions {
    /// Address of the coordinator, such as `http://127.0.0.1:7777`.
    pub coordinator: String,
    /// What it shows to the coordinator, and whom it takes for it.
    pub access: Access,
    /// Name shown to people.
    pub name: String,
    /// Player threads; each plays one lease at a time.
    pub threads: usize,
    /// Folder that keeps weight files between starts; `None` keeps them in memory only.
    pub cache: Option<PathBuf>,
    /// The games this worker can play.
    pub registry: Registry,
}

/// Why a worker gave up. A coordinator that is away is none of these: the worker waits for it.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The address cannot be one of a coordinator.
    #[error(transparent)]
    Address(#[from] NoAddress),
    /// Something answers there, and it will not have this worker.
    #[error("{url} does not take this worker: {reason}")]
    Refused {
        /// The coordinator's address.
        url: String,
        /// What it said.
        reason: String,
    },
    /// The folder for weight files cannot be used.
    #[error("folder for weight files {folder}: {source}; name another with --cache")]
    Cache {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A player thread could not be started.
    #[error("cannot start player thread {index}: {source}; try fewer with --threads")]
    Thread {
        /// Number of the thread.
        index: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// A player thread died of a bug in a game or player. Its leases expire and go to others.
    #[error("player thread {index} died: {reason}")]
    Died {
        /// Number of the thread.
        index: usize,
        /// The panic's message.
        reason: String,
    },
}

/// Works until `shutdown`: takes leases, plays them on `options.threads` threads and hands the games in.
///
/// On shutdown no lease is taken any more, what is finished is handed in, the rest is released, and the function
/// returns within seconds, whether the coordinator answers or not.
pub async fn run(
    options: WorkerOptions,
    shutdown: CancellationToken,
    stats: Arc<WorkerStats>,
) -> Result<(), WorkerError> {
    let link = link::Link::to(&options.coordinator, options.access)?;
    let weights = weight_cache::WeightCache::new(options.cache)?;
    let stop = shutdown.child_token();
    let hard_stop = CancellationToken::new();
    let desk = Arc::new(hand::Desk {
        link,
        weights,
        worker: options.name,
        registry: options.registry,
        stats,
        reported: Default::default(),
        away: Default::default(),
        stop: stop.clone(),
        hard_stop: hard_stop.clone(),
    });

    let mut hands = JoinSet::new();
    for index in 0..options.threads.max(1) {
        hands.spawn(hand::run(desk.clone(), index));
    }
    let limit = tokio::spawn(async move {
        stop.cancelled().await;
        tokio::time::sleep(GRACE).await;
        hard_stop.cancel();
    });

    let mut outcome = Ok(());
    while let Some(hand) = hands.join_next().await {
        let hand = hand.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        if hand.is_err() {
            // One hand that cannot go on ends the worker: whoever started it decides what next.
            desk.stop.cancel();
            outcome = outcome.and(hand);
        }
    }
    limit.abort();
    outcome
}
