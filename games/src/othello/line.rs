//! A game as its plays, legal from the first to the last.

use super::{Play, Position, Square};

/// A game or the beginning of one: a starting position and legal plays, every forced pass among them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    start: Position,
    black_starts: bool,
    plays: Vec<Play>,
    end: Position,
}

/// A play that cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LineError {
    /// The square turns no disc.
    #[error("it is not legal")]
    NotLegal,
    /// A pass of a side that can play.
    #[error("there is a square to play")]
    MustPlay,
    /// A play after the end.
    #[error("the game is over")]
    GameOver,
}

impl Default for Line {
    /// From the start of a game.
    fn default() -> Self {
        Line::from(Position::START, true)
    }
}

impl Line {
    /// No plays yet from this position, with Black or White to act.
    pub fn from(start: Position, black_starts: bool) -> Line {
        Line { start, black_starts, plays: Vec::new(), end: start }
    }

    /// A line of these plays from the start of a game; an error has the index of the play.
    pub fn of(plays: &[Play]) -> Result<Line, (usize, LineError)> {
        let mut line = Line::default();
        for (index, &play) in plays.iter().enumerate() {
            line.push(play).map_err(|error| (index, error))?;
        }
        Ok(line)
    }

    /// Adds a play. Before a square, the pass of a side that has none is added by itself.
    pub fn push(&mut self, play: Play) -> Result<(), LineError> {
        if self.end.is_over() {
            return Err(LineError::GameOver);
        }
        if self.end.move_bits() == 0 {
            // Checked before anything is added, so that a refused play leaves the line as it was.
            let passed = self.end.after(Play::Pass);
            if let Play::At(square) = play
                && passed.move_bits() & square.bit() == 0
            {
                return Err(LineError::NotLegal);
            }
            self.add(Play::Pass);
            if play == Play::Pass {
                return Ok(());
            }
        }
        match play {
            Play::At(square) if self.end.move_bits() & square.bit() == 0 => Err(LineError::NotLegal),
            Play::Pass => Err(LineError::MustPlay),
            Play::At(_) => {
                self.add(play);
                Ok(())
            }
        }
    }

    fn add(&mut self, play: Play) {
        self.plays.push(play);
        self.end = self.end.after(play);
    }

    /// The position before the first play, and whether Black acts in it.
    pub fn start(&self) -> (&Position, bool) {
        (&self.start, self.black_starts)
    }

    /// The plays, passes among them.
    pub fn plays(&self) -> &[Play] {
        &self.plays
    }

    /// The squares played, without the passes.
    pub fn squares(&self) -> impl Iterator<Item = Square> {
        self.plays.iter().filter_map(|&play| match play {
            Play::At(square) => Some(square),
            Play::Pass => None,
        })
    }

    /// The position after the last play.
    pub fn end(&self) -> &Position {
        &self.end
    }

    /// Whether Black acts after the last play.
    pub fn black_acts(&self) -> bool {
        self.black_starts == self.plays.len().is_multiple_of(2)
    }

    /// Black's discs at the end, empty squares given to the winner; `None` while the game goes on.
    pub fn black_discs(&self) -> Option<u8> {
        if !self.end.is_over() {
            return None;
        }
        let black = if self.black_acts() { self.end } else { self.end.flipped() };
        let [own, other] = [black.own(), black.other()].map(|discs| discs.count_ones() as u8);
        Some(match own.cmp(&other) {
            std::cmp::Ordering::Greater => 64 - other,
            std::cmp::Ordering::Equal => 32,
            std::cmp::Ordering::Less => own,
        })
    }
}
