//! The vector that the forward pass is written in.

use super::Block;

/// A kind of processor, as sixteen-lane arithmetic. A value of an implementing type is the proof that this processor
/// has the instructions: it can only be got by asking the processor, so the methods are safe to call.
///
/// Implementors owe the exact IEEE single-precision result of each operation, rounded to nearest, in each lane; then all
/// of them give the same bits. They owe nothing for NaN, which cannot arise from finite weights and inputs.
pub(super) trait Lanes: Copy {
    /// Sixteen numbers, in registers if the processor has enough of them.
    type Vector: Copy;
    /// Blocks of hidden units to sum at a time, at most [`super::forward::MAX_TILE`]: as many as the registers hold.
    const TILE: usize;

    /// The same number in every lane.
    fn splat(self, value: f32) -> Self::Vector;
    /// Sixteen numbers from memory.
    fn load(self, from: &Block) -> Self::Vector;
    /// Sixteen numbers to memory.
    fn store(self, vector: Self::Vector, to: &mut Block);
    /// `a + b`.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a - b`.
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a / b`.
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`, rounded once.
    fn fma(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// `a` where it is smaller than `b`, else `b`.
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a` where it is larger than `b`, else `b`.
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Adds the low 9 bits of `power` to the sign and exponent of `a`: with `power` = 1.5 * 2^23 + n for a whole number
    /// n, that is `a * 2^n`, as long as neither is out of range.
    fn scale(self, a: Self::Vector, power: Self::Vector) -> Self::Vector;
    /// The sum of all lanes by the fixed tree: lanes `i` and `i + 8` are added, then of these eight `i` and `i + 4`,
    /// then 2, then 1.
    fn sum(self, vector: Self::Vector) -> f32;
}
