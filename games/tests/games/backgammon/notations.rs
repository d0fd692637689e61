//! Positions, rolls and plays of backgammon as text.

use ludus_games::backgammon::{BAR, Dice, GameState, MatchState, Position, PositionError, Seat, Xgid};
use ludus_games::{Backgammon, Game, Plays};
use proptest::prelude::*;

use super::positions;

const START_ID: &str = "4HPwATDgc/ABMA";
const START_KEY: &str = "OAHDPAABDAOAHDPAABDA";
const START_XGID: &str = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10";

fn position(own: &[(usize, u8)], other: &[(usize, u8)]) -> Position {
    let side = |slots: &[(usize, u8)]| {
        let mut side = [0; 25];
        slots.iter().for_each(|&(slot, n)| side[slot] = n);
        side
    };
    Position::new(side(own), side(other)).expect("a valid position")
}

fn read_and_write(state: &Position, dice: &str, text: &str) -> Result<String, String> {
    let roll: Dice = dice.parse().expect("a roll");
    let mut plays = Plays::new();
    Backgammon.plays(state, roll, &mut plays);
    let index = Backgammon.read_move(state, &plays, text).map_err(|e| e.to_string())?;
    Ok(Backgammon.write_move(state, plays.moves[index]))
}

#[test]
fn the_start_is_written_as_everybody_writes_it() {
    assert_eq!(Position::START.id(), START_ID);
    assert_eq!(Position::START.key_letters(), START_KEY);
    assert_eq!(Xgid::of(Position::START).to_string(), START_XGID);
}

#[test]
fn every_notation_of_the_start_is_read() {
    let texts = [
        START_ID,
        START_KEY,
        START_XGID,
        " 4HPwATDgc/ABMA\n",
        "4HPwATDgc/ABMA==",
        "4HPwATDgc/ABMA:cAkAAAAAAAAA",
        "-b----E-C---eE---c-e----B-:0:0:-1:52:3:2:0:7:10",
    ];
    for text in texts {
        assert_eq!(Backgammon.read_position(text), Ok(Position::START), "{text}");
    }
}

#[test]
fn the_first_half_of_a_key_is_the_side_not_on_roll() {
    // After 8/4 6/4 from the start, seen by the opponent who is now on roll.
    let after = Position::from_key_letters("JIGHPAABDAOAHDPAABDA").expect("a KEY");
    assert_eq!(after.own(), Position::START.own());
    assert_eq!((after.other()[3], after.other()[5], after.other()[7]), (2, 4, 2));
}

#[test]
fn a_checker_on_the_opponents_bar_survives_every_notation() {
    let state = position(&[(5, 5), (7, 3), (12, 5), (23, 2)], &[(5, 5), (7, 3), (12, 5), (23, 1), (BAR, 1)]);
    let texts = [state.id(), state.key_letters(), Xgid::of(state).to_string()];
    for text in texts {
        assert_eq!(text.parse(), Ok(state), "{text}");
    }
    assert_eq!(Xgid::of(state).to_string(), "XGID=aa----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10");
}

#[test]
fn an_xgid_of_the_top_player_is_turned_around() {
    let own_on_bar = "XGID=-b----E-C---eE---c-e----AA:0:0:1:31:0:0:0:0:10".parse::<Xgid>().expect("an XGID");
    let turned = "XGID=-b----E-C---eE---c-e----AA:0:0:-1:31:0:0:0:0:10".parse::<Xgid>().expect("an XGID");
    assert_eq!(own_on_bar.position.own()[BAR], 1);
    assert_eq!(turned.position, own_on_bar.position.flipped());
}

#[test]
fn impossible_positions_are_refused_with_their_reason() {
    let mut crowd = [0; 25];
    crowd[3] = 16;
    assert_eq!(
        Position::new(crowd, [0; 25]),
        Err(PositionError::TooManyCheckers { on_roll: true, checkers: 16 })
    );
    assert_eq!(
        Position::new([255; 25], [0; 25]),
        Err(PositionError::TooManyCheckers { on_roll: true, checkers: 6375 })
    );
    let (mut own, mut other) = ([0; 25], [0; 25]);
    own[4] = 1;
    other[19] = 2;
    assert_eq!(Position::new(own, other), Err(PositionError::BothOnPoint { point: 5 }));
    assert_eq!(Position::new([0; 25], [0; 25]), Err(PositionError::NoCheckers));
    assert_eq!(Position::from_key(&[255; 10]), Err(PositionError::KeyEndsEarly { slot: 0 }));
    let mut key = position(&[(0, 1)], &[(0, 1)]).key();
    key[9] |= 128;
    assert_eq!(Position::from_key(&key), Err(PositionError::KeyGoesOn));
}

#[test]
fn both_sides_may_stand_on_the_bar_and_a_game_may_be_over() {
    let closed: Vec<(usize, u8)> = (0..6).map(|slot| (slot, 2)).chain([(BAR, 3)]).collect();
    let stuck = position(&closed, &closed);
    assert_eq!(stuck.id().parse(), Ok(stuck));
    let over = position(&[(0, 2)], &[]);
    assert_eq!(over.payoff(), Some(-1));
    assert_eq!(over.id().parse(), Ok(over));
}

#[test]
fn texts_that_are_no_position_are_refused_with_what_is_wrong() {
    let cases = [
        ("", "expected a position ID"),
        ("4HPwATDgc/ABM", "expected a position ID"),
        ("4HPwATDgc/ABM!", "invalid symbol"),
        ("4HPwATDgc/ABMA:cAk", "12 characters"),
        ("OAHDPAABDAOAHDPAABDQ", "letters from A to P"),
        ("//////////////", "last symbol"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0", "9 fields"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:0:00:0:0:0:0:10", "nobody's turn"),
        ("XGID=-b----E-C---eE---c-e----B?:0:0:1:00:0:0:0:0:10", "letter 26"),
        ("XGID=-b----P-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "letter 7"),
        ("XGID=-b----O-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "25 checkers"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:70:0:0:0:0:10", "two numbers from 1 to 6"),
    ];
    for (text, reason) in cases {
        let error = Backgammon.read_position(text).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_long_wrong_text_is_not_repeated_whole() {
    let error = Backgammon.read_position(&"é".repeat(100_000)).expect_err("no position");
    assert!(error.to_string().len() < 1_000);
}

#[test]
fn rolls_are_read_in_any_order_and_form() {
    for text in ["31", "13", "3 1", "3-1", " 1,3 "] {
        assert_eq!(Backgammon.read_roll(text).map(|roll| roll.to_string()), Ok("31".to_owned()), "{text}");
    }
    for text in ["", "3", "70", "07", "311", "3x1", "three"] {
        assert!(Backgammon.read_roll(text).is_err(), "{text}");
    }
}

#[test]
fn plays_are_written_as_gnu_backgammon_writes_them() {
    let start = Position::START;
    let cases = [
        ("31", "6/5 8/5", "8/5 6/5"),
        ("66", "24/18 13/7 24/18 13/7", "24/18(2) 13/7(2)"),
        ("55", "13/8(2) 8/3(2)", "13/3(2)"),
        ("65", "24/18 18/13", "24/13"),
        ("65", "24/18/13", "24/13"),
        ("65", "24/13", "24/13"),
        ("42", "8/4, 6/4", "8/4 6/4"),
        ("41", "13/9 6/5", "13/9 6/5"),
    ];
    for (dice, text, written) in cases {
        assert_eq!(read_and_write(&start, dice, text).as_deref(), Ok(written), "{dice} {text}");
    }
}

#[test]
fn hits_bar_and_off_are_read_and_written() {
    let entering = position(&[(BAR, 2), (5, 3)], &[(2, 1), (4, 2)]);
    assert_eq!(read_and_write(&entering, "63", "bar/22* bar/19").as_deref(), Ok("bar/22* bar/19"));
    assert_eq!(read_and_write(&entering, "63", "25/19 25/22").as_deref(), Ok("bar/22* bar/19"));
    assert_eq!(read_and_write(&entering, "33", "bar/22*(2) 22/19(2)").as_deref(), Ok("bar/22*/19(2)"));
    let bearing = position(&[(5, 2), (4, 1)], &[(0, 2)]);
    assert_eq!(read_and_write(&bearing, "66", "6/off(2) 5/off").as_deref(), Ok("6/off(2) 5/off"));
    assert_eq!(read_and_write(&bearing, "64", "6/0 6/2").as_deref(), Ok("6/2 6/off"));
    assert_eq!(read_and_write(&bearing, "11", "6/5 6/5 5/4 5/4").as_deref(), Ok("6/4(2)"));
}

#[test]
fn a_hit_on_the_way_is_kept_and_understood() {
    // The blot stands on the mover's 18 point; the mover's 19 point is the opponent's.
    let state = position(&[(23, 1), (5, 2)], &[(6, 1), (5, 2)]);
    for text in ["24/18*/13", "24/18/13", "24/13", "18/13 24/18*"] {
        assert_eq!(read_and_write(&state, "65", text).as_deref(), Ok("24/18*/13"), "{text}");
    }
    // With 53 the blot can be hit or passed on the way, so what is written decides.
    let choice = position(&[(23, 1), (5, 2)], &[(5, 1)]);
    assert_eq!(read_and_write(&choice, "53", "24/16").as_deref(), Ok("24/16"));
    assert_eq!(read_and_write(&choice, "53", "24/19*/16").as_deref(), Ok("24/19*/16"));
}

#[test]
fn a_roll_that_cannot_be_played_has_a_text_too() {
    let state = position(&[(BAR, 1)], &[(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2)]);
    for text in ["cannot move", "Cannot Move", "", "pass"] {
        assert_eq!(read_and_write(&state, "21", text).as_deref(), Ok("cannot move"), "{text:?}");
    }
}

#[test]
fn texts_that_are_no_legal_play_are_refused_with_what_is_wrong() {
    let cases = [
        ("8/4 6/5", "no legal play"),
        ("8/5", "no legal play"),
        ("", "no legal play"),
        ("8/5* 6/5", "nothing to hit on 5"),
        ("9/6 6/5", "not enough checkers on point 9"),
        ("bar/22", "not enough checkers on the bar"),
        ("5/8 6/5", "does not move forward"),
        ("8/8", "does not move forward"),
        ("8/off/5", "does not move forward"),
        ("off/5", "cannot start"),
        ("8", "a movement such as 8/5"),
        ("8/5(9)", "should end in"),
        ("8/5(2", "should end in"),
        ("8/x", "not a point"),
        ("8/", "not a point"),
    ];
    for (text, reason) in cases {
        let error = read_and_write(&Position::START, "31", text).expect_err(text);
        assert!(error.contains(reason), "{text:?}: {error}");
    }
}

#[test]
fn a_match_id_says_cube_score_and_dice() {
    // The worked example of GNU Backgammon's manual: a match to 9 at 2-4, player 0 holds a cube of 2, player 1 rolled 52.
    let state: MatchState = "QYkqASAAIAAA".parse().expect("a match ID");
    assert_eq!((state.length, state.score, state.cube_log2), (9, [2, 4], 1));
    assert_eq!(state.dice, Dice::new(5, 2));
    assert_eq!(state.to_string(), "QYkqASAAIAAA");
}

/// Any match, with scores and lengths up to the 15 bits they have.
fn match_state() -> impl Strategy<Value = MatchState> {
    let seat = || prop::sample::select(vec![Seat::Zero, Seat::One]);
    let game_state = prop::sample::select(vec![
        GameState::NotStarted,
        GameState::Playing,
        GameState::Over,
        GameState::Resigned,
        GameState::Dropped,
    ]);
    let cube = (0..=15u8, proptest::option::of(seat()), any::<bool>());
    let turn = (seat(), seat(), proptest::option::of(positions::dice()));
    let score = (0..32_768u16, 0..32_768u16, 0..32_768u16);
    (cube, turn, score, game_state, 0..=3u8, any::<(bool, bool)>()).prop_map(
        |(cube, turn, score, game_state, resigned, (crawford, jacoby))| MatchState {
            cube_log2: cube.0,
            cube_owner: cube.1,
            doubled: cube.2,
            on_roll: turn.0,
            turn: turn.1,
            dice: turn.2,
            length: score.0,
            score: [score.1, score.2],
            crawford,
            jacoby,
            game_state,
            resigned,
        },
    )
}

proptest! {
    #[test]
    fn odd_positions_survive_every_notation(position in positions::odd()) {
        let texts = [position.id(), position.key_letters(), Xgid::of(position).to_string()];
        for text in texts {
            prop_assert_eq!(text.parse(), Ok(position), "{}", text);
        }
    }

    #[test]
    fn any_match_survives_its_id(state in match_state()) {
        let text = state.to_string();
        prop_assert_eq!(text.len(), 12);
        prop_assert_eq!(text.parse(), Ok(state));
    }

    #[test]
    fn whatever_an_xgid_can_say_survives_it(
        position in positions::odd(), state in match_state(), beavers: bool, max_cube_log2 in 0..=15u8
    ) {
        let turn = if state.doubled { state.on_roll.other() } else { state.on_roll };
        let money = state.length == 0;
        let state = MatchState {
            game_state: GameState::Playing,
            resigned: 0,
            turn,
            dice: if state.doubled { None } else { state.dice },
            crawford: state.crawford && !money,
            jacoby: state.jacoby && money,
            ..state
        };
        let xgid = Xgid { position, state, beavers: beavers && money, max_cube_log2 };
        prop_assert_eq!(xgid.to_string().parse(), Ok(xgid));
    }

    #[test]
    fn bytes_that_are_no_match_id_or_xgid_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = text.parse::<MatchState>();
        let _ = format!("-b----E-C---eE---c-e----B-:{text}").parse::<Xgid>();
    }
}
