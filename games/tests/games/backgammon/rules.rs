//! The plays of a roll.

use std::collections::BTreeSet;

use ludus_games::backgammon::{BAR, Dice, Position};
use ludus_games::{Backgammon, Game, Plays};
use proptest::prelude::*;

use super::{positions, slow};
use crate::shared;

fn plays(position: &Position, dice: Dice) -> Plays<Backgammon> {
    let mut plays = Plays::new();
    Backgammon.plays(position, dice, &mut plays);
    plays
}

/// The keys of the resulting positions, which are all different.
fn keys(plays: &Plays<Backgammon>) -> BTreeSet<[u8; 10]> {
    let keys: BTreeSet<_> = plays.after.iter().map(Position::key).collect();
    assert_eq!(keys.len(), plays.len(), "a position twice");
    keys
}

/// Makes the steps of each play one by one and compares with the position it is said to lead to.
fn assert_steps_lead_there(position: &Position, plays: &Plays<Backgammon>) {
    for (play, after) in plays.moves.iter().zip(&plays.after) {
        let (mut own, mut other) = (*position.own(), *position.other());
        for step in play.steps() {
            own[usize::from(step.from)] -= 1;
            let Some(to) = own.get_mut(usize::from(step.to)) else { continue };
            *to += 1;
            let facing = 23 - usize::from(step.to);
            assert_eq!(step.hits, other[facing] > 0, "{play:?} in {position}");
            other[BAR] += other[facing];
            other[facing] = 0;
        }
        assert_eq!(Position::new(other, own), Ok(*after), "{play:?} in {position}");
    }
}

#[test]
fn random_games_have_the_plays_of_the_slow_generator() {
    for (position, dice) in positions::from_random_games(5_000, 7) {
        let plays = plays(&position, dice);
        assert_eq!(keys(&plays), slow::after(&position, dice), "{position} {dice}");
        assert_steps_lead_there(&position, &plays);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn odd_positions_have_the_plays_of_the_slow_generator(
        position in positions::odd(), dice in positions::dice()
    ) {
        let plays = plays(&position, dice);
        prop_assert_eq!(keys(&plays), slow::after(&position, dice), "{} {}", position, dice);
        assert_steps_lead_there(&position, &plays);
    }

    #[test]
    fn the_other_side_has_the_same_position_turned_around(position in positions::odd()) {
        prop_assert_eq!(position.flipped().flipped(), position);
        prop_assert_eq!(position.flipped().own_off(), position.other_off());
        prop_assert_eq!(position.flipped().payoff(), position.payoff().map(|points| -points));
    }
}

/// Lines `XGID | dice | every legal play`; what each is about stands above it. Written for this test and agreed by
/// GNU Backgammon.
const CASES: &str = include_str!("plays.txt");

#[test]
fn telling_positions_have_exactly_the_plays_listed() {
    let lines = CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut checked = 0;
    for line in lines {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let position = Backgammon.read_position(fields[0]).expect(line);
        let dice = Backgammon.read_roll(fields[1]).expect(line);
        let found = plays(&position, dice);
        let mut written: Vec<_> =
            found.moves.iter().map(|&play| Backgammon.write_move(&position, play)).collect();
        let mut listed: Vec<_> = fields[2].split(';').map(|play| play.trim().to_owned()).collect();
        written.sort();
        listed.sort();
        assert_eq!(written, listed, "{line}");
        assert_eq!(keys(&found), slow::after(&position, dice), "{line}");
        checked += 1;
    }
    assert!(checked >= 12);
}

#[test]
fn a_finished_game_is_worth_what_the_loser_left() {
    let position = |loser: &[(usize, u8)]| {
        let mut side = [0; 25];
        loser.iter().for_each(|&(slot, n)| side[slot] = n);
        Position::new(side, [0; 25]).expect("a valid position")
    };
    let cases = [
        (position(&[(0, 14)]), -1),
        (position(&[(BAR, 14)]), -1),
        (position(&[(17, 15)]), -2),
        (position(&[(0, 14), (18, 1)]), -3),
        (position(&[(0, 14), (23, 1)]), -3),
        (position(&[(0, 14), (BAR, 1)]), -3),
    ];
    for (position, points) in cases {
        assert_eq!(position.payoff(), Some(points), "{position}");
        assert_eq!(position.flipped().payoff(), Some(-points), "{position}");
    }
    assert_eq!(Position::START.payoff(), None);
}

#[test]
fn a_game_opens_with_two_different_dice() {
    let start = Backgammon.start();
    assert_eq!(Backgammon.rolls(&start, 0).len(), 15);
    assert!(Backgammon.rolls(&start, 0).iter().all(|(dice, _)| !dice.is_double()));
    assert_eq!(Backgammon.rolls(&start, 1).len(), 21);
}

#[test]
fn shared_lists_of_legal_plays_are_matched() {
    let Some(text) = shared::read("backgammon/legal_plays.txt") else { return };
    let mut checked = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let position = Position::from_key_letters(words[0]).expect(line);
        let dice = format!("{}{}", words[1], words[2]).parse().expect(line);
        let mut listed: BTreeSet<String> = words[3..].iter().map(|&key| key.to_owned()).collect();
        if listed.is_empty() || listed.contains("none") {
            listed = BTreeSet::from([position.flipped().key_letters()]);
        }
        let found: BTreeSet<_> = plays(&position, dice).after.iter().map(Position::key_letters).collect();
        assert_eq!(found, listed, "{line}");
        checked += 1;
    }
    assert_eq!(checked, 1_000);
}

#[test]
fn every_play_of_the_shared_benchmark_records_is_legal() {
    let Some(text) = shared::read("backgammon/gnubg_bm_sample.txt") else { return };
    let mut checked = 0;
    for line in text.lines().filter(|line| line.starts_with("m ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let position = Position::from_key_letters(words[1]).expect(line);
        let dice = format!("{}{}", words[2], words[3]).parse().expect(line);
        let legal = plays(&position, dice).after;
        for pair in words[4..].chunks(2) {
            let after = Position::from_key_letters(pair[0]).expect(line);
            assert!(legal.contains(&after), "{} in {line}", pair[0]);
        }
        checked += 1;
    }
    assert_eq!(checked, 39);
}
