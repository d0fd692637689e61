//! Games of Othello in files.

use ludus_games::othello::{
    GgfGame, Line, Play, Position, WthorError, WthorFile, WthorGame, read_transcript,
};
use proptest::prelude::*;

use super::DRAWN;
use crate::shared;

fn line(transcript: &str) -> Line {
    Line::of(&read_transcript(transcript).expect("a legal game")).expect("legal plays")
}

/// Always the first legal square, by which a game soon comes to passes.
fn first_squares(plays: usize) -> Line {
    let mut line = Line::default();
    while line.plays().len() < plays && !line.end().is_over() {
        let play = line.end().moves().next().map_or(Play::Pass, Play::At);
        line.push(play).expect("a legal play");
    }
    line
}

fn small() -> WthorFile {
    let game = |line: Line| WthorGame {
        tournament: 3,
        black: 258,
        white: 65_535,
        score: line.black_discs().unwrap_or(20),
        theoretical: 33,
        line,
    };
    let games = vec![game(line(DRAWN)), game(first_squares(usize::MAX)), game(line("f5d6"))];
    WthorFile { written: [20, 26, 11, 30], year: 2_026, depth: 22, games }
}

#[test]
fn a_wthor_file_is_read_as_it_was_written() {
    let file = small();
    assert!(file.games[1].line.plays().contains(&Play::Pass));
    let bytes = file.write().expect("a file");
    assert_eq!(bytes.len(), 16 + 68 * 3);
    assert_eq!(bytes[..16], [20, 26, 11, 30, 3, 0, 0, 0, 0, 0, 0xea, 0x07, 8, 0, 22, 0]);
    assert_eq!(bytes[16..26], [3, 0, 2, 1, 255, 255, 32, 33, 56, 64]);
    assert_eq!(WthorFile::read(&bytes), Ok(file));
}

#[test]
fn a_damaged_wthor_file_is_refused_with_its_place() {
    let bytes = small().write().expect("a file");
    let damaged = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        WthorFile::read(&bytes).expect_err("damaged").to_string()
    };
    for (at, byte, reason) in [
        (4, 4, "promises 4 games"),
        (12, 10, "byte 12: the board size is 10"),
        (13, 1, "byte 13: the type is 1"),
        (16 + 6, 65, "game 1: a score of 65"),
        (16 + 68 + 8, 99, "game 2, move 1: 99 is no square"),
        (16 + 9, 56, "game 1, move 2, f5: it is not legal"),
    ] {
        let error = damaged(at, byte);
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(WthorFile::read(&bytes[..10]), Err(WthorError::NoHeader(10)));
    assert!(WthorFile::read(&bytes[..bytes.len() - 1]).is_err());
}

#[test]
fn a_game_with_a_score_it_does_not_have_is_not_written() {
    let mut file = small();
    file.games[0].score = 40;
    let error = file.write().expect_err("a wrong score").to_string();
    assert!(error.contains("game 1") && error.contains("32 discs of Black, not 40"), "{error}");
}

/// Games of real tournaments.
#[test]
fn the_shared_years_are_legal_end_as_recorded_and_are_written_as_they_were() {
    let (mut games, mut short) = (0, Vec::new());
    for year in 1977..=1985 {
        let Some(bytes) = shared::read_bytes(&format!("othello/WTH_{year}.wtb")) else { return };
        let file = WthorFile::read(&bytes).unwrap_or_else(|error| panic!("{year}: {error}"));
        for (number, game) in (1..).zip(&file.games) {
            match game.line.black_discs() {
                Some(discs) => assert_eq!(discs, game.score, "{year}, game {number}"),
                None => short.push(format!("{year}/{number}: {} moves", game.line.squares().count())),
            }
        }
        games += file.games.len();
        let written = WthorFile::read(&file.write().expect("what was read")).expect("what was written");
        assert_eq!(written, file, "{year}");
    }
    eprintln!("{games} games, {} of them cut short: {}", short.len(), short.join(", "));
    assert!(games > 1_000 && short.len() < games / 10);
}

const GGF: &str = "2 (;GM[Othello]PC[here]PB[a \\] b]PW[c]RE[+2.00]TI[05:00]TY[8]\n\
BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]\n\
B[F5/0.50/1.2]W[d6]b[C3//3.4];)(;GM[Othello]PB[x]PW[y]B[d3];)";

#[test]
fn ggf_is_read_liberally_and_read_as_it_was_written() {
    let games = GgfGame::read_all(GGF).expect("two games");
    assert_eq!(games.len(), 2);
    let first = &games[0];
    assert_eq!((first.tag("PB"), first.tag("RE"), first.tag("XX")), (Some("a ] b"), Some("+2.00"), None));
    assert_eq!(first.line.start(), (&Position::START, true));
    assert_eq!(first.line.plays(), read_transcript("f5d6c3").expect("a legal game"));
    assert_eq!(first.notes, ["0.50/1.2", "", "/3.4"]);
    let text: String = games.iter().map(GgfGame::to_string).collect();
    assert_eq!(GgfGame::read_all(&text), Ok(games));
}

#[test]
fn passes_of_ggf_are_written_and_may_be_left_out() {
    let game = GgfGame { tags: Vec::new(), line: first_squares(usize::MAX), notes: Vec::new() };
    let text = game.to_string();
    assert!(text.contains("[PA]"));
    for text in [text.replace("B[PA]", "").replace("W[PA]", ""), text] {
        assert_eq!(GgfGame::read_all(&text).expect("a game")[0].line, game.line);
    }
}

#[test]
fn wrong_ggf_is_refused_with_its_line_and_column() {
    for (text, reason) in [
        ("(;GM[Chess];)", "line 1, column 3: a game of Chess"),
        ("(;GM[Othello]\n  B[f5]B[d6];)", "line 2, column 8: B[d6]: it is the other side's turn"),
        ("(;B[a1];)", "column 3: B[a1]: it is not legal"),
        ("(;B[z];)", "expected a square"),
        ("(;PB[x];)", "neither a board nor moves"),
        ("(;PB[x", "no ] at its end"),
        ("(;B[f5]", "expected a tag"),
        ("(;BO[10 ---];)", "only boards of size 8"),
    ] {
        let error = GgfGame::read_all(text).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_ggf_reader_panic(text in "\\PC{0,40}", at in 0..GGF.len(), len in 0..20_usize) {
        let _ = GgfGame::read_all(&text);
        let mut damaged = GGF.to_owned();
        damaged.replace_range(at..(at + len).min(GGF.len()), &text);
        let _ = GgfGame::read_all(&damaged);
    }

    #[test]
    fn no_bytes_make_the_wthor_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0..220_usize, byte: u8) {
        let _ = WthorFile::read(&bytes);
        let mut damaged = small().write().expect("a file");
        damaged[at] = byte;
        let _ = WthorFile::read(&damaged);
    }
}
