//! The one decision about the cube that has to be made: to take or to drop.

use ludus_games::backgammon::BackgammonChances;

/// How much of the value of owning the cube is real: 0 for a dead cube, 1 for one that is always turned in time.
const LIFE: f32 = 0.7;

/// Whether a double for money is a take, by the cubeless chances of the side that is doubled.
///
/// R. Janowski, "Take-Points in Money Games" (1993): with W points for an average win and L for an average loss the take
/// point is (L - 1/2) / (W + L + x/2); without gammons that is 25% for a dead cube and 20% for a live one.
pub fn is_a_take(taker: &BackgammonChances) -> bool {
    let [win, win_gammon, win_backgammon, lose_gammon, lose_backgammon] = taker.0;
    let average = |share: f32, more: f32| if share > 0.0 { 1.0 + more / share } else { 1.0 };
    let won = average(win, win_gammon + win_backgammon);
    let lost = average(1.0 - win, lose_gammon + lose_backgammon);
    win >= (lost - 0.5) / (won + lost + 0.5 * LIFE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_gammons_the_take_point_lies_between_20_and_25_percent() {
        let takes = |win| is_a_take(&BackgammonChances([win, 0.0, 0.0, 0.0, 0.0]));
        assert!(takes(0.25) && takes(0.22) && !takes(0.21) && !takes(0.0));
    }

    #[test]
    fn gammons_that_may_be_lost_make_a_drop_and_gammons_that_may_be_won_a_take() {
        assert!(is_a_take(&BackgammonChances([0.3, 0.0, 0.0, 0.0, 0.0])));
        assert!(!is_a_take(&BackgammonChances([0.3, 0.0, 0.0, 0.4, 0.0])));
        assert!(is_a_take(&BackgammonChances([0.19, 0.15, 0.0, 0.0, 0.0])));
    }
}
