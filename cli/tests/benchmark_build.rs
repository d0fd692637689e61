//! `ludus benchmark build`: alone, interrupted, and with a cluster of real processes.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ludus_players::arena::Registry;
use ludus_players::weight_file::{Card, WeightFile};
use serde_json::Value;
use tempfile::TempDir;

/// Far longer than anything here takes: only what hangs meets it.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with the weights of a player that has learnt nothing.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().expect("a temporary folder"));
        let registry = Registry::standard();
        let arena = registry.find("backgammon").expect("the game");
        let shapes = arena.shapes("tesauro-198", 3).expect("its networks");
        let card = Card {
            game: "backgammon".into(),
            revision: arena.revision(),
            inputs: "tesauro-198".into(),
            ..Card::default()
        };
        let file = WeightFile::fresh(card, &shapes, 1).expect("weights");
        file.save(&place.path(PLAYER)).expect("the file can be written");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ludus"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.path("state"));
        for name in ["RUST_LOG", "LUDUS_COORDINATOR", "LUDUS_REDIS"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("ludus starts")
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// The line on standard error of a command that must fail with this code.
    fn refused(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        stderr
    }

    fn start(&self, args: &[&str]) -> Process {
        let child = self.command(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        Process(child.expect("ludus starts"))
    }
}

/// A process that is killed in the end.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of plain letters")
}

const PLAYER: &str = "tiny.safetensors";
const ME: &str = "./tiny.safetensors";

/// The command that makes `out` with as little work as can be.
fn build<'a>(out: &'a str, player: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let small = ["--trials", "2", "--horizon", "1", "--plays", "3", "--positions", "3"];
    [&["benchmark", "build", out, "--player", player], &small[..], more].concat()
}

#[test]
fn a_file_is_whole_can_be_scored_and_depends_on_neither_threads_nor_where_the_work_was_done() {
    let place = Place::new();
    let made = place.json(&build("one.bm", ME, &["--decisions", "8", "--threads", "2", "--json"]));
    assert_eq!(made["decisions"], 8);
    let one = place.read("one.bm");
    assert_eq!(one.lines().filter(|line| line.starts_with("m ")).count(), 8);
    assert_eq!(one.lines().filter(|line| line.starts_with("# se ")).count(), 8);
    for gone in ["one.bm.build", "one.bm.part"] {
        assert!(!place.path(gone).exists(), "{gone} was left behind");
    }
    let again = place.refused(1, &build("one.bm", ME, &["--decisions", "8", "--seed", "2"]));
    assert!(again.contains("one.bm is there already") && again.contains("delete it"), "{again}");
    assert_eq!(place.read("one.bm"), one);
    assert!(!place.path("one.bm.build").exists());
    let score = place.json(&["benchmark", "score", "one.bm", "--player", ME, "--json"]);
    assert_eq!(score["overall"]["decisions"], 8);

    let data = place.path("data");
    let mut coordinator = place.start(&["coordinator", "--dir", text(&data), "--listen", "127.0.0.1:0"]);
    let mut line = String::new();
    BufReader::new(coordinator.0.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("its address");
    let url = url.trim_end_matches(',');
    let _worker = place.start(&["worker", "--coordinator", url, "--threads", "1"]);
    let elsewhere = ["--decisions", "8", "--coordinator", url, "--stream-dir", text(&data), "--json"];
    place.json(&build("two.bm", ME, &elsewhere));
    assert_eq!(place.read("two.bm"), one);
    let runs = place.json(&["run", "list", "--coordinator", url, "--json"]);
    assert_eq!(runs[0]["state"], "stopped", "{runs}");
}

#[test]
fn a_build_that_was_ended_goes_on_with_the_same_command() {
    let place = Place::new();
    let endless = build("own.bm", ME, &["--decisions", "1000000", "--threads", "1"]);
    let mut process = place.start(&endless);
    let folder = place.path("own.bm.build");
    let begun = || {
        let output = place.run(&["run", "list", "--dir", text(&folder), "--json"]);
        output.status.success() && output.stdout.windows(10).any(|part| part == b"benchmark-")
    };
    let started = Instant::now();
    while !begun() {
        assert!(started.elapsed() < PATIENCE, "it never began");
        sleep(Duration::from_millis(50));
    }
    let told = Command::new("kill").args(["-TERM", &process.0.id().to_string()]).status();
    assert!(told.expect("kill starts").success());
    assert_eq!(process.0.wait().expect("it ends").code(), Some(1));
    assert!(!place.path("own.bm").exists());

    let refusal = place.refused(1, &build("own.bm", ME, &["--decisions", "3", "--seed", "2"]));
    assert!(refusal.contains("holds a build with another player or other settings"), "{refusal}");
    for out in ["own.bm", "anew.bm"] {
        place.json(&build(out, ME, &["--decisions", "3", "--threads", "1", "--json"]));
    }
    assert_eq!(place.read("own.bm"), place.read("anew.bm"));
    assert!(!folder.exists());
}

#[test]
fn classes_are_balanced_when_that_is_wanted() {
    let place = Place::new();
    let made = place.json(&build("own.bm", ME, &["--decisions", "6", "--per-class", "--json"]));
    for class in ["contact", "crashed", "race"] {
        assert_eq!(made["classes"][class], 2, "{made}");
    }
}

#[test]
fn what_cannot_be_built_is_refused_with_what_to_do() {
    let place = Place::new();
    let refusal = place.refused(1, &build("own.bm", "pubeval", &[]));
    assert!(refusal.contains("network's judgement") && refusal.contains("pubeval"), "{refusal}");
    let nowhere = build("own.bm", ME, &["--coordinator", "http://127.0.0.1:1"]);
    assert!(place.refused(64, &nowhere).contains("--redis"));
    let wild = build("own.bm", ME, &["--explore", "2"]);
    assert!(place.refused(64, &wild).contains("error: --explore: `self_play.explore` is 2"));
    for (flag, value) in [("--trials", "0"), ("--plays", "1"), ("--positions", "0"), ("--plies", "99")] {
        let refusal = place.refused(64, &["benchmark", "build", "own.bm", "--player", ME, flag, value]);
        assert!(refusal.starts_with(&format!("error: {flag}: ")), "{refusal}");
    }
    // Seeds are written into configurations, whose numbers go no further.
    let large = build("own.bm", ME, &["--seed", "9223372036854775808"]);
    assert!(place.refused(2, &large).contains("9223372036854775807"));
    assert!(!place.path("own.bm.build").exists());

    // Known before any work is done.
    std::fs::create_dir(place.path("own.bm")).expect("a folder");
    assert!(
        place.refused(1, &build("own.bm", ME, &[])).contains("own.bm: cannot be written: it is a folder")
    );
    assert!(!place.path("own.bm.build").exists());
}
