//! XGID: a position and its match in one line, as eXtreme Gammon writes them.
//!
//! `XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10`: the checkers from the bottom player's side (upper case are
//! that player's, `A` is one; first the top player's bar, then points 1 to 24, then the bottom player's bar), the cube's
//! logarithm, its owner (1 bottom, -1 top, 0 nobody), whose turn it is, the dice (`00` before the roll, `D` when the side
//! on roll has doubled), the points of bottom and top, Crawford (or for money 1 for Jacoby plus 2 for beavers), the match
//! length and the logarithm of the largest cube.

use std::fmt;
use std::str::FromStr;

use super::position::{BAR, Position};
use super::{Dice, GameState, MatchState, Seat};
use crate::NotationError;

/// A position with its match, as an XGID says it. The bottom player is [`Seat::One`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Xgid {
    /// The checkers, seen by the side on roll.
    pub position: Position,
    /// Cube, score and dice. An XGID cannot say whether a game is over or being resigned; see [`MatchState`].
    pub state: MatchState,
    /// Whether beavers are allowed (money only).
    pub beavers: bool,
    /// Logarithm to base 2 of the largest cube.
    pub max_cube_log2: u8,
}

impl Xgid {
    /// A position that stands alone: money play, the bottom player on roll, nothing rolled.
    pub fn of(position: Position) -> Xgid {
        let state = MatchState { on_roll: Seat::One, turn: Seat::One, ..MatchState::default() };
        Xgid { position, state, beavers: false, max_cube_log2: 10 }
    }
}

impl fmt::Display for Xgid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = &self.state;
        let bottom_rolls = state.on_roll == Seat::One;
        let board = if bottom_rolls { self.position } else { self.position.flipped() };
        let mut letters = [b'-'; 26];
        for (slot, (&bottom, &top)) in board.own.iter().zip(&board.other).enumerate() {
            if bottom > 0 {
                letters[slot + 1] = b'A' + bottom - 1;
            }
            if top > 0 {
                letters[24 - slot] = b'a' + top - 1;
            }
        }
        let side = |seat| if seat == Seat::One { 1 } else { -1 };
        let dice = match state.dice {
            _ if state.doubled => "D".to_owned(),
            Some(dice) => dice.to_string(),
            None => "00".to_owned(),
        };
        let rule = if state.length > 0 {
            u8::from(state.crawford)
        } else {
            u8::from(state.jacoby) + 2 * u8::from(self.beavers)
        };
        let text = format!(
            "XGID={}:{}:{}:{}:{dice}:{}:{}:{rule}:{}:{}",
            String::from_utf8_lossy(&letters),
            state.cube_log2,
            state.cube_owner.map_or(0, side),
            side(state.on_roll),
            state.score[1],
            state.score[0],
            state.length,
            self.max_cube_log2,
        );
        f.pad(&text)
    }
}

impl FromStr for Xgid {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Xgid, NotationError> {
        let error = |reason: String| NotationError::new(text, "XGID", reason);
        let body = text.trim().strip_prefix("XGID=").unwrap_or(text.trim());
        let fields: Vec<&str> = body.split(':').collect();
        let &[board, cube, owner, turn, dice, bottom_score, top_score, rule, length, max_cube] =
            fields.as_slice()
        else {
            return Err(error(format!("it has {} fields and should have 10", fields.len())));
        };
        let number = |field: &str, name: &str, limit: u16| match field.parse::<u16>() {
            Ok(n) if n <= limit => Ok(n),
            _ => Err(error(format!("the {name} is {field:?}, not a number from 0 to {limit}"))),
        };
        let side = |field: &str, name: &str| match field {
            "1" => Ok(Some(Seat::One)),
            "-1" => Ok(Some(Seat::Zero)),
            "0" => Ok(None),
            _ => Err(error(format!("the {name} is {field:?}, not -1, 0 or 1"))),
        };

        let on_roll = side(turn, "turn")?.ok_or_else(|| error("it is nobody's turn".to_owned()))?;
        let board = read_board(board).map_err(error)?;
        let doubled = matches!(dice, "D" | "B" | "R");
        let length = number(length, "match length", 32_767)?;
        let rule = number(rule, "Crawford or Jacoby field", 3)?;
        let state = MatchState {
            cube_log2: number(cube, "cube", 15)? as u8,
            cube_owner: side(owner, "cube's owner")?,
            on_roll,
            crawford: length > 0 && rule & 1 == 1,
            game_state: GameState::Playing,
            turn: if doubled { on_roll.other() } else { on_roll },
            doubled,
            resigned: 0,
            dice: if doubled || dice == "00" { None } else { Some(dice.parse::<Dice>()?) },
            length,
            score: [
                number(top_score, "top player's score", 32_767)?,
                number(bottom_score, "bottom player's score", 32_767)?,
            ],
            jacoby: length == 0 && rule & 1 == 1,
        };
        Ok(Xgid {
            position: if on_roll == Seat::One { board } else { board.flipped() },
            state,
            beavers: length == 0 && rule & 2 == 2,
            max_cube_log2: number(max_cube, "largest cube", 15)? as u8,
        })
    }
}

/// The checkers seen by the bottom player.
fn read_board(letters: &str) -> Result<Position, String> {
    let letters = letters.as_bytes();
    if letters.len() != 26 {
        return Err(format!("the board has {} letters and should have 26", letters.len()));
    }
    let (mut bottom, mut top) = ([0; 25], [0; 25]);
    for (i, &letter) in letters.iter().enumerate() {
        match letter {
            b'-' => {}
            b'A'..=b'O' if i > 0 => bottom[i - 1] = letter - b'A' + 1,
            b'a'..=b'o' if i <= BAR => top[24 - i] = letter - b'a' + 1,
            _ => return Err(format!("the board's letter {} cannot be {:?}", i + 1, char::from(letter))),
        }
    }
    Position::new(bottom, top).map_err(|e| e.to_string())
}
