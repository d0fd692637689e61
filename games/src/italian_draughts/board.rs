//! The pieces of a draughts board and their plays.

/// The pieces seen by the side to act: one bit a square, bit 0 is the square on its far left, bit 31 the one on its near
/// right, four a row. For White bit `i` is square `i + 1`, for Black it is square `32 - i`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Board {
    /// Men of the side to act.
    pub(super) own_men: u32,
    /// Its kings.
    pub(super) own_kings: u32,
    /// Men of the other side.
    pub(super) other_men: u32,
    /// Its kings.
    pub(super) other_kings: u32,
}

/// Pieces that cannot stand like this.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BoardError {
    /// Two pieces on one square.
    #[error("there are two pieces on one square")]
    TwoOnSquare,
    /// A side has more than twelve pieces.
    #[error("a side has more than 12 pieces")]
    TooManyPieces,
    /// A man on the row where it would have become a king.
    #[error("a man stands on its last row, where it would be a king")]
    ManOnLastRow,
    /// No piece at all.
    #[error("there are no pieces")]
    NoPieces,
}

/// A way to play: the squares one piece touches and what it captures, seen by its side (see [`Board`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Play {
    /// The squares, from the first to the last.
    path: [u8; 10],
    /// How many there are, 2..=10.
    len: u8,
    /// The squares of the captured pieces, as bits.
    captured: u32,
}

impl Play {
    /// A play over these squares.
    pub(super) fn new(path: &[u8], captured: u32) -> Play {
        let mut play = Play { path: [0; 10], len: path.len() as u8, captured };
        play.path[..path.len()].copy_from_slice(path);
        play
    }

    /// Bit numbers of the squares the piece touches, 2 to 10 of them.
    pub fn path(&self) -> &[u8] {
        &self.path[..usize::from(self.len)]
    }

    /// Where it starts.
    pub fn from(&self) -> u8 {
        self.path[0]
    }

    /// Where it ends.
    pub fn to(&self) -> u8 {
        self.path[usize::from(self.len) - 1]
    }

    /// The squares of the captured pieces, as bits.
    pub fn captured(&self) -> u32 {
        self.captured
    }

    /// Whether two plays of one board lead to the same position: captures over the same pieces on different paths.
    pub(super) fn same_result(&self, play: &Play) -> bool {
        (self.from(), self.to(), self.captured) == (play.from(), play.to(), play.captured)
    }
}

/// The farthest row, where men become kings.
pub(super) const LAST_ROW: u32 = 0xf;
/// The nearest row, where the other side's do.
const FIRST_ROW: u32 = 0xf << 28;

impl Board {
    /// The start of a game.
    pub const START: Board = Board { own_men: 0xfff << 20, own_kings: 0, other_men: 0xfff, other_kings: 0 };

    /// A board from the pieces of the side to act and those of the other side, men and kings, as its bits.
    pub fn new(own: [u32; 2], other: [u32; 2]) -> Result<Board, BoardError> {
        let ([own_men, own_kings], [other_men, other_kings]) = (own, other);
        let all = [own_men, own_kings, other_men, other_kings];
        let union = all.iter().fold(0, |union, bits| union | bits);
        let pieces = |side: [u32; 2]| side[0].count_ones() + side[1].count_ones();
        if union.count_ones() != pieces(own) + pieces(other) {
            return Err(BoardError::TwoOnSquare);
        }
        if pieces(own) > 12 || pieces(other) > 12 {
            return Err(BoardError::TooManyPieces);
        }
        if own_men & LAST_ROW != 0 || other_men & FIRST_ROW != 0 {
            return Err(BoardError::ManOnLastRow);
        }
        if union == 0 {
            return Err(BoardError::NoPieces);
        }
        Ok(Board { own_men, own_kings, other_men, other_kings })
    }

    /// Men and kings of the side to act, as bits.
    pub fn own(&self) -> [u32; 2] {
        [self.own_men, self.own_kings]
    }

    /// Men and kings of the other side, as bits.
    pub fn other(&self) -> [u32; 2] {
        [self.other_men, self.other_kings]
    }

    /// The same pieces with the other side to act.
    pub fn flipped(&self) -> Board {
        Board {
            own_men: self.other_men.reverse_bits(),
            own_kings: self.other_kings.reverse_bits(),
            other_men: self.own_men.reverse_bits(),
            other_kings: self.own_kings.reverse_bits(),
        }
    }

    /// Whether the side to act has a play.
    pub fn can_act(&self) -> bool {
        if self.quiet_steps().next().is_some() {
            return true;
        }
        let mut captures = Vec::new();
        self.capture_paths(&mut captures);
        !captures.is_empty()
    }

    /// Replaces the content of `plays` by every legal play, one for each resulting position. None is left when the side to
    /// act has lost.
    pub fn plays(&self, plays: &mut Vec<Play>) {
        self.paths(plays);
        let mut kept = 0;
        for i in 0..plays.len() {
            let play = plays[i];
            if !plays[..kept].iter().any(|known| known.same_result(&play)) {
                plays[kept] = play;
                kept += 1;
            }
        }
        plays.truncate(kept);
    }

    /// Replaces the content of `plays` by every legal play, also those that capture the same pieces on another path.
    pub fn paths(&self, plays: &mut Vec<Play>) {
        plays.clear();
        self.capture_paths(plays);
        if plays.is_empty() {
            plays.extend(self.quiet_steps().map(|path| Play::new(&path, 0)));
        }
    }

    /// The board after a legal play, with the other side to act.
    pub fn after(&self, play: &Play) -> Board {
        let (from, to) = (1 << play.from(), 1 << play.to());
        let mut board = Board {
            own_men: self.own_men,
            own_kings: self.own_kings,
            other_men: self.other_men & !play.captured,
            other_kings: self.other_kings & !play.captured,
        };
        if self.own_kings & from != 0 {
            board.own_kings ^= from ^ to;
        } else {
            board.own_men ^= from;
            *(if to & LAST_ROW != 0 { &mut board.own_kings } else { &mut board.own_men }) |= to;
        }
        board.flipped()
    }

    /// From and to of every play that captures nothing.
    fn quiet_steps(&self) -> impl Iterator<Item = [u8; 2]> {
        let Board { own_men, own_kings, other_men, other_kings } = *self;
        let occupied = own_men | own_kings | other_men | other_kings;
        squares(own_men | own_kings).flat_map(move |from| {
            let next = neighbours(from, own_kings >> from & 1 == 1).iter();
            next.filter(move |&&to| to < OUTSIDE && occupied >> to & 1 == 0).map(move |&to| [from, to])
        })
    }
}

/// Bit numbers in ascending order.
pub(super) fn squares(mut bits: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let square = (bits != 0).then(|| bits.trailing_zeros() as u8)?;
        bits &= bits - 1;
        Some(square)
    })
}

/// Stands for a square beyond the edge.
pub(super) const OUTSIDE: u8 = 32;

/// The next square in each direction a piece can take: forward left, forward right, and for a king backward left,
/// backward right. [`OUTSIDE`] beyond the edge.
pub(super) fn neighbours(square: u8, king: bool) -> &'static [u8] {
    &NEIGHBOURS[usize::from(square)][..if king { 4 } else { 2 }]
}

static NEIGHBOURS: [[u8; 4]; 32] = {
    let mut table = [[OUTSIDE; 4]; 32];
    let mut square = 0;
    while square < 32 {
        let row = square as i32 / 4;
        // The first, third, ... row from the far side begin with a square in the leftmost column, the others do not.
        let column = square as i32 % 4 * 2 + row % 2;
        let mut direction = 0;
        while direction < 4 {
            let row = row + if direction < 2 { -1 } else { 1 };
            let column = column + if direction % 2 == 0 { -1 } else { 1 };
            if 0 <= row && row < 8 && 0 <= column && column < 8 {
                table[square][direction] = (row * 4 + column / 2) as u8;
            }
            direction += 1;
        }
        square += 1;
    }
    table
};
