//! The five chances of a backgammon position.

use crate::Chances;

/// Chances for the side on roll: win, win at least a gammon, win a backgammon, lose at least a gammon, lose a
/// backgammon. Cubeless.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BackgammonChances(pub [f32; 5]);

impl AsRef<[f32]> for BackgammonChances {
    fn as_ref(&self) -> &[f32] {
        &self.0
    }
}

impl AsMut<[f32]> for BackgammonChances {
    fn as_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

impl Chances for BackgammonChances {
    const LEN: usize = 5;
    const LABELS: &'static [&'static str] =
        &["win", "win gammon", "win backgammon", "lose gammon", "lose backgammon"];
    const MAX_POINTS: f32 = 3.0;

    fn from_payoff(points: i8) -> Self {
        let at_least = |n: i8| if points >= n { 1.0 } else { 0.0 };
        let at_most = |n: i8| if points <= n { 1.0 } else { 0.0 };
        BackgammonChances([at_least(1), at_least(2), at_least(3), at_most(-2), at_most(-3)])
    }

    fn points(&self) -> f32 {
        let [win, win_gammon, win_backgammon, lose_gammon, lose_backgammon] = self.0;
        2.0 * win - 1.0 + win_gammon + win_backgammon - lose_gammon - lose_backgammon
    }

    fn flipped(&self) -> Self {
        let [win, win_gammon, win_backgammon, lose_gammon, lose_backgammon] = self.0;
        BackgammonChances([1.0 - win, lose_gammon, lose_backgammon, win_gammon, win_backgammon])
    }

    fn ordered(self) -> Self {
        let [win, win_gammon, win_backgammon, lose_gammon, lose_backgammon] = self.0;
        // Comparisons with NaN are false, so a NaN stays where it is and is found by `is_valid`.
        let limit = |p: f32, high: f32| {
            if p > high {
                high
            } else if p < 0.0 {
                0.0
            } else {
                p
            }
        };
        let win = limit(win, 1.0);
        let win_gammon = limit(win_gammon, win);
        let lose_gammon = limit(lose_gammon, 1.0 - win);
        BackgammonChances([
            win,
            win_gammon,
            limit(win_backgammon, win_gammon),
            lose_gammon,
            limit(lose_backgammon, lose_gammon),
        ])
    }

    fn is_valid(&self) -> bool {
        // Turning chances around rounds them, so what is in order for one side may be a hair out of it for the other.
        const ROUNDING: f32 = 1e-6;
        let [win, win_gammon, win_backgammon, lose_gammon, lose_backgammon] = self.0;
        let falls = |chain: &[f32]| chain.windows(2).all(|pair| pair[0] + ROUNDING >= pair[1]);
        self.0.iter().all(|p| (0.0..=1.0).contains(p))
            && falls(&[win, win_gammon, win_backgammon])
            && falls(&[1.0 - win, lose_gammon, lose_backgammon])
    }

    fn difference_points(difference: &Self) -> f32 {
        let [win, win_gammon, win_backgammon, lose_gammon, lose_backgammon] = difference.0;
        2.0 * win + win_gammon + win_backgammon - lose_gammon - lose_backgammon
    }
}
