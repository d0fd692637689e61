//! Where chance comes from: seeded streams, one per purpose.
//!
//! A game is a pure function of its series and number, so nothing here keeps state between games or depends on the
//! machine. Each stream is ChaCha8 with a key that spells out what it is for, so that no two streams are related:
//! series seed, game or pair, purpose, seat, eight bytes each.

use ludus_proto::v1::Series;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The dice of game `number`: in a mirrored series the two games of a pair share them.
pub fn rolls_of(series: &Series, number: u64) -> ChaCha8Rng {
    let thrown_for = if series.mirrored { number / 2 } else { number };
    stream(series.seed, thrown_for, b"dice\0\0\0\0", 0)
}

/// What `seat` draws from in game `number`: exploration, and the choices of players that play at random.
pub fn choices_of(series: &Series, number: u64, seat: usize) -> ChaCha8Rng {
    stream(series.seed, number, b"play\0\0\0\0", seat as u64)
}

/// What decides which plies of game `number` are rolled out.
pub fn drawn_of(series: &Series, number: u64) -> ChaCha8Rng {
    stream(series.seed, number, b"rollout\0", 0)
}

/// The dice of one trial of the plays made at `ply` of game `number`: the same for every play of the decision, so that
/// what they have in common cancels between them.
pub fn trial_of(series: &Series, number: u64, ply: u32, trial: u32) -> ChaCha8Rng {
    stream(series.seed, number, b"trial\0\0\0", u64::from(ply) << 32 | u64::from(trial))
}

/// What players that play at random draw from in the trials of a position after `ply` of game `number`.
pub fn trial_choices_of(series: &Series, number: u64, ply: u32) -> ChaCha8Rng {
    stream(series.seed, number, b"trialply", u64::from(ply))
}

/// What draws the opening of game `number`: the same for both games of a pair.
pub fn opening_of(series: &Series, number: u64) -> ChaCha8Rng {
    stream(series.seed, number / 2, b"opening\0", 0)
}

/// A stream for choices outside games, such as a random player's in decision `number` of a benchmark.
pub fn decisions(seed: u64, number: u64) -> ChaCha8Rng {
    stream(seed, number, b"decision", 0)
}

fn stream(seed: u64, number: u64, purpose: &[u8; 8], seat: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    let words = [seed.to_le_bytes(), number.to_le_bytes(), *purpose, seat.to_le_bytes()];
    for (part, word) in key.chunks_exact_mut(8).zip(words) {
        part.copy_from_slice(&word);
    }
    ChaCha8Rng::from_seed(key)
}

/// A number in `[0, 1)`, a multiple of 2^-53. Spelled out, as is [`below`], so that a game never depends on how a
/// library turns bits into numbers.
pub fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// One of `0..n`, each equally likely (to within 2^-64).
pub fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// Probability of each roll: its weight, made exact, for 32-bit weights add up to one only nearly.
pub fn shares<R>(rolls: &[(R, f32)]) -> impl Iterator<Item = f64> + '_ {
    let total: f64 = rolls.iter().map(|(_, weight)| f64::from(*weight)).sum();
    rolls.iter().map(move |(_, weight)| f64::from(*weight) / total)
}

/// Index of the roll that comes up. Every roll takes one number from the stream, whatever came before, so two games
/// on one stream have the same roll at every ply.
pub fn throw<R>(rng: &mut ChaCha8Rng, rolls: &[(R, f32)]) -> usize {
    let mut left = unit(rng);
    for (index, share) in shares(rolls).enumerate() {
        left -= share;
        if left < 0.0 {
            return index;
        }
    }
    rolls.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(mirrored: bool) -> Series {
        Series { seed: 7, mirrored, ..Series::default() }
    }

    fn first_of(mut rng: ChaCha8Rng) -> u64 {
        rng.next_u64()
    }

    #[test]
    fn only_the_games_of_a_mirrored_pair_share_dice() {
        let dice = |mirrored, number| first_of(rolls_of(&series(mirrored), number));
        assert_eq!(dice(true, 6), dice(true, 7));
        assert_ne!(dice(true, 7), dice(true, 8));
        assert_ne!(dice(false, 6), dice(false, 7));
    }

    #[test]
    fn seats_games_and_purposes_draw_from_different_streams() {
        let series = series(false);
        let mut drawn: Vec<u64> = (0..4)
            .flat_map(|n| {
                [
                    first_of(rolls_of(&series, n)),
                    first_of(choices_of(&series, n, 0)),
                    first_of(choices_of(&series, n, 1)),
                    first_of(decisions(series.seed, n)),
                    first_of(drawn_of(&series, n)),
                    first_of(trial_choices_of(&series, n, 0)),
                    first_of(trial_of(&series, n, 0, 1)),
                    first_of(trial_of(&series, n, 1, 0)),
                    first_of(trial_of(&series, n, 0, 0)),
                ]
            })
            .collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 36);
    }

    /// Pins the stream itself: a change here would make every recorded game impossible to replay.
    #[test]
    fn the_streams_are_those_of_revision_1() {
        let mut rng = rolls_of(&series(false), 3);
        let rolls: Vec<usize> = (0..12).map(|_| throw(&mut rng, &[((), 0.25); 4])).collect();
        assert_eq!(rolls, [1, 0, 3, 0, 1, 3, 0, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn rolls_come_up_as_often_as_their_weights_say() {
        let rolls = [('a', 0.5), ('b', 0.125), ('c', 0.375)];
        let mut rng = decisions(1, 1);
        let mut counts = [0_u32; 3];
        for _ in 0..80_000 {
            counts[throw(&mut rng, &rolls)] += 1;
        }
        for (count, (_, weight)) in counts.iter().zip(&rolls) {
            let expected = 80_000.0 * weight;
            // Four standard deviations of the widest binomial.
            assert!((*count as f32 - expected).abs() < 4.0 * 141.5, "{counts:?}");
        }
    }
}
