//! SIGKILL of every process of a cluster, at random moments: the run goes on by itself, and nothing is lost or done twice.
//!
//! A few kills by default. More, and another schedule:
//!
//! ```text
//! LUDUS_KILLS=50 LUDUS_SEED=7 cargo test -p ludus --test kills -- --nocapture
//! ```

#[path = "support/cluster.rs"]
mod cluster;
#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cluster::{Cluster, PARTS, Part, files_below};
use ludus_proto::v1::Progress;
use prost::Message;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;
use sha2::{Digest, Sha256};
use support::{TINY, arg, number};

/// One kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Strike {
    /// Time since the last victim was started again.
    after: Duration,
    victim: Part,
    /// Time until it is started again.
    pause: Duration,
}

/// The kills of a seed. Every part is hit once before one is hit again.
fn schedule(seed: u64, kills: usize) -> Vec<Strike> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut victims = Vec::new();
    while victims.len() < kills {
        let mut round = PARTS;
        round.shuffle(&mut rng);
        victims.extend(round);
    }
    let mut time = |least: u64, most: u64| Duration::from_millis(rng.random_range(least..most));
    let strike = |victim| Strike { after: time(100, 2000), victim, pause: time(0, 600) };
    victims.into_iter().take(kills).map(strike).collect()
}

#[test]
fn a_seed_repeats_its_schedule_and_everybody_is_hit() {
    assert_eq!(schedule(7, 50), schedule(7, 50));
    assert_ne!(schedule(7, 50), schedule(8, 50));
    let victims: BTreeSet<Part> = schedule(7, 5).iter().map(|strike| strike.victim).collect();
    assert_eq!(victims.len(), PARTS.len());
}

#[test]
fn whoever_is_killed_the_run_goes_on_and_nothing_is_lost_or_done_twice() {
    let (seed, kills) = (number("LUDUS_SEED", 1), number("LUDUS_KILLS", 8) as usize);
    println!("LUDUS_SEED={seed} LUDUS_KILLS={kills} repeats this");
    let began = Instant::now();
    let mut cluster = Cluster::start(TINY);
    PARTS.iter().filter(|&&part| !matches!(part, Part::Redis | Part::Coordinator)).for_each(|&part| {
        cluster.raise(part);
    });
    cluster.until_more(3000, 1);

    let mut seen = BTreeMap::new();
    for (index, strike) in schedule(seed, kills).into_iter().enumerate() {
        cluster.watch_for(strike.after);
        cluster.kill(strike.victim);
        cluster.accounts().assert_balanced();
        cluster.watch_for(strike.pause);
        cluster.raise(strike.victim);
        note_versions(&mut seen, &cluster.versions());
        println!("{:5.1} s: kill {}: {strike:?}", began.elapsed().as_secs_f64(), index + 1);
    }
    cluster.until_more(1000, 1);
    let end = cluster.end();

    println!("ended by themselves and started again: {:?}", cluster.fallen);
    assert!(cluster.fallen.len() <= kills / 5, "{:?}: they should have waited", cluster.fallen);
    let versions = cluster.versions();
    note_versions(&mut seen, &versions);
    assert_eq!(versions.len() as u64, end.latest);
    assert_no_version_is_lost(&versions, &cluster.data);
    assert_eq!(seen.len(), versions.len(), "a version that was seen is gone");
    assert_learnt_once(&cluster);
    assert_no_file_is_half_written(&cluster);
    assert!(cluster.place.ok(&["gate", "verify", "--dir", arg(&cluster.data)]).contains("agree"));
    let losses = losses(&cluster.data);
    assert_no_jump(&losses);
    println!(
        "{kills} kills in {:.0} s: {} games accepted, each learnt once, {} versions; loss {:.4} at first, {:.4} at last",
        began.elapsed().as_secs_f64(),
        end.accepted,
        end.latest,
        losses.first().expect("a loss"),
        losses.last().expect("a loss"),
    );
}

/// Notes the sum of every version; none that was seen before has another one.
fn note_versions(seen: &mut BTreeMap<u64, String>, versions: &[Value]) {
    for version in versions {
        let number = version["version"].as_u64().expect("a number");
        let sum = version["sha256"].as_str().expect("a sum").to_owned();
        let before = seen.insert(number, sum.clone());
        assert!(before.is_none_or(|before| before == sum), "v{number} has changed");
    }
}

/// Every version is there, with its weights, and each has learnt from no fewer games than the one before.
fn assert_no_version_is_lost(versions: &[Value], data: &Path) {
    let mut games = 0;
    for (version, number) in versions.iter().zip(1..) {
        assert_eq!(version["version"].as_u64(), Some(number));
        let sum = version["sha256"].as_str().expect("a sum");
        let file = data.join("weights").join(format!("{sum}.safetensors"));
        assert_eq!(sum_of(&file), sum, "v{number}");
        let learnt = version["games"].as_u64().expect("a number");
        assert!(learnt >= games, "v{number} has learnt {learnt} games and the one before {games}");
        games = learnt;
    }
}

/// What the last checkpoint has learnt is what the coordinator has accepted, number by number.
fn assert_learnt_once(cluster: &Cluster) {
    let newest = checkpoints(cluster).pop().expect("a checkpoint");
    let bytes = std::fs::read(&newest).expect("read");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).expect("JSON");
    let state = header["__metadata__"]["state"].as_str().expect("a state");
    let state: Value = serde_json::from_str(state).expect("JSON");
    let seen = state["ledger"]["seen"].as_object().expect("series");
    let database = database(&cluster.data);
    let mut series = database.prepare("SELECT next, accepted FROM series WHERE id = ?").expect("a table");
    let mut total = 0;
    for (id, intervals) in seen {
        let (next, accepted): (u64, u64) = series
            .query_row([id.parse::<u64>().expect("a number")], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("a series");
        let mut count = 0;
        for (first, end) in intervals.as_object().expect("intervals") {
            let (first, end) = (first.parse::<u64>().expect("a number"), end.as_u64().expect("a number"));
            assert!(first < end && end <= next, "numbers that were never issued");
            count += end - first;
        }
        assert_eq!(count, accepted, "series {id}");
        total += count;
    }
    assert_eq!(total, cluster.accounts().accepted);
    let log = cluster.place.log("trainer");
    for trouble in ["buried", "damaged", "ends without some games", "diverge"] {
        assert!(!log.contains(trouble), "{log}");
    }
}

/// No part of a file under its name or another, and databases that are whole.
fn assert_no_file_is_half_written(cluster: &Cluster) {
    for folder in [cluster.data.clone(), cluster.trainer.clone(), cluster.place.path("cache")] {
        for file in files_below(&folder) {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            // Workers share their cache, so that they sweep away only what is an hour old.
            let swept = !file.starts_with(cluster.place.path("cache"));
            assert!(!(swept && name.ends_with(".part")), "{} was left behind", file.display());
            let named_by_sum = name.strip_suffix(".safetensors").filter(|name| name.len() == 64);
            if let Some(sum) = named_by_sum {
                assert_eq!(sum_of(&file), sum);
            }
        }
    }
    let check: String =
        database(&cluster.data).query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(check, "ok");
    assert_eq!(checkpoints(cluster).len(), 2);
}

/// The checkpoints, oldest first.
fn checkpoints(cluster: &Cluster) -> Vec<PathBuf> {
    let mut files = files_below(&cluster.checkpoints());
    files.retain(|file| file.file_name().expect("a name").to_string_lossy().starts_with("checkpoint-"));
    files.sort();
    files
}

/// Positions over which a point of the loss curve is taken.
const POINT: u64 = 40_000;

/// The loss of the largest class as the trainer reported it, in points of the same weight.
fn losses(data: &Path) -> Vec<f64> {
    let database = database(data);
    let mut reports = database.prepare("SELECT progress FROM reports ORDER BY id").expect("a table");
    let rows = reports.query_map([], |row| row.get::<_, Vec<u8>>(0)).expect("rows");
    let (mut points, mut sum, mut positions) = (Vec::new(), 0.0, 0);
    for bytes in rows {
        let progress = Progress::decode(&bytes.expect("a row")[..]).expect("a report");
        let Some(loss) = progress.losses.iter().find(|loss| loss.class == "contact") else { continue };
        sum += loss.loss * loss.positions as f64;
        positions += loss.positions;
        if positions >= POINT {
            points.push(sum / positions as f64);
            (sum, positions) = (0.0, 0);
        }
    }
    points
}

/// Had a trainer gone on with other weights than it had, its loss would be near that of the beginning again.
fn assert_no_jump(losses: &[f64]) {
    assert!(losses.len() >= 4, "too little was learnt: {losses:?}");
    let fallen = losses[0] - losses[losses.len() - 1];
    assert!(fallen > 0.0, "nothing was learnt: {losses:?}");
    let rises = losses.windows(2).skip(1).map(|pair| pair[1] - pair[0]);
    let largest = rises.fold(0.0, f64::max);
    println!("loss in points of {POINT} positions: {losses:.4?}; the largest rise is {largest:.4}");
    assert!(largest < fallen / 3.0, "the loss jumps by {largest}: {losses:?}");
}

fn sum_of(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn database(data: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(data.join("coordinator.sqlite")).expect("a database")
}

#[test]
fn a_run_goes_on_from_a_copy_made_while_it_ran() {
    let mut cluster = Cluster::start(TINY);
    PARTS[2..].iter().for_each(|&part| cluster.raise(part));
    cluster.until_more(1500, 1);
    // A trainer must not know more than the copy does, so it rests while the copy is made.
    let trainer = cluster.take(Part::Trainer);
    trainer.terminate();
    trainer.ends_well();
    let copy = cluster.place.path("copy");
    cluster.place.ok(&["backup", "--dir", arg(&cluster.data), "--to", arg(&copy)]);
    let copied = cluster.accounts();
    cluster.kill(Part::Coordinator);
    cluster.data = copy;
    assert!(cluster.accounts().accepted <= copied.accepted, "the copy is of an earlier moment");
    cluster.raise(Part::Coordinator);
    cluster.raise(Part::Trainer);
    cluster.until_more(1500, 1);
    let end = cluster.end();
    assert!(end.latest > copied.latest, "{end:?}");
    assert!(cluster.fallen.is_empty(), "{:?} gave up", cluster.fallen);
    note_versions(&mut BTreeMap::new(), &cluster.versions());
    assert_no_version_is_lost(&cluster.versions(), &cluster.data);
}
