//! How well a checker gets past the points ahead of it, as numbers of rolls.
//!
//! Berliner's measure of a blockade (H. Berliner, *Backgammon Computer Program Beats World Champion*, 1980): of the 36
//! rolls, how many take one checker past all of it. Only the twelve squares ahead count, so a table answers.

/// The twelve squares ahead of a checker on `slot`, as an index into the tables: bit 11 is the next square, bit 0 the
/// twelfth; set where `blocked` is. Squares beyond the ace point are open.
#[inline(always)]
pub(super) fn ahead(slot: u32, blocked: u32) -> usize {
    ((u64::from(blocked) << 12 >> slot) & 0xfff) as usize
}

/// Rolls of 36 with which a checker on `slot`, that plays the whole roll alone, gets past the furthest of the `blocked`
/// points among the twelve squares ahead; 36 when there is none.
#[inline(always)]
pub(super) fn escapes(slot: u32, blocked: u32) -> u32 {
    u32::from(ESCAPES[ahead(slot, blocked)])
}

/// Rolls of 36 with which a checker on `slot` can play both dice, of a double two.
#[inline(always)]
pub(super) fn runs(slot: u32, blocked: u32) -> u32 {
    u32::from(RUNS[ahead(slot, blocked)])
}

/// Rolls of 36 that bring a checker exactly `distance` squares ahead, with nothing in its way; 0 from 25 on.
pub(super) static REACH: [u8; 32] = {
    let mut rolls = [0; 32];
    let mut distance = 1;
    while distance <= 24 {
        let (mut a, mut b) = (1, 1);
        while a <= 6 {
            let reached = if a == b {
                distance % a == 0 && distance <= 4 * a
            } else {
                distance == a || distance == b || distance == a + b
            };
            rolls[distance] += reached as u8;
            (a, b) = if b == 6 { (a + 1, 1) } else { (a, b + 1) };
        }
        distance += 1;
    }
    rolls
};

/// Sum over neighbouring points of `made` of the rolls that carry a checker from one to the next (see [`REACH`]).
#[inline(always)]
pub(super) fn links(made: u32) -> u32 {
    // Twelve points at a time, and the gap in between.
    let (low, high) = (made & 0xfff, made >> 12 & 0xfff);
    let between = if low != 0 && high != 0 { high.trailing_zeros() + 12 - low.ilog2() } else { 0 };
    u32::from(LINKS[low as usize]) + u32::from(LINKS[high as usize]) + u32::from(REACH[between as usize % 32])
}

static LINKS: [u8; 4096] = {
    let mut table = [0; 4096];
    let mut made = 1usize;
    while made < 4096 {
        // The lowest point and its gap to the next one come on top of the others.
        let others = made & (made - 1);
        if others != 0 {
            let gap = others.trailing_zeros() - made.trailing_zeros();
            table[made] = table[others] + REACH[gap as usize];
        }
        made += 1;
    }
    table
};

static ESCAPES: [u8; 4096] = {
    let mut table = [36; 4096];
    let mut squares = 1;
    while squares < 4096 {
        table[squares] = count(squares as u32, true);
        squares += 1;
    }
    table
};

static RUNS: [u8; 4096] = {
    let mut table = [36; 4096];
    let mut squares = 1;
    while squares < 4096 {
        table[squares] = count(squares as u32, false);
        squares += 1;
    }
    table
};

/// Whether the square `distance` ahead is open; beyond the twelfth all are.
const fn open(squares: u32, distance: u32) -> bool {
    distance > 12 || squares >> (12 - distance) & 1 == 0
}

/// The rolls that get past all of `squares` or, for `!past`, that a checker can play both dice of.
const fn count(squares: u32, past: bool) -> u8 {
    let furthest = 12 - squares.trailing_zeros();
    let (mut a, mut b, mut rolls) = (1, 1, 0);
    while a <= 6 {
        let mut reached = 0;
        if a == b {
            while reached < 4 * a && open(squares, reached + a) {
                reached += a;
            }
        } else if open(squares, a + b) && (open(squares, a) || open(squares, b)) {
            reached = a + b;
        }
        rolls += (if past { reached > furthest } else { reached >= a + b }) as u8;
        (a, b) = if b == 6 { (a + 1, 1) } else { (a, b + 1) };
    }
    rolls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::board::Board;
    use crate::backgammon::slow;

    #[test]
    fn rolls_are_those_found_by_walking() {
        for position in slow::varied().iter().step_by(5) {
            let blocked = Board::of(position.other()).made_seen;
            for slot in 0..25 {
                let place = usize::try_from(slot).unwrap();
                assert_eq!(
                    escapes(slot, blocked),
                    slow::escapes(place, position.other()),
                    "{slot} {position:?}"
                );
                assert_eq!(runs(slot, blocked), slow::runs(place, position.other()), "{slot} {position:?}");
            }
        }
    }

    #[test]
    fn known_blockades_let_known_rolls_through() {
        // Slot 23 looks at slots 22 to 11. A full prime holds everything; one point next door, only the ace-ace.
        assert_eq!(escapes(23, 0), 36);
        assert_eq!(escapes(23, 0x3f << 17), 0);
        assert_eq!(escapes(23, 1 << 22), 35);
        // At the edge of five points only a six escapes, and a 6-6 does so too: 11 rolls.
        assert_eq!(escapes(23, 0x1f << 18), 11);
        // The other die must be playable after it.
        assert_eq!(runs(23, 0x1f << 18), 11);
        assert_eq!(runs(23, 0x3f << 17), 0);
    }

    #[test]
    fn links_are_the_rolls_from_point_to_point() {
        for position in slow::varied() {
            let made = Board::of(position.own()).made;
            let points: Vec<usize> = (0..24).filter(|&slot| position.own()[slot] >= 2).collect();
            let rolls = points.windows(2).map(|pair| u32::from(REACH[pair[1] - pair[0]]));
            assert_eq!(links(made), rolls.sum::<u32>(), "{position:?}");
        }
    }

    #[test]
    fn rolls_that_reach_a_distance_are_the_known_ones() {
        assert_eq!(REACH[1..=12], [11, 12, 14, 15, 15, 17, 6, 6, 5, 3, 2, 3]);
        assert_eq!(REACH.iter().map(|&rolls| u32::from(rolls)).sum::<u32>(), 2 * 36 + 30 + 4 * 6 - 12);
    }
}
