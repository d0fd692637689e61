//! A coordinator that follows a script, and a game whose every game the test decides.
#![allow(dead_code, reason = "each test program uses a part of this")]

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ludus_players::arena::{Arena, ArenaError, Checked, PlayError, Registry, Seating, Table, Violation};
use ludus_players::lessons::Teacher;
use ludus_players::weight_file::{Shape, WeightFile};
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::worker_service_server::{WorkerService, WorkerServiceServer};
use ludus_proto::v1::*;
use ludus_worker::{WorkerError, WorkerOptions, WorkerStats};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

/// Far longer than anything here takes: only a worker that hangs meets it.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the fake coordinator knows and is told to do.
#[derive(Default)]
pub struct Script {
    pub leases: VecDeque<Lease>,
    pub weights: HashMap<Vec<u8>, Vec<u8>>,
    /// So many calls to `Acquire` and to `Submit` fail first.
    pub failing_acquires: u32,
    pub failing_submits: u32,
    pub refuse_acquires: Option<Status>,
    pub refuse_numbers: HashSet<u64>,
    pub refuse_submits: Option<Status>,
    pub lease_over: bool,
    pub wait_reason: String,

    pub acquires: Vec<AcquireRequest>,
    pub submits: Vec<SubmitRequest>,
    pub releases: Vec<ReleaseRequest>,
    pub fetches: u32,
}

impl Script {
    /// Every number that was handed in and answered, in order of arrival.
    pub fn numbers(&self) -> Vec<u64> {
        self.submits.iter().flat_map(|submit| &submit.games).map(|game| game.number).collect()
    }

    pub fn sorted_numbers(&self) -> Vec<u64> {
        let mut numbers = self.numbers();
        numbers.sort();
        numbers
    }
}

#[derive(Clone, Default)]
pub struct Fake {
    script: Arc<Mutex<Script>>,
    changed: Arc<Notify>,
}

impl Fake {
    pub fn new(script: Script) -> Self {
        Fake { script: Arc::new(Mutex::new(script)), changed: Arc::default() }
    }

    /// Reads or changes the script.
    pub fn with<T>(&self, look: impl FnOnce(&mut Script) -> T) -> T {
        let result = look(&mut self.script.lock().unwrap());
        self.changed.notify_waiters();
        result
    }

    /// Waits until the script shows that something has happened.
    pub async fn until(&self, what: &str, happened: impl Fn(&Script) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                if happened(&self.script.lock().unwrap()) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never happened: {what}"));
    }

    /// Serves on `address` (port 0: any) until the handle is closed.
    pub async fn serve(&self, address: &str) -> Served {
        let listener = bind(address).await;
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let server = tonic::transport::Server::builder()
            .add_service(WorkerServiceServer::new(self.clone()))
            .serve_with_incoming_shutdown(TcpListenerStream::new(listener), stop.clone().cancelled_owned());
        let task = tokio::spawn(async move { server.await.unwrap() });
        Served { address, stop, task }
    }
}

/// Waits for a port that its last user is just leaving.
async fn bind(address: &str) -> TcpListener {
    let mut tries = 0;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(error) if tries == 100 => panic!("{address}: {error}"),
            Err(_) => tries += 1,
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub struct Served {
    pub address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Served {
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Goes away, as a coordinator that is restarted.
    pub async fn close(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

#[tonic::async_trait]
impl WorkerService for Fake {
    async fn acquire(&self, request: Request<AcquireRequest>) -> Result<Response<AcquireReply>, Status> {
        self.with(|script| {
            script.acquires.push(request.into_inner());
            if script.failing_acquires > 0 {
                script.failing_acquires -= 1;
                return Err(Status::unavailable("scripted"));
            }
            if let Some(status) = &script.refuse_acquires {
                return Err(status.clone());
            }
            let answer = match script.leases.pop_front() {
                Some(lease) => Answer::Lease(lease),
                None => Answer::Wait(Wait { milliseconds: 20, reason: script.wait_reason.clone() }),
            };
            Ok(Response::new(AcquireReply { answer: Some(answer) }))
        })
    }

    async fn submit(&self, request: Request<SubmitRequest>) -> Result<Response<SubmitReply>, Status> {
        self.with(|script| {
            if script.failing_submits > 0 {
                script.failing_submits -= 1;
                return Err(Status::unavailable("scripted"));
            }
            if let Some(status) = &script.refuse_submits {
                return Err(status.clone());
            }
            let submit = request.into_inner();
            let refused: Vec<Refusal> = submit
                .games
                .iter()
                .filter(|game| script.refuse_numbers.contains(&game.number))
                .map(|game| Refusal { number: game.number, reason: "scripted".into(), detail: String::new() })
                .collect();
            let accepted = (submit.games.len() - refused.len()) as u32;
            script.submits.push(submit);
            Ok(Response::new(SubmitReply {
                accepted,
                repeated_games: 0,
                refused,
                lease_over: script.lease_over,
            }))
        })
    }

    async fn release(&self, request: Request<ReleaseRequest>) -> Result<Response<ReleaseReply>, Status> {
        self.with(|script| script.releases.push(request.into_inner()));
        Ok(Response::new(ReleaseReply {}))
    }

    type FetchWeightsStream = tokio_stream::Iter<std::vec::IntoIter<Result<WeightsChunk, Status>>>;

    async fn fetch_weights(
        &self,
        request: Request<FetchWeightsRequest>,
    ) -> Result<Response<Self::FetchWeightsStream>, Status> {
        self.with(|script| {
            script.fetches += 1;
            let bytes = script
                .weights
                .get(&request.into_inner().sha256)
                .ok_or_else(|| Status::not_found("no such weights"))?;
            let chunks: Vec<_> =
                bytes.chunks(1000).map(|chunk| Ok(WeightsChunk { data: chunk.to_vec() })).collect();
            Ok(Response::new(tokio_stream::iter(chunks)))
        })
    }
}

/// A game without content, whose every game is what the test says.
pub struct ScriptedGame {
    play: Arc<Play>,
    pub tables: Arc<Mutex<u32>>,
}

pub type Play = dyn Fn(u64) -> Result<(), PlayError> + Send + Sync;

pub const GAME: &str = "scripted";
pub const REVISION: u32 = 3;

impl ScriptedGame {
    pub fn playing(play: impl Fn(u64) -> Result<(), PlayError> + Send + Sync + 'static) -> Self {
        ScriptedGame { play: Arc::new(play), tables: Arc::default() }
    }
}

impl Arena for ScriptedGame {
    fn game(&self) -> &'static str {
        GAME
    }

    fn revision(&self) -> u32 {
        REVISION
    }

    fn baselines(&self) -> Vec<&'static str> {
        vec!["random"]
    }

    fn input_sets(&self) -> Vec<&'static str> {
        vec![]
    }

    fn max_points(&self) -> u32 {
        1
    }

    fn table(&self, _: &Series, _: [&Seating; 2]) -> Result<Box<dyn Table>, ArenaError> {
        *self.tables.lock().unwrap() += 1;
        Ok(Box::new(ScriptedTable(self.play.clone())))
    }

    fn check(&self, _: &Series, _: &[PlayerRef], _: &GameRecord) -> Result<Checked, Violation> {
        Ok(Checked { plies: 2, payoff: 1 })
    }

    fn shapes(&self, _: &str, _: usize) -> Result<Vec<Shape>, ArenaError> {
        Err(ArenaError::Settings("a scripted game has no networks".into()))
    }

    fn teacher(&self, _: &WeightFile) -> Result<Box<dyn Teacher>, ArenaError> {
        Err(ArenaError::Settings("a scripted game has no lessons".into()))
    }
}

struct ScriptedTable(Arc<Play>);

impl Table for ScriptedTable {
    fn play(&mut self, number: u64) -> Result<GameRecord, PlayError> {
        (self.0)(number)?;
        Ok(GameRecord { number, rolls: vec![0, 0], plays: vec![0, 0], payoff: 1, ..Default::default() })
    }

    fn evaluated(&mut self) -> u64 {
        3
    }
}

/// A lease of `count` games from `first` on, between two baselines.
pub fn lease(id: u64, first: u64, count: u32) -> Lease {
    let random = PlayerRef { who: Some(Who::Baseline("random".into())), plies: 0 };
    Lease {
        id,
        token: id * 100,
        run: "run".into(),
        game: GAME.into(),
        revision: REVISION,
        series: Some(Series { id: 1, kind: SeriesKind::SelfPlay as i32, seed: 7, ..Default::default() }),
        players: vec![random.clone(), random],
        first,
        count,
        done: vec![],
        ttl_seconds: 60,
    }
}

/// A worker that runs until it is told to stop.
pub struct Running {
    pub stats: Arc<WorkerStats>,
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), WorkerError>>,
}

pub fn options(url: &str, game: ScriptedGame) -> WorkerOptions {
    WorkerOptions {
        coordinator: url.into(),
        access: Default::default(),
        name: "tester".into(),
        threads: 1,
        cache: None,
        registry: Registry::new(vec![Arc::new(game)]),
    }
}

pub fn start(options: WorkerOptions) -> Running {
    let stats = Arc::new(WorkerStats::default());
    let shutdown = CancellationToken::new();
    let task = tokio::spawn(ludus_worker::run(options, shutdown.clone(), stats.clone()));
    Running { stats, shutdown, task }
}

impl Running {
    /// Tells it to stop, without waiting.
    pub fn tell_to_stop(&self) {
        self.shutdown.cancel();
    }

    /// Waits for its end.
    pub async fn ended(self) -> Result<(), WorkerError> {
        tokio::time::timeout(PATIENCE, self.task).await.expect("the worker hangs").unwrap()
    }

    pub async fn stop(self) -> Result<(), WorkerError> {
        self.tell_to_stop();
        self.ended().await
    }
}
