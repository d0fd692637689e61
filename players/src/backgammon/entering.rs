//! What it costs to have checkers on the bar.

/// Share of an average roll's pips that cannot be played because checkers have to enter. `closed` are the six points they
/// may enter on, bit `6 - die` for each: set where it is made; `bar` is at least 1. A die is lost when it does not
/// enter a checker that has to; with one checker on the bar only when neither die does.
#[inline(always)]
pub(super) fn lost(bar: u8, closed: u32) -> f32 {
    LOST[usize::from(bar > 1)][(closed & 0x3f) as usize]
}

static LOST: [[f32; 64]; 2] = {
    let mut table = [[0.0; 64]; 2];
    let mut closed: u32 = 0;
    while closed < 64 {
        let mut pips = [0, 0];
        let (mut a, mut b) = (1, 1);
        while a <= 6 {
            let (shut_a, shut_b) = (closed >> (6 - a) & 1, closed >> (6 - b) & 1);
            if a == b {
                pips[0] += 4 * a * shut_a;
                pips[1] += 4 * a * shut_a;
            } else {
                pips[0] += (a + b) * shut_a * shut_b;
                pips[1] += a * shut_a + b * shut_b;
            }
            (a, b) = if b == 6 { (a + 1, 1) } else { (a, b + 1) };
        }
        // All 36 rolls together have 294 pips.
        table[0][closed as usize] = pips[0] as f32 / 294.0;
        table[1][closed as usize] = pips[1] as f32 / 294.0;
        closed += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_points_cost_what_they_should() {
        for bar in [1, 2, 5] {
            assert_eq!(lost(bar, 0), 0.0);
            assert_eq!(lost(bar, 0x3f), 1.0);
        }
        // Bit 0 is the six: with one checker on the bar only 6-6 is lost, 24 of 294 pips; with two, each 6 is.
        assert_eq!(lost(1, 1), 24.0 / 294.0);
        assert_eq!(lost(2, 1), (24.0 + 10.0 * 6.0) / 294.0);
        assert_eq!(lost(1, 1 << 5), 4.0 / 294.0);
    }
}
