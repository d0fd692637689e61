//! A roll of two dice.

use std::fmt;
use std::str::FromStr;

use crate::NotationError;

/// Two dice, the larger first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dice {
    high: u8,
    low: u8,
}

impl Dice {
    /// The roll of two dice in any order; `None` unless both are 1..=6.
    pub const fn new(a: u8, b: u8) -> Option<Dice> {
        if a < 1 || a > 6 || b < 1 || b > 6 {
            return None;
        }
        Some(if a >= b { Dice { high: a, low: b } } else { Dice { high: b, low: a } })
    }

    /// The larger die.
    pub const fn high(self) -> u8 {
        self.high
    }

    /// The smaller die.
    pub const fn low(self) -> u8 {
        self.low
    }

    /// Whether both dice show the same.
    pub const fn is_double(self) -> bool {
        self.high == self.low
    }
}

/// Writes the two numbers, the larger first: `31`.
impl fmt::Display for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.high, self.low)
    }
}

/// Reads two numbers in any order, alone or with blanks, a hyphen or a comma in between: `31`, `1 3`, `3-1`.
impl FromStr for Dice {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Dice, NotationError> {
        let mut numbers =
            text.chars().filter(|c| !matches!(c, ' ' | '\t' | '-' | ',')).map(|c| c.to_digit(7));
        match (numbers.next().flatten(), numbers.next().flatten(), numbers.next()) {
            (Some(a), Some(b), None) => Dice::new(a as u8, b as u8),
            _ => None,
        }
        .ok_or_else(|| {
            NotationError::new(text, "roll", "expected two numbers from 1 to 6, such as 31 or 3-1")
        })
    }
}

/// The 21 rolls with their probabilities, 1/36 for a double and 2/36 for the others: 11, 21, 22, 31, 32, 33, ...
pub(super) static ROLLS: [(Dice, f32); 21] = {
    let mut rolls = [(Dice { high: 1, low: 1 }, 1.0 / 36.0); 21];
    let (mut i, mut high) = (0, 1);
    while high <= 6 {
        let mut low = 1;
        while low <= high {
            let weight = if high == low { 1.0 / 36.0 } else { 2.0 / 36.0 };
            rolls[i] = (Dice { high, low }, weight);
            i += 1;
            low += 1;
        }
        high += 1;
    }
    rolls
};

/// The 15 rolls that can open a game: each player throws one die and ties are thrown again.
pub(super) static OPENING_ROLLS: [(Dice, f32); 15] = {
    let mut rolls = [(Dice { high: 2, low: 1 }, 1.0 / 15.0); 15];
    let (mut i, mut high) = (0, 2);
    while high <= 6 {
        let mut low = 1;
        while low < high {
            rolls[i] = (Dice { high, low }, 1.0 / 15.0);
            i += 1;
            low += 1;
        }
        high += 1;
    }
    rolls
};
