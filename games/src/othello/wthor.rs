//! WTHOR files (`.wtb`), in which the tournament games of a year are kept.
//!
//! Little-endian. A header of 16 bytes: century, year, month and day of the file; u32 number of games; u16 0; u16 year of the
//! games; board size (0 or 8: 8x8); type (0: games); depth of the theoretical score; 0. Then 68 bytes a game: u16 tournament,
//! Black, White; Black's discs; the theoretical score; 60 moves 10 * row + column, zeros after the last, no passes.

use super::line::{Line, LineError};
use super::{Play, Square};

/// The games of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WthorFile {
    /// Century, year of the century, month and day of the file.
    pub written: [u8; 4],
    /// The year of the games.
    pub year: u16,
    /// Empty squares from which on the theoretical scores are exact.
    pub depth: u8,
    /// The games.
    pub games: Vec<WthorGame>,
}

/// A game of a file. The names behind the numbers are in files of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WthorGame {
    /// Number of the tournament.
    pub tournament: u16,
    /// Number of Black.
    pub black: u16,
    /// Number of White.
    pub white: u16,
    /// Black's discs as recorded, 0..=64, empty squares given to the winner.
    pub score: u8,
    /// Black's discs with best play of both sides from [`WthorFile::depth`] empty squares on.
    pub theoretical: u8,
    /// The plays. Some recorded games are cut short.
    pub line: Line,
}

/// Bytes that are no WTHOR file, or games that cannot be one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WthorError {
    /// Less than a header.
    #[error("a WTHOR file begins with a header of 16 bytes; there are {0}")]
    NoHeader(usize),
    /// Not the games of an 8x8 board.
    #[error("WTHOR header, byte {at}: {name} is {value}; only files of games on 8x8 boards can be read")]
    Kind {
        /// Offset of the byte.
        at: usize,
        /// What it says.
        name: &'static str,
        /// What it is.
        value: u8,
    },
    /// The header's number of games does not fit the size.
    #[error("the WTHOR header promises {promised} games of 68 bytes; after it there are {bytes} bytes")]
    Length {
        /// Games the header promises.
        promised: u32,
        /// Bytes there are.
        bytes: usize,
    },
    /// A move that is none.
    #[error("WTHOR game {game}, move {number}: {code} is no square 10 * row + column")]
    Square {
        /// The game, counted from 1.
        game: usize,
        /// The move, counted from 1, without passes.
        number: usize,
        /// Its code.
        code: u8,
    },
    /// A move that cannot be made.
    #[error("WTHOR game {game}, move {number}, {square}: {problem}")]
    Move {
        /// The game, counted from 1.
        game: usize,
        /// The move, counted from 1, without passes.
        number: usize,
        /// Its square.
        square: Square,
        /// Why not.
        problem: LineError,
    },
    /// A score beyond the board.
    #[error("WTHOR game {game}: a score of {score} discs on 64 squares")]
    Score {
        /// The game, counted from 1.
        game: usize,
        /// The score.
        score: u8,
    },
    /// A game to be written that does not begin at the start, or has another score at its end than it claims.
    #[error("game {game} cannot be written as WTHOR: {problem}")]
    Unwritable {
        /// The game, counted from 1.
        game: usize,
        /// Why not.
        problem: String,
    },
}

const HEADER: usize = 16;
const GAME: usize = 68;

impl WthorFile {
    /// Reads a file; every game is replayed.
    pub fn read(bytes: &[u8]) -> Result<WthorFile, WthorError> {
        let Some((header, records)) = bytes.split_first_chunk::<HEADER>() else {
            return Err(WthorError::NoHeader(bytes.len()));
        };
        let kinds: [(usize, &'static str, &[u8]); 2] =
            [(12, "the board size", &[0, 8]), (13, "the type", &[0])];
        for (at, name, known) in kinds {
            if !known.contains(&header[at]) {
                return Err(WthorError::Kind { at, name, value: header[at] });
            }
        }
        let promised = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        if (promised as usize).checked_mul(GAME) != Some(records.len()) {
            return Err(WthorError::Length { promised, bytes: records.len() });
        }
        let games = (1..).zip(records.chunks_exact(GAME)).map(|(game, record)| read_game(game, record));
        Ok(WthorFile {
            written: [header[0], header[1], header[2], header[3]],
            year: u16::from_le_bytes([header[10], header[11]]),
            depth: header[14],
            games: games.collect::<Result<_, _>>()?,
        })
    }

    /// The bytes of the file.
    pub fn write(&self) -> Result<Vec<u8>, WthorError> {
        let mut bytes = self.written.to_vec();
        bytes.extend((self.games.len() as u32).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(self.year.to_le_bytes());
        bytes.extend([8, 0, self.depth, 0]);
        for (game, record) in (1..).zip(&self.games) {
            write_game(game, record, &mut bytes)?;
        }
        Ok(bytes)
    }
}

fn read_game(game: usize, record: &[u8]) -> Result<WthorGame, WthorError> {
    let number = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
    let score = record[6];
    if score > 64 {
        return Err(WthorError::Score { game, score });
    }
    let mut line = Line::default();
    for (number, &code) in (1..).zip(record[8..].iter().take_while(|&&code| code != 0)) {
        let (row, column) = (code / 10, code % 10);
        let square = match (row, column) {
            (1..=8, 1..=8) => Square::new((row - 1) * 8 + column - 1),
            _ => None,
        };
        let square = square.ok_or(WthorError::Square { game, number, code })?;
        line.push(Play::At(square)).map_err(|problem| WthorError::Move { game, number, square, problem })?;
    }
    Ok(WthorGame {
        tournament: number(0),
        black: number(2),
        white: number(4),
        score,
        theoretical: record[7],
        line,
    })
}

fn write_game(game: usize, record: &WthorGame, bytes: &mut Vec<u8>) -> Result<(), WthorError> {
    let unwritable = |problem: String| WthorError::Unwritable { game, problem };
    if Line::default().start() != record.line.start() {
        return Err(unwritable("it does not begin at the start of a game".to_owned()));
    }
    if record.score > 64 {
        return Err(WthorError::Score { game, score: record.score });
    }
    if let Some(discs) = record.line.black_discs()
        && discs != record.score
    {
        return Err(unwritable(format!("it ends with {discs} discs of Black, not {}", record.score)));
    }
    for number in [record.tournament, record.black, record.white] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([record.score, record.theoretical]);
    // From the start there are sixty empty squares, so the moves always fit.
    let codes = record.line.squares().map(|square| (square.index() / 8 + 1) * 10 + square.index() % 8 + 1);
    bytes.extend(codes.chain(std::iter::repeat(0)).take(60));
    Ok(())
}
