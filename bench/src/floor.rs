//! How fast a network could be judged if nothing but its multiplications took time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Serialize;

/// The processor's limit for one network.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Floor {
    /// Measured with fused multiply-adds in registers, one core, in 10^9 operations a second; a multiply-add is two.
    pub peak_gflops: f64,
    /// Multiply-adds of an evaluation with every input.
    pub dense_multiply_adds: f64,
    /// Multiply-adds of an evaluation that leaves out the inputs that are zero.
    pub sparse_multiply_adds: f64,
    /// Evaluations a second at the peak, with every input.
    pub dense_per_second: f64,
    /// Evaluations a second at the peak, without the zeros.
    pub sparse_per_second: f64,
}

impl Floor {
    /// The floor of a network of this size of which `active` inputs are not zero on average; `None` on a processor whose
    /// peak cannot be measured.
    pub fn of(inputs: usize, hidden: usize, outputs: usize, active: f64) -> Option<Floor> {
        let peak = peak()?;
        let multiply_adds = |inputs: f64| inputs * hidden as f64 + (hidden * outputs) as f64;
        let (dense, sparse) = (multiply_adds(inputs as f64), multiply_adds(active));
        Some(Floor {
            peak_gflops: peak / 1e9,
            dense_multiply_adds: dense,
            sparse_multiply_adds: sparse,
            dense_per_second: peak / (2.0 * dense),
            sparse_per_second: peak / (2.0 * sparse),
        })
    }
}

/// Operations a second of one core with its widest vectors of floats; `None` without AVX2 and FMA.
pub fn peak() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has what the function needs.
        let run = |rounds| unsafe { chains::wide(rounds) };
        return Some(best_rate(run, chains::COUNT * 16 * 2));
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has what the function needs.
        let run = |rounds| unsafe { chains::narrow(rounds) };
        return Some(best_rate(run, chains::COUNT * 8 * 2));
    }
    None
}

/// The best of some short runs, as operations a second; a round has so many.
fn best_rate(run: impl Fn(usize), operations: usize) -> f64 {
    const ROUNDS: usize = 2_000_000;
    let time = || {
        let start = Instant::now();
        run(black_box(ROUNDS));
        start.elapsed()
    };
    let best = (0..20).map(|_| time()).min().unwrap_or(Duration::MAX);
    (ROUNDS * operations) as f64 / best.as_secs_f64()
}

#[cfg(target_arch = "x86_64")]
mod chains {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
    use std::hint::black_box;

    /// Chains that do not wait for each other: more than two units of four cycles need, and all in registers.
    pub const COUNT: usize = 12;

    /// Vectors of eight.
    #[target_feature(enable = "avx2,fma")]
    pub fn narrow(rounds: usize) {
        let (factor, summand) = (black_box(_mm256_set1_ps(0.999)), black_box(_mm256_set1_ps(0.001)));
        let mut chains = [_mm256_set1_ps(1.0); COUNT];
        for _ in 0..rounds {
            for chain in &mut chains {
                *chain = _mm256_fmadd_ps(*chain, factor, summand);
            }
        }
        black_box(chains);
    }

    /// Vectors of sixteen.
    #[target_feature(enable = "avx512f")]
    pub fn wide(rounds: usize) {
        let (factor, summand) = (black_box(_mm512_set1_ps(0.999)), black_box(_mm512_set1_ps(0.001)));
        let mut chains = [_mm512_set1_ps(1.0); COUNT];
        for _ in 0..rounds {
            for chain in &mut chains {
                *chain = _mm512_fmadd_ps(*chain, factor, summand);
            }
        }
        black_box(chains);
    }
}
