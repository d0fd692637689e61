//! GGF, the game format of the Generic Game Server: `(;GM[Othello]PB[...]PW[...]BO[8 ... *]B[F5]W[D6/0.5/1.2];)`.

use std::fmt;

use super::line::Line;
use super::{Play, Position};

/// A game in GGF.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GgfGame {
    /// What is said about the game besides its board and moves, in order: `("PB", "Black's name")`, `("RE", "+12.00")` ...
    pub tags: Vec<(String, String)>,
    /// The plays and the position they begin from.
    pub line: Line,
    /// What stands after each play of the line, such as `0.5/1.2`: the mover's judgement and seconds. Empty for most, and for
    /// passes that were left out.
    pub notes: Vec<String>,
}

/// Text that is no GGF.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("GGF, line {line}, column {column}: {problem}")]
pub struct GgfError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: String,
}

impl GgfGame {
    /// The value of a tag, if there is one.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str())
    }

    /// Reads every game of a text. What stands between games, such as the number of games of a match, does not count; passes
    /// may be left out, and names of tags may be in lower case.
    pub fn read_all(text: &str) -> Result<Vec<GgfGame>, GgfError> {
        let mut reader = Reader { text, at: 0 };
        let mut games = Vec::new();
        while let Some(start) = text[reader.at..].find("(;") {
            reader.at += start + 2;
            games.push(reader.game()?);
        }
        Ok(games)
    }
}

/// Writes a game on one line, passes as `PA`.
impl fmt::Display for GgfGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(;GM[Othello]")?;
        for (name, value) in &self.tags {
            write!(f, "{name}[{}]", value.replace('\\', "\\\\").replace(']', "\\]"))?;
        }
        let (start, black_starts) = self.line.start();
        let black = if black_starts { *start } else { start.flipped() };
        f.write_str("BO[8")?;
        for square in 0..64 {
            if square % 8 == 0 {
                f.write_str(" ")?;
            }
            f.write_str(match (black.own() >> square & 1, black.other() >> square & 1) {
                (1, _) => "*",
                (_, 1) => "O",
                _ => "-",
            })?;
        }
        write!(f, " {}]", if black_starts { '*' } else { 'O' })?;
        let mut black_acts = black_starts;
        for (index, play) in self.line.plays().iter().enumerate() {
            let name = match play {
                Play::At(square) => square.to_string().to_uppercase(),
                Play::Pass => "PA".to_owned(),
            };
            let note = self.notes.get(index).map(String::as_str).unwrap_or_default();
            let slash = if note.is_empty() { "" } else { "/" };
            write!(f, "{}[{name}{slash}{note}]", if black_acts { 'B' } else { 'W' })?;
            black_acts = !black_acts;
        }
        f.write_str(";)")
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Offset of the next byte, always between characters.
    at: usize,
}

impl Reader<'_> {
    fn error(&self, at: usize, problem: impl Into<String>) -> GgfError {
        let before = &self.text[..at];
        let last = before.rsplit('\n').next().unwrap_or_default();
        GgfError {
            line: before.matches('\n').count() + 1,
            column: last.chars().count() + 1,
            problem: problem.into(),
        }
    }

    /// A game after its `(;`.
    fn game(&mut self) -> Result<GgfGame, GgfError> {
        let begin = self.at;
        let (mut tags, mut line, mut notes) = (Vec::new(), None, Vec::new());
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start().len();
            let (at, rest) = (self.at, rest.trim_start());
            if rest.starts_with(";)") {
                self.at += 2;
                break;
            }
            let name_len = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            if name_len == 0 || !rest[name_len..].starts_with('[') {
                return Err(self.error(at, "expected a tag such as PB[name], or ;) at the end of the game"));
            }
            let name = rest[..name_len].to_ascii_uppercase();
            self.at += name_len + 1;
            let value = self.value(at)?;
            match name.as_str() {
                "GM" if value.eq_ignore_ascii_case("othello") => {}
                "GM" => return Err(self.error(at, format!("a game of {value}, not Othello"))),
                "BO" if line.is_some() => return Err(self.error(at, "a board after another board or a move")),
                "BO" => line = Some(read_board(&value).map_err(|problem| self.error(at, problem))?),
                "B" | "W" => {
                    let line = line.get_or_insert_with(Line::default);
                    read_move(line, &mut notes, name == "B", &value)
                        .map_err(|problem| self.error(at, format!("{name}[{value}]: {problem}")))?;
                }
                _ => tags.push((name, value)),
            }
        }
        let line = line.ok_or_else(|| self.error(begin, "the game has neither a board nor moves"))?;
        Ok(GgfGame { tags, line, notes })
    }

    /// A value up to its `]`, of the tag that began at `tag`.
    fn value(&mut self, tag: usize) -> Result<String, GgfError> {
        let mut value = String::new();
        let mut signs = self.text[self.at..].char_indices();
        while let Some((offset, sign)) = signs.next() {
            match sign {
                ']' => {
                    self.at += offset + 1;
                    return Ok(value);
                }
                '\\' => value.extend(signs.next().map(|(_, escaped)| escaped)),
                sign => value.push(sign),
            }
        }
        Err(self.error(tag, "the tag has no ] at its end"))
    }
}

/// A board `8 ---... *`: its size, the squares of each row, the side to act.
fn read_board(value: &str) -> Result<Line, String> {
    let value = value.trim_start();
    let Some(squares) = value.strip_prefix("8 ") else {
        return Err("only boards of size 8 can be read: expected BO[8 ...]".to_owned());
    };
    let position: Position = squares.parse().map_err(|error: crate::NotationError| error.reason)?;
    let black_acts = !squares.trim_end().ends_with(['O', 'o']);
    Ok(Line::from(position, black_acts))
}

fn read_move(line: &mut Line, notes: &mut Vec<String>, black: bool, value: &str) -> Result<(), String> {
    let (name, note) = value.split_once('/').unwrap_or((value, ""));
    let play: Play = name.parse().map_err(|error: crate::NotationError| error.reason)?;
    if line.black_acts() != black {
        // Only a pass that was left out explains the other side's turn.
        line.push(Play::Pass).map_err(|_| "it is the other side's turn".to_owned())?;
    }
    line.push(play).map_err(|error| error.to_string())?;
    notes.resize(line.plays().len() - 1, String::new());
    notes.push(note.to_owned());
    Ok(())
}
