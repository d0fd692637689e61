use std::collections::HashMap;

use ludus_games::backgammon::Dice;
use ludus_games::{Backgammon, Game, Plays};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use safetensors::SafeTensors;

use super::*;
use crate::backgammon::tests::positions;
use crate::dice;
use crate::weight_file::Digest;

/// The array of a side with these checkers on points 1 to 6.
fn side(points: [u8; 6]) -> [u8; 25] {
    let mut side = [0; 25];
    side[..6].copy_from_slice(&points);
    side
}

fn home(points: [u8; 6]) -> Home {
    Home::of(&side(points)).unwrap()
}

fn position(own: [u8; 6], other: [u8; 6]) -> Position {
    Position::new(side(own), side(other)).unwrap()
}

fn mean(points: [u8; 6]) -> f64 {
    Bearoff::shared().mean_rolls(home(points))
}

/// The chances that follow from the numbers of rolls of both sides, also where the two-sided ones are known.
fn by_rolls(own: Home, other: Home) -> BackgammonChances {
    Bearoff::shared().by_rolls(own.rank(), other.rank())
}

/// A home of so many checkers, drawn at random.
fn random_home(rng: &mut ChaCha8Rng, checkers: usize) -> Home {
    let mut points = [0; 6];
    (0..checkers).for_each(|_| points[dice::below(rng, 6)] += 1);
    home(points)
}

/// All rolls with their probabilities in double precision and where their legal plays lead, by the rules of the game; the
/// other side has one checker, far from any harm.
fn fan(own: Home) -> Vec<(f64, Vec<Home>)> {
    let start = position(own.points(), [1, 0, 0, 0, 0, 0]);
    let rolls = Backgammon.rolls(&start, 1);
    let ends = |roll: Dice| {
        let mut plays = Plays::new();
        Backgammon.plays(&start, roll, &mut plays);
        plays.after.iter().map(|after| Home::of(after.other()).unwrap()).collect()
    };
    rolls.iter().zip(dice::shares(rolls)).map(|((roll, _), share)| (share, ends(*roll))).collect()
}

/// Which homes are a goal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Goal {
    AllOff,
    FirstOff,
}

impl Goal {
    fn reached(self, home: Home) -> bool {
        home.checkers() < if self == Goal::AllOff { 1 } else { 15 }
    }
}

/// Plays as the database says, but finds everything else out for itself: legal plays by the rules of the game, means and
/// chances by recursion.
#[derive(Default)]
struct Slow {
    means: HashMap<(Goal, Home), f64>,
    /// Where the best play of each roll leads, with the roll's probability.
    best: HashMap<(Goal, Home), Vec<(f64, Home)>>,
    wins: HashMap<(Goal, Home, Goal, Home), f64>,
}

impl Slow {
    fn mean(&mut self, goal: Goal, home: Home) -> f64 {
        if goal.reached(home) {
            return 0.0;
        }
        if let Some(mean) = self.means.get(&(goal, home)) {
            return *mean;
        }
        let best = self.best(goal, home);
        let mean = 1.0 + best.iter().map(|(share, end)| share * self.mean(goal, *end)).sum::<f64>();
        self.means.insert((goal, home), mean);
        mean
    }

    fn best(&mut self, goal: Goal, home: Home) -> Vec<(f64, Home)> {
        if let Some(best) = self.best.get(&(goal, home)) {
            return best.clone();
        }
        let mut best = Vec::new();
        for (share, ends) in fan(home) {
            let mut found: Option<(f64, Home)> = None;
            for end in ends {
                let mean = self.mean(goal, end);
                // Equal means may differ in their last bits here; then the lowest rank is taken.
                let better = found.is_none_or(|(least, home)| {
                    mean < least - 1e-12 || (mean < least + 1e-12 && end.rank() < home.rank())
                });
                if better {
                    found = Some((mean, end));
                }
            }
            best.push((share, found.unwrap().1));
        }
        self.best.insert((goal, home), best.clone());
        best
    }

    /// The chance that the side on roll gets to its goal before the other side gets to its own.
    fn first(&mut self, goal: Goal, own: Home, other_goal: Goal, other: Home) -> f64 {
        if other_goal.reached(other) {
            return 0.0;
        }
        let key = (goal, own, other_goal, other);
        if let Some(win) = self.wins.get(&key) {
            return *win;
        }
        let mut win = 0.0;
        for (share, end) in self.best(goal, own) {
            let reached = goal.reached(end);
            win += share * if reached { 1.0 } else { 1.0 - self.first(other_goal, other, goal, end) };
        }
        self.wins.insert(key, win);
        win
    }

    /// The chances of a position when both sides play by their numbers of rolls.
    fn chances(&mut self, own: Home, other: Home) -> [f64; 5] {
        let win = self.first(Goal::AllOff, own, Goal::AllOff, other);
        let win_gammon = match other.checkers() {
            15 => self.first(Goal::AllOff, own, Goal::FirstOff, other),
            _ => 0.0,
        };
        let lose_gammon = match own.checkers() {
            15 => 1.0 - self.first(Goal::FirstOff, own, Goal::AllOff, other),
            _ => 0.0,
        };
        [win, win_gammon, 0.0, lose_gammon, 0.0]
    }
}

fn near(found: BackgammonChances, expected: [f64; 5], allowed: f64) {
    let far = found.0.iter().zip(expected).any(|(a, b)| (f64::from(*a) - b).abs() > allowed);
    assert!(!far, "{:?} instead of {expected:?}", found.0);
}

#[test]
fn homes_come_in_the_order_of_their_ranks_and_steps_go_to_lower_ones() {
    let mut count = 0;
    for (rank, home) in Home::all().enumerate() {
        count += 1;
        assert_eq!(home.rank(), rank);
        assert_eq!(Home::of(&side(home.points())), Some(home));
        assert_eq!(home.points().iter().sum::<u8>(), home.checkers());
        assert_eq!(home.checkers() == 15, rank >= FULL);
        assert_eq!(home.checkers() <= FEW, rank < SMALL_HOMES);
        for die in 1..=6 {
            assert!(home.steps(die).all(|end| end.rank() < rank));
            assert_eq!(home.steps(die).count() == 0, rank == 0);
        }
    }
    assert_eq!(count, HOMES);
}

#[test]
fn a_side_with_a_checker_outside_its_home_has_no_home() {
    for slot in 6..25 {
        let mut side = side([1, 2, 0, 0, 3, 0]);
        side[slot] = 1;
        assert_eq!(Home::of(&side), None, "slot {slot}");
    }
}

#[test]
fn the_means_are_the_published_ones() {
    // The published figures come from chances rounded to 1/65535, hence the tolerance.
    for (points, expected) in [
        ([0, 0, 0, 0, 0, 1], 1.25),
        ([0, 0, 0, 0, 0, 2], 2.1096),
        ([0, 0, 0, 0, 0, 15], 12.2663),
        ([15, 0, 0, 0, 0, 0], 6.9795),
        ([2, 2, 2, 3, 3, 3], 8.1389),
    ] {
        let mean = mean(points);
        assert!((mean - expected).abs() < 2e-4, "{points:?}: {mean} instead of {expected}");
    }
    let longer = Bearoff::shared().rolls.longer(home([0, 0, 0, 0, 0, 1]).rank());
    assert_eq!(longer[..3], [1.0, 0.25, 0.0]);
    let even = position([2, 2, 2, 3, 3, 3], [2, 2, 2, 3, 3, 3]);
    assert!((known(&even).unwrap().0[0] - 0.6304).abs() < 5e-5);
}

#[test]
fn checkers_on_the_ace_point_come_off_two_or_four_a_roll() {
    let mut expected = [0.0; 16];
    for n in 1..16_usize {
        expected[n] =
            1.0 + 5.0 / 6.0 * expected[n.saturating_sub(2)] + 1.0 / 6.0 * expected[n.saturating_sub(4)];
        assert!((mean([n as u8, 0, 0, 0, 0, 0]) - expected[n]).abs() < 1e-12);
    }
}

#[test]
fn no_legal_play_of_any_roll_is_better_than_what_the_database_plays() {
    // Against the game's own generator: the mean must be that of the best legal plays, for both goals.
    let bearoff = Bearoff::shared();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for round in 0..600 {
        let checkers = if round % 3 == 0 { 15 } else { 1 + dice::below(&mut rng, 15) };
        let home = random_home(&mut rng, checkers);
        for (table, goal) in [(&bearoff.rolls, Goal::AllOff), (&bearoff.first_off, Goal::FirstOff)] {
            if goal.reached(home) {
                continue;
            }
            let rolls = fan(home).into_iter().map(|(share, ends)| {
                share * ends.iter().map(|end| table.mean(*end)).fold(f64::INFINITY, f64::min)
            });
            let expected = 1.0 + rolls.sum::<f64>();
            assert!((table.mean(home) - expected).abs() < 1e-12, "{home:?}, {goal:?}");
            let sum: f64 = table.longer(home.rank()).iter().map(|&chance| f64::from(chance)).sum();
            assert!((sum - expected).abs() < 1e-5, "the distribution of {home:?} has mean {sum}");
        }
    }
}

#[test]
fn chances_by_rolls_are_those_of_a_slow_recursion_by_the_rules() {
    let mut slow = Slow::default();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for _ in 0..60 {
        let counts = [1 + dice::below(&mut rng, 5), 1 + dice::below(&mut rng, 5)];
        let [own, other] = counts.map(|checkers| random_home(&mut rng, checkers));
        near(by_rolls(own, other), slow.chances(own, other), 3e-7);
    }
    // Gammons: fifteen checkers near the ace point leave few homes to go through.
    for (own, other) in [
        ([15, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0]),
        ([14, 1, 0, 0, 0, 0], [1, 0, 0, 2, 0, 0]),
        ([12, 2, 1, 0, 0, 0], [2, 2, 0, 0, 0, 0]),
        ([15, 0, 0, 0, 0, 0], [15, 0, 0, 0, 0, 0]),
    ] {
        let (own, other) = (home(own), home(other));
        near(by_rolls(own, other), slow.chances(own, other), 3e-7);
        near(by_rolls(other, own), slow.chances(other, own), 3e-7);
    }
}

#[test]
fn gammons_are_counted_from_the_roll_that_takes_the_first_checker_off() {
    // Fifteen on point 6 bear one off with any 6, 11 rolls, with 51, 42 and 33, 5 rolls, and with 22, one roll: 17 of 36.
    let (deep, last) = (home([0, 0, 0, 0, 0, 15]), home([1, 0, 0, 0, 0, 0]));
    let [win, win_gammon, _, lose_gammon, lose_backgammon] = by_rolls(deep, last).0;
    assert_eq!((win, win_gammon, lose_backgammon), (0.0, 0.0, 0.0));
    assert!((lose_gammon - 19.0 / 36.0).abs() < 1e-7);
    // The side with one checker on its ace point wins at once when it is on roll.
    assert_eq!(by_rolls(last, deep).0, [1.0, 1.0, 0.0, 0.0, 0.0]);
    // Nobody with a checker off is gammoned.
    assert_eq!(by_rolls(last, home([0, 0, 0, 0, 0, 14])).0, [1.0, 0.0, 0.0, 0.0, 0.0]);
    // Four doubles at least until fifteen are off: no gammon is possible within the first three rolls.
    let aces = home([15, 0, 0, 0, 0, 0]);
    assert_eq!(by_rolls(aces, aces).0[1..], [0.0; 4]);
}

#[test]
fn a_thousand_games_by_the_rules_end_as_the_chances_say() {
    // Plays of the rules chosen by the means alone, without the distributions.
    let bearoff = Bearoff::shared();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut plays = Plays::new();
    for (own, other) in [
        ([0, 1, 3, 3, 4, 4], [2, 2, 2, 3, 3, 3]),
        ([0, 0, 3, 3, 4, 5], [2, 2, 0, 1, 1, 0]),
        ([3, 1, 0, 2, 0, 1], [0, 2, 0, 0, 1, 12]),
    ] {
        let start = position(own, other);
        let mut counts = [0.0; 5];
        const GAMES: usize = 1000;
        for _ in 0..GAMES {
            let (mut state, mut on_roll) = (start, true);
            let points = loop {
                if let Some(points) = state.payoff() {
                    break if on_roll { points } else { -points };
                }
                let dice = Dice::new(1 + dice::below(&mut rng, 6) as u8, 1 + dice::below(&mut rng, 6) as u8);
                Backgammon.plays(&state, dice.unwrap(), &mut plays);
                // Fifteen checkers save the gammon where it can be lost and the game cannot be won.
                let saves = state.own_off() == 0 && state.other_off() > 5;
                let table = if saves { &bearoff.first_off } else { &bearoff.rolls };
                let value = |after: &Position| table.mean(Home::of(after.other()).unwrap());
                let best = plays.after.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
                (state, on_roll) = (*best.unwrap(), !on_roll);
            };
            for (count, chance) in counts.iter_mut().zip(BackgammonChances::from_payoff(points).0) {
                *count += f64::from(chance);
            }
        }
        let expected = by_rolls(home(own), home(other)).0.map(f64::from);
        for (count, p) in counts.iter().zip(expected) {
            let deviation = (p * (1.0 - p) / GAMES as f64).sqrt();
            let found = count / GAMES as f64;
            assert!((found - p).abs() <= 4.0 * deviation + 1e-3, "{counts:?} of {GAMES}, not {expected:?}");
        }
    }
}

#[test]
fn few_checkers_have_the_chances_of_the_best_play_of_both_sides() {
    // Recursion by the rules over the best plays for winning.
    fn win(own: Home, other: Home, found: &mut HashMap<(Home, Home), f64>) -> f64 {
        if other.checkers() == 0 {
            return 0.0;
        }
        if let Some(win) = found.get(&(own, other)) {
            return *win;
        }
        let rolls = fan(own).into_iter().map(|(share, ends)| {
            let chances = ends.into_iter().map(|end| match end.checkers() {
                0 => 1.0,
                _ => 1.0 - win(other, end, found),
            });
            share * chances.fold(0.0, f64::max)
        });
        let chance = rolls.sum();
        found.insert((own, other), chance);
        chance
    }
    let mut found = HashMap::new();
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for round in 0..40 {
        let counts = if round == 0 { [6, 2] } else { [1 + round % 4, 1 + dice::below(&mut rng, 4)] };
        let [own, other] = counts.map(|checkers| random_home(&mut rng, checkers));
        let expected = win(own, other, &mut found);
        near(Bearoff::shared().chances(own, other), [expected, 0.0, 0.0, 0.0, 0.0], 3e-7);
    }
}

#[test]
fn numbers_of_rolls_tell_the_chances_of_few_checkers_to_a_thousandth() {
    // What the documentation says of the one-sided part.
    let bearoff = Bearoff::shared();
    let homes: Vec<Home> = Home::all().take(SMALL_HOMES).skip(1).collect();
    let (mut sum, mut worst, mut pairs) = (0.0, 0.0_f64, 0.0);
    for own in &homes {
        for other in homes.iter().step_by(7) {
            let distance = bearoff.chances(*own, *other).0[0] - by_rolls(*own, *other).0[0];
            let distance = f64::from(distance.abs());
            sum += distance;
            worst = worst.max(distance);
            pairs += 1.0;
        }
    }
    assert!((0.0005..0.001).contains(&(sum / pairs)), "mean distance {}", sum / pairs);
    assert!((0.01..0.015).contains(&worst), "largest distance {worst}");
}

#[test]
fn what_is_known_is_valid_and_nothing_else_is_known() {
    let mut seen = 0;
    for position in positions() {
        let home = |side: &[u8; 25]| side[6..].iter().all(|&n| n == 0);
        let expected = home(position.own()) && home(position.other()) && position.payoff().is_none();
        let known = known(&position);
        assert_eq!(known.is_some(), expected, "{position:?}");
        if let Some(chances) = known {
            seen += 1;
            assert!(chances.is_valid(), "{position:?}: {chances:?}");
            let [_, win_gammon, win_backgammon, lose_gammon, lose_backgammon] = chances.0;
            assert!(position.own_off() == 0 || lose_gammon == 0.0);
            assert!(position.other_off() == 0 || win_gammon == 0.0);
            assert_eq!((win_backgammon, lose_backgammon), (0.0, 0.0));
        }
    }
    assert!(seen > 50, "{seen} bear-offs");
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for _ in 0..20_000 {
        let counts =
            [(); 2].map(|()| if rng.next_u32() & 1 == 0 { 15 } else { 1 + dice::below(&mut rng, 15) });
        let [own, other] = counts.map(|checkers| random_home(&mut rng, checkers));
        let chances = Bearoff::shared().chances(own, other);
        assert!(chances.is_valid() && chances.ordered() == chances, "{own:?} {other:?}: {chances:?}");
    }
}

#[test]
fn a_database_has_the_same_bytes_whenever_it_is_built_and_says_what_it_is() {
    let bytes = file::to_bytes(Bearoff::shared());
    assert!(bytes == file::to_bytes(&Bearoff::build()));
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let mark = header.metadata().as_ref().unwrap()[file::MARK].clone();
    let (tensors, digest) = (SafeTensors::deserialize(&bytes).unwrap(), Digest::of(file::data(&bytes)));
    assert_eq!(mark, format!(r#"{{"version":1,"sha256":"{digest}"}}"#));
    let shape = |name: &str| tensors.tensor(name).unwrap().shape().to_vec();
    assert_eq!(shape("points"), [HOMES, 6]);
    assert_eq!(shape("few_waiting"), [SMALL_HOMES, SMALL_HOMES]);
    assert_eq!(shape("first_off_longer"), [HOMES - FULL, ROLLS]);
    // The row of a home, read back.
    let row = home([2, 2, 2, 3, 3, 3]).rank();
    assert_eq!(tensors.tensor("points").unwrap().data()[6 * row..][..6], [2, 2, 2, 3, 3, 3]);
    let means = tensors.tensor("mean_rolls").unwrap().data().as_chunks().0;
    assert_eq!(f64::from_le_bytes(means[row]), mean([2, 2, 2, 3, 3, 3]));
    let longer = tensors.tensor("longer").unwrap().data().as_chunks().0;
    assert_eq!(f32::from_le_bytes(longer[ROLLS * row + 8]), Bearoff::shared().rolls.longer(row)[8]);
}

/// The bits of the database must be the same everywhere: players of a series depend on them.
#[test]
fn the_database_is_the_one_this_version_was_released_with() {
    let digest = Digest::of(file::data(&file::to_bytes(Bearoff::shared())));
    assert_eq!(digest.to_string(), "c2434a84b4695af3834bb1fe5a7fbfebf944b3b59b663fad154f4c6a4f9dfb84");
}
