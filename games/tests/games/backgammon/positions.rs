//! Positions to test with: from random games, and odd ones that games hardly get to.

use ludus_games::backgammon::{BAR, Dice, Position};
use ludus_games::{Backgammon, Game, Plays};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Positions of random games, each with a roll.
pub fn from_random_games(count: usize, seed: u64) -> Vec<(Position, Dice)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut plays = Plays::new();
    let mut found = Vec::new();
    let mut state = Backgammon.start();
    let rolls = Backgammon.rolls(&state, 1);
    while found.len() < count {
        let (roll, _) = rolls[rng.random_range(0..rolls.len())];
        found.push((state, roll));
        Backgammon.plays(&state, roll, &mut plays);
        state = plays.after[rng.random_range(0..plays.len())];
        if state.payoff().is_some() {
            state = Backgammon.start();
        }
    }
    found
}

/// Any two dice.
pub fn dice() -> impl Strategy<Value = Dice> {
    (1..=6u8, 1..=6u8).prop_map(|(a, b)| Dice::new(a, b).expect("two dice"))
}

/// Odd positions in which the game goes on: few checkers or many, crowded into a part of the board, closed boards,
/// checkers on the bar and off.
pub fn odd() -> impl Strategy<Value = Position> {
    let side = || (1..=15usize, prop::sample::select(vec![6usize, 9, 13, 24]), 0..=3u8, any::<[u16; 15]>());
    (side(), side(), any::<bool>()).prop_map(|(own, other, closed)| {
        let mut own_slots = [0u8; 25];
        let mut other_slots = [0u8; 25];
        let mut men = own.0;
        let bar = usize::from(own.2.saturating_sub(1)).min(men);
        own_slots[BAR] = bar as u8;
        men -= bar;
        own.3[..men].iter().for_each(|&r| own_slots[usize::from(r) % own.1] += 1);
        let mut men = other.0;
        if closed {
            for slot in 0..6 {
                if own_slots[23 - slot] == 0 && men >= 2 {
                    other_slots[slot] += 2;
                    men -= 2;
                }
            }
        }
        for &r in &other.3[..men] {
            let slot = usize::from(r) % other.1;
            // Where the side on roll stands the other's checker goes to the bar instead.
            other_slots[if own_slots[23 - slot] == 0 { slot } else { BAR }] += 1;
        }
        Position::new(own_slots, other_slots).expect("a valid position")
    })
}
