//! What every game owes to the core, whatever its rules.

use std::collections::HashSet;

use ludus_games::{Backgammon, Chances, Game, ItalianDraughts, Luck, Othello, Plays};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A game with what a test needs to know about its sides.
trait Sides: Game {
    /// Plies after which a random game must have ended.
    const LONGEST: usize;
    /// Digest of the order of plays along random games; see [`the_order_of_plays_is_pinned`].
    const ORDER: u64;
    /// Whether `after`, which `before` led to, is seen by the side that did not act in `before`.
    fn other_side_acts(before: &Self::State, after: &Self::State) -> bool;
}

impl Sides for Backgammon {
    const LONGEST: usize = 5_000;
    const ORDER: u64 = 0xe610_ab7f_ad00_dc71;

    fn other_side_acts(before: &Self::State, after: &Self::State) -> bool {
        // The checkers of the side that waits are not moved, only hit.
        (0..24).all(|slot| after.own()[slot] <= before.other()[slot])
            && after.own_off() == before.other_off()
            && after.other_off() >= before.own_off()
    }
}

impl Sides for Othello {
    const LONGEST: usize = 130;
    const ORDER: u64 = 0xd335_5d27_ef47_6e87;

    fn other_side_acts(before: &Self::State, after: &Self::State) -> bool {
        // The side that waited can only lose discs, the one that acted only win some.
        after.own() & !before.other() == 0 && before.own() & !after.other() == 0
    }
}

impl Sides for ItalianDraughts {
    const LONGEST: usize = 2_000;
    const ORDER: u64 = 0x2b26_4648_e87a_483b;

    fn other_side_acts(before: &Self::State, after: &Self::State) -> bool {
        let pieces = |[men, kings]: [u32; 2]| men | kings;
        let waited = pieces(before.board().other()).reverse_bits();
        after.white_acts() != before.white_acts() && pieces(after.board().own()) & !waited == 0
    }
}

/// One turn of a random game.
struct Turn<'a, G: Game> {
    state: &'a G::State,
    ply: usize,
    roll: G::Roll,
    plays: &'a Plays<G>,
    chosen: usize,
}

/// Plays a random game, shows every turn to `visit`, and returns the points of the side that would act at the end.
fn random_game<G: Sides>(game: &G, seed: u64, mut visit: impl FnMut(&Turn<'_, G>)) -> i8 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut plays = Plays::new();
    let mut state = game.start();
    for ply in 0..G::LONGEST {
        if let Some(points) = game.payoff(&state) {
            return points;
        }
        let rolls = game.rolls(&state, ply);
        let (roll, _) = rolls[rng.random_range(0..rolls.len())];
        game.plays(&state, roll, &mut plays);
        let chosen = rng.random_range(0..plays.len());
        visit(&Turn { state: &state, ply, roll, plays: &plays, chosen });
        state = plays.after[chosen].clone();
    }
    panic!("a random game went on for {} plies from seed {seed}", G::LONGEST);
}

const GAMES: u64 = 60;

/// So many cases, without a file of failures: a runner outside the macro does not know where it would go.
fn quiet(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

fn rolls_are_distinct_and_add_up_to_one<G: Sides>(game: &G) {
    random_game(game, 1, |turn| {
        let rolls = game.rolls(turn.state, turn.ply);
        let total: f64 = rolls.iter().map(|&(_, p)| f64::from(p)).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total} at ply {}", turn.ply);
        for (i, (roll, p)) in rolls.iter().enumerate() {
            assert!(*p > 0.0);
            assert!(rolls[..i].iter().all(|(other, _)| other != roll), "{roll:?} twice");
        }
    });
}

fn plays_are_distinct_never_none_and_depend_on_their_arguments_alone<G: Sides>(game: &G) {
    let mut again = Plays::new();
    for seed in 0..GAMES {
        random_game(game, seed, |turn| {
            let plays = turn.plays;
            assert!(!plays.is_empty(), "no play in {:?}", turn.state);
            assert_eq!(plays.moves.len(), plays.after.len());
            let different: HashSet<_> = plays.after.iter().collect();
            assert_eq!(different.len(), plays.len(), "a position twice after {:?}", turn.state);
            // `again` still holds the plays of another position here.
            game.plays(turn.state, turn.roll, &mut again);
            assert_eq!(again.moves, plays.moves);
            assert_eq!(again.after, plays.after);
        });
    }
}

fn sides_alternate<G: Sides>(game: &G) {
    for seed in 0..GAMES {
        random_game(game, seed, |turn| {
            for after in &turn.plays.after {
                assert!(G::other_side_acts(turn.state, after), "{:?} then {after:?}", turn.state);
            }
        });
    }
}

fn random_games_end_with_points_that_agree_with_their_chances<G: Sides>(game: &G) {
    let mut seen = HashSet::new();
    for seed in 0..GAMES {
        seen.insert(random_game(game, seed, |_| {}));
    }
    for points in seen {
        let chances = G::Chances::from_payoff(points);
        assert!(f32::from(points).abs() <= G::Chances::MAX_POINTS);
        assert!(chances.is_valid());
        assert_eq!(chances.points(), f32::from(points));
        assert_eq!(chances.flipped(), G::Chances::from_payoff(-points));
        assert_eq!(chances.ordered(), chances);
    }
}

fn chances_keep_their_algebra<G: Sides>(_: &G) {
    let close =
        |a: &G::Chances, b: &G::Chances| a.as_ref().iter().zip(b.as_ref()).all(|(a, b)| (a - b).abs() < 1e-5);
    assert_eq!(G::Chances::LABELS.len(), G::Chances::LEN);
    assert_eq!(G::Chances::default().as_ref().len(), G::Chances::LEN);
    let raw = || vec(-0.5f32..1.5, G::Chances::LEN);
    let from = |raw: &[f32]| {
        let mut chances = G::Chances::default();
        chances.as_mut().copy_from_slice(raw);
        chances
    };
    let result = TestRunner::new(quiet(256)).run(&(raw(), raw(), 0..G::Chances::LEN), |(a, b, place)| {
        let (a, b) = (from(&a).ordered(), from(&b).ordered());
        prop_assert!(a.is_valid());
        prop_assert_eq!(a.ordered(), a);
        prop_assert!(a.flipped().is_valid(), "{:?}", a.flipped());
        prop_assert!(a.points().abs() <= G::Chances::MAX_POINTS + 1e-5);
        prop_assert!((a.points() + a.flipped().points()).abs() < 1e-5);
        prop_assert!(a.flipped().flipped().is_valid());
        prop_assert!(close(&a.flipped().flipped(), &a));

        let luck = Luck::between(&a, &b);
        prop_assert!((luck.points() - (a.points() - b.points())).abs() < 1e-5);
        let others = Luck::between(&a.flipped(), &b.flipped());
        prop_assert!((luck.points() + others.points()).abs() < 1e-5);

        let mut spoilt = a;
        spoilt.as_mut()[place] = f32::NAN;
        prop_assert!(!spoilt.is_valid());
        prop_assert!(spoilt.ordered().as_ref()[place].is_nan());
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}

fn every_position_roll_and_play_is_read_as_it_was_written<G: Sides>(game: &G) {
    for seed in 0..GAMES / 3 {
        random_game(game, seed, |turn| {
            let text = game.write_position(turn.state);
            let state = game.read_position(&text).expect("a position that was written");
            assert_eq!(game.write_position(&state), text);
            assert_eq!(game.read_roll(&game.write_roll(turn.roll)), Ok(turn.roll));
            for (i, &play) in turn.plays.moves.iter().enumerate() {
                let written = game.write_move(turn.state, play);
                assert_eq!(game.read_move(turn.state, turn.plays, &written), Ok(i), "{written} in {text}");
            }
        });
    }
}

fn no_text_makes_a_parser_panic<G: Sides>(game: &G) {
    let mut positions = Vec::new();
    let mut texts = vec![String::new()];
    random_game(game, 3, |turn| {
        let written = game.write_move(turn.state, turn.plays.moves[turn.chosen]);
        texts.extend([game.write_position(turn.state), game.write_roll(turn.roll), written]);
        positions.push((turn.state.clone(), turn.plays.clone()));
    });
    // Arbitrary bytes, and good texts with a few bytes overwritten.
    let bytes = vec(any::<u8>(), 0..80);
    let damage = vec((any::<Index>(), any::<u8>()), 0..4);
    let input = (any::<Index>(), any::<Index>(), bytes, damage, any::<bool>());
    let mut runner = TestRunner::new(quiet(3_000));
    let result = runner.run(&input, |(position, text, bytes, damage, arbitrary)| {
        let mut text = if arbitrary { bytes } else { text.get(&texts).clone().into_bytes() };
        for (place, byte) in damage {
            if !text.is_empty() {
                let place = place.index(text.len());
                text[place] = byte;
            }
        }
        let text = String::from_utf8_lossy(&text);
        if let Ok(state) = game.read_position(&text) {
            let written = game.write_position(&state);
            let again = game.read_position(&written).map(|state| game.write_position(&state));
            prop_assert_eq!(again, Ok(written));
        }
        let _ = game.read_roll(&text);
        let (state, plays) = position.get(&positions);
        if let Ok(index) = game.read_move(state, plays, &text) {
            prop_assert!(index < plays.len());
        }
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}

/// The order of plays is part of the record format, so a change of it must be seen and given a new
/// [`Game::REVISION`]. FNV-1a over the plays and the positions they lead to.
fn the_order_of_plays_is_pinned<G: Sides>(game: &G) {
    let mut digest = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |text: String| {
        for byte in text.bytes().chain([0]) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for seed in 1_000..1_000 + GAMES {
        random_game(game, seed, |turn| {
            for (&play, after) in turn.plays.moves.iter().zip(&turn.plays.after) {
                add(format!("{play:?}"));
                add(game.write_position(after));
            }
        });
    }
    assert_eq!(digest, G::ORDER, "the order of plays or the games' dice changed: {digest:#x}");
}

macro_rules! battery {
    ($module:ident, $game:expr, [$($test:ident),+ $(,)?]) => {
        mod $module {
            use super::*;

            $(#[test]
            fn $test() {
                super::$test(&$game);
            })+
        }
    };
    ($($module:ident: $game:expr),+ $(,)?) => {
        $(battery!($module, $game, [
            rolls_are_distinct_and_add_up_to_one,
            plays_are_distinct_never_none_and_depend_on_their_arguments_alone,
            sides_alternate,
            random_games_end_with_points_that_agree_with_their_chances,
            chances_keep_their_algebra,
            every_position_roll_and_play_is_read_as_it_was_written,
            no_text_makes_a_parser_panic,
            the_order_of_plays_is_pinned,
        ]);)+
    };
}

battery!(backgammon: Backgammon, othello: Othello, italian_draughts: ItalianDraughts::default());
