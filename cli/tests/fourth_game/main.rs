//! What a game costs: the two files beside this one. Nothing in the crates knows the game, and they train it.

mod players;
mod rules;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ludus_coordinator::{Coordinator, CoordinatorOptions, Retention};
use ludus_players::arena::{Arena, Seating, Source};
use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::{RunStatus, Series, SeriesKind};
use ludus_proto::{Access, Bearer};
use ludus_stream::StreamHome;
use ludus_trainer::{TrainerOptions, TrainerStats};
use ludus_worker::{WorkerOptions, WorkerStats};
use tokio_util::sync::CancellationToken;

const CONFIG: &str = r#"
game = "die-tac-toe"
[self_play]
explore = 0.1
[learn]
publish_games = 4000
checkpoint_seconds = 1
[gate]
delta = 0.05
limit_pairs = 2000
[leases]
target_seconds = 0.2
max_games = 400
"#;
/// Games to learn from, up to eight thousand of them random.
const GAMES: u64 = 60_000;
/// Far longer than that takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A whole cluster in this process learns the game until `enough`; gives the coordinator and the run.
async fn train(dir: &std::path::Path, enough: impl Fn(&RunStatus) -> bool) -> (Coordinator, RunStatus) {
    let stream = StreamHome::Local { folder: dir.to_owned() };
    let options = CoordinatorOptions {
        dir: dir.to_owned(),
        stream: stream.clone(),
        registry: players::registry(),
        insecure: false,
        keep: Retention::default(),
        depot: None,
        tls: None,
    };
    let coordinator = Coordinator::open(options).expect("a coordinator");
    let run = coordinator.create_run(CONFIG, "").expect("a run");
    let listener = coordinator.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    let access: Access = Bearer::new(coordinator.house_token()).expect("a token").into();
    let trainer = TrainerOptions {
        coordinator: url.clone(),
        access: access.clone(),
        run: run.clone(),
        stream,
        dir: dir.join("trainer"),
        name: "trainer".into(),
        last_version: true,
        from: None,
        registry: players::registry(),
    };
    let worker = WorkerOptions {
        coordinator: url,
        access,
        name: "worker".into(),
        threads: 1,
        cache: None,
        registry: players::registry(),
    };
    let stops = [(); 3].map(|()| CancellationToken::new());
    let [server_stop, trainer_stop, worker_stop] = stops.clone();
    let serving = coordinator.clone();
    let server = tokio::spawn(async move { serving.serve(listener, server_stop).await });
    let trainer = tokio::spawn(ludus_trainer::run(trainer, trainer_stop, Arc::<TrainerStats>::default()));
    let worker = tokio::spawn(ludus_worker::run(worker, worker_stop, Arc::<WorkerStats>::default()));

    let deadline = Instant::now() + PATIENCE;
    while !enough(&coordinator.run(&run).expect("the run")) {
        assert!(Instant::now() < deadline, "{:?}", coordinator.run(&run));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let [server_stop, trainer_stop, worker_stop] = stops;
    worker_stop.cancel();
    worker.await.expect("no panic").expect("a worker that ends well");
    trainer_stop.cancel();
    trainer.await.expect("no panic").expect("a trainer that ends well");
    server_stop.cancel();
    server.await.expect("no panic").expect("a server that ends well");
    let status = coordinator.run(&run).expect("the run");
    (coordinator, status)
}

/// Points per game of a player against another, in pairs of games on the same dice; every record passes its check.
fn points(arena: &dyn Arena, player: &Seating, opponent: &Seating) -> f64 {
    const GAMES: u64 = 4_000;
    let series = Series { kind: SeriesKind::Gate.into(), seed: 5, mirrored: true, ..Series::default() };
    let seats = [player, opponent];
    let refs = seats.map(Seating::player_ref);
    let mut table = arena.table(&series, seats).expect("a table");
    let total: i32 = (0..GAMES)
        .map(|number| {
            let record = table.play(number).expect("a game");
            arena.check(&series, &refs, &record).expect("a good record");
            record.payoff
        })
        .sum();
    f64::from(total) / GAMES as f64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fourth_game_is_learnt_by_crates_that_do_not_know_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let learnt = |run: &RunStatus| run.progress.as_ref().is_some_and(|progress| progress.games >= GAMES);
    let (coordinator, run) = train(dir.path(), |run| learnt(run) && run.champion > 1).await;
    assert_eq!((run.game.as_str(), run.latest_version >= 2), ("die-tac-toe", true));

    let registry = players::registry();
    let arena = registry.find("die-tac-toe").expect("the game");
    let player = |version: u64| {
        let versions = coordinator.versions(&run.run).expect("versions");
        let version = versions.iter().find(|known| known.version == version).expect("a version");
        let digest = Digest(version.sha256[..].try_into().expect("a sum"));
        let bytes = coordinator.weights(digest).expect("its weights");
        let file = WeightFile::from_bytes(&bytes, "the store").expect("a weight file");
        Seating { source: Source::Weights { digest, file: Arc::new(file) }, plies: 0 }
    };
    let baseline = |name: &str| Seating { source: Source::Baseline(name.into()), plies: 0 };
    let latest = player(run.latest_version);
    let score = |opponent: &Seating| points(arena.as_ref(), &latest, opponent);
    let scores = [score(&baseline("random")), score(&baseline("greedy")), score(&player(1))];
    eprintln!("points a game against random, greedy and the first version: {scores:?}");
    let [random, greedy, first] = scores;
    // A standard error is 0.015.
    assert!(random > 0.3 && greedy > 0.1 && first > 0.05, "{scores:?}");
}
