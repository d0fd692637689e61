//! The Othello board.

/// One of the 64 squares: 0 is a1, 1 is b1, 8 is a2, 63 is h8.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Square(u8);

impl Square {
    /// The square with this index, `None` from 64 on.
    pub const fn new(index: u8) -> Option<Square> {
        if index < 64 { Some(Square(index)) } else { None }
    }

    /// Its index, 0..=63.
    pub const fn index(self) -> u8 {
        self.0
    }

    pub(super) const fn bit(self) -> u64 {
        1 << self.0
    }
}

/// What a side does in its turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Play {
    /// Places a disc and turns those it encloses.
    At(Square),
    /// Has no square to play and passes.
    Pass,
}

/// The discs of both sides, one bit a square (see [`Square`]), seen by the side to act. Which side is Black is not kept:
/// the rules are the same for both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    own: u64,
    other: u64,
}

impl Position {
    /// The start of a game, Black to act: Black on e4 and d5, White on d4 and e5.
    pub const START: Position = Position { own: 1 << 28 | 1 << 35, other: 1 << 27 | 1 << 36 };

    /// A position from the discs of the side to act and of the other side; `None` when both have a disc on one square.
    pub const fn new(own: u64, other: u64) -> Option<Position> {
        if own & other == 0 { Some(Position { own, other }) } else { None }
    }

    /// Discs of the side to act.
    pub fn own(&self) -> u64 {
        self.own
    }

    /// Discs of the other side.
    pub fn other(&self) -> u64 {
        self.other
    }

    /// The same discs with the other side to act.
    pub fn flipped(&self) -> Position {
        Position { own: self.other, other: self.own }
    }

    /// The squares the side to act can play, in ascending order.
    pub fn moves(&self) -> impl Iterator<Item = Square> {
        let mut bits = self.move_bits();
        std::iter::from_fn(move || {
            let index = bits.trailing_zeros() as u8;
            bits &= bits.wrapping_sub(1);
            Square::new(index)
        })
    }

    /// Whether neither side can play a square.
    pub fn is_over(&self) -> bool {
        self.move_bits() == 0 && self.flipped().move_bits() == 0
    }

    /// Discs of the side to act less those of the other side.
    pub fn margin(&self) -> i8 {
        self.own.count_ones() as i8 - self.other.count_ones() as i8
    }

    /// The position after a play, with the other side to act. The play is taken to be legal.
    pub fn after(&self, play: Play) -> Position {
        match play {
            Play::Pass => self.flipped(),
            Play::At(square) => {
                let turned = self.turned_by(square);
                Position { own: self.other & !turned, other: self.own | turned | square.bit() }
            }
        }
    }

    /// The squares the side to act can play, as bits.
    pub fn move_bits(&self) -> u64 {
        let empty = !(self.own | self.other);
        let mut moves = 0;
        for direction in DIRECTIONS {
            // A line of the other's discs that starts beside an own one, grown to its full length of at most six.
            let mut line = direction.shift(self.own) & self.other;
            for _ in 0..5 {
                line |= direction.shift(line) & self.other;
            }
            moves |= direction.shift(line) & empty;
        }
        moves
    }

    /// The discs that one placed on `square` turns.
    fn turned_by(&self, square: Square) -> u64 {
        let mut turned = 0;
        for direction in DIRECTIONS {
            let mut line = 0;
            let mut next = direction.shift(square.bit());
            while next & self.other != 0 {
                line |= next;
                next = direction.shift(next);
            }
            if next & self.own != 0 {
                turned |= line;
            }
        }
        turned
    }
}

/// One of the eight ways to go over the board.
#[derive(Clone, Copy)]
struct Direction {
    /// Squares to the left (towards h8), or to the right when negative.
    by: i8,
    /// The squares that can be reached: not the file on the far side, which a step over the edge would come to.
    reach: u64,
}

impl Direction {
    #[inline]
    fn shift(self, bits: u64) -> u64 {
        let moved = if self.by > 0 { bits << self.by } else { bits >> -self.by };
        moved & self.reach
    }
}

const NOT_A: u64 = 0xfefe_fefe_fefe_fefe;
const NOT_H: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const DIRECTIONS: [Direction; 8] = [
    Direction { by: 1, reach: NOT_A },
    Direction { by: -1, reach: NOT_H },
    Direction { by: 8, reach: u64::MAX },
    Direction { by: -8, reach: u64::MAX },
    Direction { by: 9, reach: NOT_A },
    Direction { by: 7, reach: NOT_H },
    Direction { by: -7, reach: NOT_A },
    Direction { by: -9, reach: NOT_H },
];
