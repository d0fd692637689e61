//! A cluster of real processes that learns a game without dice.

#[path = "support/cluster.rs"]
mod cluster;
#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use cluster::{Cluster, Part};
use support::{Accounts, arg, page, until};

/// Small steps of everything, so that seconds are enough; the rest is what comes with the game.
const SHORT: &str = "\
game = \"othello\"
[learn]
publish_games = 1500
checkpoint_seconds = 1
[gate]
delta = 0.2
limit_pairs = 400
[leases]
ttl_seconds = 5
target_seconds = 0.5
max_games = 100
[audit]
share = 0.2
";

/// Games to learn from.
const GAMES: u64 = 8_000;

#[test]
fn a_cluster_learns_othello_audits_its_games_and_promotes_by_a_gate_of_openings() {
    let mut cluster = Cluster::start(SHORT);
    cluster.raise(Part::Trainer);
    cluster.raise(Part::WorkerOne);
    cluster.raise(Part::WorkerTwo);
    let (url, data) = (cluster.url.clone(), cluster.data.clone());
    until("a version is promoted, and enough is learnt to tell it from chance", || {
        let run = cluster.place.json(&["run", "show", "test", "--coordinator", &url, "--json"]);
        let accounts = Accounts::of(&run);
        accounts.assert_balanced();
        (run["champion"].as_u64() >= Some(1) && accounts.trained >= GAMES).then_some(())
    });
    let audited = |result: &str| {
        let metrics = page(&url, "/metrics");
        let line = metrics.lines().find(|line| {
            line.starts_with("ludus_games_audited_total") && line.contains(&format!("\"{result}\""))
        });
        line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).unwrap_or_default()
    };
    // A worker lost in the middle takes nothing with it.
    cluster.kill(Part::WorkerTwo);
    until("games played again are the same", || (audited("agreed") > 0.0).then_some(()));
    assert_eq!((audited("differed"), audited("impossible")), (0.0, 0.0));
    cluster.end();

    // The verdicts come out of the stored games once more, and the last version, which has learnt them all, plays pairs from
    // openings of their own.
    let folder = arg(&data);
    let verified = cluster.place.ok(&["gate", "verify", "--dir", folder]);
    assert!(verified.contains("all agree"), "{verified}");
    let beaten = ["match", "latest", "random", "--game", "othello", "--pairs", "50", "--json"];
    let result = cluster.place.json(&[&beaten[..], &["--dir", folder]].concat());
    assert!(result["ppg"].as_f64() > Some(0.3), "{result}");
}
