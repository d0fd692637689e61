//! Games written as `.mat` files.

use ludus_games::backgammon::{Dice, MatchFile, Play, Position, Seat};
use ludus_games::{Backgammon, Game, Plays};

/// The turns of a game from its start, written as dice and plays.
fn turns(texts: &[(&str, &str)]) -> Vec<(Dice, Play)> {
    let mut state = Position::START;
    let mut plays = Plays::new();
    let turn = |&(dice, text): &(&str, &str)| {
        let dice = Backgammon.read_roll(dice).expect("a roll");
        Backgammon.plays(&state, dice, &mut plays);
        let index = Backgammon.read_move(&state, &plays, text).expect("a legal play");
        state = plays.after[index];
        (dice, plays.moves[index])
    };
    texts.iter().map(turn).collect()
}

const GAME: [(&str, &str); 4] =
    [("31", "8/5 6/5"), ("64", "24/14"), ("55", "13/8(2) 6/1*(2)"), ("66", "cannot move")];

#[test]
fn a_game_is_written_in_two_columns() {
    let turns = turns(&GAME);
    let file = MatchFile { names: ["v1", "pub eval"], first: Seat::Zero, turns: &turns, points: 2 };
    let expected = "\
\x200 point match

 Game 1
 v1 : 0                         pub_eval : 0
  1) 31: 8/5 6/5                 64: 24/18 18/14
  2) 55: 13/8 13/8 6/1* 6/1      66:
      Wins 2 points
";
    assert_eq!(file.to_string(), expected);
}

#[test]
fn the_first_cell_is_empty_when_the_right_player_begins() {
    let turns = turns(&GAME[..2]);
    let file = MatchFile { names: ["a", "b"], first: Seat::One, turns: &turns, points: -1 };
    let expected = "\
\x20 1)                             31: 8/5 6/5
  2) 64: 24/18 18/14
                                  Wins 1 point
";
    assert!(file.to_string().ends_with(expected), "{file}");
}

#[test]
fn a_long_play_keeps_its_distance_from_the_next_column() {
    let position = "XGID=----------a----a----a----B:0:0:1:55:0:0:0:0:10".parse().expect("an XGID");
    let mut plays = Plays::new();
    let dice: Dice = "55".parse().expect("a roll");
    Backgammon.plays(&position, dice, &mut plays);
    let index = Backgammon.read_move(&position, &plays, "bar/20*/15*/10* bar/20").expect("a legal play");
    let turn = (dice, plays.moves[index]);
    let file = MatchFile { names: ["a", "b"], first: Seat::Zero, turns: &[turn, turn], points: 0 };
    let line = "  1) 55: 25/20* 25/20 20/15* 15/10*  55: 25/20* 25/20 20/15* 15/10*\n";
    assert!(file.to_string().ends_with(line), "{file}");
}
