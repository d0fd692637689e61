//! Averages of weights: each step overshoots a little, and the mean of many points on the way is better than the last one.

/// Steps between two points that go into an average: so close together they hardly differ, and an average over all of
/// them would cost as much as the steps.
const STRIDE: u64 = 16;

/// The average of a network's parameters over the latest share of all steps taken.
///
/// It is the polynomial-decay average of O. Shamir and T. Zhang, *Stochastic Gradient Descent for Non-smooth Optimization*
/// (2013): the n-th point has the weight `(g + 1) / (n + g)` when it comes, so that the age of what is in the average stays
/// near a share `1 / (g + 1)` of all there has been. So it needs no length, fits the first thousand steps as well as the
/// millionth, and forgets where the weights began.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// Steps taken.
    pub steps: u64,
    /// The average so far, in the order of the network's parameters.
    pub parameters: Vec<f32>,
}

impl Average {
    /// The average of no steps yet, for a network that begins with these parameters.
    pub fn new(parameters: &[f32]) -> Self {
        Average { steps: 0, parameters: parameters.to_vec() }
    }

    /// Takes in the parameters after a step. `share` is that of the latest steps which the average is over, up to 1; with
    /// 0 it is the last point alone.
    pub fn follow(&mut self, parameters: &[f32], share: f64) {
        if share == 0.0 {
            self.steps += 1;
            self.parameters.copy_from_slice(parameters);
            return;
        }
        if self.steps.is_multiple_of(STRIDE) {
            let points = (self.steps / STRIDE + 1) as f64;
            let weight = (1.0 / (1.0 + share * (points - 1.0))) as f32;
            for (average, parameter) in self.parameters.iter_mut().zip(parameters) {
                *average += weight * (parameter - *average);
            }
        }
        self.steps += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The average after each of the points 1, 2, 3, ..., one every stride.
    fn averages(points: u64, share: f64) -> Vec<f64> {
        let mut average = Average::new(&[1e6]);
        let mut found = Vec::new();
        for step in 0..points * STRIDE {
            average.follow(&[(step / STRIDE + 1) as f32], share);
            if step % STRIDE == 0 {
                found.push(f64::from(average.parameters[0]));
            }
        }
        found
    }

    #[test]
    fn over_all_steps_it_is_the_plain_mean() {
        for (index, average) in averages(200, 1.0).into_iter().enumerate() {
            let mean = (index + 2) as f64 / 2.0;
            assert!((average / mean - 1.0).abs() < 1e-5, "{average} after {} points", index + 1);
        }
    }

    #[test]
    fn the_age_of_what_is_in_it_grows_with_the_steps_and_where_they_began_is_forgotten() {
        // The mean age of a point is n / (g + 2), with g + 1 = 1 / share: n / 11 for a tenth.
        for (index, average) in averages(1000, 0.1).into_iter().enumerate() {
            let newest = (index + 1) as f64;
            let age = newest - average;
            assert!(
                (age - (newest - 1.0) / 11.0).abs() < 0.01 + newest * 1e-5,
                "{age} after {newest} points"
            );
        }
    }

    #[test]
    fn without_a_share_it_is_the_last_point() {
        let mut average = Average::new(&[7.0]);
        for point in [3.0, 5.0] {
            average.follow(&[point], 0.0);
            assert_eq!(average.parameters, [point]);
        }
        assert_eq!(average.steps, 2);
    }
}
