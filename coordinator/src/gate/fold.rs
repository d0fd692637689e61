//! The gate itself: a fold over pairs, two e-processes and a verdict that stays.

use super::bettors::Bettors;
use super::interval::{Interval, IntervalRule, Moments};
use super::{GateRule, PairOutcome, RuleError};

/// What a gate has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing yet.
    Running,
    /// The candidate is better.
    Promoted,
    /// The candidate is not better by `delta`, or could not be proved better within the pair limit.
    Rejected,
}

impl Verdict {
    /// The word for it in replies and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Running => "running",
            Verdict::Promoted => "promoted",
            Verdict::Rejected => "rejected",
        }
    }
}

/// A gate in progress or decided: the fold of the pairs 0, 1, 2, ... in that order.
#[derive(Clone, Debug)]
pub struct Gate {
    rule: GateRule,
    /// Bets that the candidate is better: evidence against "mean <= 0".
    better: Bettors,
    /// Bets that it is worse than `delta`: evidence against "mean >= delta".
    worse: Bettors,
    moments: Moments,
    /// Pairs counted; stands still once there is a verdict.
    pairs: u64,
    verdict: Verdict,
}

impl Gate {
    /// A gate that has seen nothing.
    pub fn new(rule: GateRule) -> Result<Gate, RuleError> {
        let rule = rule.validated()?;
        Ok(Gate {
            rule,
            better: Bettors::new(rule.delta, rule.bound),
            worse: Bettors::new(rule.delta, rule.bound - rule.delta),
            moments: Moments::default(),
            pairs: 0,
            verdict: Verdict::Running,
        })
    }

    /// A gate that has read `log`: the way to restart one.
    pub fn replay(rule: GateRule, log: impl IntoIterator<Item = PairOutcome>) -> Result<Gate, GateError> {
        let mut gate = Gate::new(rule)?;
        for outcome in log {
            gate.take(outcome)?;
        }
        Ok(gate)
    }

    /// Counts the next pair. Once there is a verdict it stands: later pairs are taken without being counted.
    pub fn take(&mut self, outcome: PairOutcome) -> Result<Verdict, GateError> {
        if self.verdict != Verdict::Running {
            return Ok(self.verdict);
        }
        let PairOutcome { pair, points } = outcome;
        if pair != self.pairs {
            return Err(GateError::Gap { expected: self.pairs, found: pair });
        }
        // Half a part in a million for the rounding of luck sums.
        if points.is_nan() || points.abs() > self.rule.bound * (1.0 + 5e-7) {
            return Err(GateError::OutOfBound { pair, points, bound: self.rule.bound });
        }
        self.pairs += 1;
        self.better.take(points);
        self.worse.take(self.rule.delta - points);
        self.moments.take(points);
        self.verdict = if self.better.reach(self.rule.alpha.recip()) {
            Verdict::Promoted
        } else if self.worse.reach(self.rule.beta.recip()) || self.pairs >= self.rule.limit_pairs {
            Verdict::Rejected
        } else {
            Verdict::Running
        };
        Ok(self.verdict)
    }

    /// What has been decided.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Pairs counted: the number of the pair it waits for, until there is a verdict.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// What it was promised.
    pub fn rule(&self) -> &GateRule {
        &self.rule
    }

    /// Everything a person wants to know about it.
    pub fn report(&self) -> GateReport {
        let GateRule { alpha, beta, delta, limit_pairs, bound } = self.rule;
        let interval = IntervalRule::new(alpha, bound, limit_pairs).interval(&self.moments);
        let (ppg, variance) = (self.moments.mean(), self.moments.variance());
        let mut report = GateReport {
            pairs: self.pairs,
            limit: limit_pairs,
            ppg,
            interval,
            e_better: self.better.log_e().exp(),
            e_promote: alpha.recip(),
            e_worse: self.worse.log_e().exp(),
            e_reject: beta.recip(),
            llr: if variance > 0.0 {
                self.moments.count * delta * (2.0 * ppg - delta) / (2.0 * variance)
            } else {
                0.0
            },
            llr_reject: (beta / (1.0 - alpha)).ln(),
            llr_accept: ((1.0 - beta) / alpha).ln(),
            verdict: self.verdict,
            reason: String::new(),
        };
        report.reason = self.reason(&report);
        report
    }

    fn reason(&self, report: &GateReport) -> String {
        let GateReport { limit, e_better, e_promote, e_worse, e_reject, .. } = report;
        let delta = self.rule.delta;
        match self.verdict {
            Verdict::Running => format!(
                "promoted when the evidence that it is better reaches {e_promote:.0}, rejected when the evidence that \
                 it is not better by {delta} reaches {e_reject:.0}, or after {limit} pairs"
            ),
            Verdict::Promoted => format!("evidence that it is better: {e_better:.1} of {e_promote:.0}"),
            Verdict::Rejected if e_worse >= e_reject => {
                format!("evidence that it is not better by {delta}: {e_worse:.1} of {e_reject:.0}")
            }
            Verdict::Rejected => format!("not proved better within {limit} pairs"),
        }
    }
}

/// Recomputes a verdict from a stored log: pairs 0, 1, 2, ... without a gap, however many came after the verdict.
pub fn verify(rule: GateRule, log: impl IntoIterator<Item = PairOutcome>) -> Result<GateReport, GateError> {
    Gate::replay(rule, log).map(|gate| gate.report())
}

/// A gate at a glance. After a verdict it stands still.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GateReport {
    /// Pairs counted.
    pub pairs: u64,
    /// Pairs after which it ends.
    pub limit: u64,
    /// Mean points per game of the candidate.
    pub ppg: f64,
    /// Its interval, valid at any time, at 1 - alpha.
    pub interval: Interval,
    /// E-value against "mean <= 0".
    pub e_better: f64,
    /// Where it promotes: 1 / alpha.
    pub e_promote: f64,
    /// E-value against "mean >= delta".
    pub e_worse: f64,
    /// Where it rejects: 1 / beta.
    pub e_reject: f64,
    /// Log-likelihood ratio of fishtest's GSPRT, delta against 0, for people who know it. It decides nothing.
    pub llr: f64,
    /// Where a GSPRT would reject.
    pub llr_reject: f64,
    /// Where a GSPRT would accept.
    pub llr_accept: f64,
    /// What has been decided.
    pub verdict: Verdict,
    /// For people: what decided, or what would.
    pub reason: String,
}

/// A log the gate cannot read.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum GateError {
    /// The rule makes no sense.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A pair is missing, repeated or out of order.
    #[error(
        "pair {found} came where pair {expected} belongs: a gate reads pairs in the order of their numbers"
    )]
    Gap {
        /// The pair that was due.
        expected: u64,
        /// The pair that came.
        found: u64,
    },
    /// An outcome the promises do not cover.
    #[error(
        "pair {pair} was worth {points} points, but no pair of this match can be worth more than {bound}"
    )]
    OutOfBound {
        /// The pair.
        pair: u64,
        /// Its outcome.
        points: f64,
        /// The bound of the rule.
        bound: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: GateRule = GateRule { alpha: 0.05, beta: 0.05, delta: 0.005, limit_pairs: 500, bound: 3.0 };

    fn log(points: impl IntoIterator<Item = f64>) -> Vec<PairOutcome> {
        points
            .into_iter()
            .enumerate()
            .map(|(pair, points)| PairOutcome { pair: pair as u64, points })
            .collect()
    }

    #[test]
    fn a_much_better_candidate_is_promoted_soon_and_stays_promoted() {
        let mut outcomes = [1.5, 1.0, 0.0, 2.0].repeat(10);
        outcomes.extend([-3.0; 200]);
        let mut gate = Gate::new(RULE).unwrap();
        let mut decided_at = None;
        for outcome in log(outcomes) {
            let verdict = gate.take(outcome).unwrap();
            if verdict == Verdict::Promoted && decided_at.is_none() {
                decided_at = Some(gate.report());
            }
        }
        let decided_at = decided_at.expect("a verdict within 40 pairs");
        assert!(decided_at.e_better >= 20.0 && decided_at.interval.low > -0.5);
        assert_eq!(gate.report(), decided_at);
        assert!(decided_at.pairs < 40, "{}", decided_at.pairs);
    }

    #[test]
    fn a_worse_candidate_is_rejected_by_evidence_and_an_equal_one_by_the_limit() {
        let worse = verify(RULE, log([-1.0, 0.0, -0.5, 0.5].repeat(125))).unwrap();
        assert_eq!(worse.verdict, Verdict::Rejected);
        assert!(worse.e_worse >= 20.0 && worse.pairs < 150, "{worse:?}");
        let equal = verify(RULE, log([1.0, -1.0].repeat(250))).unwrap();
        assert_eq!((equal.verdict, equal.pairs), (Verdict::Rejected, 500));
        assert_eq!(equal.reason, "not proved better within 500 pairs");
    }

    #[test]
    fn a_log_with_a_gap_a_repeat_or_an_impossible_outcome_is_refused() {
        let outcome = |pair, points| PairOutcome { pair, points };
        let error = |log: &[PairOutcome]| verify(RULE, log.iter().copied()).unwrap_err();
        assert_eq!(error(&[outcome(0, 0.0), outcome(2, 0.0)]), GateError::Gap { expected: 1, found: 2 });
        assert_eq!(error(&[outcome(0, 0.0), outcome(0, 0.0)]), GateError::Gap { expected: 1, found: 0 });
        for points in [3.1, -3.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(error(&[outcome(0, points)]), GateError::OutOfBound { pair: 0, .. }));
        }
    }

    #[test]
    fn a_rule_without_sense_is_refused_with_the_key_to_mend() {
        for (rule, key) in [
            (GateRule { alpha: 0.0, ..RULE }, "alpha"),
            (GateRule { beta: 1.0, ..RULE }, "beta"),
            (GateRule { alpha: f64::NAN, ..RULE }, "alpha"),
            (GateRule { delta: 0.0, ..RULE }, "delta"),
            (GateRule { delta: 3.0, ..RULE }, "delta"),
            (GateRule { limit_pairs: 0, ..RULE }, "limit_pairs"),
            (GateRule { bound: f64::INFINITY, ..RULE }, "largest outcome"),
        ] {
            let message = Gate::new(rule).unwrap_err().to_string();
            assert!(message.contains(key), "{message}");
        }
    }

    #[test]
    fn the_ratio_shown_for_comparison_is_the_one_of_the_literature() {
        // N = 400 pairs of +-1 with mean 0.01: LLR = N (s1 - s0)(2 s - s0 - s1) / (2 var), s0 = 0, s1 = 0.005.
        let mut outcomes = vec![1.0; 202];
        outcomes.extend([-1.0; 198]);
        let mut gate = Gate::new(GateRule { alpha: 1e-9, beta: 1e-9, ..RULE }).unwrap();
        // Alternate, so that neither side gathers evidence on the way.
        for i in 0..400u64 {
            let points = outcomes[(i / 2 + (i % 2) * 200) as usize];
            gate.take(PairOutcome { pair: i, points }).unwrap();
        }
        let report = gate.report();
        assert!((report.llr - 400.0 * 0.005 * 0.015 / (2.0 * (1.0 - 0.0001))).abs() < 1e-12, "{report:?}");
        assert!((report.llr_accept + report.llr_reject).abs() < 1e-12);
    }
}
