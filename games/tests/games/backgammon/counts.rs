//! How many different positions there are after the first rolls.

use std::collections::HashSet;

use ludus_games::backgammon::{Dice, Position};
use ludus_games::{Backgammon, Game, Plays};

use super::slow;

/// Every position that the plays of every roll lead to, each once, seen by the side that acts next.
fn successors<'a>(
    positions: impl IntoIterator<Item = &'a Position>,
    rolls: &[(Dice, f32)],
) -> HashSet<Position> {
    let mut plays = Plays::new();
    let mut found = HashSet::new();
    for position in positions {
        for &(roll, _) in rolls {
            Backgammon.plays(position, roll, &mut plays);
            found.extend(plays.after.iter().copied());
        }
    }
    found
}

fn slow_successors(positions: &HashSet<[u8; 10]>, rolls: &[(Dice, f32)]) -> HashSet<[u8; 10]> {
    let each = |key| {
        let position = Position::from_key(key).expect("a key");
        rolls.iter().flat_map(move |&(roll, _)| slow::after(&position, roll))
    };
    positions.iter().flat_map(each).collect()
}

/// Distinct positions after 1, 2 and 3 rolls of a game, whose first roll is one of the 15 that are no doubles.
const OPENING: [usize; 3] = [175, 71_485, 14_514_318];
/// The same when the first roll may be any of the 21.
const ALL: [usize; 3] = [406, 163_706, 29_420_722];

#[test]
fn one_and_two_rolls_lead_to_as_many_positions_by_either_generator() {
    let opening = Backgammon.rolls(&Position::START, 0);
    let all = Backgammon.rolls(&Position::START, 1);
    for (first, counts) in [(opening, OPENING), (all, ALL)] {
        let one = successors(&[Position::START], first);
        let two = successors(&one, all);
        assert_eq!([one.len(), two.len()], [counts[0], counts[1]]);
        let slow_one = slow_successors(&HashSet::from([Position::START.key()]), first);
        assert_eq!(slow_one, one.iter().map(Position::key).collect());
        let slow_two = slow_successors(&slow_one, all);
        assert_eq!(slow_two, two.iter().map(Position::key).collect());
    }
}

#[test]
fn a_sample_of_third_rolls_leads_to_the_same_positions_by_either_generator() {
    let all = Backgammon.rolls(&Position::START, 1);
    let one = successors(&[Position::START], Backgammon.rolls(&Position::START, 0));
    let mut two: Vec<_> = successors(&one, all).iter().map(Position::key).collect();
    two.sort_unstable();
    let sample: HashSet<_> = two.into_iter().step_by(997).collect();
    let positions: Vec<_> =
        sample.iter().map(|key| Position::from_key(key).expect("a key that was written")).collect();
    let fast: HashSet<_> = successors(&positions, all).iter().map(Position::key).collect();
    assert_eq!(fast, slow_successors(&sample, all));
}

/// Takes half a minute and 1 GB:
/// `cargo test --release -p ludus-games --test games three_rolls -- --ignored`.
#[test]
#[ignore = "takes half a minute and 1 GB"]
fn three_rolls_lead_to_as_many_positions_as_ever() {
    let all = Backgammon.rolls(&Position::START, 1);
    for (first, count) in [(Backgammon.rolls(&Position::START, 0), OPENING[2]), (all, ALL[2])] {
        let two = successors(&successors(&[Position::START], first), all);
        // Kept in many heaps, told apart by two bytes of the key, and rid of repetitions as they grow.
        let mut heaps: Vec<Vec<[u8; 10]>> = vec![Vec::new(); 256];
        let mut limits = [1 << 16; 256];
        let mut plays = Plays::new();
        for position in &two {
            for &(roll, _) in all {
                Backgammon.plays(position, roll, &mut plays);
                for after in &plays.after {
                    let key = after.key();
                    let heap = usize::from(key[1] ^ key[6]);
                    heaps[heap].push(key);
                    if heaps[heap].len() >= limits[heap] {
                        heaps[heap].sort_unstable();
                        heaps[heap].dedup();
                        limits[heap] = limits[heap].max(2 * heaps[heap].len());
                    }
                }
            }
        }
        let different = |mut heap: Vec<[u8; 10]>| {
            heap.sort_unstable();
            heap.dedup();
            heap.len()
        };
        assert_eq!(heaps.into_iter().map(different).sum::<usize>(), count);
    }
}
