//! Those who should not come in, and those who came in and do not play fair.

#[path = "support/cluster.rs"]
mod cluster;
#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use cluster::{Cluster, Part};
use ludus_games::Backgammon;
use ludus_players::arena::{Arena, ArenaError, Checked, PlayError, Registry, Seating, Table, Violation};
use ludus_players::lessons::Teacher;
use ludus_players::record;
use ludus_players::weight_file::{Shape, WeightFile};
use ludus_proto::Bearer;
use ludus_proto::v1::{GameRecord, PlayerRef, Series};
use ludus_worker::WorkerOptions;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use support::{Place, TINY, answer, arg, memory, until};
use tokio_util::sync::CancellationToken;

/// A cluster in which everybody shows a token, and the secrets of its owner and of a worker.
fn guarded(config: &str) -> (Cluster, [String; 2]) {
    let mut cluster = Cluster::prepare();
    let data = arg(&cluster.data).to_owned();
    let owner = cluster.place.ok(&["token", "create", "owner", "--role", "admin", "--dir", &data]);
    cluster.access = vec!["--token-file".into(), cluster.place.file("owner.token", &owner)];
    cluster.serve = vec!["-vv".into()];
    cluster.begin(config);
    let worker = cluster.command(&["token", "create", "laboratory", "--role", "worker"]);
    (cluster, [owner, worker].map(|secret| secret.trim().to_owned()))
}

fn list(text: &str) -> Vec<Value> {
    let list: Value = serde_json::from_str(text).expect("JSON");
    list.as_array().expect("a list").clone()
}

#[test]
fn tokens_are_made_listed_revoked_and_needed_and_no_log_shows_one() {
    let (mut cluster, [owner, worker]) = guarded(TINY);
    let url = cluster.url.clone();
    let nobody = cluster.place.refused(1, &["run", "list", "--coordinator", &url]);
    assert!(nobody.contains("token"), "{nobody}");
    let file = cluster.place.file("worker.token", &worker);
    let shown = ["--coordinator", &url, "--token-file", &file];
    let denied = cluster.place.refused(1, &[&["token", "list"][..], &shown].concat());
    assert!(denied.contains("is for the role worker"), "{denied}");
    let wrong = cluster.place.file("wrong.token", "ludus_0123");
    let unknown = cluster.place.refused(1, &["run", "list", "--coordinator", &url, "--token-file", &wrong]);
    assert!(!unknown.contains("ludus_0123"), "{unknown}");

    cluster.raise(Part::Trainer);
    let player = {
        let args = ["worker", "--coordinator", &url, "--threads", "1", "-v", "--token-file", &file];
        cluster.place.start("laboratory", &args)
    };
    cluster.until_more(1000, 2);
    cluster.command(&["token", "revoke", "laboratory"]);
    let mut player = player;
    until("the worker is shown out and ends", || player.has_ended().then_some(()));
    let log = player.log();
    assert!(log.lines().last().is_some_and(|line| line.starts_with("error: ")), "{log}");
    let tokens = list(&cluster.command(&["token", "list", "--json"]));
    assert_eq!(
        (tokens[1]["name"].as_str(), tokens[1]["state"].as_str()),
        (Some("laboratory"), Some("revoked"))
    );
    assert!(cluster.command(&["token", "list"]).contains("revoked"));
    let for_good = cluster.place.refused(64, &["token", "lift", "laboratory", "--dir", arg(&cluster.data)]);
    assert!(for_good.contains("create another"), "{for_good}");
    let lineage = list(&cluster.command(&["lineage", "--json"]));
    let last = lineage.last().expect("a version");
    assert_eq!(last["learnt"][0]["token"], "laboratory");
    assert!(last["learnt"][0]["games"].as_u64().is_some_and(|games| games >= 1000), "{last}");
    assert!(cluster.command(&["lineage", "latest"]).contains("laboratory"));

    // The pages do not show them either, and what was asked for with one is in no log.
    let header = format!("Authorization: Bearer {owner}\r\n");
    let pages = ["/metrics", "/api/v1/runs"].map(|path| answer(&url, path, &header));
    assert!(pages[0].contains("ludus_ready"), "{}", pages[0]);
    let key = std::fs::read_to_string(cluster.data.join("key")).expect("the house's key").trim().to_owned();
    let names = ["coordinator", "trainer", "laboratory"];
    let logs = names.map(|name| cluster.place.log(name)).concat() + &pages.concat();
    // A coordinator with which all is well says nothing, also when it is asked to say more.
    assert!(names[1..].iter().all(|name| !cluster.place.log(name).is_empty()));
    for secret in [&owner, &worker, &key] {
        assert!(secret.len() > 60 && !logs.contains(&secret[6..]), "a secret is shown");
    }
}

#[test]
fn a_redis_password_is_in_no_log_and_no_error() {
    let place = Place::new();
    let redis = redis_server::RedisServer::start();
    assert!(redis.ask(&["CONFIG", "SET", "requirepass", "s3cret-word"]).starts_with("+OK"));
    let port = redis.url().rsplit(':').next().expect("a port").to_owned();
    let data = place.path("data");
    let url = |password: &str| format!("redis://:{password}@127.0.0.1:{port}");
    let listen = ["coordinator", "--dir", arg(&data), "--listen", "127.0.0.1:0", "-vv", "--redis"];
    let wrong = place.refused(1, &[&listen[..4], &["127.0.0.1:0", "--redis", &url("wr0ng-word")]].concat());
    assert!(!wrong.contains("wr0ng-word"), "{wrong}");
    let mut coordinator = place.start("coordinator", &[&listen[..], &[&url("s3cret-word")]].concat());
    let line = coordinator.first_line();
    coordinator.terminate();
    let out = line + &coordinator.ends_well();
    assert!(!out.contains("s3cret-word") && !place.log("coordinator").contains("s3cret-word"));
}

#[test]
fn a_thousand_idle_connections_and_slow_ones_keep_nobody_out() {
    let files = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files })
        .expect("as many files as allowed");
    let mut cluster = Cluster::start(TINY);
    let process = cluster.process(Part::Coordinator).id();
    let address = cluster.url.trim_start_matches("http://").to_owned();
    let before = memory(process);
    let connect = || TcpStream::connect(&address).expect("connected");
    let mut crowd: Vec<TcpStream> = (0..1000).map(|_| connect()).collect();
    let mut slow: Vec<TcpStream> = (0..20).map(|_| connect()).collect();
    for connection in &mut slow {
        connection.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ").expect("sent");
    }
    // Meanwhile everybody else goes on.
    cluster.raise(Part::Trainer);
    cluster.raise(Part::WorkerOne);
    cluster.until_more(500, 0);
    println!("{before} KiB, and {} KiB with 1020 connections", memory(process));
    assert!(memory(process) < before + 200_000);
    // A byte now and then buys them no time: all are hung up on.
    until("the slow are hung up on", || {
        std::thread::sleep(Duration::from_millis(300));
        slow.retain_mut(|connection| connection.write_all(b"x").is_ok());
        slow.is_empty().then_some(())
    });
    for connection in &mut crowd {
        connection.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let mut rest = Vec::new();
        // It may be reset or closed; only that it ends matters.
        let ended = connection.read_to_end(&mut rest);
        assert!(!ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "still open");
    }
    assert!(answer(&cluster.url, "/healthz", "").starts_with("HTTP/1.1 200"));
    cluster.until_more(500, 0);
    cluster.end();
}

/// Paths that would lead out of a folder, and others that no page has.
const PATHS: [&str; 8] = [
    "/api/v1/runs/test/versions/../../../../etc/passwd/weights",
    "/api/v1/runs/..%2f..%2fetc/versions/1/weights",
    "/api/v1/runs/test/versions/%2e%2e%2fcoordinator.sqlite/weights",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "//etc/passwd",
    "/key",
    "/data/key",
    "/%00",
];

#[test]
fn no_path_leads_out_of_the_house() {
    let cluster = Cluster::start(TINY);
    for path in PATHS {
        let answer = answer(&cluster.url, path, "");
        let status = answer.split(' ').nth(1).expect("a status");
        assert!(status.starts_with('4'), "{path}: {answer}");
        assert!(!answer.contains("root:") && !answer.contains("SQLite format"), "{path}");
    }
}

/// Set for the process that is [the forger](forger): its coordinator.
const FORGE: &str = "LUDUS_TEST_FORGE";
/// Set for it, too: what it forges.
const TRICK: &str = "LUDUS_TEST_TRICK";

/// What a worker does to the games that it plays. No rule is broken by it.
#[derive(Clone, Copy, PartialEq)]
enum Trick {
    /// One luck value, in the middle of the game, is another by one unit.
    Luck,
    /// At some plies it makes another legal play than its player's, and says nothing of it.
    Plays,
}

struct Forgery(Arc<dyn Arena>, Trick);

struct ForgingTable {
    table: Box<dyn Table>,
    trick: Trick,
    series: Series,
    players: [PlayerRef; 2],
}

impl Table for ForgingTable {
    fn play(&mut self, number: u64) -> Result<GameRecord, PlayError> {
        // At a pace at which its first hundred games take a few seconds.
        std::thread::sleep(Duration::from_millis(50));
        let mut game = self.table.play(number)?;
        let middle = game.luck.len() / 4 * 2;
        match self.trick {
            Trick::Luck => game.luck.get_mut(middle).into_iter().for_each(|byte| *byte ^= 1),
            Trick::Plays => game.explored.clear(),
        }
        // With the digest that belongs to it.
        game.digest = record::digest::<Backgammon>(&self.series, &self.players, &game);
        Ok(game)
    }
}

impl Arena for Forgery {
    fn game(&self) -> &'static str {
        self.0.game()
    }
    fn revision(&self) -> u32 {
        self.0.revision()
    }
    fn baselines(&self) -> Vec<&'static str> {
        self.0.baselines()
    }
    fn input_sets(&self) -> Vec<&'static str> {
        self.0.input_sets()
    }
    fn max_points(&self) -> u32 {
        self.0.max_points()
    }
    fn table(&self, series: &Series, seats: [&Seating; 2]) -> Result<Box<dyn Table>, ArenaError> {
        let Forgery(arena, trick) = self;
        // Three plays of a game or so, drawn at random.
        let explore = if *trick == Trick::Plays { 0.05 } else { series.explore };
        let table = arena.table(&Series { explore, ..*series }, seats)?;
        let players = seats.map(Seating::player_ref);
        Ok(Box::new(ForgingTable { table, trick: *trick, series: *series, players }))
    }
    fn check(&self, series: &Series, players: &[PlayerRef], game: &GameRecord) -> Result<Checked, Violation> {
        self.0.check(series, players, game)
    }
    fn shapes(&self, inputs: &str, hidden: usize) -> Result<Vec<Shape>, ArenaError> {
        self.0.shapes(inputs, hidden)
    }
    fn teacher(&self, weights: &WeightFile) -> Result<Box<dyn Teacher>, ArenaError> {
        self.0.teacher(weights)
    }
}

/// No test of its own: the process that the next test starts.
#[test]
fn forger() {
    let Ok(url) = std::env::var(FORGE) else { return };
    let token = std::env::var("LUDUS_TOKEN").expect("its token");
    let plays = std::env::var(TRICK).expect("its trick") == "plays";
    let trick = if plays { Trick::Plays } else { Trick::Luck };
    let standard = Registry::standard();
    let arena = standard.find("backgammon").expect("the game").clone();
    let options = WorkerOptions {
        coordinator: url,
        access: Bearer::new(&token).expect("a token").into(),
        name: "forger".into(),
        threads: 1,
        cache: None,
        registry: Registry::new(vec![Arc::new(Forgery(arena, trick))]),
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let ended = runtime.block_on(ludus_worker::run(options, CancellationToken::new(), Arc::default()));
    eprintln!("the forger is out: {}", ended.expect_err("only a refusal ends it"));
}

#[test]
fn a_process_that_forges_one_luck_value_of_each_game_is_found_among_its_first_hundred_and_shut_out() {
    forgery_is_found("luck", "variance = \"luck\"", "its luck");
}

#[test]
fn a_process_that_makes_plays_that_are_not_its_players_is_found_and_shut_out() {
    forgery_is_found("plays", "explore = 0.0", "its plays");
}

/// A worker that forges what `trick` says, in a run with `self_play`, is told that it was `found`.
fn forgery_is_found(trick: &str, self_play: &str, found: &str) {
    let config =
        TINY.replace("[leases]", &format!("[audit]\nshare = 0.1\n[self_play]\n{self_play}\n[leases]"));
    let config =
        config.replace("[gate]", "[gate]\nshare = 0.01").replace("max_games = 400", "max_games = 10");
    let config = config.replace("publish_games = 1500", "publish_games = 500");
    let (mut cluster, [_, secret]) = guarded(&config);
    cluster.raise(Part::Trainer);
    cluster.raise(Part::WorkerOne);
    cluster.until_more(300, 0);
    // The coordinator has two things to do on a busy machine: to take games, and to play some of them again.
    cluster.kill(Part::WorkerOne);
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "forger", "--nocapture"])
        .env(FORGE, &cluster.url)
        .env(TRICK, trick)
        .env("LUDUS_TOKEN", &secret)
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the forger is out"), "{said}");
    let tokens = list(&cluster.command(&["token", "list", "--json"]));
    let token = &tokens[1];
    assert_eq!((token["name"].as_str(), token["state"].as_str()), (Some("laboratory"), Some("quarantined")));
    assert!(token["reason"].as_str().is_some_and(|reason| reason.contains(found)), "{token}");
    println!("found after {} accepted games", token["accepted"]);
    assert!(token["accepted"].as_u64().is_some_and(|games| (1..=300).contains(&games)), "{token}");
    cluster.raise(Part::WorkerOne);
    cluster.until_more(300, 1);
    let lineage = list(&cluster.command(&["lineage", "--json"]));
    assert!(lineage.last().and_then(|last| last["marked"].as_u64()).is_some_and(|games| games > 0));
    assert_eq!(lineage[0]["marked"].as_u64(), Some(0), "the first version was there before");
    cluster.end();
}
