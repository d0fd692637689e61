//! Workers behind a network that delays, stalls and cuts.

#[path = "support/cluster.rs"]
mod cluster;
#[path = "support/proxy.rs"]
mod proxy;
#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use std::time::Duration;

use cluster::{Cluster, Part};
use proxy::{Manner, Proxy};
use support::{TINY, until};

/// A cluster with one worker behind a proxy and one beside it.
fn cluster() -> (Cluster, Proxy) {
    let mut cluster = Cluster::start(TINY);
    let proxy = Proxy::to(&cluster.url);
    cluster.raise(Part::Trainer);
    cluster.raise(Part::WorkerTwo);
    cluster.workers_url = proxy.url.clone();
    cluster.raise(Part::WorkerOne);
    (cluster, proxy)
}

/// Games that a worker says it has played, and those that it knows were taken.
fn totals(log: &str) -> (u64, u64) {
    let line = log.lines().rfind(|line| line.contains("taken by the coordinator")).expect("its last word");
    let mut numbers = line.split(' ').filter_map(|word| word.replace(',', "").parse().ok());
    // The time comes first in a line, but not as one number.
    (numbers.next().expect("played"), numbers.next().expect("taken"))
}

#[test]
fn a_worker_that_is_cut_off_stops_soon_others_play_its_games_and_late_ones_count_once() {
    let (mut cluster, proxy) = cluster();
    cluster.until_more(1500, 0);
    proxy.set(Manner::Refuses);
    let asked = proxy.connections();
    // It plays what it has, keeps it, and waits: its processor time stands still.
    let process = cluster.process(Part::WorkerOne).id();
    let mut spent = processor_time(process);
    until("the worker that is cut off stops playing", || {
        std::thread::sleep(Duration::from_millis(500));
        let before = std::mem::replace(&mut spent, processor_time(process));
        (spent - before < 0.05).then_some(())
    });
    // Its leases are over after two seconds, and the other worker plays the same numbers.
    cluster.until_more(3000, 1);
    let tries = proxy.connections() - asked;
    assert!((1..200).contains(&tries), "{tries} connections were tried");

    proxy.set(Manner::Passes);
    until("it is back", || cluster.place.log("one").contains("answers again").then_some(()));
    cluster.until_more(1000, 0);
    let end = cluster.end();
    let (one, two) = (totals(&cluster.place.log("one")), totals(&cluster.place.log("two")));
    println!("played and taken: {one:?} {two:?}, {tries} connections tried meanwhile, {end:?}");
    assert!(one.0 + two.0 > one.1 + two.1, "no game was played by both: {one:?} {two:?} {end:?}");
}

#[test]
fn through_a_network_that_delays_stalls_and_cuts_every_game_arrives_once() {
    let (mut cluster, proxy) = cluster();
    let before = cluster.accounts();
    for round in 0..12 {
        proxy.set([Manner::Delays(Duration::from_millis(20)), Manner::Stalls, Manner::Passes][round % 3]);
        cluster.watch_for(Duration::from_millis(250));
        if round % 2 == 1 {
            proxy.cut();
        }
        cluster.accounts().assert_balanced();
    }
    proxy.set(Manner::Passes);
    cluster.until_more(1000, 0);
    assert!(cluster.accounts().accepted > before.accepted + 1000);
    let end = cluster.end();
    assert!(cluster.fallen.is_empty(), "{:?} gave up", cluster.fallen);
    let (played, taken) = totals(&cluster.place.log("one"));
    assert!(played >= taken && taken > 0, "{end:?}");
}

/// Seconds of processor time of a process.
fn processor_time(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    // The name in brackets may hold anything; utime and stime are the 12th and 13th after it.
    let (_, rest) = stat.rsplit_once(") ").expect("a name");
    let times: Vec<f64> =
        rest.split(' ').skip(11).take(2).map(|time| time.parse().expect("a number")).collect();
    (times[0] + times[1]) / 100.0
}
