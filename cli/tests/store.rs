//! A coordinator that keeps its weights in a bucket, which loses its own copy, and whose bucket has its moods. Built with
//! `--features s3`.
#![cfg(feature = "s3")]

#[path = "support/bucket.rs"]
mod bucket;
mod support;

use bucket::{Bucket, KEY, Mood, NAME};
use serde_json::Value;
use sha2::{Digest, Sha256};
use support::{Place, Process, TINY, arg, page, until};

const SECRET: &str = "wJalrXUtnFEMI-EXAMPLE";

/// Where processes are told of the bucket.
fn place(bucket: &Bucket, key: &str) -> Place {
    let mut place = Place::new();
    for (name, value) in [
        ("AWS_ACCESS_KEY_ID", key),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", &bucket.url),
    ] {
        place.tell(name, value);
    }
    place
}

/// A coordinator with its address.
fn coordinator(place: &Place, listen: &str) -> (Process, String) {
    let data = place.path("data");
    let store = format!("s3://{NAME}/runs/one");
    let args =
        ["coordinator", "--dir", arg(&data), "--listen", listen, "--store", &store, "--keep-versions", "1"];
    let mut process = place.start("coordinator", &args);
    let line = process.first_line();
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("its address");
    (process, url.trim_end_matches(',').to_owned())
}

fn run(place: &Place, url: &str) -> Value {
    place.json(&["run", "show", "stored", "--coordinator", url, "--json"])
}

/// Whether what is in the bucket has the names of its bytes.
fn assert_sound(bucket: &Bucket) {
    for (name, bytes) in bucket.objects() {
        let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(name, format!("runs/one/{sum}.safetensors"));
    }
}

#[test]
fn versions_outlive_the_disk_and_wait_while_the_bucket_is_away() {
    let bucket = Bucket::start();
    let place = place(&bucket, KEY);
    let config = place.file("run.toml", TINY);
    let (process, url) = coordinator(&place, "127.0.0.1:0");
    place.ok(&["run", "create", "--config", &config, "--name", "stored", "--coordinator", &url]);
    let (data, checkpoints) = (place.path("data"), place.path("trainer"));
    let roles = ["--coordinator", &url, "--stream-dir", arg(&data), "--dir", arg(&checkpoints)];
    let _trainer = place.start("trainer", &[&["trainer"], &roles[..]].concat());
    let _worker = place.start("worker", &["worker", "--coordinator", &url, "--threads", "1"]);
    let number = |run: &Value, key: &str| run[key].as_u64().unwrap_or_default();
    until("there is a champion and three versions", || {
        let run = run(&place, &url);
        (number(&run, "champion") > 0 && number(&run, "latest_version") >= 3).then_some(())
    });
    assert_sound(&bucket);

    // The bucket is away: games go on, versions wait, and somebody is told.
    bucket.set(Mood::Away);
    until("it is noticed", || page(&url, "/metrics").contains("ludus_store_ready 0").then_some(()));
    let before = run(&place, &url);
    let games = |run: &Value| run["self_play"]["accepted"].as_u64().unwrap_or_default();
    let after =
        until("games go on", || Some(run(&place, &url)).filter(|run| games(run) > games(&before) + 500));
    assert_eq!(
        number(&after, "latest_version"),
        number(&before, "latest_version"),
        "no version without its bytes"
    );
    let log = place.log("coordinator");
    assert_eq!(log.matches("weights cannot be kept").count(), 1, "{log}");
    bucket.set(Mood::Well);
    until("versions come again", || {
        (number(&run(&place, &url), "latest_version") > number(&before, "latest_version")).then_some(())
    });
    assert!(page(&url, "/metrics").contains("ludus_store_ready 1"));
    // With --keep-versions 1 and few promoted ones, most are gone from there as well.
    until("old ones are deleted", || {
        let run = run(&place, &url);
        (bucket.objects().len() < number(&run, "latest_version") as usize).then_some(())
    });
    assert_sound(&bucket);

    // The disk with the copies is lost: they come back, but nothing that is not whole.
    process.terminate();
    process.ends_well();
    std::fs::remove_dir_all(place.path("data/weights")).expect("the copies");
    let (_process, url) = coordinator(&place, url.trim_start_matches("http://"));
    let champion = place.json(&["versions", "stored", "--coordinator", &url, "--json"]);
    let promoted =
        champion.as_array().expect("versions").iter().rfind(|version| version["state"] == "promoted");
    let sum = promoted.expect("a champion")["sha256"].as_str().expect("a sum").to_owned();
    let file = place.path("pulled.safetensors");
    let pull = ["weights", "pull", "stored", "champion", "-o", arg(&file), "--coordinator", &url];
    bucket.set(Mood::Halving);
    let broken = place.run(&pull);
    assert!(!broken.status.success() && !file.exists(), "half a version was given out");
    bucket.set(Mood::Well);
    place.ok(&pull);
    let got: String =
        Sha256::digest(std::fs::read(&file).expect("it")).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(got, sum);
    let logs = ["coordinator", "trainer", "worker"].map(|name| place.log(name)).concat();
    assert!(!logs.contains(SECRET));
}

#[test]
fn wrong_credentials_and_buckets_are_told_at_once_and_a_bucket_that_is_away_is_waited_for() {
    let bucket = Bucket::start();
    let stranger = place(&bucket, "somebody-else");
    let data = stranger.path("data");
    let args = |store| ["coordinator", "--dir", arg(&data), "--listen", "127.0.0.1:0", "--store", store];
    let there = format!("s3://{NAME}/x");
    let error = stranger.refused(1, &args(&there));
    assert!(error.contains("AWS_ACCESS_KEY_ID") && !error.contains(SECRET), "{error}");
    let error = place(&bucket, KEY).refused(1, &args("s3://no-such/x"));
    assert!(error.contains("no such bucket"), "{error}");
    let error = stranger.refused(1, &args("gs://games"));
    assert!(error.contains("s3://BUCKET/PREFIX"), "{error}");

    bucket.set(Mood::Away);
    let waiting = place(&bucket, KEY);
    let (process, url) = coordinator(&waiting, "127.0.0.1:0");
    assert!(page(&url, "/metrics").contains("ludus_store_ready 0"));
    process.terminate();
    process.ends_well();
}
