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
