//! Sixteen lanes one after the other: for processors without a kernel of their own, and the yardstick of the others.

use super::lanes::Lanes;
use super::{Block, LANES};

/// Any processor will do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar;

/// A vector from an expression of a lane's number.
macro_rules! lanewise {
    ($lane:ident => $value:expr) => {{
        let mut vector = [0.0; LANES];
        for $lane in 0..LANES {
            vector[$lane] = $value;
        }
        vector
    }};
}

impl Lanes for Scalar {
    type Vector = [f32; LANES];
    const TILE: usize = 4;

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        [value; LANES]
    }

    #[inline(always)]
    fn load(self, from: &Block) -> Self::Vector {
        from.0
    }

    #[inline(always)]
    fn store(self, vector: Self::Vector, to: &mut Block) {
        to.0 = vector;
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanewise!(i => a[i] + b[i])
    }

    #[inline(always)]
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanewise!(i => a[i] - b[i])
    }

    #[inline(always)]
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanewise!(i => a[i] / b[i])
    }

    #[inline(always)]
    fn fma(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        lanewise!(i => a[i].mul_add(b[i], c[i]))
    }

    #[inline(always)]
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanewise!(i => if a[i] < b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        lanewise!(i => if a[i] > b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn scale(self, a: Self::Vector, power: Self::Vector) -> Self::Vector {
        lanewise!(i => f32::from_bits(a[i].to_bits().wrapping_add(power[i].to_bits() << 23)))
    }

    #[inline(always)]
    fn sum(self, v: Self::Vector) -> f32 {
        let mut sums = v;
        for width in [8, 4, 2, 1] {
            for i in 0..width {
                sums[i] += sums[i + width];
            }
        }
        sums[0]
    }
}
