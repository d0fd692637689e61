//! PDN, in which games of draughts are exchanged: tags such as `[White "..."]`, then the moves.

use std::fmt::Write;

use super::board::Play;
use super::notation::{read_move, write_move};
use super::position::Position;

/// A game in PDN.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PdnGame {
    /// Its tags in order under their English names, but for `Result`, `GameType`, `SetUp` and `FEN`, which say what the other
    /// fields hold.
    pub tags: Vec<(String, String)>,
    /// The position it begins from.
    pub start: Position,
    /// The plays made.
    pub plays: Vec<Play>,
    /// How it ended.
    pub result: PdnResult,
}

/// How a game ended, as its players say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PdnResult {
    /// White won.
    White,
    /// Black won.
    Black,
    /// A draw.
    Draw,
    /// Not known, or not over.
    Unknown,
}

/// Text that is no PDN of Italian draughts.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("PDN, line {line}, game {game}: {problem}")]
pub struct PdnError {
    /// The line, counted from 1.
    pub line: usize,
    /// The game, counted from 1.
    pub game: usize,
    /// What is wrong there.
    pub problem: String,
}

/// A game with a play that is not legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("play {0} of the game is not legal")]
pub struct IllegalPlay(
    /// The play, counted from 1.
    pub usize,
);

/// The number of Italian draughts among the games of PDN, and how its squares are numbered.
const GAME_TYPE: &str = "22,W,8,8,N2,1";

/// Names that Italian programs give to tags.
const ITALIAN: [(&str, &str); 8] = [
    ("Bianco", "White"),
    ("Nero", "Black"),
    ("Risultato", "Result"),
    ("Evento", "Event"),
    ("Data", "Date"),
    ("Luogo", "Site"),
    ("Turno", "Round"),
    ("Commento", "Annotator"),
];

impl PdnResult {
    /// `1-0` and the like; also `2-0` and `1-1`, as some federations count.
    fn read(text: &str) -> Option<PdnResult> {
        match text {
            "1-0" | "2-0" => Some(PdnResult::White),
            "0-1" | "0-2" => Some(PdnResult::Black),
            "1/2-1/2" | "1-1" => Some(PdnResult::Draw),
            "*" => Some(PdnResult::Unknown),
            _ => None,
        }
    }

    fn text(self) -> &'static str {
        match self {
            PdnResult::White => "1-0",
            PdnResult::Black => "0-1",
            PdnResult::Draw => "1/2-1/2",
            PdnResult::Unknown => "*",
        }
    }
}

impl PdnGame {
    /// A game from the start without plays.
    pub fn new() -> PdnGame {
        PdnGame { tags: Vec::new(), start: Position::start(), plays: Vec::new(), result: PdnResult::Unknown }
    }

    /// The value of a tag, if there is one.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str())
    }

    /// Reads every game of a text. Comments, variations and marks such as `!` are left out; tags may be Italian, and the game
    /// type may be missing.
    pub fn read_all(text: &str) -> Result<Vec<PdnGame>, PdnError> {
        let mut reader = Reader::default();
        let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut line = 1;
        loop {
            let trimmed = rest.trim_start();
            line += rest[..rest.len() - trimmed.len()].matches('\n').count();
            rest = trimmed;
            if rest.is_empty() {
                break;
            }
            let error = |games: usize, problem: String| PdnError { line, game: games + 1, problem };
            let len = token_len(rest).map_err(|problem| error(reader.games.len(), problem.to_owned()))?;
            reader.token(&rest[..len]).map_err(|problem| error(reader.games.len(), problem))?;
            line += rest[..len].matches('\n').count();
            rest = &rest[len..];
        }
        reader.finish();
        Ok(reader.games)
    }

    /// The game as PDN.
    pub fn write(&self) -> Result<String, IllegalPlay> {
        let mut text = String::new();
        let mut tag = |name: &str, value: &str| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace(['\r', '\n'], " ");
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{name} \"{value}\"]");
        };
        for (name, value) in &self.tags {
            tag(name, value);
        }
        tag("Result", self.result.text());
        tag("GameType", GAME_TYPE);
        if self.start != Position::start() {
            tag("SetUp", "1");
            tag("FEN", &self.start.to_string());
        }
        text.push('\n');
        let mut state = self.start.clone();
        let mut column = 0;
        let mut word = |text: &mut String, word: &str| {
            if column > 0 {
                let wraps = column + 1 + word.len() > 80;
                text.push(if wraps { '\n' } else { ' ' });
                column = if wraps { 0 } else { column + 1 };
            }
            text.push_str(word);
            column += word.len();
        };
        let mut number = 1;
        let mut legal = Vec::new();
        for (index, play) in self.plays.iter().enumerate() {
            state.board().plays(&mut legal);
            if !legal.iter().any(|known| known.same_result(play)) {
                return Err(IllegalPlay(index + 1));
            }
            if state.white_acts() {
                word(&mut text, &format!("{number}."));
            } else {
                if index == 0 {
                    word(&mut text, "1...");
                }
                number += 1;
            }
            word(&mut text, &write_move(&state, play));
            state = state.after(play);
        }
        word(&mut text, self.result.text());
        text.push('\n');
        Ok(text)
    }
}

impl Default for PdnGame {
    fn default() -> Self {
        PdnGame::new()
    }
}

/// Length of the tag, comment, variation or word that `text` begins with.
fn token_len(text: &str) -> Result<usize, &'static str> {
    let until = |end: char, problem| text.find(end).map(|at| at + 1).ok_or(problem);
    match text.as_bytes()[0] {
        b'[' => {
            let (mut quoted, mut escaped) = (false, false);
            for (at, sign) in text.char_indices() {
                match sign {
                    _ if escaped => escaped = false,
                    '\\' if quoted => escaped = true,
                    '"' => quoted = !quoted,
                    ']' if !quoted => return Ok(at + 1),
                    '\n' => break,
                    _ => {}
                }
            }
            Err("the tag has no ] at the end of its line")
        }
        b'{' => until('}', "the comment has no } at its end"),
        b'(' => {
            let mut depth = 0;
            for (at, sign) in text.char_indices() {
                depth += i32::from(sign == '(') - i32::from(sign == ')');
                if depth == 0 {
                    return Ok(at + 1);
                }
            }
            Err("the variation has no ) at its end")
        }
        b';' | b'%' => Ok(text.find('\n').unwrap_or(text.len())),
        first => {
            let stops = |c: char| c.is_whitespace() || "[{(;".contains(c);
            // At least one character, whichever it is, so that reading goes on.
            let width = text.chars().next().map_or(1, char::len_utf8);
            let len = text[width..].find(stops).map_or(text.len(), |at| at + width);
            // `1.23-19`: the number is a word of its own.
            let word = &text[..len];
            let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let dots = word[digits..].len() - word[digits..].trim_start_matches('.').len();
            Ok(if first.is_ascii_digit() && dots > 0 { digits + dots } else { len })
        }
    }
}

#[derive(Default)]
struct Reader {
    games: Vec<PdnGame>,
    /// The game being read, and the position it has reached.
    game: Option<(PdnGame, Position)>,
    /// Whether moves of it were read, so that a tag begins another game.
    in_moves: bool,
    legal: Vec<Play>,
}

impl Reader {
    fn finish(&mut self) {
        self.games.extend(self.game.take().map(|(game, _)| game));
        self.in_moves = false;
    }

    fn current(&mut self) -> &mut (PdnGame, Position) {
        self.game.get_or_insert_with(|| (PdnGame::new(), Position::start()))
    }

    fn token(&mut self, token: &str) -> Result<(), String> {
        match token.as_bytes()[0] {
            b'[' => {
                if self.in_moves {
                    self.finish();
                }
                self.tag(token)
            }
            b'{' | b'(' | b';' | b'%' | b'$' => Ok(()),
            _ => self.word(token),
        }
    }

    fn tag(&mut self, token: &str) -> Result<(), String> {
        let inner = token.trim_start_matches('[').trim_end_matches(']').trim();
        let wrong = || format!("{token} should be a tag such as [White \"name\"]");
        let (name, value) = inner.split_once(char::is_whitespace).ok_or_else(wrong)?;
        let value =
            value.trim().strip_prefix('"').and_then(|value| value.strip_suffix('"')).ok_or_else(wrong)?;
        let value = unescaped(value);
        let name = ITALIAN
            .iter()
            .find(|(italian, _)| italian.eq_ignore_ascii_case(name))
            .map_or(name, |pair| pair.1);
        let (game, state) = self.current();
        match name {
            // An unusual result says nothing; the moves may still end with a usual one.
            "Result" => game.result = PdnResult::read(&value).unwrap_or(PdnResult::Unknown),
            "GameType" if value.split(',').next().map(str::trim) == Some("22") => {}
            "GameType" => return Err(format!("game type {value:?}; Italian draughts is 22")),
            "SetUp" => {}
            "FEN" => {
                *state = value.parse().map_err(|error: crate::NotationError| error.to_string())?;
                game.start = state.clone();
            }
            _ => game.tags.push((name.to_owned(), value)),
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        self.in_moves = true;
        if let Some(result) = PdnResult::read(word) {
            let (game, _) = self.current();
            if result != PdnResult::Unknown {
                game.result = result;
            }
            self.finish();
            return Ok(());
        }
        let is_number = |word: &str| {
            let digits = word.trim_end_matches('.');
            digits.len() < word.len() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        let text = word.trim_end_matches(['!', '?', '*', '+']);
        if is_number(word) || text.is_empty() {
            return Ok(());
        }
        let mut legal = std::mem::take(&mut self.legal);
        let (game, state) = self.current();
        state.board().plays(&mut legal);
        let index = read_move(state, &legal, text).map_err(|error| {
            format!("move {} of the game, {text}: {}", game.plays.len() + 1, error.reason)
        })?;
        game.plays.push(legal[index]);
        *state = state.after(&legal[index]);
        self.legal = legal;
        Ok(())
    }
}

fn unescaped(value: &str) -> String {
    let mut text = String::new();
    let mut signs = value.chars();
    while let Some(sign) = signs.next() {
        text.extend(if sign == '\\' { signs.next() } else { Some(sign) });
    }
    text
}
