//! The two chances of games that are won, drawn or lost.

use crate::Chances;

/// Chances for the side to act: win, loss. What is left is a draw. A win is worth one point.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WinLoss(pub [f32; 2]);

impl AsRef<[f32]> for WinLoss {
    fn as_ref(&self) -> &[f32] {
        &self.0
    }
}

impl AsMut<[f32]> for WinLoss {
    fn as_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

impl Chances for WinLoss {
    const LEN: usize = 2;
    const LABELS: &'static [&'static str] = &["win", "loss"];
    const MAX_POINTS: f32 = 1.0;

    fn from_payoff(points: i8) -> Self {
        WinLoss([f32::from(u8::from(points > 0)), f32::from(u8::from(points < 0))])
    }

    fn points(&self) -> f32 {
        self.0[0] - self.0[1]
    }

    fn flipped(&self) -> Self {
        WinLoss([self.0[1], self.0[0]])
    }

    fn ordered(self) -> Self {
        let [win, loss] = self.0;
        // `clamp` leaves a NaN alone, and one as a limit would panic: it is found by `is_valid`.
        let win = win.clamp(0.0, 1.0);
        let left = if win.is_nan() { 1.0 } else { 1.0 - win };
        WinLoss([win, loss.clamp(0.0, left)])
    }

    fn is_valid(&self) -> bool {
        let [win, loss] = self.0;
        win >= 0.0 && loss >= 0.0 && win + loss <= 1.0
    }

    fn difference_points(difference: &Self) -> f32 {
        difference.points()
    }
}
