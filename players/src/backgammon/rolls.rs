//! Sets of rolls.

/// The 36 rolls of two dice, a bit each: bit `6 * (a - 1) + b - 1` for `a` and then `b`.
pub(super) type Rolls = u64;

/// The bit of a roll.
const fn roll(a: usize, b: usize) -> Rolls {
    1 << (6 * (a - 1) + (b - 1))
}

/// The rolls of which both dice are the same: bits 0, 7, 14 ...
pub(super) const DOUBLE: Rolls = roll(1, 1) | roll(2, 2) | roll(3, 3) | roll(4, 4) | roll(5, 5) | roll(6, 6);

/// Dice: bit `die - 1` stands for a die.
pub(super) type Dice = u32;

/// A set of rolls for each set of dice.
type ByDice = [Rolls; 64];

/// Rolls whose first die is one of these.
#[inline(always)]
pub(super) fn first(dice: Dice) -> Rolls {
    FIRST[(dice & 0x3f) as usize]
}

/// Rolls whose second die is one of these.
#[inline(always)]
pub(super) fn second(dice: Dice) -> Rolls {
    SECOND[(dice & 0x3f) as usize]
}

static FIRST: ByDice = table(true);
static SECOND: ByDice = table(false);

const fn table(first: bool) -> ByDice {
    let mut table = [0; 64];
    let mut dice = 0;
    while dice < 64 {
        let (mut a, mut b) = (1, 1);
        while a <= 6 {
            if dice >> (if first { a - 1 } else { b - 1 }) & 1 == 1 {
                table[dice] |= roll(a, b);
            }
            (a, b) = if b == 6 { (a + 1, 1) } else { (a, b + 1) };
        }
        dice += 1;
    }
    table
}

/// Rolls with at least one of these dice.
#[inline(always)]
pub(super) fn either(dice: Dice) -> Rolls {
    first(dice) | second(dice)
}

/// Rolls whose dice add up to a number from 0 to 12.
pub(super) static SUM: [Rolls; 13] = {
    let mut table = [0; 13];
    let (mut a, mut b) = (1, 1);
    while a <= 6 {
        table[a + b] |= roll(a, b);
        (a, b) = if b == 6 { (a + 1, 1) } else { (a, b + 1) };
    }
    table
};

/// Rolls that take one checker `distance` squares ahead with at least two steps, by the open squares among the six ahead
/// (bit `i` is `i + 1` ahead). From 12 on this depends on more squares: see [`FAR`].
pub(super) static COMBINED: [ByDice; 12] = {
    let mut table = [[0; 64]; 12];
    let mut distance = 2;
    while distance < 12 {
        let mut open = 0;
        while open < 64 {
            let (mut a, mut b) = (1, 1);
            while a <= 6 {
                let reaches = if a == b {
                    distance % a == 0
                        && distance > a
                        && distance <= 4 * a
                        && open & between(a, distance) == between(a, distance)
                } else {
                    distance == a + b && (open >> (a - 1) & 1 == 1 || open >> (b - 1) & 1 == 1)
                };
                if reaches {
                    table[distance][open as usize] |= roll(a, b);
                }
                (a, b) = if b == 6 { (a + 1, 1) } else { (a, b + 1) };
            }
            open += 1;
        }
        distance += 1;
    }
    table
};

/// The distances of [`FAR`], as `COMBINED` counts squares.
pub(super) const FAR_AWAY: u32 = 1 << 11 | 1 << 14 | 1 << 15 | 1 << 17 | 1 << 19 | 1 << 23;

/// The other distances that a checker can go: the distance, the double, and the squares that must be open on the way.
pub(super) static FAR: [(usize, Rolls, u32); 8] =
    [far(3, 4), far(4, 3), far(6, 2), far(5, 3), far(4, 4), far(6, 3), far(5, 4), far(6, 4)];

const fn far(die: usize, steps: usize) -> (usize, Rolls, u32) {
    (die * steps, roll(die, die), between(die, die * steps))
}

/// The squares on the way to `distance` in steps of `die`: bit `i` is `i + 1` ahead.
const fn between(die: usize, distance: usize) -> u32 {
    let (mut squares, mut at) = (0, die);
    while at < distance {
        squares |= 1 << (at - 1);
        at += die;
    }
    squares
}
