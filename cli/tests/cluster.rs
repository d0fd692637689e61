//! Whole clusters of real processes, some of which are killed.

#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use std::net::TcpListener;

use redis_server::RedisServer;
use serde_json::Value;
use support::{Accounts, Place, TINY, arg, page, until};

#[test]
fn after_sigkill_of_worker_trainer_and_coordinator_every_accepted_game_is_learnt_exactly_once() {
    let place = Place::new();
    let redis = RedisServer::start();
    let config = place.file("run.toml", TINY);
    let data = place.path("data");
    // The address is free for whoever listens next, so that a coordinator started again is found by the others.
    let start_coordinator = |address: &str| {
        let dir = arg(&data);
        let args = ["coordinator", "--dir", dir, "--listen", address, "--redis", &redis.url()];
        let mut coordinator = place.start("coordinator", &args);
        let line = coordinator.first_line();
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("its address");
        (coordinator, url.trim_end_matches(',').to_owned())
    };
    let (coordinator, url) = start_coordinator("127.0.0.1:0");
    place.ok(&["run", "create", "--config", &config, "--name", "test", "--coordinator", &url]);

    let start_worker =
        |name: &str| place.start(name, &["worker", "--coordinator", &url, "--threads", "1", "--name", name]);
    let checkpoints = place.path("trainer");
    let start_trainer = || {
        let dir = arg(&checkpoints);
        place.start("trainer", &["trainer", "--coordinator", &url, "--redis", &redis.url(), "--dir", dir])
    };
    let show = || Accounts::of(&place.json(&["run", "show", "test", "--coordinator", &url, "--json"]));
    let until_more = |games: u64, versions: u64| {
        let before = show();
        until("games are taken and versions published", || {
            let now = show();
            now.assert_balanced();
            (now.accepted >= before.accepted + games && now.latest >= before.latest + versions).then_some(())
        });
    };

    let (one, two) = (start_worker("one"), start_worker("two"));
    let trainer = start_trainer();
    until_more(2000, 1);
    one.kill();
    until_more(1000, 0);
    let one = start_worker("one");
    until_more(1000, 1);
    trainer.kill();
    until_more(500, 0);
    let trainer = start_trainer();
    until_more(1000, 1);
    coordinator.kill();
    let (coordinator, _) = start_coordinator(url.trim_start_matches("http://"));
    until_more(1000, 1);

    place.ok(&["run", "stop", "test", "--coordinator", &url]);
    trainer.ends_well();
    for worker in [one, two] {
        worker.terminate();
        worker.ends_well();
    }
    let end = show();
    end.assert_drained();
    assert_eq!(end.leased, 0, "{end:?}");
    let metrics = page(&url, "/metrics");
    let metric = |name: &str| {
        let line = metrics.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}"));
        line.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok()).expect("a number") as u64
    };
    let self_play = |name: &str| metric(&format!("ludus_{name}{{run=\"test\",kind=\"self-play\"}}"));
    assert_eq!(self_play("games_unaccounted"), 0);
    assert_eq!(self_play("games_accepted_total"), end.accepted);
    assert_eq!(metric("ludus_games_trained_total{run=\"test\"}"), end.trained);

    let file = place.path("latest.safetensors");
    place.ok(&["weights", "pull", "test", "latest", "-o", arg(&file), "--coordinator", &url]);
    let versions = place.json(&["versions", "test", "--coordinator", &url, "--json"]);
    let newest = versions.as_array().and_then(|list| list.last()).expect("versions").clone();
    assert_eq!(newest["games"].as_u64(), Some(end.trained), "the last version has learnt every game");
    assert!(page(&url, "/api/v1/runs/test/versions").contains(newest["sha256"].as_str().expect("a sum")));

    coordinator.terminate();
    coordinator.ends_well();
    let kept = Accounts::of(&place.json(&["run", "show", "--dir", arg(&data), "--json"]));
    assert_eq!((kept.accepted, kept.trained), (end.accepted, end.trained), "the folder says the same");
}

#[test]
fn train_yields_versions_and_resumes_and_survives_sigkill() {
    let place = Place::new();
    let config = place.file("run.toml", TINY);
    let dir = place.path("run");
    let train = |more: &[&'static str]| {
        let common = ["train", "backgammon", "--workers", "1", "--config", &config, "--dir", arg(&dir)];
        [&common[..], more].concat()
    };
    // The last run on this machine is found without being named.
    let show = || Accounts::of(&place.json(&["run", "show", "--json"]));

    let reached = place.json(&train(&["--time", "8s", "--json"]));
    let first = Accounts::of(&reached);
    first.assert_drained();
    assert!(first.latest >= 2, "{first:?}");
    assert!(std::fs::exists(reached["weights"].as_str().expect("a path")).expect("it can be looked for"));
    let versions = place.json(&["versions", "--json"]);
    let versions = versions.as_array().expect("a list");
    assert_eq!(versions.len() as u64, first.latest);
    assert_eq!(versions.last().and_then(|newest| newest["games"].as_u64()), Some(first.trained));

    let training = place.start("train", &train(&[]));
    until("it goes on", || {
        let now = show();
        now.assert_balanced();
        (now.accepted >= first.accepted + 1000 && now.latest > first.latest).then_some(())
    });
    training.kill();
    let killed = show();
    killed.assert_balanced();

    let training = place.start("train", &train(&["--json"]));
    until("it goes on again", || (show().accepted >= killed.accepted + 500).then_some(()));
    training.terminate();
    let reached: Value = serde_json::from_str(&training.ends_well()).expect("JSON");
    let last = Accounts::of(&reached);
    last.assert_drained();
    assert!(last.trained > killed.trained && last.latest > killed.latest, "{killed:?} {last:?}");

    place.ok(&["run", "stop", "backgammon", "--dir", arg(&dir)]);
    let stopped = show();
    stopped.assert_drained();
    assert_eq!((stopped.leased, stopped.accepted), (0, last.accepted));
    assert!(place.refused(1, &train(&[])).contains("stopped for good"));
}

#[test]
fn bad_input_is_one_line_that_says_what_to_do_and_nothing_is_damaged() {
    let place = Place::new();
    let dir = place.path("run");
    let bad = place.file("bad.toml", "[learn]\nlamda = 0.5\n");
    let line = place.refused(64, &["train", "backgammon", "--config", &bad, "--dir", arg(&dir)]);
    assert!(line.contains("bad.toml, line 2: unknown key `learn.lamda`; did you mean `lambda`?"), "{line}");
    assert!(!dir.exists(), "nothing is made for a configuration that is refused");

    let nowhere = "redis://127.0.0.1:1";
    for role in [
        &["train", "backgammon", "--dir", arg(&dir), "--redis", nowhere][..],
        &["coordinator", "--dir", arg(&dir), "--redis", nowhere],
    ] {
        let line = place.refused(1, role);
        assert!(line.contains(nowhere) && line.contains("redis-server"), "{line}");
    }
    assert!(!dir.exists());
    assert!(place.refused(1, &["versions"]).contains("ludus train"), "there is no last run yet");

    // A start that failed leaves nothing to go on with.
    let begun = place.path("begun");
    std::fs::create_dir(&begun).expect("a folder");
    std::fs::write(begun.join("trainer"), "no folder").expect("a file");
    let args = ["train", "backgammon", "--from", "shipped", "--time", "60s", "--dir", arg(&begun)];
    let output = place.run(&args);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("run backgammon") && !told.contains("go on"), "{told}");

    let config = place.file("run.toml", TINY);
    place.ok(&["train", "backgammon", "--time", "1s", "--config", &config, "--dir", arg(&dir)]);
    let before = place.ok(&["run", "show", "--json"]);

    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address");
    let line = place.refused(1, &["coordinator", "--dir", arg(&dir), "--listen", &address.to_string()]);
    assert!(line.contains(&address.port().to_string()) && line.contains("in use"), "{line}");
    let line = place.refused(1, &["coordinator", "--dir", arg(&dir), "--listen", "0.0.0.0:0"]);
    assert!(line.contains("--insecure"), "{line}");

    let unknown = place.file("unknown.toml", "[network]\ninputs = \"guesses-3\"\n");
    let line = place.refused(64, &["run", "create", "--config", &unknown, "--dir", arg(&dir)]);
    assert!(line.contains("guesses-3") && line.contains("tesauro-198"), "{line}");

    let other = place.file("other.toml", &TINY.replace("hidden = 8", "hidden = 9"));
    let line = place.refused(64, &["train", "backgammon", "--config", &other, "--dir", arg(&dir)]);
    assert!(line.contains("network.hidden is 8 there and 9 here"), "{line}");

    let redis = RedisServer::start();
    let line = place.refused(1, &["train", "backgammon", "--dir", arg(&dir), "--redis", &redis.url()]);
    assert!(line.contains("leave out --redis"), "{line}");

    let file = place.path("x.safetensors");
    for unknown in [
        &["run", "show", "nobody"][..],
        &["run", "stop", "nobody"],
        &["versions", "nobody"],
        &["weights", "pull", "nobody", "latest", "-o", arg(&file)],
    ] {
        let line = place.refused(1, unknown);
        assert!(line.contains("no run nobody; the runs are: backgammon"), "{line}");
    }
    let line = place.refused(1, &["weights", "pull", "backgammon", "v99", "-o", arg(&file)]);
    assert!(line.contains("no version v99"), "{line}");
    assert!(!file.exists());

    let line = place.refused(1, &["versions", "--coordinator", "http://127.0.0.1:1"]);
    assert!(line.contains("no coordinator answers at http://127.0.0.1:1"), "{line}");
    let line = place.refused(1, &["run", "list", "--dir", "nowhere"]);
    assert!(line.contains("nowhere holds no run"), "{line}");

    assert_eq!(place.ok(&["run", "show", "--json"]), before, "nothing has changed");
}
