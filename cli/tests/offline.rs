//! The commands that need no cluster, run as people run them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ludus_games::backgammon::Position;
use ludus_games::{Backgammon, Game};
use ludus_players::arena::Registry;
use ludus_players::weight_file::{Card, Digest, WeightFile};
use serde_json::Value;
use tempfile::TempDir;

const START: &str = "4HPwATDgc/ABMA";
/// The start after 31: 8/5 6/5, seen by the opponent.
const AFTER_31: &str = "sGfwATDgc/ABMA";

fn ludus(args: &[&str]) -> Output {
    ludus_reading(args, "")
}

/// Runs `ludus` with this text on its standard input.
fn ludus_reading(args: &[&str], input: &str) -> Output {
    let mut process = Command::new(env!("CARGO_BIN_EXE_ludus"))
        .args(args)
        .env_remove("RUST_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ludus starts");
    let mut stdin = process.stdin.take().expect("a pipe");
    // A command that fails early closes its end.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    process.wait_with_output().expect("ludus ends")
}

/// What a command wrote that must succeed.
fn success(output: Output) -> String {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "it failed: {stderr}");
    assert!(!stdout.contains('\x1b'), "colours where there is no terminal: {stdout:?}");
    stdout
}

/// The one line a command wrote that must fail.
fn failure(args: &[&str]) -> String {
    let output = ludus(args);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{args:?}: {stdout}{stderr}");
    assert_eq!(stderr.lines().count(), 1, "one line: {stderr}");
    assert!(stderr.starts_with("error: "), "{stderr}");
    stderr
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn json(output: Output) -> Value {
    serde_json::from_str(&success(output)).expect("JSON")
}

fn json_lines(output: Output) -> Vec<Value> {
    success(output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The keys of an object, in alphabetical order.
fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn has_keys(object: &Value, expected: &[&str]) {
    for key in expected {
        assert!(!object[key].is_null(), "no {key} in {object}");
    }
}

/// A folder with a weight file, and ways to break it.
struct Weights {
    folder: TempDir,
    path: PathBuf,
    digest: Digest,
}

impl Weights {
    /// A small network of random weights.
    fn new() -> Self {
        let registry = Registry::standard();
        let arena = registry.find("backgammon").expect("backgammon comes with Ludus");
        let card = Card {
            game: "backgammon".into(),
            revision: Backgammon::REVISION,
            inputs: "tesauro-198".into(),
            run: "first".into(),
            version: 7,
            counters: [("games".to_owned(), 1234)].into(),
            ..Card::default()
        };
        let shapes = arena.shapes("tesauro-198", 10).unwrap();
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("small.safetensors");
        let digest = WeightFile::fresh(card, &shapes, 3).unwrap().save(&path).unwrap();
        Weights { folder, path, digest }
    }

    fn path(&self) -> &str {
        self.path.to_str().expect("text")
    }

    /// A copy with other bytes.
    fn broken(&self, name: &str, damage: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = std::fs::read(&self.path).unwrap();
        damage(&mut bytes);
        self.file(name, &bytes)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().expect("text").to_owned()
    }
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    path.to_str().expect("text").to_owned()
}

#[test]
fn verdicts_are_looked_for_where_there_is_a_run() {
    let folder = TempDir::new().expect("a folder");
    let place = folder.path().to_str().expect("text");
    let error = failure(&["gate", "verify", "--dir", place]);
    assert!(error.contains("holds no run"), "{error}");
    assert_eq!(std::fs::read_dir(place).expect("a folder").count(), 0, "looking leaves nothing behind");
}

#[test]
fn wrong_usage_ends_with_code_2() {
    for args in [
        &["moves"][..],
        &["moves", "--position", START],
        &["evaluate", "--player"],
        &["match", "random"],
        &["match", "random", "pubeval", "--pairs", "0"],
        &["match", "random", "pubeval", "--threads", "0"],
        &["train", "backgammon", "--workers", "0"],
        &["train", "backgammon", "--time", "0s"],
        &["worker", "--coordinator", "http://127.0.0.1:1", "--threads", "99999999"],
        &["speed", "--time", "fast"],
    ] {
        assert_eq!(ludus(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_one_is_named_in_the_refusal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a-file");
    std::fs::write(&file, "x").expect("written");
    let within = file.join("run");
    for dir in [&file, &within] {
        let dir = dir.to_str().expect("text");
        assert!(failure(&["train", "backgammon", "--dir", dir]).contains(dir));
        assert!(failure(&["coordinator", "--dir", dir, "--listen", "127.0.0.1:0"]).contains(dir));
    }
}

#[test]
fn training_does_not_break_off_when_nobody_reads_its_news() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut process = Command::new(env!("CARGO_BIN_EXE_ludus"))
        .args(["train", "backgammon", "--time", "100ms", "--workers", "1", "--dir"])
        .arg(folder.path())
        .env("HOME", folder.path())
        .env_remove("XDG_STATE_HOME")
        .env("RUST_LOG", "info")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ludus starts");
    // Both pipes are closed before it has said a word.
    drop((process.stdout.take(), process.stderr.take()));
    assert!(process.wait().expect("ludus ends").success());
}

#[test]
fn moves_lists_every_play_with_the_position_it_leads_to() {
    let list = json(ludus(&["moves", "--position", START, "--dice", "31", "--json"]));
    assert_eq!(keys(&list), ["dice", "plays", "position"]);
    assert_eq!((&list["position"], &list["dice"]), (&START.into(), &"31".into()));
    let plays = list["plays"].as_array().unwrap();
    assert_eq!(plays.len(), 16);
    for play in plays {
        assert_eq!(keys(play), ["move", "position"]);
    }
    let point = plays.iter().find(|play| play["move"] == "8/5 6/5").expect("the best play of 31");
    assert_eq!(point["position"], AFTER_31);

    let shown = success(ludus(&["moves", "--position", START, "--dice", "31"]));
    assert!(shown.starts_with(&format!("{START} 31: 16 plays\n")), "{shown}");
    assert!(shown.lines().any(|line| line.contains("8/5 6/5") && line.ends_with(AFTER_31)), "{shown}");
}

#[test]
fn moves_of_a_player_come_with_the_movers_equity_best_first() {
    let weights = Weights::new();
    let args = ["moves", "--position", START, "--dice", "31", "--player", weights.path()];
    let list = json(ludus(&[&args[..], &["--json"]].concat()));
    let plays = list["plays"].as_array().unwrap();
    let equities: Vec<f64> = plays.iter().map(|play| play["equity"].as_f64().unwrap()).collect();
    assert_eq!(equities.len(), 16);
    assert!(equities.windows(2).all(|pair| pair[0] >= pair[1]), "{equities:?}");
    assert!(equities.iter().all(|equity| equity.abs() <= 3.0));

    // What `evaluate --after` says of the position is the equity of the play.
    let position = plays[0]["position"].as_str().unwrap();
    let evaluate = ["evaluate", "--player", weights.path(), "--json", "--after"];
    let judged = json(ludus_reading(&evaluate, position));
    assert!((judged["equity"].as_f64().unwrap() - equities[0]).abs() < 1e-6);

    let shown = success(ludus(&args));
    let heads: Vec<&str> = shown.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(heads, ["#", "PLAY", "EQUITY", "LOSS", "POSITION"]);
}

#[test]
fn moves_reads_a_file_of_positions_and_rolls_in_any_notation() {
    let weights = Weights::new();
    let file = weights
        .file("rolls.txt", format!("# openings\n{START} 3 1\n\nOAHDPAABDAOAHDPAABDA  1 3\n{START} 66\n"));
    let lists = json_lines(ludus(&["moves", "--file", &file, "--json"]));
    assert_eq!(lists.len(), 3);
    assert_eq!(lists[0], lists[1]);
    assert_eq!(lists[2]["dice"], "66");
    let from_input = ludus_reading(&["moves", "--file", "-", "--json"], &format!("{START} 3 1\n"));
    assert_eq!(json_lines(from_input), lists[..1]);

    let wrong = weights.file("wrong.txt", format!("{START} 3 1\n\n{START} 3 7\n"));
    let error = failure(&["moves", "--file", &wrong]);
    assert!(error.contains("wrong.txt:3:") && error.contains("not a roll"), "{error}");
    let short = weights.file("short.txt", format!("{START}\n"));
    let error = failure(&["moves", "--file", &short]);
    assert!(error.contains("short.txt:1:") && error.contains("POSITION D1 D2"), "{error}");
}

#[test]
fn evaluate_judges_positions_for_the_side_on_roll_or_the_other() {
    let weights = Weights::new();
    let file = weights.file("positions.txt", format!("{START}\n# remark\n{AFTER_31}\n"));
    let args = ["evaluate", "--player", weights.path(), &file];
    let before = json_lines(ludus(&[&args[..], &["--json"]].concat()));
    assert_eq!(before.len(), 2);
    for judged in &before {
        assert_eq!(keys(judged), ["equity", "position", "probabilities"]);
    }
    assert_eq!(before[1]["position"], AFTER_31);
    let after = json_lines(ludus(&[&args[..], &["--json", "--after"]].concat()));
    let numbers = |judged: &Value| -> Vec<f64> {
        judged["probabilities"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect()
    };
    let (p, q) = (numbers(&before[0]), numbers(&after[0]));
    assert!((p[0] + q[0] - 1.0).abs() < 1e-6);
    assert_eq!((p[1], p[2]), (q[3], q[4]), "gammons won by one are lost by the other");
    let equity = 2.0 * p[0] - 1.0 + p[1] + p[2] - p[3] - p[4];
    assert!((before[0]["equity"].as_f64().unwrap() - equity).abs() < 1e-6);
    assert!((before[0]["equity"].as_f64().unwrap() + after[0]["equity"].as_f64().unwrap()).abs() < 1e-6);

    let shown = success(ludus(&args));
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(shown.starts_with("POSITION") && shown.contains("WIN GAMMON"), "{shown}");
    let from_input = ludus_reading(&args[..3], &format!("{START}\n{AFTER_31}\n"));
    assert_eq!(success(from_input), shown);
}

/// The closed board on roll against the same.
const CLOSED_BOARDS: &str = "XGID=-BBBCCC------------cccbbb-:0:0:1:00:0:0:0:0:10";

#[test]
fn bearoff_show_gives_exact_chances_and_mean_numbers_of_rolls() {
    let shown = json(ludus(&["bearoff", "show", CLOSED_BOARDS, "--json"]));
    has_keys(&shown, &["position", "probabilities", "equity", "mean_rolls", "two_sided"]);
    let number = |value: &Value| value.as_f64().unwrap();
    assert!((number(&shown["probabilities"][0]) - 0.6304).abs() < 5e-5, "{shown}");
    assert!((number(&shown["mean_rolls"]["own"]) - 8.1389).abs() < 2e-4, "{shown}");
    assert_eq!(shown["mean_rolls"]["own"], shown["mean_rolls"]["other"]);
    assert_eq!(shown["two_sided"], false);
    // Its own position ID means the same, and people see the same numbers.
    let id = shown["position"].as_str().unwrap();
    let text = success(ludus(&["bearoff", "show", id]));
    assert!(text.contains("0.6304") && text.contains("2 2 2 3 3 3") && text.contains("8.1389"), "{text}");
}

#[test]
fn bearoff_show_refuses_what_is_no_bearoff() {
    let mut side = [0; 25];
    side[24] = 1;
    let mut home = [0; 25];
    home[0] = 1;
    let id = |own, other| Position::new(own, other).unwrap().id();
    for (position, reason) in [
        (
            START.to_owned(),
            "is no bear-off: the side on roll has a checker on its point 24, outside its home",
        ),
        (id(home, side), "the other side has a checker on the bar, outside its home"),
        (id([0; 25], home), "the game is over"),
        ("nonsense".to_owned(), "is not a position"),
    ] {
        let error = failure(&["bearoff", "show", &position]);
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn bearoff_build_checks_its_figures_and_saves_what_python_can_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bearoff.safetensors");
    let built = json(ludus(&["bearoff", "build", path.to_str().unwrap(), "--json"]));
    has_keys(&built, &["seconds", "checks", "file", "bytes", "sha256"]);
    assert_eq!(built["checks"].as_array().unwrap().len(), 5);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(built["bytes"], bytes.len());
    assert_eq!(built["sha256"], Digest::of(&bytes).to_string());
    // The header that follows the first eight bytes is JSON.
    assert!(bytes[8..].starts_with(br#"{"__metadata__":{"ludus_bearoff":"#));
    let text = success(ludus(&["bearoff", "build"]));
    assert!(text.contains("54264 homes") && text.contains("12.2663"), "{text}");
    let error = failure(&["bearoff", "build", "/nowhere/bearoff.safetensors"]);
    assert!(error.contains("/nowhere/bearoff.safetensors: cannot be written"), "{error}");
}

#[test]
fn a_match_has_the_shape_that_scripts_expect_and_repeats_exactly() {
    let args = ["match", "pubeval", "random", "--pairs", "20", "--json"];
    let result = json(ludus(&args));
    let counts = ["wins", "losses", "gammons_won", "gammons_lost", "backgammons_won", "backgammons_lost"];
    has_keys(&result, &["players", "pairs", "ppg", "se", "method"]);
    has_keys(&result, &counts);
    assert_eq!(result["players"], serde_json::json!(["pubeval", "random"]));
    assert_eq!((&result["pairs"], &result["method"]), (&20.into(), &"plain".into()));
    assert_eq!(result["wins"].as_u64().unwrap() + result["losses"].as_u64().unwrap(), 40);
    assert!(result["ppg"].as_f64().unwrap() > 1.0 && result["se"].as_f64().unwrap() > 0.0, "{result}");
    assert_eq!(json(ludus(&[&args[..], &["--threads", "3"]].concat())), result);
    assert_ne!(json(ludus(&[&args[..], &["--seed", "2"]].concat())), result);

    let shown = success(ludus(&args[..5]));
    assert!(shown.starts_with("pubeval against random: 20 pairs, 40 games\n"), "{shown}");
    assert!(shown.contains("points per game") && shown.contains("gammons"), "{shown}");
}

#[test]
fn a_match_can_be_luck_adjusted_when_a_player_judges_positions() {
    let weights = Weights::new();
    let args = ["match", weights.path(), "random", "--pairs", "3", "--luck", "--json"];
    assert_eq!(json(ludus(&args))["method"], "luck");
    let error = failure(&["match", "pubeval", "random", "--pairs", "3", "--luck"]);
    assert!(
        error.contains("luck") && error.contains("neither random nor pubeval")
            || error.contains("neither pubeval nor random"),
        "{error}"
    );
}

#[test]
fn a_benchmark_scores_by_class_and_overall() {
    let args = ["benchmark", "score", &fixture("small.bm"), "--player", "pubeval"];
    let result = json(ludus(&[&args[..], &["--json"]].concat()));
    assert_eq!(keys(&result), ["classes", "overall", "player"]);
    assert_eq!(result["player"], "pubeval");
    assert_eq!(keys(&result["classes"]), ["contact", "race"]);
    // PubEval's opening plays: 31 is listed second (0.05), 66 first, 55 not at all (the worst listed loses 0.2).
    assert_eq!(result["classes"]["contact"]["decisions"], 3);
    assert!((result["classes"]["contact"]["er"].as_f64().unwrap() - 250.0 / 3.0).abs() < 1e-9, "{result}");
    assert_eq!(result["classes"]["race"]["decisions"], 1);
    assert_eq!(result["overall"]["decisions"], 4);
    assert_eq!(result["overall"]["er"], 62.5);

    let shown = success(ludus(&args));
    assert!(shown.lines().last().unwrap().starts_with("overall"), "{shown}");
}

#[test]
fn a_benchmark_line_that_cannot_be_read_is_named_by_its_number() {
    let weights = Weights::new();
    let good = std::fs::read_to_string(fixture("small.bm")).unwrap();
    let count = good.lines().count();
    for (line, problem) in [
        ("m OAHDPAABDAOAHDPAABDA 3 1", "no play"),
        ("m OAHDPAABDAOAHDPAABDA 3 1 OAHDPAABDAOAHDPAABDA 0.1", "no legal play of 31"),
        ("what is this", "expected a decision"),
    ] {
        let file = weights.file("bad.bm", format!("{good}{line}\n"));
        let error = failure(&["benchmark", "score", &file, "--player", "random"]);
        assert!(error.contains(&format!("bad.bm:{}:", count + 1)) && error.contains(problem), "{error}");
    }
    let empty = weights.file("empty.bm", "# nothing\n");
    assert!(failure(&["benchmark", "score", &empty, "--player", "random"]).contains("empty.bm"));
    let binary = weights.file("binary.bm", [0xff, 0xfe, 0x00]);
    assert!(failure(&["benchmark", "score", &binary, "--player", "random"]).contains("binary.bm"));
}

#[test]
fn speed_has_the_shape_that_scripts_expect() {
    let args = ["speed", "--time", "40ms", "--json"];
    let result = json(ludus(&args));
    has_keys(&result, &["evaluations_per_second", "games_per_second", "threads", "cpu"]);
    assert!(result["evaluations_per_second"].as_f64().unwrap() > 0.0);
    assert!(result["games_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(result["threads"], 1);
    // A player that picks plays without judging positions has only games to measure.
    let result = json(ludus(&[&args[..], &["--player", "pubeval", "--threads", "2"]].concat()));
    assert!(result["evaluations_per_second"].is_null() && result["threads"] == 2, "{result}");
    assert!(success(ludus(&args[..3])).contains("games"));
}

#[test]
fn weights_show_tells_what_the_file_says() {
    let weights = Weights::new();
    let shown = success(ludus(&["weights", "show", weights.path()]));
    for fact in [&weights.digest.to_string()[..], "tesauro-198", "v7 of run first", "198-10-5", "1234"] {
        assert!(shown.contains(fact), "no {fact} in {shown}");
    }
    let report = json(ludus(&["weights", "show", weights.path(), "--json"]));
    assert_eq!(report["sha256"], weights.digest.to_string());
    assert_eq!(
        (&report["game"], &report["run"], &report["version"]),
        (&"backgammon".into(), &"first".into(), &7.into())
    );
    assert_eq!(report["counters"]["games"], 1234);
    assert_eq!(report["networks"][0]["hidden"], 10);
    assert_eq!(report["bytes"], std::fs::metadata(&weights.path).unwrap().len());
}

#[test]
fn a_broken_weight_file_is_refused_with_what_is_wrong_with_it() {
    let weights = Weights::new();
    let truncated = weights.broken("truncated.safetensors", |bytes| bytes.truncate(bytes.len() / 2));
    let stub = weights.broken("stub.safetensors", |bytes| bytes.truncate(3));
    let nan = weights.broken("nan.safetensors", |bytes| {
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&f32::NAN.to_le_bytes());
    });
    let foreign = weights.file("foreign.safetensors", "hello");
    let missing = weights.folder.path().join("missing.safetensors").to_str().unwrap().to_owned();
    for (file, name, problem) in [
        (&truncated, "truncated.safetensors", "cut short"),
        (&stub, "stub.safetensors", "cut short"),
        (&nan, "nan.safetensors", "is NaN"),
        (&foreign, "foreign.safetensors", "not a weight file"),
        (&missing, "missing.safetensors", "No such file"),
    ] {
        for args in [
            &["weights", "show", file][..],
            &["match", file, "random", "--pairs", "1"],
            &["match", "random", file, "--pairs", "1"],
            &["moves", "--position", START, "--dice", "31", "--player", file],
            &["evaluate", "--player", file],
            &["speed", "--player", file],
            &["benchmark", "score", &fixture("small.bm"), "--player", file],
        ] {
            let error = failure(args);
            assert!(error.contains(name) && error.contains(problem), "{args:?}: {error}");
        }
    }
}

#[test]
fn an_unknown_player_is_told_the_known_ones() {
    for args in [
        &["match", "pubevil", "random"][..],
        &["benchmark", "score", &fixture("small.bm"), "--player", "pubevil"],
        &["moves", "--position", START, "--dice", "31", "--player", "pubevil"],
        &["evaluate", "--player", "pubevil"],
        &["speed", "--player", "pubevil"],
    ] {
        let error = failure(args);
        assert!(error.contains("\"pubevil\"") && error.contains("did you mean \"pubeval\"?"), "{error}");
        assert!(error.contains("weight file"), "{error}");
    }
    let error = failure(&["match", "random@9ply", "random"]);
    assert!(error.contains("is not a search depth"), "{error}");
    let error = failure(&["evaluate", "--player", "pubeval"]);
    assert!(error.contains("pubeval") && error.contains("without judging positions"), "{error}");
    let output = ludus(&["match", "random", "random", "--game", "chess"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(64), "as in a configuration: {error}");
    assert!(error.contains("\"chess\"") && error.contains("backgammon"), "{error}");
}

#[test]
fn an_illegal_position_is_refused_with_what_is_wrong_with_it() {
    let weights = Weights::new();
    for position in ["4HPwATDgc/ABM", "hello", "////////////AA", "XGID=nonsense", "ZZHDPAABDAOAHDPAABDA"] {
        let error = failure(&["moves", "--position", position, "--dice", "31"]);
        assert!(error.contains(&format!("{position:?} is not a")), "{error}");
        let file = weights.file("positions.txt", format!("{START}\n{position}\n"));
        let error = failure(&["evaluate", "--player", weights.path(), &file]);
        assert!(error.contains("positions.txt:2:") && error.contains(position), "{error}");
    }
    let error = failure(&["moves", "--position", START, "--dice", "37"]);
    assert!(error.contains("\"37\" is not a roll"), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    for args in [
        &["moves", "--file", "nowhere/rolls.txt"][..],
        &["benchmark", "score", "nowhere/contact.bm", "--player", "random"],
    ] {
        let error = failure(args);
        assert!(error.contains("cannot read nowhere/") && error.contains("No such file"), "{error}");
    }
    let weights = Weights::new();
    let error = failure(&["evaluate", "--player", weights.path(), "nowhere/positions.txt"]);
    assert!(error.contains("cannot read nowhere/positions.txt"), "{error}");
}

#[test]
fn output_that_nobody_reads_to_its_end_is_no_failure() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_ludus"))
        .args(["moves", "--file", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(process.stdout.take());
    let mut stdin = process.stdin.take().unwrap();
    // More output than any buffer holds; ludus may be gone before it read all of this.
    let _ = stdin.write_all(format!("{START} 6 6\n").repeat(2000).as_bytes());
    drop(stdin);
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}
