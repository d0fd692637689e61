//! Loops compiled for the instructions of the processor that they run on.

/// Whether a multiplication and an addition are one operation on every processor of this kind.
pub(crate) const ALWAYS_FUSED: bool = cfg!(target_arch = "aarch64");

/// Defines a function that calls `loops::<FUSED, LANES>` compiled for this processor's instructions. `loops`, and all that it
/// calls, is `#[inline(always)]`; `FUSED` says whether `mul_add` is one instruction, `LANES` how many 32-bit floats are in a
/// vector.
macro_rules! for_this_processor {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),*) = $loops:ident;) => {
        $(#[$attribute])*
        $visibility fn $name($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn avx512($($argument: $type),*) {
                    $loops::<true, 16>($($argument),*);
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($argument: $type),*) {
                    $loops::<true, 8>($($argument),*);
                }
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the processor has the instructions.
                    return unsafe { avx512($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has the instructions.
                    return unsafe { avx2($($argument),*) };
                }
            }
            $loops::<{ $crate::processor::ALWAYS_FUSED }, 4>($($argument),*);
        }
    };
}

pub(crate) use for_this_processor;
