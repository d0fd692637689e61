//! Sixteen lanes in one AVX-512 register.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::Block;
use super::forward::{MAX_TILE, Task};
use super::lanes::Lanes;

/// Proof that this processor has AVX-512 (foundation) and AVX.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(());

impl Avx512 {
    /// The proof, if it is true.
    pub(super) fn detect() -> Option<Avx512> {
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx")).then_some(Avx512(()))
    }

    /// Runs a task with the instructions enabled.
    pub(super) fn run<T: Task>(self, task: T) -> T::Result {
        #[target_feature(enable = "avx512f,avx")]
        fn enabled<T: Task>(lanes: Avx512, task: T) -> T::Result {
            task.run(lanes)
        }
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { enabled(self, task) }
    }
}

/// Calls intrinsics, with the proof in hand.
macro_rules! proved {
    ($($call:tt)*) => {
        // SAFETY: a value of `Avx512` proves that the processor has the instructions.
        unsafe { $($call)* }
    };
}

impl Lanes for Avx512 {
    type Vector = __m512;
    const TILE: usize = MAX_TILE;

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        proved!(_mm512_set1_ps(value))
    }

    #[inline(always)]
    fn load(self, from: &Block) -> __m512 {
        // SAFETY: both are sixteen numbers in the same order, and any bits are numbers.
        unsafe { transmute::<Block, __m512>(*from) }
    }

    #[inline(always)]
    fn store(self, vector: __m512, to: &mut Block) {
        // SAFETY: as in `load`.
        *to = unsafe { transmute::<__m512, Block>(vector) };
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        proved!(_mm512_add_ps(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        proved!(_mm512_sub_ps(a, b))
    }

    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        proved!(_mm512_div_ps(a, b))
    }

    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        proved!(_mm512_fmadd_ps(a, b, c))
    }

    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        proved!(_mm512_min_ps(a, b))
    }

    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        proved!(_mm512_max_ps(a, b))
    }

    #[inline(always)]
    fn scale(self, a: __m512, power: __m512) -> __m512 {
        proved!({
            let shifted = _mm512_slli_epi32::<23>(_mm512_castps_si512(power));
            _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), shifted))
        })
    }

    #[inline(always)]
    fn sum(self, v: __m512) -> f32 {
        proved!({
            // The upper half comes down to lane 0 and is added to the lower one, four times.
            let eight = _mm512_add_ps(v, _mm512_shuffle_f32x4::<0b11_10_11_10>(v, v));
            let eight = _mm512_castps512_ps256(eight);
            let low = _mm256_castps256_ps128(eight);
            let four = _mm_add_ps(low, _mm256_extractf128_ps::<1>(eight));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        })
    }
}
