//! What a match ID says: cube, score, dice and whose turn it is. GNU Backgammon's 12 characters.

use std::fmt;
use std::str::FromStr;

use base64::Engine;

use super::Dice;
use super::position_id::BASE64;
use crate::NotationError;

/// One of the two players of a match. [`Seat::Zero`] sits at the top of a board diagram and has the O, [`Seat::One`] at
/// the bottom and has the X.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seat {
    /// Player 0.
    Zero,
    /// Player 1.
    One,
}

impl Seat {
    /// The opponent.
    pub fn other(self) -> Seat {
        if self == Seat::Zero { Seat::One } else { Seat::Zero }
    }

    fn from_bit(bit: u16) -> Seat {
        if bit == 0 { Seat::Zero } else { Seat::One }
    }
}

/// How far a game has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameState {
    /// No game has been started.
    NotStarted,
    /// In play.
    Playing,
    /// Played to the end.
    Over,
    /// Ended by a resignation.
    Resigned,
    /// Ended by a double that was dropped.
    Dropped,
}

const GAME_STATES: [GameState; 5] =
    [GameState::NotStarted, GameState::Playing, GameState::Over, GameState::Resigned, GameState::Dropped];

/// Everything about a match but the checkers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchState {
    /// Logarithm to base 2 of the cube's value, 0..=15.
    pub cube_log2: u8,
    /// Who may double, `None` when the cube is in the middle.
    pub cube_owner: Option<Seat>,
    /// The side on roll, whose position goes with this.
    pub on_roll: Seat,
    /// Whether this is the Crawford game.
    pub crawford: bool,
    /// How far the game has come.
    pub game_state: GameState,
    /// Who has to decide something; not the side on roll when that has offered a double.
    pub turn: Seat,
    /// Whether a double is being offered.
    pub doubled: bool,
    /// Points offered by resignation: 0 for none, then 1, 2 or 3.
    pub resigned: u8,
    /// The roll, once rolled.
    pub dice: Option<Dice>,
    /// Points the match is played to, 0 for money, at most 32,767.
    pub length: u16,
    /// Points of seat zero and seat one, at most 32,767.
    pub score: [u16; 2],
    /// Whether the Jacoby rule holds (money only).
    pub jacoby: bool,
}

impl Default for MatchState {
    /// Money play with the cube in the middle, seat zero on roll, nothing rolled.
    fn default() -> Self {
        MatchState {
            cube_log2: 0,
            cube_owner: None,
            on_roll: Seat::Zero,
            crawford: false,
            game_state: GameState::Playing,
            turn: Seat::Zero,
            doubled: false,
            resigned: 0,
            dice: None,
            length: 0,
            score: [0, 0],
            jacoby: false,
        }
    }
}

/// Largest match length and score, which have 15 bits.
const MAX_SCORE: u16 = (1 << 15) - 1;

/// Writes the match ID.
impl fmt::Display for MatchState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bits = Bits::default();
        let (high, low) = self.dice.map_or((0, 0), |dice| (dice.high(), dice.low()));
        bits.push(4, u16::from(self.cube_log2.min(15)));
        bits.push(2, self.cube_owner.map_or(3, |seat| seat as u16));
        bits.push(1, self.on_roll as u16);
        bits.push(1, u16::from(self.crawford));
        bits.push(3, self.game_state as u16);
        bits.push(1, self.turn as u16);
        bits.push(1, u16::from(self.doubled));
        bits.push(2, u16::from(self.resigned.min(3)));
        bits.push(3, u16::from(high));
        bits.push(3, u16::from(low));
        bits.push(15, self.length.min(MAX_SCORE));
        bits.push(15, self.score[0].min(MAX_SCORE));
        bits.push(15, self.score[1].min(MAX_SCORE));
        bits.push(1, u16::from(!self.jacoby));
        f.pad(&BASE64.encode(bits.bytes))
    }
}

impl FromStr for MatchState {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<MatchState, NotationError> {
        let error = |reason: &str| NotationError::new(text, "match ID", reason);
        let bytes = BASE64.decode(text).map_err(|e| error(&e.to_string().to_lowercase()))?;
        let bytes: [u8; 9] =
            bytes.try_into().map_err(|_| error("it should have 12 characters, as cAkAAAAAAAAA has"))?;
        let mut bits = Bits { bytes, next: 0 };
        Ok(MatchState {
            cube_log2: bits.take(4) as u8,
            cube_owner: match bits.take(2) {
                0 => Some(Seat::Zero),
                1 => Some(Seat::One),
                3 => None,
                _ => return Err(error("the cube has an owner who does not exist")),
            },
            on_roll: Seat::from_bit(bits.take(1)),
            crawford: bits.take(1) == 1,
            game_state: *GAME_STATES
                .get(usize::from(bits.take(3)))
                .ok_or_else(|| error("the game is in a state that does not exist"))?,
            turn: Seat::from_bit(bits.take(1)),
            doubled: bits.take(1) == 1,
            resigned: bits.take(2) as u8,
            dice: match (bits.take(3) as u8, bits.take(3) as u8) {
                (0, 0) => None,
                (a, b) => Some(Dice::new(a, b).ok_or_else(|| error("a die is not between 1 and 6"))?),
            },
            length: bits.take(15),
            score: [bits.take(15), bits.take(15)],
            jacoby: bits.take(1) == 0,
        })
    }
}

/// Fields of a few bits each, the lowest bit of the first byte first.
#[derive(Default)]
struct Bits {
    bytes: [u8; 9],
    next: usize,
}

impl Bits {
    fn push(&mut self, width: usize, value: u16) {
        for i in 0..width {
            self.bytes[self.next / 8] |= ((value >> i & 1) as u8) << (self.next % 8);
            self.next += 1;
        }
    }

    fn take(&mut self, width: usize) -> u16 {
        let mut value = 0;
        for i in 0..width {
            value |= u16::from(self.bytes[self.next / 8] >> (self.next % 8) & 1) << i;
            self.next += 1;
        }
        value
    }
}
