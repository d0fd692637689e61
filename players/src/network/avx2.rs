//! Sixteen lanes in two AVX registers, with FMA.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::Block;
use super::forward::Task;
use super::lanes::Lanes;

/// Proof that this processor has AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    /// The proof, if it is true.
    pub(super) fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Avx2(()))
    }

    /// Runs a task with the instructions enabled.
    pub(super) fn run<T: Task>(self, task: T) -> T::Result {
        #[target_feature(enable = "avx2,fma")]
        fn enabled<T: Task>(lanes: Avx2, task: T) -> T::Result {
            task.run(lanes)
        }
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { enabled(self, task) }
    }
}

/// Calls intrinsics, with the proof in hand.
macro_rules! proved {
    ($($call:tt)*) => {
        // SAFETY: a value of `Avx2` proves that the processor has the instructions.
        unsafe { $($call)* }
    };
}

/// Applies an intrinsic to the lower halves and to the upper halves.
macro_rules! halves {
    ($intrinsic:ident($($operand:ident),+)) => {
        proved!([$intrinsic($($operand[0]),+), $intrinsic($($operand[1]),+)])
    };
}

impl Lanes for Avx2 {
    /// Lanes 0 to 7 and 8 to 15.
    type Vector = [__m256; 2];
    /// 12 of the 16 registers; the others hold the input and a weight on its way.
    const TILE: usize = 6;

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        let half = proved!(_mm256_set1_ps(value));
        [half, half]
    }

    #[inline(always)]
    fn load(self, from: &Block) -> Self::Vector {
        // SAFETY: both are sixteen numbers in the same order, and any bits are numbers.
        unsafe { transmute::<Block, [__m256; 2]>(*from) }
    }

    #[inline(always)]
    fn store(self, vector: Self::Vector, to: &mut Block) {
        // SAFETY: as in `load`.
        *to = unsafe { transmute::<[__m256; 2], Block>(vector) };
    }

    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        halves!(_mm256_add_ps(a, b))
    }

    #[inline(always)]
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        halves!(_mm256_sub_ps(a, b))
    }

    #[inline(always)]
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        halves!(_mm256_div_ps(a, b))
    }

    #[inline(always)]
    fn fma(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        halves!(_mm256_fmadd_ps(a, b, c))
    }

    #[inline(always)]
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        halves!(_mm256_min_ps(a, b))
    }

    #[inline(always)]
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        halves!(_mm256_max_ps(a, b))
    }

    #[inline(always)]
    fn scale(self, a: Self::Vector, power: Self::Vector) -> Self::Vector {
        let mut scaled = a;
        for (half, power) in scaled.iter_mut().zip(power) {
            *half = proved!({
                let shifted = _mm256_slli_epi32::<23>(_mm256_castps_si256(power));
                _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(*half), shifted))
            });
        }
        scaled
    }

    #[inline(always)]
    fn sum(self, v: Self::Vector) -> f32 {
        proved!({
            let eight = _mm256_add_ps(v[0], v[1]);
            let low = _mm256_castps256_ps128(eight);
            let four = _mm_add_ps(low, _mm256_extractf128_ps::<1>(eight));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        })
    }
}
