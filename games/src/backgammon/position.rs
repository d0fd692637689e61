//! A backgammon position.

/// Number of checkers of each side.
pub const CHECKERS: u8 = 15;
/// Slot of the bar in a side's array.
pub const BAR: usize = 24;

/// The checkers of both sides, seen by the side on roll.
///
/// Each side counts the points from its own end: slot 0 is its ace point, slot 23 its 24 point, slot 24 the bar.
/// A side's slot `i` is therefore the other side's slot `23 - i`. Checkers that are in neither array have been
/// borne off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    /// Checkers of the side on roll.
    pub(super) own: [u8; 25],
    /// Checkers of the other side, from that side's point of view.
    pub(super) other: [u8; 25],
}

/// Checkers that cannot stand like this.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PositionError {
    /// A side has more checkers than there are.
    #[error("the side {} has {checkers} checkers, more than {CHECKERS}", side_name(*.on_roll))]
    TooManyCheckers {
        /// Whether it is the side on roll.
        on_roll: bool,
        /// Its checkers.
        checkers: u32,
    },
    /// A point has checkers of both sides.
    #[error("both sides have checkers on point {point} of the side on roll")]
    BothOnPoint {
        /// The point, 1..=24, counted by the side on roll.
        point: usize,
    },
    /// There is not a single checker left: only one side can have borne off all of its own.
    #[error("there are no checkers at all")]
    NoCheckers,
    /// A key that ends before it has told of all points.
    #[error("it ends in slot {slot} of 50: it tells of too many checkers")]
    KeyEndsEarly {
        /// The slot, counted over both sides.
        slot: usize,
    },
    /// A key that tells of something behind the last bar.
    #[error("it goes on after the last of its 50 slots")]
    KeyGoesOn,
}

fn side_name(on_roll: bool) -> &'static str {
    if on_roll { "on roll" } else { "not on roll" }
}

impl Position {
    /// The start of a game.
    pub const START: Position = {
        let mut side = [0; 25];
        side[5] = 5;
        side[7] = 3;
        side[12] = 5;
        side[23] = 2;
        Position { own: side, other: side }
    };

    /// A position from the checkers of both sides, each seen by itself (slots as in [`Position::own`]). Any arrangement is
    /// allowed that two sets of checkers can stand in, whether a game gets there or not, and so is a finished game.
    pub fn new(own: [u8; 25], other: [u8; 25]) -> Result<Position, PositionError> {
        for (side, on_roll) in [(&own, true), (&other, false)] {
            let checkers = side.iter().map(|&n| u32::from(n)).sum();
            if checkers > u32::from(CHECKERS) {
                return Err(PositionError::TooManyCheckers { on_roll, checkers });
            }
        }
        if let Some(slot) = (0..BAR).find(|&slot| own[slot] > 0 && other[23 - slot] > 0) {
            return Err(PositionError::BothOnPoint { point: slot + 1 });
        }
        if own == [0; 25] && other == [0; 25] {
            return Err(PositionError::NoCheckers);
        }
        Ok(Position { own, other })
    }

    /// Checkers of the side on roll: slots 0..=23 are its points 1..=24, slot 24 its bar.
    pub fn own(&self) -> &[u8; 25] {
        &self.own
    }

    /// Checkers of the other side, from its own point of view.
    pub fn other(&self) -> &[u8; 25] {
        &self.other
    }

    /// The same position seen by the other side.
    pub fn flipped(&self) -> Position {
        Position { own: self.other, other: self.own }
    }

    /// Checkers the side on roll has borne off.
    pub fn own_off(&self) -> u8 {
        CHECKERS - self.own.iter().sum::<u8>()
    }

    /// Checkers the other side has borne off.
    pub fn other_off(&self) -> u8 {
        CHECKERS - self.other.iter().sum::<u8>()
    }

    /// Points for the side on roll when one side has borne off all its checkers, `None` while the game goes on.
    ///
    /// The loser is gammoned (2) with no checker off, and backgammoned (3) when one of its checkers is moreover on the
    /// bar or in the winner's home.
    pub fn payoff(&self) -> Option<i8> {
        if self.other == [0; 25] {
            Some(-points_won(&self.own))
        } else if self.own == [0; 25] {
            Some(points_won(&self.other))
        } else {
            None
        }
    }
}

/// Points the winner gets from a loser who still has these checkers.
fn points_won(loser: &[u8; 25]) -> i8 {
    if loser.iter().sum::<u8>() < CHECKERS {
        1
    } else if loser[18..].iter().all(|&n| n == 0) {
        2
    } else {
        3
    }
}
