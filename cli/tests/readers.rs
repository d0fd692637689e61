//! Files and texts of strangers: whatever is in them, their reader says what is wrong or reads something sound. Nothing
//! panics, and nothing takes for ever.
//!
//! Few cases by default. A million of each:
//!
//! ```text
//! LUDUS_CASES=1000000 cargo test --release -p ludus --test readers
//! ```

use ludus_config::RunConfig;
use ludus_games::backgammon::{FibsBoard, MatchState, Position, Xgid};
use ludus_games::{italian_draughts, othello};
use ludus_players::arena::{Registry, Seating, Source};
use ludus_players::weight_file::{Card, WeightFile};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

fn runner(default: u32) -> TestRunner {
    let cases = std::env::var("LUDUS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default);
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

/// A change to some bytes.
#[derive(Clone, Debug)]
enum Edit {
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Cut(Index, Index),
    Repeat(Index, Index),
}

/// Nothing, or a few changes, of bytes that mean something to readers of text among others.
fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let byte = || {
        prop_oneof![
            any::<u8>(),
            Just(0),
            Just(255),
            Just(b'9'),
            Just(b'-'),
            Just(b'"'),
            Just(b' '),
            Just(b'{')
        ]
    };
    let edit = prop_oneof![
        4 => (any::<Index>(), byte()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        1 => (any::<Index>(), vec(byte(), 1..40)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Edit::Cut(from, to)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Edit::Repeat(from, to)),
    ];
    vec(edit, 0..6)
}

fn edited(good: &[u8], edits: Vec<Edit>) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for edit in edits {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        let range = |from: Index, to: Index| {
            let (from, to) = (from.index(length), to.index(length));
            // Not the whole file again and again.
            from.min(to)..from.max(to).min(from.min(to) + 4096)
        };
        match edit {
            Edit::Set(at, byte) => bytes[at.index(length)] = byte,
            Edit::Insert(at, more) => drop(bytes.splice(at.index(length)..at.index(length), more)),
            Edit::Cut(from, to) => drop(bytes.drain(range(from, to))),
            Edit::Repeat(from, to) => bytes.extend_from_within(range(from, to)),
        }
    }
    bytes
}

fn text(good: &str, edits: Vec<Edit>) -> String {
    String::from_utf8_lossy(&edited(good.as_bytes(), edits)).into_owned()
}

#[test]
fn no_weight_file_breaks_its_reader_and_what_is_read_is_finite() {
    let registry = Registry::standard();
    let arena = registry.find("backgammon").expect("the game");
    let inputs = arena.input_sets()[0];
    let card = Card {
        game: "backgammon".into(),
        revision: arena.revision(),
        inputs: inputs.into(),
        run: "test".into(),
        version: 1,
        parent: String::new(),
        created_at: 1,
        counters: Default::default(),
    };
    let file = WeightFile::fresh(card, &arena.shapes(inputs, 1).expect("shapes"), 1).expect("weights");
    let good = file.to_bytes().expect("bytes");
    let checked = runner(300).run(&edits(), |edits| {
        if let Ok(file) = WeightFile::from_bytes(&edited(&good, edits), "x") {
            prop_assert!(file.check().is_ok());
        }
        Ok(())
    });
    checked.expect("nothing breaks");
}

#[test]
fn no_configuration_breaks_its_reader_and_what_is_read_is_written_and_read_again() {
    let good = RunConfig::default().to_toml();
    let checked = runner(300).run(&edits(), |edits| {
        if let Ok(config) = RunConfig::parse(&text(&good, edits)) {
            prop_assert!(RunConfig::parse(&config.to_toml()).is_ok());
        }
        Ok(())
    });
    checked.expect("nothing breaks");
}

#[test]
fn no_benchmark_breaks_its_reader() {
    let registry = Registry::standard();
    let arena = registry.find("backgammon").expect("the game");
    let good: String =
        include_str!("fixtures/small.bm").lines().take(12).flat_map(|line| [line, "\n"]).collect();
    let player = Seating { source: Source::Baseline("random".into()), plies: 0 };
    let score = |text: &str| arena.score(("x.bm", text), ("random", &player), 1);
    score(&good).expect("a good file");
    let checked = runner(100).run(&edits(), |edits| {
        let _ = score(&text(&good, edits));
        Ok(())
    });
    checked.expect("nothing breaks");
}

#[test]
fn no_notation_breaks_its_reader_and_every_position_has_an_id_that_leads_back() {
    let ids = ["4HPwATDgc/ABMA", "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "QYkqASAAIAAA"];
    let fibs = "board:You:opp:1:0:0:0:2:0:0:0:0:-5:0:-3:0:0:0:5:-5:0:0:0:3:0:5:0:0:0:0:-2:0:1:3:1:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0";
    let others = [
        "(;GM[Othello]PC[x]PB[a]PW[b]RE[+10]TY[8]BO[8 --------------------------- O*------*O--------------------------- *]B[d3];)",
        "[Event \"x\"]\n[GameType \"22\"]\n1. 22-18 11-14 2. 18x11 7x14 *",
        "W:W21,22,K23:B1,2,K3",
        "f5d6c3d3c4f4",
    ];
    let good = ids.into_iter().chain([fibs]).chain(others).collect::<Vec<_>>();
    let strategy = (prop::sample::select(good), edits());
    let checked = runner(2000).run(&strategy, |(good, edits)| {
        let text = text(good, edits);
        if let Ok(position) = text.parse::<Position>() {
            prop_assert_eq!(Position::from_id(&position.id()), Ok(position));
        }
        let _ = (text.parse::<Xgid>(), text.parse::<MatchState>(), text.parse::<FibsBoard>());
        let _ = (text.parse::<othello::Position>(), othello::read_transcript(&text));
        let _ = (othello::GgfGame::read_all(&text), othello::WthorFile::read(text.as_bytes()));
        let _ = (text.parse::<italian_draughts::Position>(), italian_draughts::PdnGame::read_all(&text));
        Ok(())
    });
    checked.expect("nothing breaks");
}
