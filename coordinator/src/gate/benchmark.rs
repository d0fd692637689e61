//! The benchmark condition: a candidate must judge the run's benchmark positions no worse than the champion.
//!
//! Both players decide the same positions, so the difference is taken decision by decision; what is hard about a position
//! is hard for both and cancels. What is left is chance all the same: a benchmark of a few hundred decisions cannot tell players
//! apart by half a millipoint, so only a difference that stands out from its own noise counts against the candidate.

/// Standard errors by which a difference must exceed the tolerance to count.
const STANDS_OUT: f64 = 2.0;

/// What two players lost on the decisions of one position class, decision by decision in the same order.
#[derive(Clone, Copy, Debug)]
pub struct ClassLosses<'a> {
    /// Position class, such as `contact`.
    pub class: &'a str,
    /// Points the candidate's choices lose against the best ones, each at least 0.
    pub candidate: &'a [f64],
    /// The same for the champion.
    pub champion: &'a [f64],
}

/// How the two compare in one class. ER (error rate) is 1000 times the mean loss: millipoints per decision.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ClassDifference {
    /// Position class.
    pub class: String,
    /// Number of decisions.
    pub decisions: usize,
    /// Error rate of the candidate.
    pub candidate_er: f64,
    /// Error rate of the champion.
    pub champion_er: f64,
    /// Candidate minus champion; below 0 the candidate is better.
    pub difference: f64,
    /// Standard error of the difference over the choice of positions.
    pub standard_error: f64,
    /// Whether the difference is within the tolerance, or not beyond it by two standard errors.
    pub passed: bool,
}

/// The benchmark condition, checked.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct BenchmarkReport {
    /// One line a class.
    pub classes: Vec<ClassDifference>,
    /// Difference allowed in any class, in millipoints.
    pub tolerance: f64,
}

impl BenchmarkReport {
    /// Whether every class is within the tolerance.
    pub fn passed(&self) -> bool {
        self.classes.iter().all(|class| class.passed)
    }

    /// For people: the classes that failed, or that none did.
    pub fn reason(&self) -> String {
        let failed: Vec<String> = self
            .classes
            .iter()
            .filter(|class| !class.passed)
            .map(|class| {
                format!(
                    "{} ER {:.2} is {:+.2} +- {:.2} against the champion's {:.2}, allowed {:+.2}",
                    class.class,
                    class.candidate_er,
                    class.difference,
                    class.standard_error,
                    class.champion_er,
                    self.tolerance
                )
            })
            .collect();
        if failed.is_empty() { "every class within the tolerance".into() } else { failed.join("; ") }
    }
}

/// Compares candidate and champion class by class; `tolerance` is in millipoints per decision.
pub fn compare_benchmark(
    classes: &[ClassLosses<'_>],
    tolerance: f64,
) -> Result<BenchmarkReport, BenchmarkError> {
    let classes = classes.iter().map(|losses| compare_class(losses, tolerance)).collect::<Result<_, _>>()?;
    Ok(BenchmarkReport { classes, tolerance })
}

fn compare_class(losses: &ClassLosses<'_>, tolerance: f64) -> Result<ClassDifference, BenchmarkError> {
    let ClassLosses { class, candidate, champion } = *losses;
    let decisions = candidate.len();
    if decisions != champion.len() {
        return Err(BenchmarkError::Lengths {
            class: class.into(),
            candidate: decisions,
            champion: champion.len(),
        });
    }
    if decisions == 0 {
        return Err(BenchmarkError::Empty { class: class.into() });
    }
    for (decision, loss) in candidate.iter().chain(champion).enumerate() {
        if !(loss.is_finite() && *loss >= 0.0) {
            return Err(BenchmarkError::Loss {
                class: class.into(),
                decision: decision % decisions,
                loss: *loss,
            });
        }
    }
    let n = decisions as f64;
    let er = |losses: &[f64]| 1000.0 * losses.iter().sum::<f64>() / n;
    let difference = 1000.0 * candidate.iter().zip(champion).map(|(a, b)| a - b).sum::<f64>() / n;
    let squares: f64 =
        candidate.iter().zip(champion).map(|(a, b)| (1000.0 * (a - b) - difference).powi(2)).sum();
    let standard_error = if decisions > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
    Ok(ClassDifference {
        class: class.into(),
        decisions,
        candidate_er: er(candidate),
        champion_er: er(champion),
        difference,
        standard_error,
        passed: difference - STANDS_OUT * standard_error <= tolerance,
    })
}

/// Losses that cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BenchmarkError {
    /// The two players did not decide the same positions.
    #[error("benchmark class {class}: the candidate decided {candidate} positions, the champion {champion}")]
    Lengths {
        /// Position class.
        class: String,
        /// Decisions of the candidate.
        candidate: usize,
        /// Decisions of the champion.
        champion: usize,
    },
    /// A class without decisions proves nothing.
    #[error("benchmark class {class} has no decisions")]
    Empty {
        /// Position class.
        class: String,
    },
    /// A loss below 0 or not finite.
    #[error("benchmark class {class}, decision {decision}: a loss of {loss} points is impossible")]
    Loss {
        /// Position class.
        class: String,
        /// Index of the decision in its class.
        decision: usize,
        /// The loss.
        loss: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_class_beyond_the_tolerance_fails_the_condition_however_good_the_others_are() {
        let champion = [0.010, 0.0, 0.020, 0.030];
        let better = [0.0, 0.0, 0.010, 0.010];
        let worse = [0.012, 0.002, 0.022, 0.032];
        let classes = [
            ClassLosses { class: "contact", candidate: &better, champion: &champion },
            ClassLosses { class: "race", candidate: &worse, champion: &champion },
        ];
        let strict = compare_benchmark(&classes, 0.5).unwrap();
        assert!(!strict.passed());
        assert!(strict.reason().starts_with("race ER 17.00 is +2.00"), "{}", strict.reason());
        let contact = &strict.classes[0];
        assert!((contact.candidate_er - 5.0).abs() < 1e-12 && (contact.champion_er - 15.0).abs() < 1e-12);
        assert!((contact.difference + 10.0).abs() < 1e-12 && contact.passed);
        // Differences -10, 0, -10, -20: variance 200 / 3, four of them.
        assert!((contact.standard_error - (200.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
        assert!(compare_benchmark(&classes, 2.0 + 1e-9).unwrap().passed());
    }

    #[test]
    fn a_difference_counts_only_when_it_stands_out_from_its_noise() {
        let champion = [0.0; 400];
        // 8 millipoints in every fourth decision: a mean of 2, a spread of 3.47, a standard error of 0.17.
        let often: Vec<f64> = (0..400).map(|i| if i % 4 == 0 { 0.008 } else { 0.0 }).collect();
        // The same mean in four decisions: a standard error of 1.
        let seldom: Vec<f64> = (0..400).map(|i| if i % 100 == 0 { 0.2 } else { 0.0 }).collect();
        for (candidate, passed) in [(&often, false), (&seldom, true)] {
            let losses = ClassLosses { class: "contact", candidate, champion: &champion };
            let report = compare_benchmark(&[losses], 0.5).unwrap();
            assert!((report.classes[0].difference - 2.0).abs() < 1e-9);
            assert_eq!(report.passed(), passed, "{report:?}");
        }
    }

    #[test]
    fn losses_that_do_not_belong_together_are_refused() {
        let compare = |candidate: &[f64], champion: &[f64]| {
            compare_benchmark(&[ClassLosses { class: "race", candidate, champion }], 0.5).unwrap_err()
        };
        assert!(matches!(
            compare(&[0.0], &[0.0, 0.0]),
            BenchmarkError::Lengths { candidate: 1, champion: 2, .. }
        ));
        assert!(matches!(compare(&[], &[]), BenchmarkError::Empty { .. }));
        assert!(matches!(compare(&[0.0, 0.1], &[0.0, f64::NAN]), BenchmarkError::Loss { decision: 1, .. }));
        assert!(matches!(compare(&[-0.1, 0.1], &[0.0, 0.0]), BenchmarkError::Loss { decision: 0, .. }));
    }
}
