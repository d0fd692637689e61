//! Playing against a player: in the terminal, by UBGI, and by gnubg's protocol in both directions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use ludus_games::backgammon::{Dice, FibsBoard, Position};
use ludus_games::{Backgammon, Game, Plays};
use ludus_players::arena::Registry;
use ludus_players::weight_file::{Card, WeightFile};
use tempfile::TempDir;

/// Far longer than anything here takes: only what hangs meets it.
const PATIENCE: Duration = Duration::from_secs(120);

fn ludus(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ludus"));
    command
        .args(args)
        .env_remove("RUST_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `ludus` with this input, which must succeed, and gives what it wrote.
fn success(args: &[&str], input: &str) -> String {
    let output = finish(args, input);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The one line a command wrote that must fail.
fn failure(args: &[&str]) -> String {
    let output = finish(args, "");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}{stderr}", text(&output.stdout));
    assert_eq!(stderr.lines().count(), 1, "one line: {stderr}");
    stderr
}

fn finish(args: &[&str], input: &str) -> Output {
    let mut process = ludus(args).spawn().expect("ludus starts");
    let mut stdin = process.stdin.take().expect("a pipe");
    // A command that fails early closes its end.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    process.wait_with_output().expect("ludus ends")
}

/// A small network of random weights: its folder, and its file.
fn weights() -> (TempDir, String) {
    let registry = Registry::standard();
    let arena = registry.find("backgammon").expect("backgammon comes with Ludus");
    let card = Card {
        game: "backgammon".into(),
        revision: Backgammon::REVISION,
        inputs: "tesauro-198".into(),
        ..Card::default()
    };
    let shapes = arena.shapes("tesauro-198", 10).unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("small.safetensors");
    WeightFile::fresh(card, &shapes, 3).unwrap().save(&path).unwrap();
    let path = path.to_str().expect("text").to_owned();
    (folder, path)
}

/// A process that is killed when dropped.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `ludus play --fibs` with a player, and its port.
fn serving(player: &str) -> (Held, u16) {
    let mut server = Held(ludus(&["play", "--fibs", "0", "--player", player]).spawn().expect("ludus starts"));
    let mut line = String::new();
    BufReader::new(server.0.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
    (server, port.unwrap_or_else(|| panic!("no port in {line:?}")))
}

/// A connection to this machine.
struct Client(BufReader<TcpStream>);

impl Client {
    fn new(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Client(BufReader::new(stream))
    }

    fn ask(&mut self, line: &str) -> String {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).expect("it can be sent");
        self.line()
    }

    fn line(&mut self) -> String {
        let mut answer = String::new();
        self.0.read_line(&mut answer).expect("an answer");
        answer.trim_end().to_owned()
    }
}

#[test]
fn the_help_tells_how_the_cube_is_handled_and_gives_examples() {
    let help = success(&["play", "--help"], "");
    for part in ["Janowski", "never double", "  ludus play --ubgi", "  ludus play --fibs 4001"] {
        assert!(help.contains(part), "{part:?} is missing: {help}");
    }
}

#[test]
fn the_same_seed_gives_the_same_game_and_the_end_of_the_input_ends_it() {
    let game = |seed: &str, input: &str| success(&["play", "--player", "pubeval", "--seed", seed], input);
    let nothing = game("3", "");
    assert_eq!(nothing, game("3", ""));
    assert_ne!(nothing, game("4", ""));
    assert!(nothing.ends_with("The game ends here.\n"), "{nothing}");
    assert!(nothing.contains("Dice of seed 3") && nothing.contains("+13-14-15"), "{nothing}");
    assert!(!nothing.contains('\x1b'), "colours where there is no terminal: {nothing:?}");

    let asked = game("3", "help\nhint\n\n24/1\nboard\nquit\n6/5\n");
    assert!(asked.contains("bar/20 enters"), "{asked}");
    assert!(asked.contains("picks plays without judging positions"), "{asked}");
    assert!(asked.contains("\"24/1\" is not a move: no legal play does this"), "{asked}");
    assert!(asked.ends_with("The game ends here.\n"), "{asked}");
}

#[test]
fn hints_come_best_first_from_a_player_that_judges() {
    let (_folder, weights) = weights();
    let hinted = success(&["play", "--player", &weights, "--seed", "3"], "hint\nquit\n");
    let points: Vec<f32> = hinted
        .lines()
        .filter(|line| line.contains('(') && line.contains('/'))
        .filter_map(|line| line.split_whitespace().find_map(|word| word.parse().ok()))
        .collect();
    assert_eq!(points.len(), 5, "{hinted}");
    assert!(points.is_sorted_by(|a, b| a >= b), "{hinted}");
}

#[test]
fn a_whole_game_is_played_to_its_end() {
    let mut process =
        Held(ludus(&["play", "--player", "random", "--seed", "5"]).spawn().expect("ludus starts"));
    let mut stdin = process.0.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(process.0.stdout.take().expect("a pipe"));
    // All up to the next prompt, such as `Your 31: `, or to the end.
    let mut until_prompt = || {
        let mut seen = Vec::new();
        loop {
            let before = seen.len();
            stdout.read_until(b' ', &mut seen).expect("it can be read");
            let told = text(&seen);
            let last = told.lines().next_back().unwrap_or_default();
            if seen.len() == before || (last.starts_with("Your ") && last.ends_with(": ")) {
                return told;
            }
        }
    };
    let mut told = until_prompt();
    while told.ends_with(": ") {
        writeln!(stdin, "moves").expect("it listens");
        let moves = until_prompt();
        let first = moves.lines().find_map(|line| line.strip_prefix("  ")).expect("a legal play");
        writeln!(stdin, "{first}").expect("it listens");
        told = until_prompt();
    }
    let last = told.lines().next_back().unwrap_or_default();
    assert!(last.contains(" win"), "{told}");
    assert!(process.0.wait().expect("it ends").success());
}

#[test]
fn ubgi_plays_and_refuses_with_the_codes_of_its_drafts() {
    let (_folder, weights) = weights();
    let said = success(
        &["play", "--ubgi", "--player", &weights],
        "ubgi\nisready\ngo role chequer\nnewgame\nsetoption name Variant value backgammon\nset game.variant nackgammon\n\
         setoption name Threads value 4\nget game.variant\nkeys\nposition gnubgid 4HPwATDgc/ABMA\nsetturn p0\ndice 3 1\n\
         go role chequer movetime 100\ngo cube\nposition gnubgid nonsense\ngo\nposition fen x\ndice 0 7\ndice 1\nwhat\n\n\
         position xgid XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:0:0:10\ngo\ndice 0 7\ngo\ndice 3 1\ndice 3\ngo\n\
         position gnubgid 27YdAAAA8P8DQA\ndice 6 6\ngo chequer\nsetcube value 2 owner p0\nquit\nisready\n",
    );
    let lines: Vec<&str> = said.lines().collect();
    let starts = [
        "id name Ludus ",
        "id author ",
        "id version ",
        "proto 0.2",
        "option name Variant ",
        "ubgiok",
        "readyok",
        "error bad_state missing dice",
        "error bad_value game.variant must be backgammon",
        "error unsupported option Threads",
        "value game.variant backgammon",
        "key game.variant enum backgammon backgammon",
        "info eq ",
        "bestmove ",
        "bestcube nodouble",
        "error bad_value \"nonsense\" is not a position ID",
        "error bad_state missing position",
        "error unsupported position fen",
        "error bad_value \"0 7\" is not a roll",
        "error bad_command expected: dice A B",
        "error bad_command what",
        "info eq ",
        "bestmove ",
        "error bad_value \"0 7\" is not a roll",
        "error bad_state missing dice",
        "error bad_command expected: dice A B",
        "error bad_state missing dice",
        "info eq ",
        "bestmove pass",
        "error unsupported setcube",
    ];
    assert_eq!(lines.len(), starts.len(), "{said}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line:?} does not start with {start:?}");
    }
    // Its plays are legal, step by step.
    for (line, roll) in [(13, "31"), (22, "52")] {
        let mut plays = Plays::new();
        Backgammon.plays(&Position::START, roll.parse().unwrap(), &mut plays);
        let play = lines[line].strip_prefix("bestmove ").unwrap();
        assert_eq!(play.split(' ').count(), 2, "{play}");
        Backgammon.read_move(&Position::START, &plays, play).expect("a legal play");
    }
}

#[test]
fn a_double_offered_by_an_xgid_is_taken_or_dropped() {
    let (_folder, weights) = weights();
    let ask = |player: &str, commands: &str| success(&["play", "--ubgi", "--player", player], commands);
    let start = "position xgid XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:10\n";
    // The side on roll bears its last checker off whatever it rolls, which a search of one ply sees.
    let lost = "position xgid XGID=-A----------------------a-:0:0:1:D:0:0:0:0:10\n";
    assert_eq!(ask(&format!("{weights}@1ply"), &format!("{lost}go role cube\n")), "bestcube drop\n");
    assert_eq!(ask("pubeval", &format!("{start}go cube\n")), "bestcube take\n");
    // The roll comes after the answer, and another position without its double.
    for after in ["dice 3 1\n", "newgame\n", "position gnubgid 4HPwATDgc/ABMA\n"] {
        let said = ask("pubeval", &format!("{start}{after}go cube\n"));
        assert_eq!(said, "bestcube nodouble\n", "{after}");
    }
}

/// The board line of a position with a roll, as gnubg writes it for its player 1.
fn board(position: &Position, roll: &str) -> FibsBoard {
    FibsBoard::of(*position, roll.parse::<Dice>().ok())
}

#[test]
fn the_server_answers_boards_on_one_connection_after_the_other_and_errors_do_not_end_it() {
    let (_folder, weights) = weights();
    let (_server, port) = serving(&weights);
    for _ in 0..2 {
        let mut client = Client::new(port);
        let start = board(&Position::START, "31");
        for malformed in
            ["nonsense", "", "board:x", "evaluation", "evaluation fibsboard board:1", "\0", "\u{fffd}"]
        {
            let answer = client.ask(malformed);
            assert!(answer.starts_with("Error: "), "{malformed:?}: {answer:?}");
        }
        let answer = client.ask(&start.to_string());
        let mut plays = Plays::new();
        Backgammon.plays(&Position::START, "31".parse().unwrap(), &mut plays);
        Backgammon.read_move(&Position::START, &plays, &answer).expect("a legal play");
        // gnubg ends its lines with a zero byte, and says more about the rules behind the board.
        assert_eq!(client.ask(&format!("{start}\n\0{start} jacobyrule no")), answer);
        assert_eq!(client.line(), answer);

        assert_eq!(client.ask(&board(&Position::START, "").to_string()), "roll");
        let lost = Position::from_id("4HPwATDgc/ABMA").unwrap();
        let doubled = FibsBoard { doubled: true, ..board(&lost, "") };
        assert!(["take", "drop"].contains(&client.ask(&doubled.to_string()).as_str()));
        assert!(client.ask(&format!("{start} resignation 1")).starts_with("Error: resignations"));
        let shut_out = Position::from_id("27YdAAAA8P8DQA").unwrap();
        assert_eq!(client.ask(&board(&shut_out, "66").to_string()), "", "a roll that cannot be played");

        let judged = client.ask(&format!("evaluation fibsboard {start} plies 0 cubeless"));
        assert_eq!(judged.split(' ').filter(|number| number.parse::<f32>().is_ok()).count(), 6, "{judged}");
        assert_eq!(client.ask(&format!("evaluation fibsboard {start} cubeless")), judged);
        for plies in ["2", "two", ""] {
            let refusal = client.ask(&format!("evaluation fibsboard {start} PLIES {plies}"));
            assert!(refusal.starts_with("Error: this player evaluates at plies 0"), "{refusal}");
        }
        assert_eq!(client.ask("version"), "Interface: 2");
        let rest: Vec<String> = (0..3).map(|_| client.line()).collect();
        assert!(rest[2].starts_with("Software: ludus "), "{rest:?}");
        client.0.get_mut().write_all(b"exit\n").unwrap();
        assert_eq!(client.line(), "", "the connection is closed");
    }
    let mut client = Client::new(port);
    assert!(client.ask(&"x".repeat(5000)).starts_with("Error: a line of more than"));
}

#[test]
fn a_player_reached_over_the_wire_plays_as_it_does_at_home() {
    let (_folder, weights) = weights();
    let (_server, port) = serving(&weights);
    let outside = format!("gnubg:127.0.0.1:{port}@0ply");
    for luck in [&[][..], &["--luck"]] {
        let args =
            [&["match", &outside, &weights, "--pairs", "4", "--threads", "2", "--json"], luck].concat();
        let report: serde_json::Value = serde_json::from_str(&success(&args, "")).expect("JSON");
        // The same player in both seats wins and loses the same games, whatever the dice.
        assert_eq!(
            report["ppg"].as_f64().map(f64::abs).filter(|ppg| *ppg < 1e-9),
            Some(report["ppg"].as_f64().unwrap().abs())
        );
        assert_eq!(report["wins"], report["losses"]);
    }
    let here = success(&["evaluate", "--player", &weights, "--json"], "4HPwATDgc/ABMA\n");
    let there = success(&["evaluate", "--player", &outside, "--json"], "4HPwATDgc/ABMA\n");
    let equity =
        |json: &str| serde_json::from_str::<serde_json::Value>(json).expect("JSON")["equity"].as_f64();
    assert!((equity(&here).unwrap() - equity(&there).unwrap()).abs() < 1e-5, "{here}{there}");
}

/// A server for one connection that answers each line by what `answer` says of it, `None` to close.
fn toy(answer: impl Fn(&str) -> Option<&'static str> + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
            let Some(answer) = answer(&line) else { return };
            let _ = lines.get_mut().write_all(answer.as_bytes());
            line.clear();
        }
    });
    port
}

#[test]
fn trouble_outside_ends_a_match_with_the_address_and_the_line() {
    let trouble = |port: u16| {
        let error = failure(&["match", &format!("gnubg:127.0.0.1:{port}"), "pubeval", "--pairs", "2"]);
        assert!(
            error.starts_with("error: ") && error.contains(&format!("gnubg:127.0.0.1:{port}")),
            "{error}"
        );
        error
    };
    let version = "Interface: 2\nRFBF: 0\nEngine: 1.00\nSoftware: toy\n";

    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).unwrap().port();
    assert!(trouble(free).contains("no connection"));
    let error = trouble(toy(|_| Some("220 mail.example.org ESMTP\n")));
    assert!(error.contains("is not how gnubg 1.07 answers"), "{error}");
    let error = trouble(toy(|_| Some("Interface: 2\nand so\non\nand\non\nand on\n")));
    assert!(error.contains("\"and\" is not how gnubg 1.07 ends its answer"), "{error}");
    let error = trouble(toy(|_| None));
    assert!(error.contains("was closed instead of an answer (asked: version)"), "{error}");
    let error = trouble(toy(move |line| Some(if line.starts_with("version") { version } else { "24/1\n" })));
    assert!(
        error.contains("\"24/1\" is not a move") && error.contains("(asked: board:Ludus:gnubg:0"),
        "{error}"
    );
    // It always makes the first of its plays that is legal, whatever its evaluations are.
    let error = trouble(toy(move |line| {
        Some(match line {
            _ if line.starts_with("version") => version,
            _ if line.starts_with("evaluation") => "0.5 0.1 0 0.1 0 much\n",
            _ => "25/22 20/15\n",
        })
    }));
    assert!(error.contains("is not a judgement"), "{error}");
}

#[test]
fn gnubg_takes_no_part_where_it_cannot() {
    let error = failure(&["match", "gnubg:localhost", "pubeval"]);
    assert!(error.contains("\"localhost\" is not an address"), "{error}");
}

/// gnubg, where it is installed.
fn gnubg() -> Option<PathBuf> {
    let found = Path::new("/usr/games/gnubg");
    if !found.exists() {
        eprintln!("skipped: gnubg is not installed (Debian: apt-get install gnubg)");
        return None;
    }
    Some(found.into())
}

/// gnubg as an external player that looks so many plies ahead, and its port.
fn external(gnubg: &Path, plies: &str) -> (Held, u16) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/peers/gnubg-external");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).unwrap().port();
    let mut command = Command::new(script);
    command.args(["--plies", plies, &port.to_string()]).env("GNUBG", gnubg);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the script starts");
    let mut held = Held(child);
    let mut told = BufReader::new(held.0.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.starts_with("Waiting for a connection") {
        line.clear();
        assert_ne!(told.read_line(&mut line).expect("text"), 0, "gnubg ended");
    }
    // Nobody must read on: gnubg says little more, and less than a pipe holds.
    held.0.stdout = Some(told.into_inner());
    (held, port)
}

#[test]
fn gnubg_plays_a_match_and_says_when_it_is_not_set_up_for_it() {
    let Some(gnubg) = gnubg() else { return };
    let (_folder, weights) = weights();
    let (_external, port) = external(&gnubg, "0");
    let there = format!("gnubg:localhost:{port}@0ply");
    let report = success(&["match", &weights, &there, "--pairs", "3", "--luck", "--json"], "");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert!(report["ppg"].as_f64().unwrap() < -0.5, "random weights are no match for it: {report}");

    let error = failure(&["match", &weights, &format!("gnubg:localhost:{port}@1ply"), "--pairs", "1"]);
    assert!(error.contains("it does not play 1 plies ahead"), "{error}");
    let judged = success(&["evaluate", "--player", &there, "--json"], "4HPwATDgc/ABMA\n");
    assert!(judged.contains("0.0671"), "{judged}");
}

#[test]
fn gnubg_plays_a_game_against_the_server() {
    let Some(gnubg) = gnubg() else { return };
    let (_server, port) = serving("pubeval");
    let folder = TempDir::new().unwrap();
    let commands = folder.path().join("commands");
    let play = "play\n".repeat(500);
    let settings = format!(
        "set rng mersenne\nset seed 7\nset display off\nset automatic game off\nset automatic roll on\n\
         set automatic move on\nset player 0 gnubg\nset player 1 external 127.0.0.1:{port}\nnew session 1\n{play}"
    );
    std::fs::write(&commands, settings).unwrap();
    let mut command = Command::new(gnubg);
    command.args(["--tty", "--quiet", "--no-rc", "--commands"]).arg(&commands).env("LC_ALL", "C");
    let log = folder.path().join("log");
    let file = std::fs::File::create(&log).unwrap();
    let child = command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null()).spawn();
    let mut child = Held(child.expect("gnubg starts"));
    let deadline = Instant::now() + PATIENCE;
    while child.0.try_wait().expect("it can be asked for").is_none() {
        assert!(Instant::now() < deadline, "gnubg does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut said = String::new();
    std::fs::File::open(&log).unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains(" wins a "), "{said}");
    assert!(!said.contains("Warning") && !said.contains("Error"), "{said}");
}
