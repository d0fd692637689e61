//! Italian draughts against counts that independent programs agree on, and rule by rule.

use ludus_games::italian_draughts::{Board, BoardError, Counted, Position, perft};
use ludus_games::{Game, ItalianDraughts, Plays};
use proptest::prelude::*;

use crate::shared;

mod pdn;

fn position(fen: &str) -> Position {
    fen.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// The legal plays, as written.
fn plays(fen: &str) -> Vec<String> {
    let game = ItalianDraughts::default();
    let mut plays = Plays::new();
    game.plays(&position(fen), (), &mut plays);
    plays.moves.iter().map(|&play| game.write_move(&position(fen), play)).collect()
}

fn assert_perft(fen: &str, depth: u32, paths: u64, merged: u64) {
    let position = position(fen);
    assert_eq!(perft(position.board(), depth, Counted::Paths), paths, "paths of {fen} to depth {depth}");
    assert_eq!(perft(position.board(), depth, Counted::Plays), merged, "plays of {fen} to depth {depth}");
}

const START: &str = "W:W21-32:B1-12";

#[test]
fn positions_have_as_many_leaves_as_other_programs_count() {
    let cases = [
        (START, 8, 828_783, 828_783),
        ("B:W30,21,22,17,20,K6:B25,28,9,5,1,3", 7, 389_809, 389_809),
        ("W:WK21,31:B10,18,27", 1, 1, 1),
        ("W:WK23,31:B19,26,27", 9, 2_144, 2_144),
        ("W:WK23:B19,K28", 9, 288, 288),
        ("W:WK30:B10,12,18,K20,K26,27", 8, 78_991, 78_991),
        ("W:WK30:B10,K12,K18,20,K26,K27", 8, 180_092, 180_092),
        ("W:W26,27,30,32:BK22,K23,K19,3,4", 8, 42_499, 42_499),
        ("W:WK1:B5,6,7,13,14,15,21,22,23", 1, 6, 1),
        ("W:W17,18,22,23,26,27,29,31:B2,3,7,9,10,12,15,20", 9, 264_413, 264_410),
        ("W:W10,30:B6,7,20,12", 9, 38_841, 38_841),
    ];
    for (fen, depth, paths, merged) in cases {
        assert_perft(fen, depth, paths, merged);
    }
}

/// Every line of the shared file that ends within a second or so.
#[test]
fn the_shared_counts_are_matched() {
    let Some(text) = shared::read("italian-draughts/perft.tsv") else { return };
    let mut checked = 0;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("id\t")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |i: usize| fields[i].parse::<u64>().expect(line);
        if number(3) < 1_000_000 {
            assert_perft(fields[1], number(2) as u32, number(3), number(4));
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked} lines");
}

/// `cargo test --release -p ludus-games --test games every_shared -- --ignored`
#[test]
#[ignore = "takes a minute"]
fn every_shared_count_is_matched() {
    let Some(text) = shared::read("italian-draughts/perft.tsv") else { return };
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("id\t")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |i: usize| fields[i].parse::<u64>().expect(line);
        assert_perft(fields[1], number(2) as u32, number(3), number(4));
    }
}

#[test]
fn the_most_pieces_are_captured() {
    assert_eq!(plays("W:WK21,31:B10,18,27"), ["31x6"]);
}

#[test]
fn a_king_captures_before_a_man() {
    assert_eq!(plays("W:WK23,31:B19,26,27").len(), 1);
    assert!(plays("W:WK23,31:B19,26,27")[0].starts_with("23x"));
}

#[test]
fn kings_are_captured_before_men_and_early_ones_before_late_ones() {
    assert_eq!(plays("W:WK23:B19,K28"), ["23x32"]);
    assert_eq!(plays("W:WK30:B10,12,18,K20,K26,27").len(), 1);
    assert_eq!(plays("W:WK30:B10,K12,K18,20,K26,K27").len(), 1);
}

#[test]
fn a_man_cannot_capture_a_king_and_never_goes_back() {
    assert_eq!(plays("W:W18:BK14"), ["18-13"]);
    assert_eq!(plays("W:W18:B22"), ["18-13", "18-14"]);
    assert_eq!(plays("W:WK18:B22").len(), 1);
}

#[test]
fn a_man_that_reaches_the_last_row_stops_there_as_a_king() {
    let game = ItalianDraughts::default();
    let state = position("W:W10:B5,6");
    let mut plays = Plays::new();
    game.plays(&state, (), &mut plays);
    let written: Vec<_> = plays.moves.iter().map(|&play| game.write_move(&state, play)).collect();
    assert_eq!(written, ["10x1", "10x3"]);
    assert_eq!(game.write_position(&plays.after[0]), "B:WK1:B6");
    assert_eq!(game.write_position(&plays.after[1]), "B:WK3:B5");
}

#[test]
fn the_whole_path_is_written_where_first_and_last_square_do_not_tell() {
    // A king that can go round either way captures the same pieces: one play, whichever way it is written.
    let round = "W:WK1:B5,6,7,13,14,15,21,22,23";
    let game = ItalianDraughts::default();
    let mut legal = Plays::new();
    game.plays(&position(round), (), &mut legal);
    assert_eq!(legal.len(), 1);
    let mut paths = Vec::new();
    position(round).board().paths(&mut paths);
    assert_eq!(paths.len(), 6);
    for path in paths {
        let squares: Vec<String> = path.path().iter().map(|bit| (bit + 1).to_string()).collect();
        assert_eq!(game.read_move(&position(round), &legal, &squares.join("x")), Ok(0));
    }
    // Two ways from 30 to 14 over different pieces.
    let two = "W:W30:B26,27,18,19";
    let written = plays(two);
    assert_eq!(written, ["30x21x14", "30x23x14"]);
    game.plays(&position(two), (), &mut legal);
    let error = game.read_move(&position(two), &legal, "30x14").expect_err("two plays").to_string();
    assert!(error.contains("whole path"), "{error}");
}

#[test]
fn black_sees_the_board_turned_around_and_writes_the_same_numbers() {
    assert_eq!(plays("B:W21-32:B1-12"), ["12-16", "12-15", "11-15", "11-14", "10-14", "10-13", "9-13"]);
    let start = position(START);
    assert_eq!(start.board().flipped(), *start.board());
}

#[test]
fn a_side_that_cannot_move_has_lost() {
    let game = ItalianDraughts::default();
    for fen in ["W:W:B5", "B:WK1:B", "W:W8:BK3,K4", "B:W31,K32:B28"] {
        assert_eq!(game.payoff(&position(fen)), Some(-1), "{fen}");
    }
    assert_eq!(game.payoff(&position(START)), None);
}

fn play_on(state: &Position, texts: &[&str]) -> Position {
    let game = ItalianDraughts::default();
    let mut plays = Plays::new();
    texts.iter().fold(state.clone(), |state, text| {
        game.plays(&state, (), &mut plays);
        let index = game.read_move(&state, &plays, text).unwrap_or_else(|e| panic!("{e}"));
        plays.after[index].clone()
    })
}

#[test]
fn the_third_time_a_position_comes_the_game_is_drawn() {
    let game = ItalianDraughts::default();
    let round = ["32-28", "1-5", "28-32", "5-1"];
    let once = position("W:WK32,31:BK1,2");
    let twice = play_on(&once, &round);
    assert_eq!((twice.occurrences(), game.payoff(&twice)), (2, None));
    let thrice = play_on(&twice, &round);
    assert_eq!((thrice.occurrences(), game.payoff(&thrice)), (3, Some(0)));
    let patient = ItalianDraughts { repetitions: 4, ..game };
    assert_eq!(patient.payoff(&thrice), None);
    // A man's move cannot be taken back, so what came before does not count any more.
    assert_eq!(play_on(&twice, &["31-27"]).quiet_plies(), 0);
}

#[test]
fn turned_boards_are_no_repetition() {
    // After one step each the board looks to Black as it looked to White before.
    let state = position("W:WK32:BK5");
    let turned = play_on(&state, &["32-28"]);
    assert_eq!(*turned.board(), *position("W:WK28:BK5").board());
    assert_eq!(turned.occurrences(), 1);
}

#[test]
fn forty_moves_of_each_side_without_progress_are_a_draw() {
    let game = ItalianDraughts { repetitions: usize::MAX, ..ItalianDraughts::default() };
    let mut state = position("W:WK32,31:BK1,2");
    for ply in 0..80 {
        assert_eq!(game.payoff(&state), None, "ply {ply}");
        state = play_on(&state, &[["32-28", "1-5", "28-32", "5-1"][ply % 4]]);
    }
    assert_eq!(game.payoff(&state), Some(0));
}

#[test]
fn impossible_boards_are_refused_with_their_reason() {
    assert_eq!(Board::new([1 << 9, 1 << 9], [0, 0]), Err(BoardError::TwoOnSquare));
    assert_eq!(Board::new([0x1fff << 8, 0], [0, 0]), Err(BoardError::TooManyPieces));
    assert_eq!(Board::new([1, 0], [0, 0]), Err(BoardError::ManOnLastRow));
    assert_eq!(Board::new([0, 0], [1 << 31, 0]), Err(BoardError::ManOnLastRow));
    assert_eq!(Board::new([0, 0], [0, 0]), Err(BoardError::NoPieces));
    let cases = [
        ("", "should begin with W: or B:"),
        ("W", "no pieces"),
        ("W:X1", "should begin with W or B"),
        ("W:W0:B1", "not a square"),
        ("W:W33:B1", "not a square"),
        ("W:W30-21:B1", "not a square"),
        ("W:W21,21:B1", "21 comes twice"),
        ("W:W21:B21", "two pieces on one square"),
        ("W:W21:W22", "a colour comes twice"),
        ("W:W1:B5", "last row"),
        ("W:W9-21:B5", "more than 12"),
    ];
    for (fen, reason) in cases {
        let error = fen.parse::<Position>().expect_err(fen).to_string();
        assert!(error.contains(reason), "{fen}: {error}");
    }
}

proptest! {
    #[test]
    fn any_board_survives_its_fen(white: u32, black: u32, kings: u32, thin: u32, white_acts: bool) {
        let (white, black) = (white & thin, black & !white & thin.rotate_left(9));
        let side = |bits: u32, row: u32| [bits & !kings & !row, bits & (kings | row)];
        if let Ok(board) = Board::new(side(white, 0xf), side(black, 0xf << 28)) {
            let board = if white_acts { board } else { board.flipped() };
            let position = Position::new(board, white_acts);
            prop_assert_eq!(position.to_string().parse(), Ok(position));
        }
    }
}
