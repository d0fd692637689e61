//! ListNet (Cao and others, 2007): linear weights that learn the order of plays from decisions whose plays have equities.
//!
//! For one decision with reference equities t and scores s, both over its plays, `P = softmax(t)` and `Q = softmax(s)`
//! say how likely each play is to be the best. The loss is their cross entropy `-sum P log Q`, its gradient with respect to
//! the weights `-sum (P - Q) x`, x being the inputs of a play. Weights follow it decision by decision; the step shrinks
//! whenever the error rate gets worse.
//!
//! A decision of a benchmark lists the plays worth looking at with what each loses, so t is the loss, negated: softmax
//! sees differences only. **Plays that are not listed** are left out of P and Q. All that is known of them is that they
//! are no better than the worst that is listed, which is often far from the truth; as equities such numbers taught much
//! less well than none. The error rate does count them, as much as the worst listed, so it shows whether they are preferred.
//!
//! **Where it starts.** Scores of linear weights have no unit: half of all weights play the same. Read as points, those of
//! PubEval are ten times too large, and shrinking them would be all that the first passes do. So they are halved until the
//! loss is lowest, and the training goes on from there.

use std::fmt;
use std::ops::Range;

use ludus_games::backgammon::{CHECKERS, Position};
use ludus_games::{Backgammon, Game, Plays};
use serde::Serialize;

use super::linear::{INPUTS, LinearWeights, has_contact, inputs};
use crate::benchmark::Benchmark;
use crate::dice;

/// The first step. Each further one is smaller by the square root of 10; the last is 1e-5.
const FIRST_STEP: f64 = 0.1;
const STEPS: i32 = 9;

/// How to train.
#[derive(Clone, Copy, Debug)]
pub struct Training {
    /// Most times that each vector goes through all decisions.
    pub epochs: u32,
    /// Seed of the order in which it meets them.
    pub seed: u64,
}

/// Which of the two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Vector {
    /// That for positions in which the sides can still meet.
    Contact,
    /// That for races.
    Race,
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Vector::Contact => "contact",
            Vector::Race => "race",
        })
    }
}

/// What one pass through all decisions came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Epoch {
    /// The vector that was trained.
    pub vector: Vector,
    /// The pass, from 1; 0 stands for the weights before the first.
    pub epoch: u32,
    /// The step it was made with.
    pub step: f64,
    /// Mean loss (cross entropy, in nats) of the decisions it was trained on, after it.
    pub loss: f64,
    /// 1000 times the mean loss in points on the decisions it was trained on, after it.
    pub er: f64,
    /// The same on the decisions held out, if there are any. Nothing depends on it.
    pub held_out_er: Option<f64>,
}

/// Trains `start` on the decisions of `training`, each vector on its own, and says after each pass what it came to.
///
/// Gives for each vector the weights with the lowest error rate on `training`, `start` included. Without decisions of its
/// kind a vector stays as it is. Equal arguments give equal weights on one machine; on another they may differ in the last
/// bits, because of `exp`.
pub fn train(
    start: &LinearWeights,
    training: &Benchmark<Backgammon>,
    held_out: &Benchmark<Backgammon>,
    settings: Training,
    report: &mut dyn FnMut(&Epoch),
) -> LinearWeights {
    let mut trained = start.clone();
    for (vector, weights) in [(Vector::Contact, &mut trained.contact), (Vector::Race, &mut trained.race)] {
        let lessons = Lessons::of(training, vector);
        if !lessons.is_empty() {
            let held_out = Lessons::of(held_out, vector);
            *weights = train_vector(weights, vector, &lessons, &held_out, settings, report);
        }
    }
    trained
}

fn train_vector(
    start: &[f32; INPUTS],
    vector: Vector,
    lessons: &Lessons,
    held_out: &Lessons,
    settings: Training,
    report: &mut dyn FnMut(&Epoch),
) -> [f32; INPUTS] {
    let mut weights = lessons.in_points(start.map(f64::from));
    let step_of = |number: i32| FIRST_STEP / 10.0_f64.sqrt().powi(number);
    let mut step = 0;
    let mut look = |epoch, step, weights: &[f64; INPUTS]| {
        let step = step_of(step);
        let (loss, er) = lessons.measure(weights);
        let held_out_er = (!held_out.is_empty()).then(|| held_out.measure(weights).1);
        report(&Epoch { vector, epoch, step, loss, er, held_out_er });
        er
    };
    let mut last = look(0, step, &weights);
    let mut best = (last, weights);
    let mut order: Vec<usize> = (0..lessons.len()).collect();
    let mut learner = Learner::default();
    for epoch in 1..=settings.epochs {
        let mut rng = dice::decisions(settings.seed, u64::from(epoch));
        for place in (1..order.len()).rev() {
            order.swap(place, dice::below(&mut rng, place + 1));
        }
        for &lesson in &order {
            learner.learn(lessons.lesson(lesson), &mut weights, step_of(step));
        }
        let er = look(epoch, step, &weights);
        if er < best.0 {
            best = (er, weights);
        }
        if er > last {
            step += 1;
            if step == STEPS {
                break;
            }
        }
        last = er;
    }
    best.1.map(|weight| weight as f32)
}

/// The decisions that one vector learns from.
struct Lessons {
    /// The positions after the plays of all decisions, one decision after the other, seen by the opponent.
    after: Vec<Position>,
    /// What each play loses, in points.
    lost: Vec<f32>,
    /// Whether each play is listed, so that its loss is known.
    listed: Vec<bool>,
    /// Where each decision ends.
    ends: Vec<usize>,
}

/// The plays of one decision, and what they lose.
#[derive(Clone, Copy)]
struct Lesson<'a> {
    after: &'a [Position],
    lost: &'a [f32],
    listed: &'a [bool],
}

impl Lesson<'_> {
    /// The values of the plays that are listed; the others are impossible.
    fn of_listed(self, values: impl Iterator<Item = f64> + Clone) -> impl Iterator<Item = f64> + Clone {
        values.zip(self.listed).map(|(value, &listed)| if listed { value } else { f64::NEG_INFINITY })
    }
}

impl Lessons {
    fn of(benchmark: &Benchmark<Backgammon>, vector: Vector) -> Self {
        let mut lessons =
            Lessons { after: Vec::new(), lost: Vec::new(), listed: Vec::new(), ends: Vec::new() };
        let mut plays = Plays::new();
        for decision in benchmark.decisions() {
            if has_contact(&decision.state) != (vector == Vector::Contact) {
                continue;
            }
            Backgammon.plays(&decision.state, decision.roll, &mut plays);
            // Whoever can win at once does, whatever the weights say: that is the only play there is to choose.
            let won = plays.after.iter().position(|after| after.other_off() == CHECKERS);
            let choice = &plays.after[won.map_or(0..plays.len(), |won| won..won + 1)];
            // Of plays none of which is listed none would be possible.
            if !choice.iter().any(|after| decision.lists(after)) {
                continue;
            }
            for after in choice {
                lessons.after.push(*after);
                lessons.lost.push(decision.loss_of(after) as f32);
                lessons.listed.push(decision.lists(after));
            }
            lessons.ends.push(lessons.after.len());
        }
        lessons
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn lesson(&self, index: usize) -> Lesson<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        let range: Range<usize> = start..self.ends[index];
        Lesson {
            after: &self.after[range.clone()],
            lost: &self.lost[range.clone()],
            listed: &self.listed[range],
        }
    }

    /// The weights, halved until the loss is lowest. They play as before.
    fn in_points(&self, weights: [f64; INPUTS]) -> [f64; INPUTS] {
        let mut best = (self.measure(&weights).0, weights);
        loop {
            let halved = best.1.map(|weight| weight / 2.0);
            let loss = self.measure(&halved).0;
            if loss >= best.0 {
                return best.1;
            }
            best = (loss, halved);
        }
    }

    /// Mean loss, and the error rate, with these weights.
    fn measure(&self, weights: &[f64; INPUTS]) -> (f64, f64) {
        let mut learner = Learner::default();
        let (mut loss, mut lost) = (0.0, 0.0);
        for index in 0..self.len() {
            let lesson = self.lesson(index);
            loss += learner.loss(lesson, weights);
            let mut best = (0, f64::NEG_INFINITY);
            for (index, &score) in learner.scores.iter().enumerate() {
                if score > best.1 {
                    best = (index, score);
                }
            }
            lost += f64::from(lesson.lost[best.0]);
        }
        let count = self.len() as f64;
        (loss / count, 1000.0 * lost / count)
    }
}

/// What is computed for one decision after the other, in memory that is used again.
#[derive(Default)]
struct Learner {
    /// The scores s.
    scores: Vec<f64>,
    /// P.
    reference: Vec<f64>,
    /// Q.
    chosen: Vec<f64>,
}

impl Learner {
    /// The loss of a decision; leaves scores, P and Q.
    fn loss(&mut self, lesson: Lesson<'_>, weights: &[f64; INPUTS]) -> f64 {
        self.scores.clear();
        self.scores.extend(lesson.after.iter().map(|after| {
            let mut score = 0.0;
            inputs(after, |index, value| score += weights[index] * value);
            score
        }));
        let equities = lesson.lost.iter().map(|&lost| -f64::from(lost));
        softmax(lesson.of_listed(equities), &mut self.reference);
        let log_sum = softmax(lesson.of_listed(self.scores.iter().copied()), &mut self.chosen);
        let terms = self.reference.iter().zip(&self.scores);
        terms.map(|(p, score)| -p * (score - log_sum)).sum()
    }

    /// Moves the weights by `step` against the gradient of a decision's loss.
    fn learn(&mut self, lesson: Lesson<'_>, weights: &mut [f64; INPUTS], step: f64) {
        self.loss(lesson, weights);
        for ((after, p), q) in lesson.after.iter().zip(&self.reference).zip(&self.chosen) {
            let pull = step * (p - q);
            if pull != 0.0 {
                inputs(after, |index, value| weights[index] += pull * value);
            }
        }
    }
}

/// Replaces `shares` by the softmax of `values`, and gives the logarithm of the sum of their exponentials.
fn softmax(values: impl Iterator<Item = f64> + Clone, shares: &mut Vec<f64>) -> f64 {
    // Shifted so that the largest becomes 1: nothing overflows, and the sum is never 0.
    let top = values.clone().fold(f64::NEG_INFINITY, f64::max);
    shares.clear();
    shares.extend(values.map(|value| (value - top).exp()));
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    top + sum.ln()
}

#[cfg(test)]
mod tests;
