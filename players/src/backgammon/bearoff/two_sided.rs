//! The true chances where both sides have few checkers left.

use super::home::Home;

/// Most checkers of each side.
pub const FEW: u8 = 6;
/// Number of homes with at most so many checkers, C(12, 6). They are the first by rank.
pub const SMALL_HOMES: usize = 924;

/// The chances of winning when both sides have at most [`FEW`] checkers and play each roll as well as can be, knowing what
/// the other side has left.
#[derive(Debug)]
pub struct TwoSided {
    /// `[SMALL_HOMES, SMALL_HOMES]`: the chance of the side that is *not* on roll to win, by its rank and then by that of
    /// the side on roll. A side without checkers has won; both without checkers do not occur.
    waiting: Vec<f32>,
}

impl TwoSided {
    /// Solves all pairs of homes.
    ///
    /// A pair depends on the pairs in which the side on roll has a home of lower rank and waits, so that they are solved by
    /// the higher rank of the two. Sums are in double precision and in a fixed order: the same bits on every machine.
    pub fn solve() -> TwoSided {
        let plays: Vec<Vec<Ends>> = Home::all().take(SMALL_HOMES).map(all_ends).collect();
        let mut waiting = vec![0.0; SMALL_HOMES * SMALL_HOMES];
        waiting[1..SMALL_HOMES].fill(1.0);
        let at = |waits: usize, rolls: usize| waits * SMALL_HOMES + rolls;
        for high in 1..SMALL_HOMES {
            // The side with the higher rank rolls. One pass for all homes of the other side, which follow each other in
            // memory.
            let mut wins = vec![0.0_f64; high];
            let mut best = vec![0.0_f32; high];
            for ends in &plays[high] {
                best.fill(0.0);
                for &end in &ends.ranks {
                    let row = &waiting[at(usize::from(end), 0)..][..high];
                    for (best, chance) in best.iter_mut().zip(row) {
                        *best = if *chance > *best { *chance } else { *best };
                    }
                }
                for (win, best) in wins.iter_mut().zip(&best) {
                    *win += ends.weight * f64::from(*best);
                }
            }
            for (other, win) in wins.iter().enumerate().skip(1) {
                waiting[at(other, high)] = (1.0 - win / 36.0) as f32;
            }
            // The side with the higher rank waits, or both have the same home.
            let column: Vec<f32> = (0..high).map(|end| waiting[at(end, high)]).collect();
            for rolls in 1..=high {
                let best = |ends: &Ends| {
                    let chances = ends.ranks.iter().map(|&end| column[usize::from(end)]);
                    chances.fold(0.0, |best: f32, chance| if chance > best { chance } else { best })
                };
                let win: f64 = plays[rolls].iter().map(|ends| ends.weight * f64::from(best(ends))).sum();
                waiting[at(high, rolls)] = (1.0 - win / 36.0) as f32;
            }
        }
        TwoSided { waiting }
    }

    /// The chance to win of the side on roll, by the ranks of both sides, which have at least one checker each and at most
    /// [`FEW`].
    #[inline]
    pub fn win(&self, own: usize, other: usize) -> f32 {
        1.0 - self.waiting[other * SMALL_HOMES + own]
    }

    /// `[SMALL_HOMES, SMALL_HOMES]`: the chance to win of the side that is not on roll, by its rank and then by that of the
    /// side on roll.
    pub fn waiting(&self) -> &[f32] {
        &self.waiting
    }
}

/// Where the plays of a roll lead.
struct Ends {
    /// Ways to throw the roll, of 36.
    weight: f64,
    /// Ranks, ascending.
    ranks: Vec<u16>,
}

/// The 21 rolls of a home.
fn all_ends(home: Home) -> Vec<Ends> {
    let rolls = (1..=6).flat_map(|high| (1..=high).map(move |low| (high, low)));
    rolls
        .map(|(high, low)| {
            if high == low {
                return Ends { weight: 1.0, ranks: ends(home, &[high; 4]) };
            }
            let mut ranks = ends(home, &[high, low]);
            ranks.extend(ends(home, &[low, high]));
            ranks.sort_unstable();
            ranks.dedup();
            Ends { weight: 2.0, ranks }
        })
        .collect()
}

/// The ranks that steps by these dice in order lead to, ascending.
fn ends(home: Home, dice: &[usize]) -> Vec<u16> {
    let mut homes = vec![home];
    for &die in dice {
        homes = homes
            .into_iter()
            .flat_map(|home| {
                // Whoever is off stays off.
                let done = (home.checkers() == 0).then_some(home);
                home.steps(die).chain(done)
            })
            .collect();
        homes.sort_unstable_by_key(|home| home.rank());
        homes.dedup();
    }
    homes.into_iter().map(|home| home.rank() as u16).collect()
}
