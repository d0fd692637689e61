//! Facts about a side's checkers, several slots at a time.
//!
//! They are asked for every position that is judged, where loops over 25 slots would take longer than the network. Eight
//! slots are read as the bytes of one 64-bit number; each is at most 15, so that sums of bytes never carry. Where the
//! processor compares sixteen bytes at a time, it does.

use ludus_games::backgammon::BAR;

/// The same byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The points, 8 in a number, the first in the lowest byte.
fn points(side: &[u8; 25]) -> [u64; 3] {
    let (eights, _) = side.as_chunks::<8>();
    [eights[0], eights[1], eights[2]].map(u64::from_le_bytes)
}

/// The slots that hold checkers, one bit each.
pub(super) fn occupied(side: &[u8; 25]) -> u32 {
    slots_with::<1>(side)
}

/// The points, without the bar, that hold at least `N` checkers, one bit each.
pub(super) fn points_with<const N: u8>(side: &[u8; 25]) -> u32 {
    slots_with::<N>(side) & ((1 << BAR) - 1)
}

/// The slots that hold at least `N` checkers, one bit each.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn slots_with<const N: u8>(side: &[u8; 25]) -> u32 {
    use std::arch::x86_64::{_mm_cmpgt_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
    let [first, second, third] = points(side).map(u64::cast_signed);
    // SAFETY: these are of SSE2, which every processor of this kind has. (`slots_by_eight` is the twin without them.)
    let (low, high) = unsafe {
        let fewer = _mm_set1_epi8(N as i8 - 1);
        let low = _mm_cmpgt_epi8(_mm_set_epi64x(second, first), fewer);
        let high = _mm_cmpgt_epi8(_mm_set_epi64x(i64::from(side[BAR]), third), fewer);
        (_mm_movemask_epi8(low), _mm_movemask_epi8(high))
    };
    low.cast_unsigned() | high.cast_unsigned() << 16
}

/// The slots that hold at least `N` checkers, one bit each.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn slots_with<const N: u8>(side: &[u8; 25]) -> u32 {
    slots_by_eight::<N>(side)
}

/// The slots that hold at least `N` checkers, one bit each, on any processor.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn slots_by_eight<const N: u8>(side: &[u8; 25]) -> u32 {
    let mut slots = u32::from(side[BAR] >= N) << BAR;
    for (i, points) in points(side).into_iter().enumerate() {
        // Bit 8k is set when byte k is at least N.
        let bits = ((points + eight(0x80 - N)) >> 7) & eight(1);
        // The product moves bit 8k to bit 56 + k: by 56 - 7k.
        let gathered = bits.wrapping_mul(0x0102_0408_1020_4080) >> 56;
        slots |= (gathered as u32) << (8 * i);
    }
    slots
}

/// The number of checkers, without those borne off.
pub(super) fn checkers(side: &[u8; 25]) -> u8 {
    let [a, b, c] = points(side);
    // The highest byte of the product is the sum of all bytes.
    let on_points = (a + b + c).wrapping_mul(eight(1)) >> 56;
    on_points as u8 + side[BAR]
}

/// The points of a side, one bit each, as the other side counts them: slot `i` becomes `23 - i`.
pub(super) fn seen_by_other(points: u32) -> u32 {
    points.reverse_bits() >> (32 - BAR)
}

/// The slot of the rearmost checker, 24 for the bar; `None` when all are off.
pub(super) fn rearmost(side: &[u8; 25]) -> Option<u32> {
    occupied(side).checked_ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::tests::positions;

    #[test]
    fn the_facts_are_those_found_slot_by_slot() {
        for side in positions().iter().flat_map(|position| [*position.own(), *position.other()]) {
            let slots = (0..25).filter(|&slot| side[slot] > 0).map(|slot| 1 << slot).sum::<u32>();
            assert_eq!(occupied(&side), slots);
            let points =
                |least| (0..24).filter(|&slot| side[slot] >= least).map(|slot| 1 << slot).sum::<u32>();
            assert_eq!((points_with::<2>(&side), points_with::<3>(&side)), (points(2), points(3)));
            assert_eq!(slots_by_eight::<1>(&side), slots);
            assert_eq!(slots_by_eight::<2>(&side), slots_with::<2>(&side));
            assert_eq!(slots_by_eight::<3>(&side), slots_with::<3>(&side));
            let seen = (0..24).filter(|&slot| side[23 - slot] >= 2).map(|slot| 1 << slot).sum::<u32>();
            assert_eq!(seen_by_other(points(2)), seen);
            assert_eq!(checkers(&side), side.iter().sum::<u8>());
            assert_eq!(rearmost(&side), side.iter().rposition(|&n| n > 0).map(|slot| slot as u32));
        }
    }

    #[test]
    fn heaps_of_fifteen_do_not_spill_into_their_neighbours() {
        for slot in 0..25 {
            let mut side = [0; 25];
            side[slot] = 15;
            assert_eq!(
                (occupied(&side), checkers(&side), rearmost(&side)),
                (1 << slot, 15, Some(slot as u32))
            );
        }
    }
}
