//! FIBS board lines, against those that GNU Backgammon writes and what it reads.

use ludus_games::backgammon::{Dice, FibsBoard, Position, Seat};
use ludus_games::{Backgammon, Game, Plays};

use super::positions::from_random_games;

/// Games between gnubg and Ludus, and how gnubg reads lines.
const GAMES: &str = include_str!("fibs-games.txt");
const POSITIONS: &str = include_str!("fibs-positions.txt");

const START: &str = "board:You:Opponent:0:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:3:1:0:0:1:1:1:0:\
                     1:-1:0:25:0:0:0:0:0:0:0:0";

fn read(text: &str) -> FibsBoard {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The start with one field, counted from 1 after the word `board`, replaced.
fn with(field: usize, value: &str) -> Result<FibsBoard, String> {
    let mut fields: Vec<&str> = START.split(':').collect();
    fields[field] = value;
    fields.join(":").parse::<FibsBoard>().map_err(|error| error.to_string())
}

#[test]
fn the_start_is_written_as_fibs_writes_it() {
    let roll = Dice::new(3, 1);
    let board = FibsBoard::of(Position::START, roll);
    assert_eq!(board.to_string(), START);
    assert_eq!(read(START), board);
    assert_eq!((board.on_roll(), board.roll()), (Some(Position::START), roll));
}

#[test]
fn both_colours_and_directions_say_what_gnubg_reads() {
    let mut seen = 0;
    for line in POSITIONS.lines().filter(|line| !line.starts_with('#')) {
        let (id, text) = line.split_once(' ').expect("an ID and a line");
        let board = read(text);
        assert_eq!(board.on_roll().expect("a game").id(), id, "{text}");
        assert_eq!(read(&board.to_string()), board, "{text}");
        seen += 1;
    }
    assert_eq!(seen, 32);
}

#[test]
fn gnubgs_lines_tell_a_game_that_follows_the_rules() {
    let (mut games, mut moves, mut doubles) = (0, 0, 0);
    for game in GAMES.split("\n\n") {
        let mut lines = game.lines().filter(|line| !line.starts_with('#'));
        // What follows our play, seen by the opponent.
        let mut after: Option<Position> = None;
        while let (Some(asked), Some(answer)) = (lines.next(), lines.next()) {
            let asked = asked.strip_prefix("> ").expect("a board");
            let answer = answer.strip_prefix('<').expect("an answer").trim();
            let board = read(asked);
            assert_eq!(read(&board.to_string()), board, "{asked}");
            if board.doubled {
                doubles += 1;
                assert!(["take", "drop"].contains(&answer), "{asked}");
                continue;
            }
            let position = board.on_roll().expect("a game that goes on");
            if let Some(after) = after.take() {
                assert!(can_follow(&after, &position), "{asked} cannot follow {}", after.id());
            }
            let Some(roll) = board.roll() else {
                assert_eq!(answer, "roll", "{asked}");
                continue;
            };
            let mut plays = Plays::new();
            Backgammon.plays(&position, roll, &mut plays);
            let play = Backgammon.read_move(&position, &plays, answer).expect("a legal answer");
            after = Some(plays.after[play]);
            moves += 1;
        }
        games += 1;
    }
    assert_eq!(games, 2);
    assert!(moves > 40 && doubles > 1, "{moves} moves, {doubles} doubles");
}

/// Whether a play of the side on roll in `before` leads to `position`.
fn can_follow(before: &Position, position: &Position) -> bool {
    let mut plays = Plays::new();
    Backgammon.rolls(before, 1).iter().any(|&(roll, _)| {
        Backgammon.plays(before, roll, &mut plays);
        plays.after.contains(position)
    })
}

#[test]
fn every_position_is_read_back_from_every_seat() {
    for (i, (position, _)) in from_random_games(500, 5).into_iter().enumerate() {
        for turn in [Some(Seat::Zero), Some(Seat::One), None] {
            let board = FibsBoard {
                names: ["with_blank".into(), "b".into()],
                length: 7,
                score: [3, 5],
                turn,
                dice: [None, Dice::new(6, 4)],
                cube: 4,
                may_double: [i % 2 == 0, true],
                doubled: i % 3 == 0,
                positive: i % 5 < 2,
                ascending: i % 4 < 2,
                can_move: 2,
                forced: i % 2 == 1,
                no_crawford: 3,
                post_crawford: 1,
                ..FibsBoard::of(position, None)
            };
            assert_eq!(read(&board.to_string()), board);
        }
    }
}

#[test]
fn names_cannot_break_the_line_and_matches_without_end_are_money() {
    let board = FibsBoard { names: ["a b:c".into(), "\n".into()], ..FibsBoard::of(Position::START, None) };
    assert_eq!(read(&board.to_string()).names, ["a_b_c", "_"]);
    assert_eq!(with(3, "9999").map(|board| board.length), Ok(0));
    assert_eq!(with(1, "two words").map(|board| board.names[0].clone()), Ok("two words".into()));
}

#[test]
fn a_line_that_cannot_be_read_says_what_is_wrong() {
    for (made, reason) in [
        (
            "4HPwATDgc/ABMA".parse::<FibsBoard>().map_err(|error| error.to_string()),
            "should begin with board:",
        ),
        (
            "board:You:Other:0:0:0".parse::<FibsBoard>().map_err(|error| error.to_string()),
            "5 fields after board, and should have 52",
        ),
        (with(7, "-16"), "checkers in cell 1 is \"-16\", not a number from -15 to 15"),
        (with(7, "two"), "checkers in cell 1 is \"two\""),
        (with(7, "-1"), "it says that 0 and 0 checkers are off, but 0 and 1 are not on the board"),
        (with(6, "1"), "cell 0 is a bar"),
        (with(8, "1"), "the side on roll has 16 checkers"),
        (with(32, "2"), "the turn is \"2\""),
        (with(33, "0"), "one die alone is no roll"),
        (with(33, "7"), "the first roll is \"7\""),
        (with(38, "2"), "may-double"),
        (with(41, "0"), "colour and direction must be 1 or -1"),
        (with(42, "1"), "the home is cell 0, which does not fit direction 1"),
        (with(47, "1"), "1 and 0 checkers are on the bar"),
        (with(52, ""), "the last field is \"\""),
    ] {
        let error = made.unwrap_err();
        assert!(error.contains(reason), "{error:?} does not say {reason:?}");
    }
}
