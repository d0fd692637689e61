//! Sixteen lanes in four NEON registers.

use std::arch::aarch64::*;
use std::mem::transmute;

use super::Block;
use super::forward::Task;
use super::lanes::Lanes;

/// Proof that this processor has NEON, which every 64-bit ARM that runs Rust's standard library has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neon(());

impl Neon {
    /// The proof, if it is true.
    pub(super) fn detect() -> Option<Neon> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Neon(()))
    }

    /// Runs a task with the instructions enabled.
    pub(super) fn run<T: Task>(self, task: T) -> T::Result {
        #[target_feature(enable = "neon")]
        fn enabled<T: Task>(lanes: Neon, task: T) -> T::Result {
            task.run(lanes)
        }
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { enabled(self, task) }
    }
}

/// Calls intrinsics, with the proof in hand.
macro_rules! proved {
    ($($call:tt)*) => {
        // SAFETY: a value of `Neon` proves that the processor has the instructions.
        unsafe { $($call)* }
    };
}

/// A vector from an expression of a quarter's number.
macro_rules! quarters {
    ($i:ident => $value:expr) => {
        proved!({
            let mut vector = [vdupq_n_f32(0.0); 4];
            for $i in 0..4 {
                vector[$i] = $value;
            }
            vector
        })
    };
}

impl Lanes for Neon {
    /// Lanes 0 to 3, 4 to 7, 8 to 11 and 12 to 15.
    type Vector = [float32x4_t; 4];
    /// 24 of the 32 registers; the others hold the input and weights on their way.
    const TILE: usize = 6;

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        [proved!(vdupq_n_f32(value)); 4]
    }

    #[inline(always)]
    fn load(self, from: &Block) -> Self::Vector {
        // SAFETY: both are sixteen numbers in the same order, and any bits are numbers.
        unsafe { transmute::<Block, [float32x4_t; 4]>(*from) }
    }

    #[inline(always)]
    fn store(self, vector: Self::Vector, to: &mut Block) {
        // SAFETY: as in `load`.
        *to = unsafe { transmute::<[float32x4_t; 4], Block>(vector) };
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        quarters!(i => vaddq_f32(a[i], b[i]))
    }

    #[inline(always)]
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        quarters!(i => vsubq_f32(a[i], b[i]))
    }

    #[inline(always)]
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        quarters!(i => vdivq_f32(a[i], b[i]))
    }

    #[inline(always)]
    fn fma(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        quarters!(i => vfmaq_f32(c[i], a[i], b[i]))
    }

    #[inline(always)]
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        quarters!(i => vbslq_f32(vcltq_f32(a[i], b[i]), a[i], b[i]))
    }

    #[inline(always)]
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        quarters!(i => vbslq_f32(vcgtq_f32(a[i], b[i]), a[i], b[i]))
    }

    #[inline(always)]
    fn scale(self, a: Self::Vector, power: Self::Vector) -> Self::Vector {
        quarters!(i => {
            let shifted = vshlq_n_u32::<23>(vreinterpretq_u32_f32(power[i]));
            vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(a[i]), shifted))
        })
    }

    #[inline(always)]
    fn sum(self, v: Self::Vector) -> f32 {
        proved!({
            let four = vaddq_f32(vaddq_f32(v[0], v[2]), vaddq_f32(v[1], v[3]));
            let two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
            vget_lane_f32::<0>(two) + vget_lane_f32::<1>(two)
        })
    }
}
