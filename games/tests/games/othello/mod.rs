//! Othello against published counts and real games.

use std::collections::HashSet;

use ludus_games::othello::{Play, Position, perft, read_transcript, write_transcript};
use ludus_games::{Game, Othello, Plays};
use proptest::prelude::*;

mod records;

/// Published for depths 1 to 11.
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
        assert_eq!(perft(&Position::START, depth), PERFT[depth as usize - 1], "depth {depth}");
    }
}

/// Of a position's eight images in the mirrors of the board the first, by its bits.
fn first_image(position: &Position) -> (u64, u64) {
    let image = |bits: u64, symmetry: u32| {
        let moved = |square: u32| {
            let (mut row, mut column) = (square / 8, square % 8);
            if symmetry & 1 != 0 {
                row = 7 - row;
            }
            if symmetry & 2 != 0 {
                column = 7 - column;
            }
            if symmetry & 4 != 0 { column * 8 + row } else { row * 8 + column }
        };
        (0..64).filter(|&square| bits >> square & 1 == 1).fold(0, |image, square| image | 1 << moved(square))
    };
    let images = (0..8).map(|symmetry| (image(position.own(), symmetry), image(position.other(), symmetry)));
    images.min().expect("eight images")
}

#[test]
fn the_start_leads_to_as_many_different_positions_as_published() {
    let mut positions = HashSet::from([Position::START]);
    let mut plays = Plays::new();
    let published = [(4, 1), (12, 3), (54, 14), (236, 60), (1288, 322), (7092, 1773), (42614, 10649)];
    for (count, up_to_symmetry) in published {
        let mut next = HashSet::new();
        for position in &positions {
            Othello.plays(position, (), &mut plays);
            next.extend(plays.after.iter().copied());
        }
        assert_eq!(next.len(), count);
        assert_eq!(next.iter().map(first_image).collect::<HashSet<_>>().len(), up_to_symmetry);
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
