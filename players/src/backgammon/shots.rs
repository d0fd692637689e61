//! The rolls that hit.
//!
//! A roll's hits are found for all blots and all checkers at once: a side's slots shifted down by a die are the squares
//! its checkers land on. Everything is in the slots of the side that hits.

use super::board::Board;

/// Of the 36 rolls, those with which a side can hit. A roll may be played by any steps of its dice, as far as points that
/// the other side has made and checkers on the bar allow; that as many dice as possible have to be played is left out
/// of account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shots {
    /// Rolls that can hit.
    pub any: u32,
    /// Rolls that can hit two blots and more.
    pub two: u32,
    /// Sum over the 36 rolls of the pips that the most costly blot in reach would lose.
    pub pips: u32,
    /// The rolls that can hit each blot, digit by digit: bit `i` of digit `d` counts 2^d rolls for slot `i`.
    digits: [u32; 6],
}

/// What one roll can hit.
#[derive(Clone, Copy)]
struct Hits {
    /// Blots in reach, each by a play of its own.
    blots: u32,
    /// Whether one play hits two.
    two: bool,
}

impl Shots {
    /// The shots of `hitter` at the blots of `target`.
    pub(super) fn of(hitter: &Board<'_>, target: &Board<'_>) -> Shots {
        if target.blots == 0 {
            return Shots::default();
        }
        let (blots, blocked) = (target.blots_seen, target.made_seen);
        match hitter.bar {
            0 => free(hitter, blots, blocked),
            bar => entering(hitter, u32::from(bar), blots, blocked),
        }
    }

    /// Rolls that can hit the blot on `slot` of the side that hits.
    pub(super) fn at(&self, slot: u32) -> u32 {
        self.digits.iter().enumerate().map(|(digit, ones)| (ones >> slot & 1) << digit).sum()
    }

    #[inline(always)]
    fn add(&mut self, weight: u32, hits: Hits) {
        // A weight of 1 counts from the first digit on, one of 2 from the second.
        self.any += if hits.blots != 0 { weight } else { 0 };
        self.two += if hits.two { weight } else { 0 };
        // The blot on slot i of the hitter has come from its own slot 24, its slot -1 so to speak: i + 1 pips.
        self.pips += weight * (32 - hits.blots.leading_zeros());
        let mut carry = hits.blots;
        for ones in &mut self.digits[(weight - 1) as usize..] {
            (*ones, carry) = (*ones ^ carry, *ones & carry);
        }
    }
}

/// Whether more than one bit is set.
#[inline(always)]
fn several(bits: u32) -> bool {
    bits & bits.wrapping_sub(1) != 0
}

/// Whether two different blots can be chosen, one of each.
#[inline(always)]
fn pair(one: u32, other: u32) -> bool {
    one != 0 && other != 0 && several(one | other)
}

/// The shots of a side without checkers on the bar.
fn free(hitter: &Board<'_>, blots: u32, blocked: u32) -> Shots {
    let mut shots = Shots::default();
    let men = hitter.men;
    // Squares reached with one die, by die.
    let direct: [u32; 7] = std::array::from_fn(|die| men >> die & blots);
    let open: [u32; 7] = std::array::from_fn(|die| men >> die & !blocked);
    for a in 2..=6 {
        for b in 1..a {
            let onward = open[a] >> b | open[b] >> a;
            let reached = direct[a] | direct[b] | onward & blots;
            let two = several(reached) && both_dice_hit(hitter, direct[a], direct[b], a, b, blots);
            shots.add(2, Hits { blots: reached, two });
        }
    }
    for (die, &first) in open.iter().enumerate().skip(1) {
        shots.add(1, doubles(first, die, 4, blots, blocked));
    }
    shots
}

/// Whether one die hits a blot of `by_a` and the other one of `by_b`, or one checker a blot with each.
fn both_dice_hit(hitter: &Board<'_>, by_a: u32, by_b: u32, a: usize, b: usize, blots: u32) -> bool {
    if (by_a >> b | by_b >> a) & blots != 0 {
        return true;
    }
    // Of all pairs those drop out that name a blot twice, and those that need a single checker twice.
    let pairs = by_a.count_ones() * by_b.count_ones();
    let alone = by_a << a & by_b << b & hitter.blots;
    pairs > (by_a & by_b).count_ones() + alone.count_ones()
}

/// What a double hits with at most `steps` steps, `first` being the open squares that one step reaches.
fn doubles(first: u32, die: usize, steps: usize, blots: u32, blocked: u32) -> Hits {
    let mut open = [0; 5];
    let mut next = first;
    for reached in &mut open[1..=steps] {
        *reached = next;
        next = next >> die & !blocked;
    }
    let hit = open.map(|squares| squares & blots);
    let [_, r1, r2, r3, r4] = hit;
    let reached = r1 | r2 | r3 | r4;
    let two = several(reached) && {
        // One checker, on its way.
        let passed = blots >> die;
        let chain = r2 & passed != 0
            || r3 & (passed | passed >> die) != 0
            || r4 & (passed | passed >> die | passed >> (2 * die)) != 0;
        // Two checkers.
        chain
            || steps >= 2 && several(r1)
            || steps >= 3 && pair(r1, r2)
            || steps >= 4 && (several(r2) || pair(r1, r3))
    };
    Hits { blots: reached, two }
}

/// The shots of a side with checkers on the bar, which have to enter first.
fn entering(hitter: &Board<'_>, bar: u32, blots: u32, blocked: u32) -> Shots {
    let mut shots = Shots::default();
    let on_board = hitter.men & 0xff_ffff;
    let entry = |die: usize| 1u32 << (24 - die);
    for a in 2..=6 {
        for b in 1..a {
            let mut hits = Hits { blots: 0, two: false };
            if bar >= 2 {
                hits.blots = (entry(a) | entry(b)) & blots;
                hits.two = several(hits.blots);
            } else {
                for (enters, moves) in [(a, b), (b, a)] {
                    let entry = entry(enters);
                    if entry & blocked == 0 {
                        let moved = (on_board | entry) >> moves & blots;
                        hits.blots |= entry & blots | moved;
                        hits.two |= entry & blots != 0 && moved & !entry != 0;
                    }
                }
            }
            shots.add(2, hits);
        }
    }
    for die in 1..=6 {
        let entry = entry(die);
        if entry & blocked == 0 {
            let steps = 4u32.saturating_sub(bar) as usize;
            let first = (on_board | entry) >> die & !blocked;
            let mut hits = doubles(first, die, steps, blots, blocked);
            hits.two |= entry & blots != 0 && hits.blots & !entry != 0;
            hits.blots |= entry & blots;
            shots.add(1, hits);
        }
    }
    shots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::slow;
    use ludus_games::backgammon::Position;

    /// Shots of the side on roll.
    fn shots(position: &Position) -> Shots {
        let [own, other] = &Board::both(position);
        Shots::of(own, other)
    }

    #[test]
    fn shots_are_those_found_by_playing_every_roll() {
        let mut on_bar = [0; 5];
        for position in slow::varied().iter().step_by(2) {
            let shots = shots(position);
            let rolled: Vec<_> =
                slow::rolls().map(|roll| slow::reached(position.own(), position.other(), roll)).collect();
            let count =
                |holds: &dyn Fn(&slow::Reached) -> bool| rolled.iter().filter(|r| holds(r)).count() as u32;
            assert_eq!(shots.any, count(&|r| r.most >= 1), "{position:?}");
            assert_eq!(shots.two, count(&|r| r.most >= 2), "{position:?}");
            for slot in 0..24 {
                assert_eq!(shots.at(slot as u32), count(&|r| r.slots[slot]), "{slot} {position:?}");
            }
            on_bar[usize::from(position.own()[24].min(4))] += u32::from(shots.two > 0);
        }
        assert!(on_bar.iter().all(|&n| n > 0), "double shots by checkers on the bar: {on_bar:?}");
    }

    #[test]
    fn a_direct_six_has_17_rolls_and_fewer_when_combinations_are_blocked() {
        // The hitter stands on slot 20, the blot on its slot 14.
        let position = |blocks: &[usize]| {
            let (mut own, mut other) = ([0; 25], [0; 25]);
            own[20] = 1;
            other[23 - 14] = 1;
            blocks.iter().for_each(|&slot| other[23 - slot] = 2);
            Position::new(own, other).unwrap()
        };
        assert_eq!(shots(&position(&[])).any, 17);
        // 5-1 through either point, 4-2 too, 3-3, 2-2.
        assert_eq!(shots(&position(&[19])).any, 17);
        assert_eq!(shots(&position(&[19, 15])).any, 15);
        assert_eq!(shots(&position(&[18])).any, 16);
        assert_eq!(shots(&position(&[15, 16, 17, 18, 19])).any, 11);
        assert_eq!(shots(&position(&[])).pips, 17 * 15);
    }
}
