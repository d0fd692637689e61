//! A side that has brought all its checkers home, and its steps.

/// Number of ways in which up to 15 checkers can stand on six points: C(21, 6).
pub const HOMES: usize = 54_264;
/// Rank of the first home with all 15 checkers: the others come before it.
pub const FULL: usize = 38_760;

/// Up to 15 checkers of one side, all on its points 1 to 6.
///
/// Byte `p - 1` holds the number of checkers on point `p` *and behind it*, the top two bytes are zero. A checker that moves
/// from point `p` to `q` takes 1 from the bytes of points `q + 1` to `p`, and one that is borne off from those of 1 to `p`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Home(u64);

/// `RANKS[p - 1][n]`: what `n` checkers on point `p` and behind add to a home's rank, C(n + 6 - p, 7 - p).
static RANKS: [[u16; 16]; 6] = {
    let mut ranks = [[0; 16]; 6];
    let mut point = 6;
    while point >= 1 {
        let mut n = 1;
        while n <= 15 {
            // Pascal's triangle; for the rearmost point the number itself.
            let behind = if point == 6 { 1 } else { ranks[point][n] };
            ranks[point - 1][n] = ranks[point - 1][n - 1] + behind;
            n += 1;
        }
        point -= 1;
    }
    ranks
};

/// Every byte 1.
const ONES: u64 = 0x0101_0101_0101_0101;

impl Home {
    /// The home of a side (slots as in `Position::own`); `None` when one of its checkers is elsewhere. No checkers at all are
    /// a home, too.
    #[inline]
    pub fn of(side: &[u8; 25]) -> Option<Home> {
        let (eights, bar) = side.as_chunks::<8>();
        let [first, second, third] = [eights[0], eights[1], eights[2]].map(u64::from_le_bytes);
        if first >> 48 | second | third | u64::from(bar[0]) != 0 {
            return None;
        }
        // With the rearmost point in the lowest byte, byte k of the product is the sum of the bytes up to k.
        Some(Home(first.swap_bytes().wrapping_mul(ONES).swap_bytes()))
    }

    /// All homes, in the order of their ranks: by the number of checkers, then by the number of those behind point 1, then
    /// behind point 2 and so on. Whatever a step leads to comes before.
    pub fn all() -> impl Iterator<Item = Home> {
        let mut next = Some([0_u8; 6]);
        std::iter::from_fn(move || {
            let home = next?;
            // The next one: one more as far behind as there can be one more, and nothing behind that.
            next = (1..6)
                .rev()
                .find(|&point| home[point] < home[point - 1])
                .or((home[0] < 15).then_some(0))
                .map(|point| {
                    let mut following = home;
                    following[point] += 1;
                    following[point + 1..].fill(0);
                    following
                });
            let [a, b, c, d, e, f] = home;
            Some(Home(u64::from_le_bytes([a, b, c, d, e, f, 0, 0])))
        })
    }

    /// Its place among all homes, 0 for no checkers.
    #[inline]
    pub fn rank(self) -> usize {
        let behind = self.0.to_le_bytes();
        let ranks = RANKS.iter().zip(behind).map(|(ranks, n)| ranks[usize::from(n & 15)]);
        usize::from(ranks.sum::<u16>())
    }

    /// Number of its checkers.
    #[inline]
    pub fn checkers(self) -> u8 {
        self.0 as u8
    }

    /// The checkers on points 1 to 6.
    pub fn points(self) -> [u8; 6] {
        let behind = self.0.to_le_bytes();
        std::array::from_fn(|point| behind[point] - behind[point + 1])
    }

    /// What one step by a die can lead to: from each point with checkers as far ahead or off, but off from nearer than the
    /// die says only when no checker is farther behind. Empty only when there are no checkers.
    pub fn steps(self, die: usize) -> impl Iterator<Item = Home> {
        let points = self.points();
        let rearmost = points.iter().rposition(|&n| n > 0).map_or(0, |point| point + 1);
        let from = (1..=6).filter(move |&point| points[point - 1] > 0 && (point >= die || point == rearmost));
        from.map(move |point| {
            let moved = die.min(point);
            // `moved` bytes of 1, those of the points up to `point`.
            Home(self.0 - (ONES >> (64 - 8 * moved) << (8 * (point - moved))))
        })
    }
}
