//! Positions as bits and letters: the ten-byte key, its 20-letter KEY and the 14-character position ID.
//!
//! The formats are GNU Backgammon's. The key writes the 25 slots of the side NOT on roll (its points 1 to 24, then its
//! bar) and then those of the side on roll; a slot of `n` checkers is `n` one bits and a zero bit, the lowest bit of the
//! first byte first.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::position::{Position, PositionError};
use super::{MatchState, Xgid};
use crate::NotationError;

/// Base64 without padding on writing, with or without on reading.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Position {
    /// The ten bytes that identify the position.
    pub fn key(&self) -> [u8; 10] {
        let mut key = [0; 10];
        let mut bit = 0;
        for &checkers in self.other.iter().chain(&self.own) {
            for _ in 0..checkers {
                key[bit / 8] |= 1 << (bit % 8);
                bit += 1;
            }
            bit += 1;
        }
        key
    }

    /// The position of a key.
    pub fn from_key(key: &[u8; 10]) -> Result<Position, PositionError> {
        let mut slots = [0u8; 50];
        let mut slot = 0;
        for bit in 0..80 {
            let set = key[bit / 8] >> (bit % 8) & 1 == 1;
            match slots.get_mut(slot) {
                Some(checkers) if set => *checkers += 1,
                Some(_) => slot += 1,
                None if set => return Err(PositionError::KeyGoesOn),
                None => {}
            }
        }
        if slot < slots.len() {
            return Err(PositionError::KeyEndsEarly { slot });
        }
        let (mut own, mut other) = ([0; 25], [0; 25]);
        other.copy_from_slice(&slots[..25]);
        own.copy_from_slice(&slots[25..]);
        Position::new(own, other)
    }

    /// GNU Backgammon's position ID, 14 characters: `4HPwATDgc/ABMA` is the start.
    pub fn id(&self) -> String {
        BASE64.encode(self.key())
    }

    /// Reads a position ID.
    pub fn from_id(text: &str) -> Result<Position, NotationError> {
        let error = |reason: String| NotationError::new(text, "position ID", reason);
        let bytes = BASE64.decode(text).map_err(|e| error(e.to_string().to_lowercase()))?;
        let key: [u8; 10] = bytes
            .try_into()
            .map_err(|_| error("it should have 14 characters, as 4HPwATDgc/ABMA has".to_owned()))?;
        Position::from_key(&key).map_err(|e| error(e.to_string()))
    }

    /// The KEY of GNU Backgammon's benchmark and training files, 20 letters A to P, two a byte, the high half first:
    /// `OAHDPAABDAOAHDPAABDA` is the start.
    pub fn key_letters(&self) -> String {
        let letter = |half: u8| char::from(b'A' + half);
        self.key().iter().flat_map(|&byte| [letter(byte >> 4), letter(byte & 15)]).collect()
    }

    /// Reads a KEY.
    pub fn from_key_letters(text: &str) -> Result<Position, NotationError> {
        let error = |reason: String| NotationError::new(text, "position KEY", reason);
        let letters = text.as_bytes();
        if letters.len() != 20 || !letters.iter().all(|c| (b'A'..=b'P').contains(c)) {
            return Err(error("it should be 20 letters from A to P".to_owned()));
        }
        let mut key = [0; 10];
        for (byte, pair) in key.iter_mut().zip(letters.chunks_exact(2)) {
            *byte = (pair[0] - b'A') << 4 | (pair[1] - b'A');
        }
        Position::from_key(&key).map_err(|e| error(e.to_string()))
    }
}

/// Writes the position ID.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.id())
    }
}

/// Reads any notation: a position ID, alone or with a match ID (`4HPwATDgc/ABMA:cAkAAAAAAAAA`), a KEY, or an XGID.
/// Whatever says more than the position must be right but is not kept.
impl FromStr for Position {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Position, NotationError> {
        let text = text.trim();
        if text.starts_with("XGID=") || text.split(':').next().is_some_and(|board| board.len() == 26) {
            return Ok(text.parse::<Xgid>()?.position);
        }
        if let Some((id, match_id)) = text.split_once(':') {
            let position = Position::from_id(id)?;
            match_id.parse::<MatchState>()?;
            return Ok(position);
        }
        if text.len() == 20 {
            return Position::from_key_letters(text);
        }
        if matches!(text.trim_end_matches('=').len(), 14) {
            return Position::from_id(text);
        }
        Err(NotationError::new(
            text,
            "position",
            "expected a position ID such as 4HPwATDgc/ABMA, a KEY of 20 letters such as OAHDPAABDAOAHDPAABDA, or an XGID",
        ))
    }
}
