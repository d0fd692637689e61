//! One e-process: a table of bettors who bet against a claim.
//!
//! The claim is "the mean of y, given everything seen so far, is at most 0". Every bettor starts with a share of one
//! unit of money and stakes, before each y, a rate r of what he has: his money then grows by the factor 1 + r y. If the
//! claim is true, no choice of r made beforehand can make money on average (a non-negative supermartingale), so by
//! Ville's inequality the money on the whole table ever reaches 1 / alpha with probability at most alpha, whenever one
//! looks. Money on the table is therefore evidence against the claim: the e-value.
//!
//! Which r is a matter of power, never of validity. A bettor who believes in a mean of `effect` does best with Kelly's
//! r = effect / E[y^2]; he takes the second moment of what was seen *before*. So the table needs bettors for the effects
//! one may meet, from about `delta` up to half the bound, and little else, whatever the spread of the outcomes: the pairs
//! of two near-equal players on mirrored dice are mostly exactly 0, and luck adjustment divides their spread by ten.
//! Shares fall as 1 / effect, because small effects are what takes long. Fixed rates on a grid, which do not know the
//! spread, need up to 60% more pairs for small effects, and more than twice as many with luck-adjusted
//! results (`docs/gate.md`).
//!
//! Sources: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS-B 2024 (capital
//! processes, predictable bets, mixtures); Kelly 1956.

/// Bettors at the table.
const BETTORS: usize = 32;

/// Largest share of his money a bettor can lose on one outcome. Below 1, so that one bad outcome after many small ones
/// does not ruin a bettor for good.
const LARGEST_LOSS: f64 = 0.75;

/// The table: state of one e-process.
#[derive(Clone, Debug)]
pub(super) struct Bettors {
    /// What each bettor believes the mean of y to be.
    effect: [f64; BETTORS],
    /// Logarithm of each bettor's money.
    log_money: [f64; BETTORS],
    /// Largest rate that keeps every loss below [`LARGEST_LOSS`].
    rate_cap: f64,
    /// Sum of y^2 so far, plus a prior worth one outcome.
    square: f64,
    /// Outcomes in `square`.
    count: f64,
}

impl Bettors {
    /// A table for outcomes y >= -`floor`, with bettors who believe in effects from a bit below `smallest` up to half of
    /// `floor`.
    pub(super) fn new(smallest: f64, floor: f64) -> Self {
        let low = smallest * std::f64::consts::FRAC_1_SQRT_2;
        let high = (floor / 2.0).max(2.0 * low);
        let step = (high / low).ln() / (BETTORS - 1) as f64;
        let effect: [f64; BETTORS] = std::array::from_fn(|k| low * (step * k as f64).exp());
        let shares: f64 = effect.iter().map(|effect| effect.recip()).sum();
        Bettors {
            effect,
            log_money: effect.map(|effect| -(effect * shares).ln()),
            rate_cap: LARGEST_LOSS / floor,
            square: (floor / 3.0).powi(2),
            count: 1.0,
        }
    }

    /// Settles the bets on the next outcome.
    pub(super) fn take(&mut self, y: f64) {
        let kelly = self.count / self.square;
        for (log_money, effect) in self.log_money.iter_mut().zip(&self.effect) {
            *log_money += ((effect * kelly).min(self.rate_cap) * y).ln_1p();
        }
        self.square += y * y;
        self.count += 1.0;
    }

    /// Whether the e-value has reached `e`.
    pub(super) fn reach(&self, e: f64) -> bool {
        // The richest bettor alone nearly always settles it.
        self.richest() + (BETTORS as f64).ln() >= e.ln() && self.log_e() >= e.ln()
    }

    fn richest(&self) -> f64 {
        self.log_money.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Logarithm of the money on the table: of the e-value.
    pub(super) fn log_e(&self) -> f64 {
        let largest = self.richest();
        largest + self.log_money.iter().map(|log_money| (log_money - largest).exp()).sum::<f64>().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The money on the table after `ys`, by the definition: products, no logarithms.
    fn slow_e_value(smallest: f64, floor: f64, ys: &[f64]) -> f64 {
        let low = smallest / 2f64.sqrt();
        let effects: Vec<f64> =
            (0..32).map(|k| low * (floor / 2.0 / low).powf(f64::from(k) / 31.0)).collect();
        let shares: f64 = effects.iter().map(|effect| 1.0 / effect).sum();
        effects
            .iter()
            .map(|effect| {
                let mut money = 1.0 / effect / shares;
                for (i, y) in ys.iter().enumerate() {
                    let squares: f64 = ys[..i].iter().map(|y| y * y).sum::<f64>() + floor * floor / 9.0;
                    money *= 1.0 + f64::min(effect / (squares / (i + 1) as f64), 0.75 / floor) * y;
                }
                money
            })
            .sum()
    }

    #[test]
    fn the_logarithmic_fold_agrees_with_the_plain_product() {
        let mut bettors = Bettors::new(0.005, 3.0);
        let mut ys = vec![];
        for i in 0..200 {
            ys.push([0.0, 1.5, -1.0, 0.0, 3.0, -3.0, 0.5, -0.5, 0.0, 2.0][(i * i + i / 7) % 10]);
            bettors.take(ys[i]);
            let (fast, slow) = (bettors.log_e(), slow_e_value(0.005, 3.0, &ys).ln());
            assert!((fast - slow).abs() < 1e-11, "after {} outcomes: {fast} and {slow}", i + 1);
        }
    }

    /// Expected money after `depth` more outcomes drawn from `law` (value, probability), by walking the whole tree.
    fn expected_money(bettors: &Bettors, law: &[(f64, f64)], depth: usize) -> f64 {
        if depth == 0 {
            return bettors.log_e().exp();
        }
        law.iter()
            .map(|(y, probability)| {
                let mut bettors = bettors.clone();
                bettors.take(*y);
                probability * expected_money(&bettors, law, depth - 1)
            })
            .sum()
    }

    #[test]
    fn under_the_claim_the_expected_money_is_exactly_what_was_put_on_the_table() {
        // Fair laws with very different shapes, and an unfair one.
        let laws: [&[(f64, f64)]; 4] = [
            &[(-3.0, 0.5), (3.0, 0.5)],
            &[(-1.0, 0.05), (0.0, 0.9), (1.0, 0.05)],
            &[(-3.0, 0.1), (0.0, 0.6), (1.0, 0.3)],
            &[(-0.2, 0.75), (0.6, 0.25)],
        ];
        for law in laws {
            let expected = expected_money(&Bettors::new(0.005, 3.0), law, 7);
            assert!((expected - 1.0).abs() < 1e-12, "{law:?}: {expected}");
        }
        let losing = expected_money(&Bettors::new(0.005, 3.0), &[(-1.0, 0.6), (1.0, 0.4)], 7);
        assert!(losing < 0.98, "{losing}");
    }

    #[test]
    fn no_outcome_within_the_bound_ruins_anybody() {
        let mut bettors = Bettors::new(0.005, 3.0);
        for _ in 0..1000 {
            bettors.take(0.0);
        }
        bettors.take(-3.0);
        assert!(bettors.log_e().exp() > 0.999 * (1.0 - LARGEST_LOSS));
    }
}
