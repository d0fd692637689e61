//! Othello positions, plays and games as text.

use std::fmt;
use std::str::FromStr;

use super::line::Line;
use super::{Play, Position, Square};
use crate::NotationError;

/// Writes `f5`.
impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.index() % 8), self.index() / 8 + 1)
    }
}

/// Writes the square, or `pass`.
impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Play::At(square) => square.fmt(f),
            Play::Pass => f.write_str("pass"),
        }
    }
}

/// Reads a square in lower or upper case, and `pass`, `pa` or `--`.
impl FromStr for Play {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Play, NotationError> {
        let lower = text.trim().to_ascii_lowercase();
        match lower.as_bytes() {
            b"pass" | b"pa" | b"--" => Ok(Play::Pass),
            &[file @ b'a'..=b'h', rank @ b'1'..=b'8'] => {
                Ok(Play::At(Square::new((rank - b'1') * 8 + file - b'a').expect("a file and a rank")))
            }
            _ => Err(NotationError::new(text, "move", "expected a square such as f5, or pass")),
        }
    }
}

/// Writes 64 signs from a1 to h8, `X` for the side to act, `O` for the other and `-` for an empty square, and ` X`,
/// whose turn it is.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |i: u32| match (self.own() >> i & 1, self.other() >> i & 1) {
            (1, _) => 'X',
            (_, 1) => 'O',
            _ => '-',
        };
        write!(f, "{} X", (0..64).map(sign).collect::<String>())
    }
}

/// Reads 64 signs (`X` or `*` for Black, `O` for White, `-` or `.` for empty, blanks between them do not count) and whose
/// turn it is; what follows a `;` is left out.
impl FromStr for Position {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Position, NotationError> {
        let error = |reason: String| NotationError::new(text, "position", reason);
        let line = text.split(';').next().unwrap_or_default();
        let signs: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).collect();
        if signs.len() != 65 {
            return Err(error(format!(
                "it has {} signs and should have 65: X, O or - for each square and whose turn it is",
                signs.len()
            )));
        }
        let (mut black, mut white) = (0u64, 0u64);
        for (i, sign) in signs[..64].iter().enumerate() {
            match sign {
                'X' | 'x' | '*' => black |= 1 << i,
                'O' | 'o' => white |= 1 << i,
                '-' | '.' => {}
                other => return Err(error(format!("sign {} cannot be {other:?}", i + 1))),
            }
        }
        let (own, other) = match signs[64] {
            'X' | 'x' | '*' => (black, white),
            'O' | 'o' => (white, black),
            turn => return Err(error(format!("the turn is {turn:?}, not X or O"))),
        };
        Position::new(own, other).ok_or_else(|| error("both sides have a disc on one square".to_owned()))
    }
}

/// Reads a game from the start, such as `f5d6c3`: squares one after the other, blanks between them do not count, forced
/// passes written (`pa`) or left out. The plays returned hold every pass.
pub fn read_transcript(text: &str) -> Result<Vec<Play>, NotationError> {
    let mut line = Line::default();
    let signs: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    for (i, pair) in signs.chunks(2).enumerate() {
        let pair: String = pair.iter().collect();
        let error = |reason: &str| {
            NotationError::new(text, "transcript", format!("move {}, {pair}: {reason}", i + 1))
        };
        let play: Play = pair.parse().map_err(|_| error("expected a square such as f5"))?;
        line.push(play).map_err(|problem| error(&problem.to_string()))?;
    }
    Ok(line.plays().to_vec())
}

/// Writes a game as `f5d6c3`, without its passes.
pub fn write_transcript(plays: &[Play]) -> String {
    plays.iter().filter(|&&play| play != Play::Pass).map(Play::to_string).collect()
}
