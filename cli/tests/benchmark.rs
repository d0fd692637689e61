//! `ludus benchmark` and `ludus listnet`, run as people run them.

#[allow(dead_code, reason = "not every test program needs all of it")]
mod support {
    pub mod file_server;
}

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use bzip2::Compression;
use bzip2::write::BzEncoder;

use serde_json::Value;
use support::file_server::{FileServer, Manner};

/// Runs `ludus benchmark`, see [`ludus`].
fn benchmark(folder: &Path, args: &[&str]) -> (i32, String, String) {
    ludus(folder, &[&["benchmark"], args].concat())
}

/// Runs a command in a folder; gives its exit code and what it wrote to each output.
fn ludus(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ludus"))
        .args(args)
        .current_dir(folder)
        .env_remove("RUST_LOG")
        .output()
        .expect("ludus starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

#[test]
fn what_a_mirror_serves_is_taken_only_if_it_is_the_published_file() {
    let mut encoder = BzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(include_bytes!("fixtures/small.bm")).unwrap();
    let server = FileServer::start(encoder.finish().unwrap(), &[Manner::Breaking(50), Manner::Well]);
    let dir = tempfile::tempdir().unwrap();
    let (code, stdout, stderr) =
        benchmark(dir.path(), &["fetch", "crashed", "--dir", "data", "--url", &server.url]);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (1, "", 1), "{stderr}");
    let published = "not e0ee39a8cc5fc0172eb47abc209c06e8129fddd582a450adf54c33f7a0bb9f64";
    for part in [&format!("{}crashed.bm.bz2", server.url), "crashed.bm:", published, "run this again"] {
        assert!(stderr.contains(part), "{part} is not in {stderr}");
    }
    assert_eq!(fs::read_dir(dir.path().join("data")).unwrap().count(), 0, "nothing is left of it");
    let path = "/crashed.bm.bz2".to_owned();
    assert_eq!(server.asked(), [(path.clone(), None), (path, Some(50))]);
}

#[test]
fn without_a_server_one_line_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{gone}/mirror/");
    let (code, _, stderr) = benchmark(dir.path(), &["fetch", "--url", &url]);
    assert_eq!((code, stderr.lines().count()), (1, 1), "{stderr}");
    for part in [&format!("cannot reach {url}contact.bm.bz2"), "put it at benchmarks/contact.bm.bz2", "--url"]
    {
        assert!(stderr.contains(part), "{part} is not in {stderr}");
    }
}

#[test]
fn a_name_or_an_address_that_cannot_be_right_is_wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    let (code, _, stderr) = benchmark(dir.path(), &["fetch", "contract"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("contact, crashed, race"), "{stderr}");
    let (code, _, stderr) = benchmark(dir.path(), &["fetch", "--url", "https://alpha.gnu.org/"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("it must begin with http://"), "{stderr}");
}

#[test]
fn a_file_of_that_name_that_is_another_one_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("race.bm"), "mine").unwrap();
    let (code, _, stderr) = benchmark(dir.path(), &["fetch", "race", "--dir", "."]);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("race.bm is not the published file") && stderr.contains("move it away"),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(dir.path().join("race.bm")).unwrap(), "mine");
}

/// Retrains PubEval on the small benchmark and a copy of it, and gives what JSON says about it.
fn retrain(folder: &Path, out: &str) -> Value {
    for file in ["small.bm", "copy.bm"] {
        fs::write(folder.join(file), include_bytes!("fixtures/small.bm")).unwrap();
    }
    let args = ["listnet", "small.bm", "copy.bm", "--out", out, "--held-out", "0", "--epochs", "5", "--json"];
    let (code, stdout, stderr) = ludus(folder, &args);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("contact epoch 5, step "), "{stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

#[test]
fn retrained_weights_play_wherever_a_player_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let trained = retrain(dir.path(), "mine.pubeval");
    assert!(trained["held_out"].is_null());
    assert_eq!(trained["training"]["before"]["overall"]["decisions"], 8);
    assert_eq!(trained["training"]["before"]["overall"]["er"], 62.5);
    assert_eq!(trained["epochs"][0]["epoch"], 0);

    let after = &trained["training"]["after"]["overall"]["er"];
    assert!(after.as_f64().unwrap() < 62.5, "three decisions are learnt by heart: {trained}");
    let (code, stdout, stderr) =
        benchmark(dir.path(), &["score", "small.bm", "--player", "mine.pubeval", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    let scored: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(scored["overall"]["er"], *after);

    let (code, stdout, stderr) =
        ludus(dir.path(), &["match", "./mine.pubeval", "pubeval", "--pairs", "5", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["pairs"], 5);
}

#[test]
fn the_same_training_writes_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    retrain(dir.path(), "one.pubeval");
    retrain(dir.path(), "two.pubeval");
    let read = |name| fs::read_to_string(dir.path().join(name)).unwrap();
    let text = read("one.pubeval");
    assert_eq!(text, read("two.pubeval"));
    assert!(text.starts_with("# PubEval (G. Tesauro, 1993), its weights retrained by ListNet"), "{text}");
    assert!(
        text.contains("small.bm copy.bm --held-out 0 --epochs 5 --seed 1\n# ER training: contact "),
        "{text}"
    );
}

#[test]
fn a_weight_file_that_is_none_is_named_with_its_line_and_one_that_cannot_search_says_so() {
    let dir = tempfile::tempdir().unwrap();
    retrain(dir.path(), "mine.pubeval");
    fs::write(dir.path().join("bad.pubeval"), "# nothing\nludus-pubeval 2\n").unwrap();
    for (player, problem) in [
        ("bad.pubeval", "bad.pubeval:2: expected \"ludus-pubeval 1\""),
        ("gone.pubeval", "cannot read gone.pubeval"),
        ("mine.pubeval@1ply", "mine.pubeval does not judge positions"),
    ] {
        let (code, _, stderr) = benchmark(dir.path(), &["score", "small.bm", "--player", player]);
        assert_eq!((code, stderr.lines().count()), (1, 1), "{stderr}");
        assert!(stderr.contains(problem), "{stderr}");
    }
    let (code, _, stderr) = ludus(dir.path(), &["listnet", "small.bm", "--out", "mine.txt"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("must end in .pubeval"), "{stderr}");
}

#[test]
fn a_benchmark_named_twice_is_refused_before_it_counts_twice() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("small.bm"), include_bytes!("fixtures/small.bm")).unwrap();
    for again in ["small.bm", "./small.bm"] {
        let (code, _, stderr) =
            ludus(dir.path(), &["listnet", "small.bm", again, "--out", "mine.pubeval", "--held-out", "0"]);
        assert_eq!((code, stderr.lines().count()), (1, 1), "{stderr}");
        assert!(stderr.contains("small.bm is named twice"), "{stderr}");
    }
    assert!(!dir.path().join("mine.pubeval").exists());
}
