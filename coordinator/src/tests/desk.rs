//! A coordinator without a server, and the questions the tests ask of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ludus_players::arena::Registry;
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::{
    AcquireRequest, GameBatch, GameRecord, JoinRequest, Lease, PlayableGame, Progress, PublishRequest,
    ReportReply, ReportRequest, Series, SeriesKind, SubmitReply, SubmitRequest, VersionInfo,
};
use ludus_stream::StreamHome;
use prost::Message;
use tempfile::TempDir;

use super::coin::{self, Coin};
use crate::leases::{Accounting, Millis};
use crate::tokens::Caller;
use crate::{Coordinator, CoordinatorError, CoordinatorOptions, Retention};

/// Small leases, a gate that takes half of the time and is decided by a handful of pairs.
pub(super) const CONFIG: &str = "
game = \"coin\"
[network]
inputs = \"faces-2\"
hidden = 3
[gate]
share = 0.5
delta = 0.1
overtaken = 0.0
limit_pairs = 40
[leases]
ttl_seconds = 60
max_games = 8
backlog_games = 1000
";

/// A coordinator in a folder of its own, with one run.
pub(super) struct Desk {
    pub coordinator: Option<Coordinator>,
    pub dir: TempDir,
    pub run: String,
    pub now: Millis,
    pub fence: u64,
}

/// How a folder is opened in the tests.
pub(super) fn options(dir: &Path) -> CoordinatorOptions {
    CoordinatorOptions {
        dir: dir.to_owned(),
        stream: stream_home(dir),
        registry: Registry::new(vec![Arc::new(Coin { revision: 1 })]),
        insecure: false,
        keep: Retention::default(),
        depot: None,
        tls: None,
    }
}

fn stream_home(dir: &Path) -> StreamHome {
    StreamHome::Local { folder: dir.to_owned() }
}

/// The games of an entry of the stream.
pub(super) fn unpack(payload: &[u8]) -> GameBatch {
    let bytes = zstd::bulk::decompress(payload, 1 << 20).expect("zstd");
    GameBatch::decode(&bytes[..]).expect("a batch")
}

/// Everything in the stream `name` that nobody has read, acknowledged.
pub(super) async fn drain_stream(dir: &Path, name: &str) -> Vec<GameBatch> {
    let stream = stream_home(dir).open(name).await.expect("the stream opens");
    let mut batches = Vec::new();
    loop {
        let entries = stream.read("test", 100, Duration::ZERO).await.expect("the stream is read");
        if entries.is_empty() {
            return batches;
        }
        batches.extend(entries.iter().map(|entry| unpack(&entry.payload)));
        let ids: Vec<_> = entries.into_iter().map(|entry| entry.id).collect();
        stream.acknowledge(&ids).await.expect("acknowledged");
    }
}

impl Desk {
    /// A run of `config` without versions.
    pub fn empty(config: &str) -> Desk {
        let dir = tempfile::tempdir().expect("a folder");
        let coordinator = Coordinator::open(options(dir.path())).expect("opens");
        let run = coordinator.create_run(config, "").expect("a run");
        Desk { coordinator: Some(coordinator), dir, run, now: 1_000_000, fence: 0 }
    }

    /// The same with a trainer and its first, untrained version.
    pub fn new(config: &str) -> Desk {
        let mut desk = Desk::empty(config);
        desk.join();
        assert_eq!(desk.publish(0, 0), 1);
        desk
    }

    pub fn open(&self) -> &Coordinator {
        self.coordinator.as_ref().expect("open")
    }

    /// Lets the coordinator go as it is, and opens its folder again.
    pub fn reopen(&mut self) {
        self.coordinator = None;
        self.coordinator = Some(Coordinator::open(options(self.dir.path())).expect("opens again"));
    }

    pub fn folder(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    pub fn join(&mut self) {
        let request = JoinRequest { run: self.run.clone(), trainer: "t".into() };
        self.fence = self.open().shared.join(&request).expect("joins").fence;
    }

    /// Publishes the next version, trained on `games` and losing `error_rate` on benchmarks.
    pub fn publish(&self, games: u64, error_rate: u64) -> u64 {
        let next = self.open().run(&self.run).expect("the run").latest_version + 1;
        let weights = coin::weights(&self.run, next, next, error_rate).to_bytes().expect("bytes");
        self.publish_bytes(weights, games).expect("published")
    }

    pub fn publish_bytes(&self, weights: Vec<u8>, games: u64) -> Result<u64, CoordinatorError> {
        let progress = Some(Progress { games, ..Progress::default() });
        let request = PublishRequest { run: self.run.clone(), fence: self.fence, weights, progress };
        let published = self.open().shared.publish(&request, self.now).map(|reply| reply.version);
        // What a thread does where there is a server.
        self.open().shared.prune().expect("tidied up");
        published
    }

    pub fn report(&self, games: u64) -> Result<ReportReply, CoordinatorError> {
        let progress = Some(Progress { games, ..Progress::default() });
        let request =
            ReportRequest { run: self.run.clone(), fence: self.fence, progress, ..Default::default() };
        self.open().shared.report(&request, self.now)
    }

    pub fn acquire(&self, worker: &str) -> Result<Answer, CoordinatorError> {
        let request = AcquireRequest {
            worker: worker.into(),
            engine: "test".into(),
            games: vec![PlayableGame { name: "coin".into(), revision: 1 }],
            games_per_second: 0.0,
        };
        self.open().shared.acquire(Caller::Anyone, &request, self.now)
    }

    pub fn lease(&self, worker: &str) -> Lease {
        match self.acquire(worker) {
            Ok(Answer::Lease(lease)) => lease,
            other => panic!("no lease: {other:?}"),
        }
    }

    /// A lease of this kind; leases of other kinds are given back.
    pub fn lease_of(&self, kind: SeriesKind) -> Lease {
        for _ in 0..10 {
            let lease = self.lease("w");
            if kind_of(&lease) == kind {
                return lease;
            }
            self.release(&lease);
        }
        panic!("no lease of kind {kind:?}");
    }

    pub fn release(&self, lease: &Lease) {
        let request = ludus_proto::v1::ReleaseRequest { lease_id: lease.id, token: lease.token };
        self.open().shared.release(Caller::Anyone, &request).expect("released");
    }

    pub fn wait_reason(&self, worker: &str) -> String {
        match self.acquire(worker) {
            Ok(Answer::Wait(wait)) => wait.reason,
            other => panic!("not to wait: {other:?}"),
        }
    }

    pub fn submit(&self, lease: &Lease, games: Vec<GameRecord>) -> SubmitReply {
        let request = SubmitRequest {
            lease_id: lease.id,
            token: lease.token,
            worker: "w".into(),
            games,
            unplayable: Vec::new(),
        };
        self.open().shared.submit(Caller::Anyone, &request, self.now).expect("submitted")
    }

    /// Submits all games of a lease, each with this result.
    pub fn play(&self, lease: &Lease, payoff: i32) -> SubmitReply {
        self.submit(lease, games_of(lease, |_| payoff))
    }

    pub fn numbers(&self) -> Accounting {
        let state = self.open().shared.lock().expect("locked");
        let run = state.book().runs.values().find(|run| run.name == self.run).expect("the run");
        run.accounting()
    }

    pub fn version(&self, number: u64) -> VersionInfo {
        let versions = self.open().versions(&self.run).expect("versions");
        versions.into_iter().find(|version| version.version == number).expect("the version")
    }

    /// Name of the run's stream.
    pub fn stream(&self) -> String {
        let state = self.open().shared.lock().expect("locked");
        let run = state.book().runs.values().find(|run| run.name == self.run).expect("the run");
        run.stream.clone()
    }

    /// Rows in the outbox.
    pub fn outbox(&self) -> Vec<GameBatch> {
        let state = self.open().shared.lock().expect("locked");
        let payloads = state.query(|connection| {
            let mut statement = connection.prepare("SELECT payload FROM outbox ORDER BY id")?;
            statement.query_map([], |row| row.get::<_, Vec<u8>>(0))?.collect::<rusqlite::Result<Vec<_>>>()
        });
        payloads.expect("the outbox").iter().map(|payload| unpack(payload)).collect()
    }

    /// One number from the database.
    pub fn count(&self, sql: &str) -> u64 {
        let state = self.open().shared.lock().expect("locked");
        state.query(|connection| connection.query_row(sql, [], |row| row.get(0))).expect("a number")
    }
}

pub(super) fn series_of(lease: &Lease) -> Series {
    lease.series.expect("a lease has a series")
}

pub(super) fn kind_of(lease: &Lease) -> SeriesKind {
    series_of(lease).kind()
}

/// The games of a lease that are still to be played.
pub(super) fn games_of(lease: &Lease, payoff: impl Fn(u64) -> i32) -> Vec<GameRecord> {
    let series = series_of(lease);
    let numbers =
        (lease.first..lease.first + u64::from(lease.count)).filter(|number| !lease.done.contains(number));
    numbers.map(|number| coin::game(&series, number, payoff(number), 0.0)).collect()
}
