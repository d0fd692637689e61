//! A trainer that is away, and too many of everything: trainers, coordinators, workers with one token.
//!
//! The first takes seconds. Ten minutes of it, with the figures:
//!
//! ```text
//! LUDUS_SECONDS=600 cargo test -p ludus --test crowds without_a_trainer -- --nocapture
//! ```

#[path = "support/cluster.rs"]
mod cluster;
#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use std::time::Duration;

use cluster::{Cluster, PARTS, Part};
use support::{TINY, arg, memory, number, until};

/// The backlog at which games to learn from are held back.
const LIMIT: u64 = 2000;

#[test]
fn without_a_trainer_the_backlog_has_an_end_memory_is_flat_and_a_trainer_that_returns_catches_up() {
    let mut cluster = Cluster::start(&format!("{TINY}backlog_games = {LIMIT}\n"));
    PARTS[2..].iter().for_each(|&part| cluster.raise(part));
    cluster.until_more(1500, 1);
    let trainer = cluster.take(Part::Trainer);
    trainer.terminate();
    trainer.ends_well();
    // With little room left nothing goes out; what went out before counts, so the limit is never passed.
    let full = until("the backlog comes near its limit", || {
        Some(cluster.accounts()).filter(|now| now.accepted + LIMIT / 8 >= now.trained + LIMIT)
    });
    // What was out comes in, and nothing new goes out.
    let mut accepted = 0;
    until("no more games come", || {
        std::thread::sleep(Duration::from_millis(1500));
        let now = cluster.accounts().accepted;
        (std::mem::replace(&mut accepted, now) == now).then_some(())
    });
    let parts = [Part::Coordinator, Part::WorkerOne, Part::WorkerTwo];
    let mut sizes = || parts.map(|part| memory(cluster.process(part).id()));
    let before = sizes();
    std::thread::sleep(Duration::from_secs(number("LUDUS_SECONDS", 3)));
    let after = sizes();
    println!("KiB of coordinator and workers: {before:?}, then {after:?}");
    for (before, after) in before.into_iter().zip(after) {
        assert!(after < before + before / 4 + 8192, "{before} KiB grew to {after}");
    }
    let now = cluster.accounts();
    println!("{now:?}");
    assert_eq!(
        (now.issued, now.trained),
        (full.issued, full.trained),
        "nothing new went out: {full:?}, {now:?}"
    );
    assert!(now.accepted <= now.trained + LIMIT, "{now:?}");
    cluster.raise(Part::Trainer);
    cluster.until_more(LIMIT + 1000, 1);
    cluster.end();
}

#[test]
fn of_two_trainers_the_later_is_in_charge_and_of_two_in_one_folder_or_without_its_checkpoints_none() {
    let mut cluster = Cluster::start(TINY);
    PARTS[2..].iter().for_each(|&part| cluster.raise(part));
    cluster.until_more(1500, 1);
    let (url, redis, dir) = (cluster.url.clone(), cluster.redis.url(), cluster.trainer.clone());
    let common = ["trainer", "--coordinator", &url, "--redis", &redis, "--dir"];
    let last_word = |cluster: &Cluster, args: &[&str]| {
        let output = cluster.place.run(args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        text.lines().last().unwrap_or_default().to_owned()
    };
    let refused = last_word(&cluster, &[&common[..], &[arg(&dir)]].concat());
    assert!(refused.contains("another trainer is using"), "{refused}");
    // It took the run before it saw that, so the first ends too, and whoever watches over it starts it again.
    let mut first = cluster.take(Part::Trainer);
    until("the first is fenced and ends", || first.has_ended().then_some(()));
    assert!(first.log().lines().last().is_some_and(|line| line.starts_with("error: ")), "{}", first.log());

    // In a folder without its checkpoints nobody may begin anew.
    let elsewhere = cluster.place.path("elsewhere");
    let refused = last_word(&cluster, &[&common[..], &[arg(&elsewhere)]].concat());
    assert!(refused.contains("elsewhere"), "{refused}");

    // A copy of them goes on, and the older folder, which knows less, is not believed any more.
    let copy = cluster.place.path("copy");
    let copied = std::process::Command::new("cp").arg("-r").args([&dir, &copy]).status();
    assert!(copied.expect("cp starts").success());
    cluster.trainer = copy;
    cluster.raise(Part::Trainer);
    cluster.until_more(4000, 1);
    let mut later = cluster.take(Part::Trainer);
    let mut older = cluster.place.start("older", &[&common[..], &[arg(&dir)]].concat());
    until("the older folder is refused", || older.has_ended().then_some(()));
    until("the later one is fenced", || later.has_ended().then_some(()));
    assert!(older.log().lines().last().is_some_and(|line| line.starts_with("error: ")), "{}", older.log());
    cluster.raise(Part::Trainer);
    cluster.until_more(1000, 1);
    cluster.end();
}

#[test]
fn a_second_coordinator_of_a_folder_is_refused_and_the_first_goes_on() {
    let mut cluster = Cluster::start(TINY);
    PARTS[2..].iter().for_each(|&part| cluster.raise(part));
    let (dir, redis) = (cluster.data.clone(), cluster.redis.url());
    let second = ["coordinator", "--dir", arg(&dir), "--listen", "127.0.0.1:0", "--redis", &redis];
    let refused = cluster.place.refused(1, &second);
    assert!(refused.contains("another coordinator is using"), "{refused}");
    cluster.until_more(1500, 1);
    cluster.end();
    assert!(cluster.fallen.is_empty());
}

#[test]
fn two_workers_with_one_token_and_one_name_do_not_disturb_each_other() {
    let mut cluster = Cluster::prepare();
    let data = arg(&cluster.data).to_owned();
    let owner = cluster.place.ok(&["token", "create", "owner", "--role", "admin", "--dir", &data]);
    let token = cluster.place.file("owner.token", &owner);
    cluster.access = vec!["--token-file".into(), token];
    cluster.begin(TINY);
    cluster.raise(Part::Trainer);
    let worker = cluster.command(&["token", "create", "laboratory", "--role", "worker"]);
    let token = cluster.place.file("worker.token", &worker);
    let url = cluster.url.clone();
    let start = |name: &str| {
        let args =
            ["worker", "--coordinator", &url, "--threads", "1", "--name", "same", "--token-file", &token];
        cluster.place.start(name, &args)
    };
    let workers = [start("one"), start("two")];
    cluster.until_more(2000, 1);
    for worker in workers {
        worker.terminate();
        worker.ends_well();
    }
    let end = cluster.end();
    let list: serde_json::Value =
        serde_json::from_str(&cluster.place.ok(&["token", "list", "--dir", &data, "--json"])).expect("JSON");
    let holder = list.as_array().expect("a list").iter().find(|token| token["name"] == "laboratory");
    let holder = holder.expect("its token");
    assert_eq!((holder["state"].as_str(), holder["faults"].as_u64()), (Some("active"), Some(0)));
    assert!(holder["accepted"].as_u64().expect("a number") >= end.accepted);
}
