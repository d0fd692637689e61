//! A run of the race for tests: its office, which stands in for the coordinator, its stream, and the trainer's folder.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use ludus_config::RunConfig;
use ludus_games::Game;
use ludus_players::arena::Arena;
use ludus_players::game_arena::GameArena;
use ludus_players::input_set::{InputSet, Inputs};
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::{Card, Digest, WeightFile};
use ludus_proto::v1::{
    GameBatch, GameRecord, JoinReply, JoinRequest, Progress, PublishRequest, ReportReply, ReportRequest,
    Series,
};
use ludus_stream::{GameStream, StreamHome};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::checkpoint::{CheckpointFolder, Found, Origin};
use crate::coordination::{Coordination, CoordinationError};
use crate::learner::Learner;
use crate::network::Network;
use crate::patience::Patience;
use crate::run::train;
use crate::stats::TrainerStats;
use crate::toy::{self, Race, Standing};
use crate::{TrainerError, TrainerOptions};

/// Games in an entry.
pub const ENTRY: u64 = 25;

/// Lets `killed_during` live a trainer's life for every call to the coordinator that there is, killed during that call,
/// which the coordinator gets to see or not. It says whether there was such a call; `beyond` is one that there is not.
pub fn kill_at_every_call(beyond: u64, killed_during: fn(u64, bool) -> bool) {
    // Every call in turn, for what the disk holds changes between calls only. Side by side, as they mostly wait.
    let lives = std::thread::scope(|scope| {
        let deaths = (1..=beyond).flat_map(|call| [(call, false), (call, true)]);
        let lives: Vec<_> =
            deaths.map(|(call, seen)| (call, scope.spawn(move || killed_during(call, seen)))).collect();
        lives.into_iter().map(|(call, life)| (call, life.join().unwrap())).collect::<Vec<_>>()
    });
    let killed = lives.iter().filter(|(_, killed)| *killed).count();
    assert!(killed >= 10, "killed {killed} times");
    let all_met = lives.iter().all(|(call, killed)| *call < beyond || !killed);
    assert!(all_met, "there are more than {beyond} calls");
}

/// A stand-in for the coordinator, with its rules: fences, versions in order, reports that never go back.
#[derive(Default)]
pub struct Office {
    pub fence: u64,
    pub versions: Vec<Vec<u8>>,
    pub reports: Vec<Progress>,
    pub accepted: u64,
    /// Accepted batches that are not settled, by number.
    pub outbox: BTreeMap<u64, Vec<u8>>,
    pub posts: u64,
    /// Where the outbox is appended to when games are missing.
    pub stream: Option<StreamHome>,
    pub stopped: bool,
    /// Calls answered so far.
    pub calls: u64,
    /// The call during which the trainer is killed, and whether the coordinator gets to see it.
    pub kill_at: Option<(u64, bool)>,
    /// Calls that find nobody there.
    pub away: u64,
}

impl Office {
    /// Counts a call; an error is the end of this trainer. The bool: whether the call takes effect before that.
    fn call(&mut self) -> Result<bool, CoordinationError> {
        if self.away > 0 {
            self.away -= 1;
            return Err(CoordinationError::NotNow("nobody there".into()));
        }
        self.calls += 1;
        match self.kill_at {
            Some((call, seen)) if call == self.calls => {
                if seen {
                    Ok(true)
                } else {
                    Err(CoordinationError::Refused("killed".into()))
                }
            }
            _ => Ok(false),
        }
    }

    fn check_fence(&self, fence: u64) -> Result<(), CoordinationError> {
        if fence == self.fence {
            Ok(())
        } else {
            Err(CoordinationError::FenceLost("another has joined".into()))
        }
    }
}

/// The trainer's line to the office.
struct Line(Arc<Mutex<Office>>, String);

fn answer<T>(value: T, killed: bool) -> Result<T, CoordinationError> {
    if killed { Err(CoordinationError::Refused("killed".into())) } else { Ok(value) }
}

impl Coordination for Line {
    fn join(&mut self, _: &JoinRequest) -> Result<JoinReply, CoordinationError> {
        let mut office = self.0.lock().unwrap();
        if office.away > 0 {
            office.away -= 1;
            return Err(CoordinationError::NotNow("nobody there".into()));
        }
        office.fence += 1;
        Ok(JoinReply {
            run: "first".into(),
            game: Race::NAME.into(),
            revision: Race::REVISION,
            config: self.1.clone(),
            fence: office.fence,
            latest_version: office.versions.len() as u64,
            stream: "first".into(),
        })
    }

    fn publish(&mut self, request: &PublishRequest) -> Result<u64, CoordinationError> {
        let mut office = self.0.lock().unwrap();
        let killed = office.call()?;
        office.check_fence(request.fence)?;
        if let Some(known) = office.versions.iter().position(|bytes| *bytes == request.weights) {
            return answer(known as u64 + 1, killed);
        }
        let file = WeightFile::from_bytes(&request.weights, "published").expect("a weight file");
        assert_eq!(file.card.version, office.versions.len() as u64 + 1, "versions come in order");
        office.versions.push(request.weights.clone());
        answer(file.card.version, killed)
    }

    fn report(&mut self, request: &ReportRequest) -> Result<ReportReply, CoordinationError> {
        let mut office = self.0.lock().unwrap();
        let killed = office.call()?;
        office.check_fence(request.fence)?;
        let progress = request.progress.clone().expect("progress");
        if office.reports.last().is_some_and(|last| last.games > progress.games) {
            return Err(CoordinationError::FenceLost("it reports less than before".into()));
        }
        office.reports.push(progress);
        request.settled.iter().for_each(|post| drop(office.outbox.remove(post)));
        if let Some(home) = office.stream.as_ref().filter(|_| request.missing) {
            let append =
                async { home.open("first").await?.append(office.outbox.values().cloned().collect()).await };
            Runtime::new().unwrap().block_on(append).unwrap();
        }
        let unsettled = !office.outbox.is_empty();
        answer(ReportReply { run_stopped: office.stopped, accepted: office.accepted, unsettled }, killed)
    }
}

/// A run of the race: its office, its stream, and the trainer's folder.
pub struct Bench {
    pub runtime: Runtime,
    pub office: Arc<Mutex<Office>>,
    pub config: RunConfig,
    pub dir: TempDir,
    pub stats: Arc<TrainerStats>,
    pub shutdown: CancellationToken,
    pub last_version: bool,
    pub from: Option<WeightFile>,
}

impl Bench {
    pub fn new() -> Self {
        let mut config = RunConfig { game: Race::NAME.into(), ..RunConfig::default() };
        config.network.inputs = "one-hot".into();
        config.network.hidden = 8;
        config.learn.batch = 32;
        config.learn.step_size = 0.03;
        config.learn.final_step_size = 0.01;
        config.learn.decay_games = 2000;
        config.learn.publish_games = 800;
        config.learn.checkpoint_seconds = 1;
        config.leases.backlog_games = 1200;
        Bench {
            runtime: Runtime::new().unwrap(),
            office: Arc::default(),
            config,
            dir: tempfile::tempdir().unwrap(),
            stats: Arc::default(),
            shutdown: CancellationToken::new(),
            last_version: false,
            from: None,
        }
    }

    pub fn home(&self) -> StreamHome {
        StreamHome::Local { folder: self.dir.path().to_owned() }
    }

    pub fn stream(&self) -> Arc<dyn GameStream> {
        self.runtime.block_on(self.home().open("first")).unwrap()
    }

    pub fn append(&self, payloads: Vec<Vec<u8>>) {
        self.runtime.block_on(self.stream().append(payloads)).unwrap();
    }

    /// Puts games of self-play into the stream, as accepted by the coordinator.
    pub fn accept(&self, numbers: Range<u64>) {
        self.accept_from(toy::series(), &toy::games(numbers));
    }

    /// Puts games of a series into the stream, as accepted by the coordinator.
    pub fn accept_from(&self, series: Series, games: &[GameRecord]) {
        let payloads: Vec<_> = {
            let mut office = self.office.lock().unwrap();
            office.accepted += games.len() as u64;
            let mut post = |games: &[GameRecord]| {
                office.posts += 1;
                let batch = GameBatch { post: office.posts, ..toy::batch_of(series, games.to_vec()) };
                let post = office.posts;
                office.outbox.insert(post, toy::payload(&batch));
                office.outbox[&post].clone()
            };
            games.chunks(ENTRY as usize).map(&mut post).collect()
        };
        self.append(payloads);
    }

    pub fn stop_run(&self) {
        self.office.lock().unwrap().stopped = true;
    }

    /// A trainer's life from start to end, on this thread.
    pub fn train(&self) -> Result<(), TrainerError> {
        let options = TrainerOptions {
            coordinator: String::new(),
            access: Default::default(),
            run: String::new(),
            stream: self.home(),
            dir: self.dir.path().join("trainer"),
            name: "trainer".into(),
            last_version: self.last_version,
            from: self.from.clone(),
            registry: toy::registry(),
        };
        let patience = Patience {
            runtime: self.runtime.handle().clone(),
            shutdown: self.shutdown.clone(),
            stats: self.stats.clone(),
        };
        train(&options, &mut Line(self.office.clone(), self.config.to_toml()), &patience)
    }

    /// The trainer's folder of the run.
    pub fn folder(&self) -> std::path::PathBuf {
        self.dir.path().join("trainer/first")
    }

    /// The newest checkpoint on disk.
    pub fn found(&self) -> Found {
        let folder = CheckpointFolder::open(&self.folder()).unwrap();
        let networks = GameArena::<Race>::default().shapes("one-hot", self.config.network.hidden).unwrap();
        let origin = Origin {
            run: "first".into(),
            stream: "first".into(),
            game: Race::NAME.into(),
            revision: Race::REVISION,
            inputs: "one-hot".into(),
            networks,
        };
        folder.newest(&origin).unwrap().unwrap()
    }

    /// A learner that goes on from it.
    pub fn learner(&self) -> Learner {
        let checkpoint = self.found().checkpoint;
        Learner::new(checkpoint.students, checkpoint.ledger, self.config.clone())
    }

    /// Everything accepted was trained on once, the last version says so, and the stream is empty.
    pub fn assert_complete(&self, games: u64) {
        let plies: usize = toy::games(0..games).iter().map(|game| game.rolls.len()).sum();
        self.assert_complete_with(games, plies as u64);
    }

    /// As [`Bench::assert_complete`], with so many positions learnt.
    pub fn assert_complete_with(&self, games: u64, positions: u64) {
        let office = self.office.lock().unwrap();
        let learner = self.learner();
        let ledger = &learner.ledger;
        assert_eq!((ledger.games, ledger.seen.count()), (games, games));
        assert_eq!(ledger.positions, positions, "every position as often as it should");
        let last = WeightFile::from_bytes(office.versions.last().unwrap(), "last").unwrap();
        assert_eq!(last.card.counters["games"], games);
        assert_eq!(last.networks, learner.weights(Card::default()).networks);
        let depths = self.runtime.block_on(self.stream().depths()).unwrap();
        assert_eq!((depths.waiting, depths.buried), (0, 0));
        assert!(office.outbox.is_empty(), "everything is settled");
        for pair in office.versions.windows(2) {
            let [before, after] = pair else { unreachable!() };
            let card = WeightFile::from_bytes(after, "version").unwrap().card;
            assert_eq!(card.parent, Digest::of(before).to_string());
        }
    }
}

/// Largest error of the networks' chances over these positions.
pub fn worst_error(weights: &WeightFile, positions: &[Standing]) -> f64 {
    let mut worst: f64 = 0.0;
    for state in positions {
        let class = toy::OneHot.class(state).unwrap();
        let (mut inputs, mut lessons) = (Inputs::default(), Lessons::new(1));
        toy::OneHot.write(class, state, &mut inputs);
        lessons.push(&inputs, &[0.0]);
        let found = Network::from_weights(&weights.networks[class]).forward(&lessons).unwrap()[0];
        worst = worst.max((f64::from(found) - toy::truth(state)).abs());
    }
    worst
}
