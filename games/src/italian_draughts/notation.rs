//! Draughts positions and plays as text.

use std::fmt;
use std::str::FromStr;

use super::board::{Board, Play, squares};
use super::position::Position;
use crate::NotationError;

/// The number 1..=32 of the square that is bit `bit` for the side to act.
fn number(bit: u8, white_acts: bool) -> u8 {
    if white_acts { bit + 1 } else { 32 - bit }
}

/// Writes a FEN such as `W:WK21,31:B10,18,27`. The history that the draw rules need is not in it.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let white_acts = self.white_acts();
        let board = if white_acts { *self.board() } else { self.board().flipped() };
        let list = |[men, kings]: [u32; 2]| {
            let name = |bit| format!("{}{}", if kings >> bit & 1 == 1 { "K" } else { "" }, bit + 1);
            squares(men | kings).map(name).collect::<Vec<_>>().join(",")
        };
        let turn = if white_acts { 'W' } else { 'B' };
        write!(f, "{turn}:W{}:B{}", list(board.own()), list(board.other()))
    }
}

/// Reads a FEN: whose turn it is, then the pieces of each colour in any order, `K` before a king, ranges such as `21-32`
/// allowed.
impl FromStr for Position {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Position, NotationError> {
        let error = |reason: String| NotationError::new(text, "FEN", reason);
        let mut fields = text.trim().trim_end_matches('.').split(':');
        let white_acts = match fields.next() {
            Some("W") => true,
            Some("B") => false,
            _ => return Err(error("it should begin with W: or B:, the side to act".to_owned())),
        };
        let (mut white, mut black) = (None, None);
        for field in fields {
            let (side, pieces) = match (field.strip_prefix('W'), field.strip_prefix('B')) {
                (Some(pieces), _) => (&mut white, pieces),
                (_, Some(pieces)) => (&mut black, pieces),
                _ => return Err(error(format!("{field:?} should begin with W or B"))),
            };
            if side.replace(read_pieces(pieces).map_err(error)?).is_some() {
                return Err(error("a colour comes twice".to_owned()));
            }
        }
        let board = Board::new(white.unwrap_or_default(), black.unwrap_or_default());
        let board = board.map_err(|e| error(e.to_string()))?;
        Ok(Position::new(if white_acts { board } else { board.flipped() }, white_acts))
    }
}

/// Men and kings of a list such as `K21,31`.
fn read_pieces(list: &str) -> Result<[u32; 2], String> {
    let mut pieces = [0u32; 2];
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let (king, numbers) = match item.strip_prefix('K') {
            Some(numbers) => (true, numbers),
            None => (false, item),
        };
        let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
        match (first.parse::<u8>(), last.parse::<u8>()) {
            (Ok(first), Ok(last)) if 1 <= first && first <= last && last <= 32 => {
                for number in first..=last {
                    let bit = 1 << (number - 1);
                    if (pieces[0] | pieces[1]) & bit != 0 {
                        return Err(format!("{number} comes twice"));
                    }
                    pieces[usize::from(king)] |= bit;
                }
            }
            _ => return Err(format!("{item:?} is not a square from 1 to 32, or a range of them")),
        }
    }
    Ok(pieces)
}

/// Writes `23-19` or `30x14`; the whole path when a capture from there to there is not the only one.
pub(super) fn write_move(position: &Position, play: &Play) -> String {
    let numbers = |path: &[u8], sign: &str| {
        let numbers = path.iter().map(|&bit| number(bit, position.white_acts()).to_string());
        numbers.collect::<Vec<_>>().join(sign)
    };
    if play.captured() == 0 {
        return numbers(play.path(), "-");
    }
    let mut plays = Vec::new();
    position.board().plays(&mut plays);
    let alike = plays.iter().filter(|other| (other.from(), other.to()) == (play.from(), play.to()));
    if alike.count() > 1 { numbers(play.path(), "x") } else { numbers(&[play.from(), play.to()], "x") }
}

/// Index among the legal `plays` of the one that `text` means: its first and last square, or its whole path.
pub(super) fn read_move(position: &Position, plays: &[Play], text: &str) -> Result<usize, NotationError> {
    let error = |reason: &str| NotationError::new(text, "move", reason);
    let mut path = Vec::new();
    for square in text.trim().split(['-', 'x', 'X']) {
        match square.parse::<u8>() {
            // Turning the board around twice gives the same square again.
            Ok(square @ 1..=32) => path.push(number(square - 1, position.white_acts()) - 1),
            _ => return Err(error("expected squares from 1 to 32, such as 23-19 or 30x21x14")),
        }
    }
    let &[from, .., to] = path.as_slice() else {
        return Err(error("expected at least two squares, such as 23-19"));
    };
    let means =
        |play: &Play| play.path() == path || (path.len() == 2 && (play.from(), play.to()) == (from, to));
    let mut paths = Vec::new();
    position.board().paths(&mut paths);
    let mut meant = Vec::new();
    for path in paths.iter().filter(|path| means(path)) {
        if let Some(index) = plays.iter().position(|play| play.same_result(path))
            && !meant.contains(&index)
        {
            meant.push(index);
        }
    }
    match meant.as_slice() {
        [] => Err(error("no legal play does this")),
        &[index] => Ok(index),
        _ => Err(error("more than one capture does this: write its whole path")),
    }
}
