//! What a gate was promised before its first game.

/// The promises of a gate, fixed before its first pair and never changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRule {
    /// Probability of promoting a candidate that is not better than its opponent (0 to 1, both excluded).
    pub alpha: f64,
    /// Probability of rejecting, before the pair limit, a candidate that is better by `delta` or more.
    pub beta: f64,
    /// Points a game worth promoting for; above 0.
    pub delta: f64,
    /// Pairs after which a candidate that is not proved better is rejected.
    pub limit_pairs: u64,
    /// Largest absolute value a pair's outcome can take: the largest payoff, plus the luck bound when results are
    /// luck-adjusted. The promises hold only if this is true, so a larger outcome is an error, never clipped.
    pub bound: f64,
}

impl GateRule {
    /// The rule itself when its numbers make sense together.
    pub fn validated(self) -> Result<GateRule, RuleError> {
        for (name, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(RuleError::Probability { name, value });
            }
        }
        if !(self.bound.is_finite() && self.bound > 0.0) {
            return Err(RuleError::Bound(self.bound));
        }
        if !(self.delta > 0.0 && self.delta < self.bound) {
            return Err(RuleError::Delta { delta: self.delta, bound: self.bound });
        }
        if self.limit_pairs == 0 {
            return Err(RuleError::Limit);
        }
        Ok(self)
    }
}

/// A rule that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RuleError {
    /// `alpha` or `beta` is no probability of an error.
    #[error("gate.{name} = {value}: it must lie between 0 and 1, such as 0.05")]
    Probability {
        /// Which one.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// `delta` is not a difference two players can have.
    #[error(
        "gate.delta = {delta}: it must lie above 0 and below the largest outcome, {bound}, such as 0.005"
    )]
    Delta {
        /// Its value.
        delta: f64,
        /// The largest outcome.
        bound: f64,
    },
    /// No pair may be played.
    #[error("gate.limit_pairs = 0: a gate needs at least one pair, such as 60000")]
    Limit,
    /// The bound on a pair's outcome is no bound.
    #[error("the largest outcome of a pair cannot be {0} points")]
    Bound(f64),
}
