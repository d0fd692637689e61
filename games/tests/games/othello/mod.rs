//! Othello against published counts and real games.

use std::collections::HashSet;

use ludus_games::othello::{Play, Position, read_transcript, write_transcript};
use ludus_games::{Game, Othello, Plays};
use proptest::prelude::*;

use crate::shared;

/// Leaves of the tree of plays; a pass is one ply, a finished game is a leaf.
fn perft(state: &Position, depth: usize) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut count = 0;
    for square in state.moves() {
        count += if depth == 1 { 1 } else { perft(&state.after(Play::At(square)), depth - 1) };
    }
    match count {
        0 if state.is_over() => 1,
        0 => perft(&state.after(Play::Pass), depth - 1),
        count => count,
    }
}

const PERFT: [u64; 11] = [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800];

#[test]
fn the_start_has_as_many_leaves_as_published_to_depth_nine() {
    for (depth, leaves) in (1..).zip(&PERFT[..9]) {
        assert_eq!(perft(&Position::START, depth), *leaves, "depth {depth}");
    }
}

/// `cargo test --release -p ludus-games --test games depth_eleven -- --ignored`
#[test]
#[ignore = "takes ten seconds"]
fn the_start_has_as_many_leaves_as_published_to_depth_eleven() {
    for depth in [10, 11] {
        assert_eq!(perft(&Position::START, depth), PERFT[depth - 1], "depth {depth}");
    }
}

#[test]
fn the_start_leads_to_as_many_different_positions_as_published() {
    let mut positions = HashSet::from([Position::START]);
    let mut plays = Plays::new();
    for count in [4, 12, 54, 236, 1288, 7092, 42614] {
        let mut next = HashSet::new();
        for position in &positions {
            Othello.plays(position, (), &mut plays);
            next.extend(plays.after.iter().copied());
        }
        assert_eq!(next.len(), count);
        positions = next;
    }
}

/// The drawn game of "Othello is solved", arXiv 2310.19387: sixty moves, no pass, 32 to 32.
const DRAWN: &str = "F5D6C3D3C4F4F6F3E6E7D7C5B6D8C6C7D2B5A5A6A7G5E3B4C8G6G4C2E8D1F7E2G3H4F1E1F2G1B1F8G8B3H3B2H5B7A3A4\
                     A1A2C1H2H1G2B8A8G7H8H7H6";

#[test]
fn a_game_is_read_and_written_as_its_squares() {
    let plays = read_transcript(DRAWN).expect("a legal game");
    assert_eq!(plays.len(), 60);
    assert_eq!(write_transcript(&plays), DRAWN.to_lowercase());
    let end = plays.iter().fold(Position::START, |state, &play| state.after(play));
    assert_eq!(Othello.payoff(&end), Some(0));
    assert_eq!((end.own().count_ones(), end.other().count_ones()), (32, 32));
}

#[test]
fn passes_are_understood_whether_written_or_not() {
    let mut state = Position::START;
    let mut text = String::new();
    // The first legal square at every turn soon leads to a pass.
    let mut passes = 0;
    while !state.is_over() {
        let play = state.moves().next().map_or(Play::Pass, Play::At);
        if play == Play::Pass {
            passes += 1;
            text += "PA";
        } else {
            text += &play.to_string();
        }
        state = state.after(play);
    }
    assert!(passes > 0);
    let plays = read_transcript(&text).expect("a legal game");
    assert_eq!(plays.iter().filter(|&&play| play == Play::Pass).count(), passes);
    assert_eq!(read_transcript(&text.replace("PA", " ")), Ok(plays));
}

#[test]
fn wrong_games_are_refused_with_the_move_that_is_wrong() {
    let cases = [
        ("f5f5", "move 2, f5: it is not legal"),
        ("f5d", "move 2, d: expected a square"),
        ("f5i9", "move 2, i9: expected a square"),
        ("pa", "move 1, pa: there is a square to play"),
        ("é", "move 1, é: expected a square"),
    ];
    for (text, reason) in cases {
        let error = read_transcript(text).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    let over = format!("{DRAWN}a1");
    assert!(read_transcript(&over).is_err_and(|e| e.to_string().contains("the game is over")));
}

#[test]
fn a_board_is_read_for_either_side() {
    let start = "-".repeat(27) + "OX------XO" + &"-".repeat(27);
    assert_eq!(Othello.read_position(&format!("{start} X;")), Ok(Position::START));
    assert_eq!(Othello.read_position(&format!("{start} O")), Ok(Position::START.flipped()));
    assert_eq!(Othello.write_position(&Position::START), format!("{start} X"));
    for (text, reason) in [
        (start.clone(), "64 signs"),
        (format!("{start} Z"), "the turn is 'Z'"),
        (format!("?{} X", &start[1..]), "sign 1 cannot be '?'"),
    ] {
        let error = Othello.read_position(&text).expect_err(&text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn any_discs_survive_their_text(own: u64, other: u64) {
        let position = Position::new(own, other & !own).expect("no square twice");
        prop_assert_eq!(position.to_string().parse(), Ok(position));
        prop_assert_eq!(position.flipped().flipped(), position);
        prop_assert_eq!(Position::new(own, other).is_some(), own & other == 0);
    }

    #[test]
    fn no_bytes_make_the_transcript_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = read_transcript(&String::from_utf8_lossy(&bytes));
        let _ = read_transcript(&format!("f5d6{}", String::from_utf8_lossy(&bytes)));
    }
}

/// Games of real tournaments: after a header of 16 bytes, 68 bytes a game, of which the seventh is Black's discs at the end
/// (empty squares to the winner) and the last 60 are its moves, 10 * row + column.
#[test]
fn games_of_shared_tournament_records_are_legal_and_end_as_recorded() {
    let (mut games, mut finished) = (0, 0);
    for year in 1977..=1985 {
        let Some(bytes) = shared::read_bytes(&format!("othello/WTH_{year}.wtb")) else { return };
        for game in bytes[16..].chunks(68) {
            let mut state = Position::START;
            let mut black_acts = true;
            for &code in game[8..].iter().take_while(|&&code| code > 0) {
                if state.moves().next().is_none() {
                    state = state.after(Play::Pass);
                    black_acts = !black_acts;
                }
                let name = format!("{}{}", char::from(b'a' + code % 10 - 1), code / 10);
                let play = name.parse().expect("a square");
                assert!(
                    state.moves().any(|square| Play::At(square) == play),
                    "{name} in {year}, game {games}"
                );
                state = state.after(play);
                black_acts = !black_acts;
            }
            games += 1;
            if state.is_over() {
                finished += 1;
                let black = if black_acts { state } else { state.flipped() };
                let [mine, yours] = [black.own(), black.other()].map(|discs| discs.count_ones() as u8);
                let empty = 64 - mine - yours;
                let score = match mine.cmp(&yours) {
                    std::cmp::Ordering::Greater => mine + empty,
                    std::cmp::Ordering::Equal => 32,
                    std::cmp::Ordering::Less => mine,
                };
                assert_eq!(score, game[6], "{year}, game {games}");
            }
        }
    }
    assert!(finished > 1_000 && finished <= games, "{finished} of {games} games");
}
