//! An interval for the mean of a pair that holds at every moment at once.
//!
//! Stopping a test when it looks good and then giving "mean +- 2 standard errors" overstates the mean. This interval may
//! be read after every pair, and the chance that it *ever* misses the true mean is at most `alpha`.
//!
//! It is the set of means m that no table of bettors has made `2 / alpha` of: one table bets that the mean is above m,
//! one that it is below. A bettor's money against m is the product of 1 + r (X - m), with r on a fixed grid and capped so
//! that he never loses more than three quarters at once; it falls as m grows (the cap, u / (bound + m), included), so the
//! means that are refuted from below are a half-line and bisection finds its end. To need no log for that, the money is
//! bounded from below by four moments of X: for z >= -u,
//!
//! ```text
//! ln(1 + z) >= z - z^2/2 + z^3/3 - c(u) z^4,   c(u) = sum over i of u^i / (i + 4)
//! ```
//!
//! because ln(1 + z) - (z - z^2/2 + z^3/3) = -z^4 * integral over s in [0, 1] of s^3 / (1 + s z), and the integral is
//! largest at the smallest z. A bound from below can only widen the interval, never make it miss more often.
//!
//! Sources: Waudby-Smith and Ramdas, JRSS-B 2024 (confidence sequences by betting); Howard, Ramdas, McAuliffe and Sekhon,
//! Ann. Statist. 2021 (time-uniform intervals, mixtures); the inequality with two moments instead of four: Fan, Grama and
//! Liu, Electron. J. Probab. 2015.

/// Bettors at each table.
const BETTORS: usize = 32;

/// Largest share of his money a bettor can lose on one outcome.
const LARGEST_LOSS: f64 = 0.75;

/// A range of points per game.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What the interval needs of the outcomes: how many there were and the sums of their first four powers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub(crate) count: f64,
    sums: [f64; 4],
}

impl Moments {
    pub(crate) fn take(&mut self, x: f64) {
        self.count += 1.0;
        for (sum, power) in self.sums.iter_mut().zip([x, x * x, x * x * x, x * x * x * x]) {
            *sum += power;
        }
    }

    /// Mean of the outcomes, 0 when there are none.
    pub(crate) fn mean(&self) -> f64 {
        if self.count > 0.0 { self.sums[0] / self.count } else { 0.0 }
    }

    /// Variance of the outcomes (divided by their number), 0 when there are none.
    pub(crate) fn variance(&self) -> f64 {
        if self.count > 0.0 { (self.sums[1] / self.count - self.mean().powi(2)).max(0.0) } else { 0.0 }
    }

    /// The same for the outcomes with their signs changed.
    pub(crate) fn mirrored(&self) -> Self {
        let [first, second, third, fourth] = self.sums;
        Moments { count: self.count, sums: [-first, second, -third, fourth] }
    }

    /// Sums of the first four powers of X - `m`.
    fn around(&self, m: f64) -> [f64; 4] {
        let Moments { count: n, sums: [a, b, c, d] } = *self;
        [
            a - n * m,
            b - 2.0 * a * m + n * m * m,
            c - 3.0 * b * m + 3.0 * a * m * m - n * m.powi(3),
            d - 4.0 * c * m + 6.0 * b * m * m - 4.0 * a * m.powi(3) + n * m.powi(4),
        ]
    }
}

/// The means that are not refuted, as a function of the moments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntervalRule {
    /// Probability that the interval ever misses.
    alpha: f64,
    /// Largest absolute outcome.
    bound: f64,
    /// Rate at which the most careful bettor bets.
    lowest_rate: f64,
}

impl IntervalRule {
    /// The interval for outcomes within `bound`, tuned for up to `limit` of them.
    pub(crate) fn new(alpha: f64, bound: f64, limit: u64) -> Self {
        // After n outcomes of spread s the best rate is sqrt(2 ln(2 / alpha) / n) / s; the grid starts where n is the
        // limit and s half the bound.
        let lowest_rate = (2.0 * (2.0 / alpha).ln() / limit as f64).sqrt().min(1.0) * 2.0 / bound;
        IntervalRule { alpha, bound, lowest_rate }
    }

    /// Whether the outcomes refute every mean up to `m`.
    pub(crate) fn refutes_up_to(&self, moments: &Moments, m: f64) -> bool {
        self.log_money(moments, m) >= (2.0 / self.alpha).ln()
    }

    /// The means that are not refuted.
    pub(crate) fn interval(&self, moments: &Moments) -> Interval {
        Interval { low: self.low_end(moments), high: -self.low_end(&moments.mirrored()) }
    }

    /// The largest m (to one part in 2^40 of the range) up to which every mean is refuted, `-bound` if there is none.
    fn low_end(&self, moments: &Moments) -> f64 {
        let (mut refuted, mut open) = (-self.bound, moments.mean().max(-self.bound));
        for _ in 0..40 {
            let middle = (refuted + open) / 2.0;
            if self.refutes_up_to(moments, middle) {
                refuted = middle;
            } else {
                open = middle;
            }
        }
        refuted
    }

    /// Lower bound of the logarithm of the money made against "the mean is at most `m`".
    fn log_money(&self, moments: &Moments, m: f64) -> f64 {
        let [first, second, third, fourth] = moments.around(m);
        let reach = self.bound + m;
        let mut money = [0.0; BETTORS];
        let step = (4.0 / self.bound / self.lowest_rate).ln() / (BETTORS - 1) as f64;
        for (k, money) in money.iter_mut().enumerate() {
            let rate = (self.lowest_rate * (step * k as f64).exp()).min(LARGEST_LOSS / reach);
            let fourth_factor = fourth_factor(rate * reach);
            *money =
                rate * (first - rate * (second / 2.0 - rate * (third / 3.0 - rate * fourth_factor * fourth)));
        }
        let largest = money.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest + (money.iter().map(|money| (money - largest).exp()).sum::<f64>() / BETTORS as f64).ln()
    }
}

/// The factor c(u) of z^4 in the bound on ln(1 + z) for z >= -u, 0 <= u < 1.
fn fourth_factor(u: f64) -> f64 {
    if u < 0.05 {
        // The closed form would lose its digits here. The terms left out add up to less than u^6.
        (0..6).rev().fold(0.0, |sum, i| sum * u + 1.0 / f64::from(i + 4)) + u.powi(6)
    } else {
        (-(-u).ln_1p() - u - u * u / 2.0 - u * u * u / 3.0) / u.powi(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTCOMES: [f64; 12] = [0.0, 1.5, -1.0, 0.0, 0.5, -3.0, 0.5, -0.5, 0.0, 2.0, 3.0, 0.0];

    #[test]
    fn the_bound_on_the_logarithm_holds_down_to_its_edge_and_is_tight_near_zero() {
        for u in [1e-6, 0.001, 0.049, 0.051, 0.3, 0.6, 0.75] {
            let c = fourth_factor(u);
            for i in 0..=4000 {
                let z = -u + f64::from(i) * 0.001;
                let bound = z - z * z / 2.0 + z.powi(3) / 3.0 - c * z.powi(4);
                assert!(bound <= z.ln_1p() + 1e-15, "u {u}, z {z}: {bound} above {}", z.ln_1p());
            }
            assert!((c - 0.25) < 1.2 * u, "u {u}: {c}");
        }
    }

    /// The exact money against "mean at most m", from the outcomes one by one.
    fn exact_log_money(rule: &IntervalRule, outcomes: &[f64], m: f64) -> f64 {
        let step = (4.0 / rule.bound / rule.lowest_rate).powf(1.0 / 31.0);
        let money: f64 = (0..32)
            .map(|k| {
                let rate = f64::min(rule.lowest_rate * step.powi(k), 0.75 / (rule.bound + m));
                outcomes.iter().map(|x| 1.0 + rate * (x - m)).product::<f64>()
            })
            .sum();
        (money / 32.0).ln()
    }

    #[test]
    fn four_moments_give_nearly_all_of_the_money_and_never_more() {
        let rule = IntervalRule::new(0.05, 3.0, 10_000);
        let mut moments = Moments::default();
        let outcomes: Vec<f64> = (0..240).map(|i| OUTCOMES[(i * i + i / 5) % 12]).collect();
        for x in &outcomes {
            moments.take(*x);
        }
        let mut tight = 0;
        for i in -290..=290 {
            let m = f64::from(i) / 100.0;
            let (bound, exact) = (rule.log_money(&moments, m), exact_log_money(&rule, &outcomes, m));
            assert!(bound <= exact + 1e-9, "m {m}: {bound} above {exact}");
            tight += usize::from((-6.0..6.0).contains(&exact) && exact - bound < 0.3);
        }
        assert!(tight > 30, "{tight}");
    }

    #[test]
    fn the_ends_of_the_interval_are_where_refuting_stops() {
        let rule = IntervalRule::new(0.05, 3.0, 10_000);
        let mut moments = Moments::default();
        assert_eq!(rule.interval(&moments), Interval { low: -3.0, high: 3.0 });
        for i in 0..2000 {
            moments.take(OUTCOMES[i % 12]);
        }
        let Interval { low, high } = rule.interval(&moments);
        assert!(low < moments.mean() && moments.mean() < high, "{low} {} {high}", moments.mean());
        assert!(high - low < 0.4, "{low} to {high}");
        assert!(rule.refutes_up_to(&moments, low) && !rule.refutes_up_to(&moments, low + 1e-9));
        let mirrored = moments.mirrored();
        assert!(rule.refutes_up_to(&mirrored, -high) && !rule.refutes_up_to(&mirrored, -high + 1e-9));
    }

    #[test]
    fn changing_every_sign_mirrors_the_interval() {
        let rule = IntervalRule::new(0.05, 3.0, 10_000);
        let (mut plain, mut mirrored) = (Moments::default(), Moments::default());
        for i in 0..700 {
            plain.take(OUTCOMES[i % 12]);
            mirrored.take(-OUTCOMES[i % 12]);
        }
        let (a, b) = (rule.interval(&plain), rule.interval(&mirrored));
        assert_eq!((a.low, a.high), (-b.high, -b.low));
    }

    #[test]
    fn a_large_mean_with_a_small_spread_is_found_all_the_same() {
        let rule = IntervalRule::new(0.05, 3.0, 200_000);
        let mut moments = Moments::default();
        for i in 0..3000 {
            moments.take(if i % 10 == 0 { 2.0 } else { 3.0 });
        }
        let Interval { low, high } = rule.interval(&moments);
        assert!(2.85 < low && low < 2.9 && 2.9 < high && high < 2.93, "{low} to {high}");
    }
}
