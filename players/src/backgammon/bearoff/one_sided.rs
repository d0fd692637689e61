//! How many rolls a side takes, whatever the other side does.

use super::home::{HOMES, Home};

/// Numbers of rolls that are told apart, from 0. Fifteen checkers on point 6 take more than 23 rolls with a chance of
/// 7e-15; what lies beyond is left out.
pub const ROLLS: usize = 24;

/// `longer[n]`: the chance that it takes more than `n` rolls. Chances below [`LEAST`] are 0, and the last one is.
pub type Longer = [f32; ROLLS];

/// Below the last digit of any result, and far enough from the smallest numbers that products are never subnormal, which
/// would be slow.
const LEAST: f64 = 1e-12;

/// The number of rolls in which every home reaches a goal, when it is played to make their mean as small as possible.
#[derive(Debug)]
pub struct Rolls {
    /// Rank of the first home that has not reached the goal.
    goal: usize,
    /// Mean number of rolls, by rank.
    means: Vec<f64>,
    /// By rank, from the first home that has not reached the goal.
    longer: Vec<Longer>,
}

impl Rolls {
    /// Solves the homes one after the other for the goal of reaching any home of a rank below `goal`, which is at least 1.
    ///
    /// Of plays with equal means the one is made that leads to the home of the lowest rank. All arithmetic is in double
    /// precision and in a fixed order: the same bits on every machine.
    pub fn to(goal: usize) -> Rolls {
        let mut means = vec![0.0; HOMES];
        let mut longer = vec![[0.0; ROLLS]; HOMES];
        // Where the best 0 to 3 steps by each die lead, by rank; at the goal nothing moves any more. A home's best play is
        // its best step followed by the best of the others, so that no play is ever written out.
        let mut best: Vec<[[u16; 6]; 4]> = (0..HOMES).map(|rank| [[rank as u16; 6]; 4]).collect();
        for (rank, home) in Home::all().enumerate().skip(goal) {
            let steps: [Steps; 6] = std::array::from_fn(|die| Steps::of(home, die + 1));
            let play = |first: usize, count: usize, then: usize| {
                let ends = steps[first].ranks().map(|step| best[step][count][then]);
                ends.reduce(|a, b| better(&means, a, b))
                    .expect("a home with checkers has a step by every die")
            };
            let mut row = best[rank];
            for (count, ends) in row.iter_mut().enumerate().skip(1) {
                *ends = std::array::from_fn(|die| play(die, count - 1, die));
            }
            let doubles: [u16; 6] = std::array::from_fn(|die| play(die, 3, die));
            let mut others = [0; 15];
            let pairs = (1..6).flat_map(|high| (0..high).map(move |low| (high, low)));
            for (end, (high, low)) in others.iter_mut().zip(pairs) {
                *end = better(&means, play(high, 1, low), play(low, 1, high));
            }
            best[rank] = row;

            let sum = |ends: &[u16]| ends.iter().map(|&end| means[usize::from(end)]).sum::<f64>();
            means[rank] = 1.0 + (2.0 * sum(&others) + sum(&doubles)) / 36.0;
            let (others, doubles) = (added(&longer, &others), added(&longer, &doubles));
            let row = &mut longer[rank];
            row[0] = 1.0;
            for n in 1..ROLLS {
                row[n] = (2.0 * others[n - 1] + doubles[n - 1]) / 36.0;
            }
        }
        let longer = longer[goal..].iter().map(rounded).collect();
        Rolls { goal, means, longer }
    }

    /// Mean number of rolls to the goal.
    pub fn mean(&self, home: Home) -> f64 {
        self.means[home.rank()]
    }

    /// Mean numbers of rolls, by rank.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The chances of taking longer, of a home of this rank that has not reached the goal.
    #[inline]
    pub fn longer(&self, rank: usize) -> &Longer {
        &self.longer[rank - self.goal]
    }

    /// The chances of taking longer by rank, from the first home that has not reached the goal.
    pub fn all_longer(&self) -> &[Longer] {
        &self.longer
    }
}

/// The chance that a side is there after at most as many rolls as its rival, for the side that rolls first: the sum over n
/// of P(it takes n) P(the rival takes at least n). The chances of taking longer are given for both.
#[inline]
pub fn first_there(side: &Longer, rival: &Longer) -> f32 {
    sum_of_products(&exactly(side), rival)
}

/// The same for the side that rolls second: the sum over n of P(it takes n) P(the rival takes more than n).
#[inline]
pub fn first_there_rolling_second(side: &Longer, rival: &Longer) -> f32 {
    let mut rival_later = [0.0; ROLLS];
    rival_later[..ROLLS - 1].copy_from_slice(&rival[1..]);
    sum_of_products(&exactly(side), &rival_later)
}

/// At `n`: the chance of taking exactly `n + 1` rolls.
#[inline]
fn exactly(longer: &Longer) -> [f32; ROLLS] {
    let mut exactly = *longer;
    for n in 0..ROLLS - 1 {
        exactly[n] -= longer[n + 1];
    }
    exactly
}

/// In eight lanes, so that vector registers can hold them, added in a fixed order.
#[inline]
fn sum_of_products(a: &[f32; ROLLS], b: &[f32; ROLLS]) -> f32 {
    let mut lanes = [0.0; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}

/// The better of two homes, by rank.
#[inline]
fn better(means: &[f64], a: u16, b: u16) -> u16 {
    let value = |rank: u16| (means[usize::from(rank)], rank);
    if value(b) < value(a) { b } else { a }
}

/// The sum of the rows of these ranks.
fn added(longer: &[[f64; ROLLS]], ranks: &[u16]) -> [f64; ROLLS] {
    let mut sums = [0.0; ROLLS];
    for &rank in ranks {
        for (sum, chance) in sums.iter_mut().zip(&longer[usize::from(rank)]) {
            *sum += chance;
        }
    }
    sums
}

/// A row in single precision.
fn rounded(longer: &[f64; ROLLS]) -> Longer {
    let mut rounded = longer.map(|chance| if chance < LEAST { 0.0 } else { chance as f32 });
    rounded[ROLLS - 1] = 0.0;
    rounded
}

/// The ranks of the homes that one step by a die leads to.
#[derive(Default)]
struct Steps {
    ranks: [u16; 6],
    len: usize,
}

impl Steps {
    fn of(home: Home, die: usize) -> Steps {
        let mut steps = Steps::default();
        for after in home.steps(die) {
            steps.ranks[steps.len] = after.rank() as u16;
            steps.len += 1;
        }
        steps
    }

    fn ranks(&self) -> impl Iterator<Item = usize> {
        self.ranks[..self.len].iter().map(|&rank| usize::from(rank))
    }
}
