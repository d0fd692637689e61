//! The same plays and texts as GNU Backgammon, where it is installed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ludus_games::backgammon::{Dice, MatchFile, Play, Position, Seat, Xgid};
use ludus_games::{Backgammon, Game, Plays};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::positions;

/// Puts two people at the board and nothing on automatic.
const SET_UP: &str = "\
set player 0 human
set player 1 human
set player 0 name zero
set player 1 name one
set automatic roll off
set automatic game off
set automatic move off
set automatic bearoff off
set confirm default yes
set confirm new no
set evaluation chequerplay evaluation plies 0
set evaluation chequerplay evaluation cubeful off
";

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// What GNU Backgammon prints when it is given these commands; `None`, and a word about it, where it is not installed.
fn gnubg(name: &str, commands: &str) -> Option<String> {
    let works = |program: &&str| {
        let mut version = Command::new(program);
        version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        version.status().is_ok_and(|status| status.success())
    };
    let Some(program) = ["gnubg", "/usr/games/gnubg"].into_iter().find(works) else {
        eprintln!("skipped: gnubg is not installed");
        return None;
    };
    let file = scratch(name);
    std::fs::write(&file, format!("{SET_UP}{commands}")).expect("the commands are written");
    let mut command = Command::new(program);
    let output = command.args(["-t", "-q", "-r", "-c"]).arg(&file).stdin(Stdio::null()).output();
    Some(String::from_utf8_lossy(&output.expect("gnubg runs").stdout).into_owned())
}

#[test]
fn gnubg_lists_the_same_plays_in_the_same_words() {
    let positions = positions::from_random_games(150, 11);
    let mut commands = "new session\n".to_owned();
    for (position, dice) in &positions {
        let (high, low) = (dice.high(), dice.low());
        commands += &format!("set turn one\nset board {position}\nset dice {high} {low}\nhint 2000\n");
    }
    let Some(output) = gnubg("gnubg-plays", &commands) else { return };
    let answers: Vec<&str> = output.split("The dice have been set to").skip(1).collect();
    assert_eq!(answers.len(), positions.len());
    let mut plays = Plays::new();
    for ((position, dice), answer) in positions.iter().zip(answers) {
        Backgammon.plays(position, *dice, &mut plays);
        // `    1. Cubeless 0-ply   24/18 13/11                  Eq.: -0.004`
        let listed = answer.lines().filter_map(|line| line.split_once("Eq.:")?.0.get(24..)).map(str::trim);
        let mut found = BTreeSet::new();
        for text in listed {
            let index = Backgammon.read_move(position, &plays, text);
            let index = index.unwrap_or_else(|e| panic!("{position} {dice}: {e}"));
            let written = Backgammon.write_move(position, plays.moves[index]);
            assert_eq!(written, text, "{position} {dice}");
            assert!(found.insert(index), "{text} twice in {position} {dice}");
        }
        let forced_pass = plays.moves[0].steps().is_empty();
        assert_eq!(found.len(), if forced_pass { 0 } else { plays.len() }, "{position} {dice}: {answer}");
    }
}

#[test]
fn gnubg_reads_our_xgids_and_writes_our_position_and_match_ids() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut commands = "new session\n".to_owned();
    let mut expected = Vec::new();
    for (position, dice) in positions::from_random_games(60, 12) {
        let mut xgid = Xgid::of(position);
        let state = &mut xgid.state;
        if rng.random() {
            (state.on_roll, state.turn) = (Seat::Zero, Seat::Zero);
        }
        state.dice = rng.random::<bool>().then_some(dice);
        if rng.random() {
            state.length = rng.random_range(5..20);
            state.score = [rng.random_range(0..3), rng.random_range(0..3)];
        } else {
            state.jacoby = rng.random();
        }
        if rng.random() {
            state.cube_log2 = 1;
            state.cube_owner = Some(if rng.random() { Seat::Zero } else { Seat::One });
        }
        commands += &format!("set xgid {xgid}\nset turn\n");
        expected.push((xgid.position.id(), xgid.state.to_string(), xgid));
    }
    let Some(output) = gnubg("gnubg-xgid", &commands) else { return };
    for (id, match_id, xgid) in expected {
        let pair = format!("Position ID: {id}\n                 Match ID   : {match_id}\n");
        assert!(output.contains(&pair), "{xgid} should be {id}:{match_id}");
    }
}

#[test]
fn gnubg_imports_our_match_files() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut turns: Vec<(Dice, Play)> = Vec::new();
    let mut plays = Plays::new();
    let mut state = Position::START;
    while state.payoff().is_none() {
        let rolls = Backgammon.rolls(&state, turns.len());
        let (roll, _) = rolls[rng.random_range(0..rolls.len())];
        Backgammon.plays(&state, roll, &mut plays);
        let chosen = rng.random_range(0..plays.len());
        turns.push((roll, plays.moves[chosen]));
        state = plays.after[chosen];
    }
    // Seat one rolls first, so it acts at even plies.
    let points =
        state.payoff().expect("the game is over") * if turns.len().is_multiple_of(2) { -1 } else { 1 };
    let file = MatchFile { names: ["v12", "pubeval"], first: Seat::One, turns: &turns, points }.to_string();

    let (ours, theirs) = (scratch("ours.mat"), scratch("theirs.mat"));
    std::fs::write(&ours, &file).expect("the file is written");
    let _ = std::fs::remove_file(&theirs);
    let commands = format!("import mat \"{}\"\nexport match mat \"{}\"\n", ours.display(), theirs.display());
    let Some(output) = gnubg("gnubg-mat", &commands) else { return };
    let again = std::fs::read_to_string(&theirs).expect(&output);
    let lines = |text: &str| -> Vec<Vec<String>> {
        let words = |line: &str| {
            let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        };
        let lines = text.lines().map(words).filter(|words| !words.is_empty());
        lines.skip_while(|words| !words.contains(&"Game".to_owned())).collect()
    };
    assert_eq!(lines(&again), lines(&file));
}
