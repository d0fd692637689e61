//! One hand of the worker: a player thread, what feeds it and what empties it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use ludus_players::arena::{Arena, Registry, Seating};
use ludus_proto::status::describe;
use ludus_proto::v1::{GameRecord, Lease};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tracing::Span;

use crate::link::Link;
use crate::stats::WorkerStats;
use crate::weight_cache::WeightCache;
use crate::{WorkerError, hand_in, leases, play};

/// Batches of finished games that may wait for the coordinator. When it is away for long, the thread stops here, having
/// played at most this much for nothing if the worker dies.
const SPOOL: usize = 128;

/// What all hands share.
pub(crate) struct Desk {
    pub(crate) link: Link,
    pub(crate) weights: WeightCache,
    pub(crate) worker: String,
    pub(crate) registry: Registry,
    pub(crate) stats: Arc<WorkerStats>,
    /// Troubles already told of.
    pub(crate) reported: Mutex<HashSet<String>>,
    /// The coordinator did not answer last time.
    pub(crate) away: AtomicBool,
    /// No more leases, and no more games.
    pub(crate) stop: CancellationToken,
    /// No more calls.
    pub(crate) hard_stop: CancellationToken,
}

impl Desk {
    /// Warns once per `kind` of trouble: the same refusal a thousand times is one piece of news.
    pub(crate) fn warn_once(&self, kind: &str, detail: &str) {
        let mut reported = self.reported.lock().unwrap_or_else(|held| held.into_inner());
        // A bound, because kinds come from the other side.
        if reported.len() < 1000 && reported.insert(kind.to_owned()) {
            tracing::warn!("{kind}: {detail} (further ones are counted, not shown)");
        }
    }

    /// Notes that a call failed for a reason that may pass. Told once an outage.
    pub(crate) fn coordinator_away(&self, doing: &str, status: &Status) {
        let reason =
            format!("{doing}: coordinator {} does not answer: {}", self.link.url(), describe(status));
        if !self.away.swap(true, Relaxed) {
            tracing::warn!("{reason}; trying again until it does");
        }
        self.stats.waits_for(reason);
    }

    /// Notes that a call was answered.
    pub(crate) fn coordinator_answers(&self) {
        if self.away.swap(false, Relaxed) {
            tracing::warn!("coordinator {} answers again", self.link.url());
        }
    }
}

/// A lease in this worker's hands, with everything needed to play it.
pub(crate) struct HeldLease {
    pub(crate) lease: Lease,
    pub(crate) arena: Arc<dyn Arena>,
    pub(crate) seats: [Seating; 2],
    /// Its part of the trace: from when it was taken until the last game is handed in.
    pub(crate) span: Span,
    /// The coordinator no longer wants it.
    pub(crate) over: AtomicBool,
}

impl HeldLease {
    pub(crate) fn series_id(&self) -> u64 {
        self.lease.series.as_ref().map_or(0, |series| series.id)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    pub(crate) fn end(&self) {
        self.over.store(true, Relaxed);
    }
}

/// Games of one lease on their way back.
pub(crate) struct Finished {
    pub(crate) lease: Arc<HeldLease>,
    pub(crate) games: Vec<GameRecord>,
    /// Numbers of games that could not be brought to an end.
    pub(crate) unplayable: Vec<u64>,
    pub(crate) rest: Rest,
}

impl Finished {
    pub(crate) fn is_empty(&self) -> bool {
        self.games.is_empty() && self.unplayable.is_empty()
    }
}

/// What becomes of the numbers of a lease that are not among the finished games sent so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// They are being played.
    Coming,
    /// There are none.
    Nothing,
    /// They will not be played here: others should have them.
    GivenBack,
}

/// Runs hand number `index` until the worker stops.
pub(crate) async fn run(desk: Arc<Desk>, index: usize) -> Result<(), WorkerError> {
    let (want, wanted) = mpsc::channel(1);
    let (deal, dealt) = mpsc::channel(1);
    let (finish, finished) = mpsc::channel(SPOOL);
    let at_table = desk.clone();
    let thread = std::thread::Builder::new()
        .name(format!("ludus-play-{index}"))
        .spawn(move || play::play(&at_table, dealt, want, finish))
        .map_err(|source| WorkerError::Thread { index, source })?;
    let (leased, ()) = tokio::join!(leases::take(&desk, wanted, deal), hand_in::hand_in(&desk, finished));
    // Both ends of its channels are closed, so the thread ends as soon as its current game does.
    let joined = tokio::task::spawn_blocking(move || thread.join()).await;
    match joined {
        Ok(Err(panic)) => Err(WorkerError::Died { index, reason: message_of(&*panic) }),
        _ => leased,
    }
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "no message".into())
}
