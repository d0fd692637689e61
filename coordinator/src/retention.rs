//! What is kept of old versions: the weights of those that were promoted, of the newest, and of whatever is still played
//! with; and the games of the gates of those that were promoted, and of the newest. The rows of all others stay, with
//! their sums and verdicts; only the bytes go.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ludus_players::weight_file::Digest;
use ludus_proto::v1::PlayerRef;
use ludus_proto::v1::player_ref::Who;
use prost::Message;
use rusqlite::Connection;
use tokio_util::sync::CancellationToken;

use crate::CoordinatorError;
use crate::blocking::blocking;
use crate::book::{Book, VersionState};
use crate::coordinator::Shared;
use crate::store::old::expendable_gates;

/// How much is kept of what was not promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How many of the newest versions of a run keep their weights.
    pub versions: usize,
    /// How many of the newest decided gates of a run keep their games.
    pub gates: usize,
}

impl Retention {
    /// All there is: for whoever opens a folder to do one thing, and does not know what its coordinator is told to keep.
    pub const ALL: Retention = Retention { versions: usize::MAX, gates: usize::MAX };
}

impl Default for Retention {
    /// Some hundred megabytes of each.
    fn default() -> Self {
        Retention { versions: 1000, gates: 100 }
    }
}

/// How long to wait after a failure, before the next try.
const PATIENCE: Duration = Duration::from_secs(30);
/// For whoever waits for the database between two steps.
const BREATH: Duration = Duration::from_millis(5);

impl Shared {
    /// Tidies up whenever a version was published, until `stop`. At the usual priority, for it takes the lock.
    pub(crate) async fn run_pruning(self: Arc<Self>, stop: CancellationToken) {
        let mut failed = false;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.prune_bell.notified() => {}
                () = tokio::time::sleep(PATIENCE), if failed => {}
            }
            let shared = Arc::clone(&self);
            let pruned = blocking(move || shared.prune()).await;
            failed = pruned.is_err();
            if let Err(error) = pruned {
                tracing::warn!("what is old is not deleted: {error}");
            }
        }
    }

    /// Deletes and merges what nobody needs any more.
    pub(crate) fn prune(&self) -> Result<(), CoordinatorError> {
        self.prune_gates()?;
        self.lock()?.step(|book, writer| {
            book.runs.values().try_for_each(|run| {
                let latest = run.versions.last().map_or(0, |version| version.number);
                writer.merge_origins(run.id, latest)
            })
        })?;
        // Last, because another machine may have to answer.
        self.prune_weights()
    }

    /// Deletes the games of old gates, a part at a time, so that others get their turn in between.
    fn prune_gates(&self) -> Result<(), CoordinatorError> {
        let expendable =
            self.lock()?.query(|connection| expendable_gates(connection, self.options.keep.gates))?;
        for &series in &expendable {
            while self.lock()?.step(|_, writer| writer.delete_gate_games(series))? {
                std::thread::sleep(BREATH);
            }
        }
        if !expendable.is_empty() {
            tracing::info!(gates = expendable.len(), "the games of old gates are deleted");
        }
        Ok(())
    }

    /// Deletes the weights that nobody needs any more.
    fn prune_weights(&self) -> Result<(), CoordinatorError> {
        let expendable = {
            let state = self.lock()?;
            let audited = state.query(audited)?;
            expendable(state.book(), &audited, self.options.keep.versions)
        };
        // What is handed out from now on is played with newer weights, so the lock is not needed any more.
        let deleted = self.weights.delete(&expendable)?;
        if deleted > 0 {
            tracing::info!(deleted, "the weights of old versions are deleted");
        }
        Ok(())
    }
}

/// The sums of versions that are not among `wanted` and of which none is promoted, among the newest `keep` of its run, or
/// has games that are out or to come.
fn expendable(book: &Book, wanted: &BTreeSet<Digest>, keep: usize) -> BTreeSet<Digest> {
    let mut needed = wanted.clone();
    for run in book.runs.values() {
        let newest = run.versions.iter().rev().take(keep.max(1));
        let promoted = run
            .versions
            .iter()
            .filter(|version| matches!(version.state, VersionState::Promoted | VersionState::Gating));
        needed.extend(newest.chain(promoted).map(|version| version.sha256));
        let blocks = run.series().flat_map(|series| series.book.blocks().values());
        needed.extend(blocks.flat_map(|block| &block.players).filter_map(weights_of));
    }
    let all = book.runs.values().flat_map(|run| &run.versions).map(|version| version.sha256);
    all.filter(|sha256| !needed.contains(sha256)).collect()
}

/// The weights of games that wait for their audit.
fn audited(connection: &Connection) -> rusqlite::Result<BTreeSet<Digest>> {
    let mut statement = connection.prepare("SELECT seat0 FROM audits UNION SELECT seat1 FROM audits")?;
    let seats = statement.query_map([], |row| row.get::<_, Vec<u8>>(0))?;
    let mut sums = BTreeSet::new();
    for seat in seats {
        // One that cannot be read is no reason to keep anything.
        sums.extend(PlayerRef::decode(&seat?[..]).ok().as_ref().and_then(weights_of));
    }
    Ok(sums)
}

fn weights_of(player: &PlayerRef) -> Option<Digest> {
    match player.who.as_ref()? {
        Who::Weights(sha256) => sha256[..].try_into().ok().map(Digest),
        Who::Baseline(_) => None,
    }
}
