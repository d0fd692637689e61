use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use ludus_config::Optimizer as Kind;
use ludus_games::Game;
use ludus_players::arena::Arena;
use ludus_players::game_arena::GameArena;
use ludus_players::lessons::Lessons;
use ludus_proto::v1::{GameBatch, GameRecord, Progress, PublishRequest, ReportReply, ReportRequest};
use ludus_stream::StreamHome;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::*;
use crate::toy::{self, POISON, Race, Standing};

/// Games in an entry.
const ENTRY: u64 = 25;

/// A stand-in for the coordinator, with its rules: fences, versions in order, reports that never go back.
#[derive(Default)]
struct Office {
    fence: u64,
    versions: Vec<Vec<u8>>,
    reports: Vec<Progress>,
    accepted: u64,
    /// Accepted batches that are not settled, by number.
    outbox: BTreeMap<u64, Vec<u8>>,
    posts: u64,
    /// Where the outbox is appended to when games are missing.
    stream: Option<StreamHome>,
    stopped: bool,
    /// Calls answered so far.
    calls: u64,
    /// The call during which the trainer is killed, and whether the coordinator gets to see it.
    kill_at: Option<(u64, bool)>,
    /// Calls that find nobody there.
    away: u64,
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
struct Bench {
    runtime: Runtime,
    office: Arc<Mutex<Office>>,
    config: RunConfig,
    dir: TempDir,
    stats: Arc<TrainerStats>,
    shutdown: CancellationToken,
    last_version: bool,
}

impl Bench {
    fn new() -> Self {
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
        }
    }

    fn home(&self) -> StreamHome {
        StreamHome::Local { folder: self.dir.path().to_owned() }
    }

    fn stream(&self) -> Arc<dyn ludus_stream::GameStream> {
        self.runtime.block_on(self.home().open("first")).unwrap()
    }

    fn append(&self, payloads: Vec<Vec<u8>>) {
        self.runtime.block_on(self.stream().append(payloads)).unwrap();
    }

    /// Puts games into the stream, as accepted by the coordinator.
    fn accept(&self, numbers: std::ops::Range<u64>) {
        let payloads: Vec<_> = {
            let mut office = self.office.lock().unwrap();
            office.accepted += numbers.end - numbers.start;
            let games = toy::games(numbers);
            let mut post = |games: &[GameRecord]| {
                office.posts += 1;
                let batch = GameBatch { post: office.posts, ..toy::batch(games.to_vec()) };
                let post = office.posts;
                office.outbox.insert(post, toy::payload(&batch));
                office.outbox[&post].clone()
            };
            games.chunks(ENTRY as usize).map(&mut post).collect()
        };
        self.append(payloads);
    }

    fn stop_run(&self) {
        self.office.lock().unwrap().stopped = true;
    }

    /// A trainer's life from start to end, on this thread.
    fn train(&self) -> Result<(), TrainerError> {
        let options = TrainerOptions {
            coordinator: String::new(),
            run: String::new(),
            stream: self.home(),
            dir: self.dir.path().join("trainer"),
            name: "trainer".into(),
            last_version: self.last_version,
            registry: toy::registry(),
        };
        let patience = Patience {
            runtime: self.runtime.handle().clone(),
            shutdown: self.shutdown.clone(),
            stats: self.stats.clone(),
        };
        train(&options, &mut Line(self.office.clone(), self.config.to_toml()), &patience)
    }

    /// What the checkpoint on disk holds.
    fn checkpoint(&self) -> Checkpoint {
        let folder = CheckpointFolder::open(&self.dir.path().join("trainer/first")).unwrap();
        let networks = GameArena::<Race>::default().shapes("one-hot", self.config.network.hidden).unwrap();
        let origin = Origin {
            run: "first".into(),
            stream: "first".into(),
            game: Race::NAME.into(),
            revision: Race::REVISION,
            inputs: "one-hot".into(),
            networks,
        };
        folder.newest(&origin).unwrap().unwrap().0
    }

    /// Everything accepted was trained on once, the last version says so, and the stream is empty.
    fn assert_complete(&self, games: u64) {
        let office = self.office.lock().unwrap();
        let ledger = self.checkpoint().ledger;
        assert_eq!((ledger.games, ledger.seen.count()), (games, games));
        let plies: usize = toy::games(0..games).iter().map(|game| game.rolls.len()).sum();
        assert_eq!(ledger.positions, plies as u64, "every position once");
        let last = WeightFile::from_bytes(office.versions.last().unwrap(), "last").unwrap();
        assert_eq!(last.card.counters["games"], games);
        assert_eq!(last.networks, learner(self.checkpoint()).weights(Card::default()).networks);
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

fn learner(checkpoint: Checkpoint) -> Learner {
    Learner::new(checkpoint.students, checkpoint.ledger, RunConfig::default().learn, 1)
}

/// Largest error of the networks' chances over all positions.
fn worst_error(weights: &WeightFile) -> f64 {
    use ludus_players::input_set::{InputSet, Inputs};
    let mut worst: f64 = 0.0;
    for state in toy::positions() {
        let class = toy::OneHot.class(&state).unwrap();
        let (mut inputs, mut lessons) = (Inputs::default(), Lessons::new(1));
        toy::OneHot.write(class, &state, &mut inputs);
        lessons.push(&inputs, &[0.0]);
        let found = Network::from_weights(&weights.networks[class]).forward(&lessons).unwrap()[0];
        worst = worst.max((f64::from(found) - toy::truth(&state)).abs());
    }
    worst
}

#[test]
fn it_learns_the_true_chances_and_leaves_every_game_trained_once() {
    let mut bench = Bench::new();
    bench.config.learn.lambda = 0.5;
    bench.accept(0..5000);
    bench.stop_run();
    bench.train().unwrap();
    bench.assert_complete(5000);

    let office = bench.office.lock().unwrap();
    let version = |number: usize| WeightFile::from_bytes(&office.versions[number - 1], "version").unwrap();
    // The first before any game, then one about every 800 games, then the last.
    assert_eq!(version(1).card.counters["games"], 0);
    assert_eq!(version(2).card.counters["games"] / 200, 4);
    assert!((6..=8).contains(&office.versions.len()), "{} versions", office.versions.len());
    let (first, last) = (worst_error(&version(1)), worst_error(&version(office.versions.len())));
    assert!(first > 0.3, "random weights are off by {first}");
    assert!(last < 0.12, "trained weights are off by {last}");

    let losses: Vec<f64> = (office.reports.iter())
        .filter_map(|report| report.losses.iter().find(|loss| loss.class == "far").map(|loss| loss.loss))
        .collect();
    assert!(losses.len() >= 4);
    assert!(losses[losses.len() - 1] < losses[0] - 0.01, "the loss fell not: {losses:?}");
    let shown = bench.stats.snapshot();
    assert_eq!((shown.games, shown.version), (5000, office.versions.len() as u64));
}

/// Kills a trainer during a call to the coordinator, which gets to see the call or not, and lets another go on. `false`
/// when there was no such call.
fn killed_during(call: u64, seen: bool) -> bool {
    let mut bench = Bench::new();
    bench.config.learn.publish_games = 250;
    bench.accept(0..500);
    bench.stop_run();
    bench.office.lock().unwrap().kill_at = Some((call, seen));
    let first = bench.train();
    let killed = bench.office.lock().unwrap().calls >= call;
    if killed {
        assert!(matches!(first, Err(TrainerError::Refused { .. })), "{first:?}");
        bench.train().unwrap();
    } else {
        first.unwrap();
    }
    bench.assert_complete(500);
    killed
}

#[test]
fn killed_at_any_call_it_goes_on_and_trains_every_game_once() {
    // Every call in turn, for what the disk holds changes between calls only. Side by side, as they mostly wait.
    const BEYOND: u64 = 12;
    let lives = std::thread::scope(|scope| {
        let deaths = (1..=BEYOND).flat_map(|call| [(call, false), (call, true)]);
        let lives: Vec<_> =
            deaths.map(|(call, seen)| (call, scope.spawn(move || killed_during(call, seen)))).collect();
        lives.into_iter().map(|(call, life)| (call, life.join().unwrap())).collect::<Vec<_>>()
    });
    let killed = lives.iter().filter(|(_, killed)| *killed).count();
    assert!(killed >= 10, "killed {killed} times");
    assert!(
        lives.iter().all(|(call, killed)| *call < BEYOND || !killed),
        "there are more than {BEYOND} calls"
    );
}

#[test]
fn stopped_in_the_middle_it_resumes_where_it_was_and_the_loss_does_not_jump() {
    let bench = Bench::new();
    bench.accept(0..3000);
    let (office, shutdown) = (bench.office.clone(), bench.shutdown.clone());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while office.lock().unwrap().reports.last().is_none_or(|report| report.games < 2000) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            shutdown.cancel();
        });
        bench.train().unwrap();
    });
    let before = bench.checkpoint();
    assert!(before.ledger.games >= 2000);

    let mut bench = Bench { shutdown: CancellationToken::new(), ..bench };
    bench.config.learn.publish_games = 100_000;
    bench.accept(3000..4000);
    bench.stop_run();
    let reports = bench.office.lock().unwrap().reports.len();
    bench.train().unwrap();
    bench.assert_complete(4000);
    let after = bench.checkpoint();
    let crate::optimizer::Optimizer::AdamW(adam) = &after.students[0].optimizer else { panic!("AdamW") };
    let crate::optimizer::Optimizer::AdamW(earlier) = &before.students[0].optimizer else { panic!("AdamW") };
    assert!(earlier.steps > 0 && adam.steps > earlier.steps, "the optimiser goes on");

    let office = bench.office.lock().unwrap();
    let loss = |report: &Progress| {
        let positions: u64 = report.losses.iter().map(|loss| loss.positions).sum();
        let sum: f64 = report.losses.iter().map(|loss| loss.loss * loss.positions as f64).sum();
        (positions > 1000).then_some(sum / positions as f64)
    };
    let losses = |reports: &[Progress]| reports.iter().filter_map(loss).collect::<Vec<f64>>();
    let (old, new) = (losses(&office.reports[..reports]), losses(&office.reports[reports..]));
    assert!(old[0] > old[old.len() - 1] + 0.03, "it learnt before: {old:?}");
    assert!(new[0] < old[old.len() - 1] + 0.02, "the loss jumped: {old:?}, {new:?}");
}

#[test]
fn told_to_stop_it_leaves_a_last_version_if_that_is_wanted() {
    for (last_version, games) in [(false, 0), (true, 100)] {
        let bench = Bench { last_version, ..Bench::new() };
        bench.accept(0..100);
        let (office, shutdown) = (bench.office.clone(), bench.shutdown.clone());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while office.lock().unwrap().reports.last().is_none_or(|report| report.games < 100) {
                    std::thread::yield_now();
                }
                shutdown.cancel();
            });
            bench.train().unwrap();
        });
        assert_eq!(bench.checkpoint().ledger.games, 100);
        let office = bench.office.lock().unwrap();
        let last = WeightFile::from_bytes(office.versions.last().unwrap(), "last").unwrap();
        assert_eq!(last.card.counters["games"], games);
    }
}

#[test]
fn a_damaged_newest_checkpoint_costs_nothing() {
    let bench = Bench::new();
    bench.accept(0..1500);
    bench.stop_run();
    // Killed late, with games in the stream acknowledged already.
    bench.office.lock().unwrap().kill_at = Some((6, false));
    bench.train().unwrap_err();
    let newest = newest_file(&bench.dir.path().join("trainer/first"));
    let mut bytes = std::fs::read(&newest).unwrap();
    let end = bytes.len() - 7;
    bytes[end] ^= 0x10;
    std::fs::write(&newest, bytes).unwrap();
    bench.train().unwrap();
    bench.assert_complete(1500);
}

fn newest_file(folder: &Path) -> std::path::PathBuf {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "safetensors")).max().unwrap()
}

#[test]
fn when_every_checkpoint_is_damaged_it_says_so_and_does_not_start_anew() {
    let bench = Bench::new();
    bench.accept(0..500);
    bench.stop_run();
    bench.train().unwrap();
    let folder = bench.dir.path().join("trainer/first");
    for entry in std::fs::read_dir(&folder).unwrap() {
        std::fs::write(entry.unwrap().path(), b"rubbish").unwrap();
    }
    let error = bench.train().unwrap_err();
    assert!(error.to_string().contains("no checkpoint in"), "{error}");

    std::fs::remove_dir_all(&folder).unwrap();
    let error = bench.train().unwrap_err();
    assert!(error.to_string().contains("holds no checkpoint of it"), "{error}");
}

#[test]
fn a_trainer_that_has_been_superseded_stops_and_acknowledges_nothing() {
    let bench = Bench::new();
    bench.accept(0..500);
    let office = bench.office.clone();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            loop {
                let mut office = office.lock().unwrap();
                if !office.versions.is_empty() {
                    office.fence += 1;
                    break;
                }
                drop(office);
                std::thread::yield_now();
            }
        });
        let error = bench.train().unwrap_err();
        assert!(matches!(error, TrainerError::FenceLost { .. }), "{error}");
    });
    let depths = bench.runtime.block_on(bench.stream().depths()).unwrap();
    assert_eq!(depths.waiting, 500 / ENTRY);
}

#[test]
fn games_delivered_twice_are_trained_once() {
    let bench = Bench::new();
    bench.accept(0..500);
    // The coordinator appends its outbox again after a crash, in other portions.
    bench.append(
        toy::games(100..300).chunks(40).map(|games| toy::payload(&toy::batch(games.to_vec()))).collect(),
    );
    bench.stop_run();
    bench.train().unwrap();
    bench.assert_complete(500);
}

#[test]
fn games_the_stream_has_lost_come_again_from_the_outbox() {
    let bench = Bench::new();
    bench.accept(0..200);
    bench.accept(200..500);
    let stream = bench.stream();
    let entries =
        bench.runtime.block_on(stream.read("somebody else", 10, std::time::Duration::ZERO)).unwrap();
    let ids: Vec<_> = entries.iter().map(|entry| entry.id.clone()).collect();
    assert!(!ids.is_empty());
    bench.runtime.block_on(stream.acknowledge(&ids)).unwrap();
    drop(stream);
    bench.office.lock().unwrap().stream = Some(bench.home());
    bench.stop_run();
    bench.train().unwrap();
    bench.assert_complete(500);
}

#[test]
fn entries_that_are_none_of_the_runs_are_buried_and_the_run_ends_without_them() {
    let bench = Bench::new();
    let foreign = GameBatch { game: "chess".into(), ..toy::batch(toy::games(500..510)) };
    let older = GameBatch { revision: Race::REVISION - 1, ..toy::batch(toy::games(510..520)) };
    let mut illegal = toy::batch(toy::games(520..530));
    illegal.games[4].plays[1] = 6;
    bench.append(vec![
        b"no zstd frame".to_vec(),
        zstd::bulk::compress(b"\xff\xff no batch", 3).unwrap(),
        toy::payload(&foreign),
        toy::payload(&older),
        toy::payload(&illegal),
    ]);
    bench.accept(0..500);
    bench.office.lock().unwrap().accepted += 30;
    bench.stop_run();
    bench.train().unwrap();

    let ledger = bench.checkpoint().ledger;
    assert_eq!((ledger.games, ledger.refused), (509, 1));
    let depths = bench.runtime.block_on(bench.stream().depths()).unwrap();
    assert_eq!((depths.waiting, depths.buried), (0, 5));
    assert_eq!(bench.stats.snapshot().buried, 5);
}

#[test]
fn games_that_are_too_old_expire_and_count() {
    let mut bench = Bench::new();
    bench.config.learn.max_age_seconds = 3600;
    bench.accept(0..100);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let fresh = GameBatch { accepted_at: now - 60, ..toy::batch(toy::games(100..150)) };
    bench.append(vec![toy::payload(&fresh)]);
    bench.office.lock().unwrap().accepted += 50;
    bench.stop_run();
    bench.train().unwrap();
    let last = bench.office.lock().unwrap().reports.last().cloned().unwrap();
    assert_eq!((last.games, last.expired), (50, 100));
}

#[test]
fn lost_weights_are_taken_from_the_last_checkpoint_and_no_game_is_lost_with_them() {
    let mut bench = Bench::new();
    bench.config.learn.optimizer = Kind::Sgd;
    bench.accept(0..1000);
    bench.stop_run();
    // Enough positions for five steps that cannot be taken.
    POISON.set(1000);
    bench.train().unwrap();
    assert_eq!(bench.stats.snapshot().rollbacks, 1);
    bench.assert_complete(1000);

    let bench = Bench::new();
    bench.accept(0..1000);
    POISON.set(u32::MAX);
    let error = bench.train().unwrap_err();
    POISON.set(0);
    assert!(error.to_string().contains("smaller learn.step_size"), "{error}");
    let office = bench.office.lock().unwrap();
    assert_eq!(office.versions.len(), 1, "nothing but the initial weights was published");
}

#[test]
fn a_coordinator_that_is_away_is_waited_for() {
    let bench = Bench::new();
    bench.accept(0..100);
    bench.stop_run();
    bench.office.lock().unwrap().away = 2;
    bench.train().unwrap();
    bench.assert_complete(100);

    let bench = Bench::new();
    bench.office.lock().unwrap().away = u64::MAX;
    let (stats, shutdown) = (bench.stats.clone(), bench.shutdown.clone());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            loop {
                if let Some(waiting) = stats.snapshot().waiting {
                    assert!(waiting.contains("cannot join the run, trying again: nobody there"), "{waiting}");
                    break shutdown.cancel();
                }
                std::thread::yield_now();
            }
        });
        bench.train().unwrap();
    });
}

#[test]
fn the_same_seed_and_games_give_the_same_weights() {
    let weights = || {
        let bench = Bench::new();
        bench.accept(0..300);
        bench.stop_run();
        bench.train().unwrap();
        bench.checkpoint().students
    };
    assert_eq!(weights(), weights());
}

#[test]
fn two_trainers_cannot_share_a_folder() {
    let bench = Bench::new();
    let folder = bench.dir.path().join("trainer/first");
    let _first = CheckpointFolder::open(&folder).unwrap();
    let error = bench.train().unwrap_err();
    assert!(error.to_string().contains("another trainer is using"), "{error}");
}

#[test]
fn the_truth_of_the_race_is_what_play_shows() {
    let games = toy::games(0..4000);
    let wins = games.iter().filter(|game| (game.payoff > 0) == (game.number % 2 == 0)).count();
    let share = wins as f64 / games.len() as f64;
    let start = Standing(5, 5);
    assert_eq!(Race.start(), start);
    assert!((share - toy::truth(&start)).abs() < 0.025, "{share} is not {}", toy::truth(&start));
}
