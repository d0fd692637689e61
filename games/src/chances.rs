//! How a position is judged: the chances of each kind of result, always for the side on roll.

use std::fmt::Debug;

/// The chances of a game's possible results, for the side to act in a position (in games with dice: before the roll).
///
/// A plain vector of probabilities that knows its own algebra. For backgammon the five numbers are win, win gammon,
/// win backgammon, lose gammon, lose backgammon. Everything that averages, compares or turns chances around goes
/// through here, so a sign can be wrong in one place only.
pub trait Chances:
    Copy + Default + PartialEq + Debug + Send + Sync + AsRef<[f32]> + AsMut<[f32]> + 'static
{
    /// Number of probabilities.
    const LEN: usize;
    /// A short name for each of them, in order.
    const LABELS: &'static [&'static str];
    /// Largest number of points a game can be worth (backgammon 3, Othello 1).
    const MAX_POINTS: f32;

    /// The certain chances of a finished game that was worth `points` to the side to act.
    fn from_payoff(points: i8) -> Self;
    /// Expected points (cubeless equity) for the side to act.
    fn points(&self) -> f32;
    /// The same judgement seen by the other side.
    fn flipped(&self) -> Self;
    /// The nearest chances that are possible: every number in `[0, 1]` and in order (win >= win gammon >= ...).
    /// Non-finite numbers are left alone: they are an error elsewhere, not something to hide.
    fn ordered(self) -> Self;
    /// Whether every number is finite, in `[0, 1]` and in order, give or take the rounding of [`Chances::flipped`].
    fn is_valid(&self) -> bool;
    /// Expected points of a *difference* of two chances: constants cancel, so this differs from [`Chances::points`].
    fn difference_points(difference: &Self) -> f32;
}

/// A difference of two chances: what a roll was worth, number by number, for the side that rolled.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Luck<C: Chances>(pub C);

impl<C: Chances> Luck<C> {
    /// `actual` minus `expected`.
    pub fn between(actual: &C, expected: &C) -> Self {
        let mut difference = *actual;
        for (a, e) in difference.as_mut().iter_mut().zip(expected.as_ref()) {
            *a -= e;
        }
        Luck(difference)
    }

    /// The luck in points for the side that rolled.
    pub fn points(&self) -> f32 {
        C::difference_points(&self.0)
    }
}
