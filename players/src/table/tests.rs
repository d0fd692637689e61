use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ludus_games::backgammon::BackgammonChances;
use ludus_games::{Backgammon, Chances, NotationError};

use super::*;
use crate::luck::recorded_luck;
use crate::player::{Evaluator, RandomPlayer, best_play};
use crate::record::Replay;
use crate::search::ValuePlayer;
use crate::toys::{Exact, Noise, Pips, Toy, ToyState, gate, named, self_play};

fn alone<G: Game>(
    series: &Series,
    evaluator: impl Evaluator<G> + 'static,
) -> Result<SeriesTable<G>, ArenaError> {
    let player = ValuePlayer::new(G::default(), Box::new(evaluator), 0);
    SeriesTable::new(G::default(), series, [named("one"), named("one")], Seated::alone(Box::new(player)))
}

fn pips_against_random(series: &Series) -> Result<SeriesTable<Backgammon>, ArenaError> {
    let pips = ValuePlayer::new(Backgammon, Box::new(Pips), 0);
    let seated = Seated::opposed([Box::new(pips), Box::new(RandomPlayer)]);
    SeriesTable::new(Backgammon, series, [named("pips"), named("random")], seated)
}

fn refusal<T>(made: Result<T, ArenaError>) -> String {
    made.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn a_game_depends_on_its_number_alone_and_not_on_what_was_played_before() {
    for luck in [LuckMode::LuckNone, LuckMode::LuckPositions, LuckMode::LuckTotal] {
        let series = self_play(3, luck, 0.1);
        let mut table = alone(&series, Pips).unwrap();
        let forwards: Vec<_> = (0..4).map(|number| table.play(number).unwrap()).collect();
        for number in [3, 1, 2, 0] {
            assert_eq!(alone(&series, Pips).unwrap().play(number).unwrap(), forwards[number as usize]);
        }
        assert_ne!(forwards[0].rolls, forwards[1].rolls);
        let other = self_play(4, luck, 0.1);
        assert_ne!(alone(&other, Pips).unwrap().play(0).unwrap().rolls, forwards[0].rolls);
    }
}

#[test]
fn measuring_luck_changes_no_play() {
    let record = |luck| alone(&self_play(5, luck, 0.2), Pips).unwrap().play(7).unwrap();
    let plain = record(LuckMode::LuckNone);
    for luck in [LuckMode::LuckPositions, LuckMode::LuckTotal] {
        let measured = record(luck);
        assert_eq!(plain.rolls, measured.rolls);
        assert_eq!(plain.plays, measured.plays);
        assert_eq!(plain.explored, measured.explored);
        assert_eq!(plain.payoff, measured.payoff);
    }
}

#[test]
fn the_games_of_a_pair_share_dice_and_the_other_seat_acts_first() {
    let mut table = pips_against_random(&gate(11, LuckMode::LuckNone, 0.0)).unwrap();
    for pair in 0..5 {
        let [first, second] = [2 * pair, 2 * pair + 1].map(|number| table.play(number).unwrap());
        let common = first.rolls.len().min(second.rolls.len());
        // Opening rolls have a table of their own; its index is the same too.
        assert_eq!(first.rolls[..common], second.rolls[..common]);
        assert_eq!((seat_at(first.number, 0), seat_at(second.number, 0)), (0, 1));
        assert_ne!(first.rolls, table.play(2 * pair + 2).unwrap().rolls);
    }
}

#[test]
fn luck_by_position_adds_up_to_the_luck_of_the_game() {
    let series = |luck| Series { luck_bound: f64::INFINITY, ..self_play(8, luck, 0.3) };
    let by_position = alone(&series(LuckMode::LuckPositions), Pips).unwrap().play(5).unwrap();
    let total = alone(&series(LuckMode::LuckTotal), Pips).unwrap().play(5).unwrap().total_luck;
    let signed = recorded_luck::<BackgammonChances>(&by_position).enumerate().map(|(ply, luck)| {
        let points = f64::from(luck.points());
        if seat_at(5, ply) == 0 { points } else { -points }
    });
    let sum: f64 = signed.sum();
    assert_eq!(by_position.luck.len(), by_position.rolls.len() * 10);
    // Each number is off by half a unit at most.
    assert!((sum - total).abs() < by_position.rolls.len() as f64 * 6.0 * 0.5 / 32767.0, "{sum} {total}");
    assert!(total.abs() > 0.01);
}

#[test]
fn between_perfect_players_the_result_is_the_value_of_the_start_and_luck() {
    let series = Series { luck_bound: f64::INFINITY, ..self_play(1, LuckMode::LuckTotal, 0.0) };
    let mut table = alone::<Toy>(&series, Exact).unwrap();
    let mut value = Vec::new();
    Exact.judge(&[ToyState::default()], &mut value);
    let value = f64::from(value[0].points());
    for number in 0..200 {
        let record = table.play(number).unwrap();
        let expected = if number % 2 == 0 { value } else { -value };
        let without_luck = f64::from(record.payoff) - record.total_luck;
        assert!((without_luck - expected).abs() < 1e-5, "game {number}: {without_luck}, not {expected}");
    }
}

#[test]
fn total_luck_stays_within_its_bound() {
    let mut table = pips_against_random(&gate(2, LuckMode::LuckTotal, 0.5)).unwrap();
    let lucks: Vec<f64> = (0..20).map(|number| table.play(number).unwrap().total_luck).collect();
    assert!(lucks.iter().all(|luck| luck.abs() <= 0.5), "{lucks:?}");
    assert!(lucks.iter().any(|luck| luck.abs() > 0.4), "the bound was never near: {lucks:?}");
}

#[test]
fn without_its_luck_a_game_varies_less() {
    let series = Series { luck_bound: f64::INFINITY, ..self_play(12, LuckMode::LuckTotal, 0.0) };
    let mut table = alone(&series, Pips).unwrap();
    let records: Vec<_> = (0..80).map(|number| table.play(number).unwrap()).collect();
    let variance = |outcome: fn(&GameRecord) -> f64| {
        let mean = records.iter().map(outcome).sum::<f64>() / 80.0;
        records.iter().map(|record| (outcome(record) - mean).powi(2)).sum::<f64>() / 79.0
    };
    let plain = variance(|record| f64::from(record.payoff));
    let adjusted = variance(|record| f64::from(record.payoff) - record.total_luck);
    assert!(adjusted < 0.85 * plain, "{adjusted} of {plain}");
}

#[test]
fn exploration_is_as_frequent_as_the_series_says_and_each_explored_ply_is_recorded() {
    let mut table = alone(&self_play(6, LuckMode::LuckNone, 0.25), Pips).unwrap();
    let (mut plies, mut explored) = (0, 0);
    for number in 0..40 {
        let record = table.play(number).unwrap();
        assert!(record.explored.windows(2).all(|pair| pair[0] < pair[1]));
        plies += record.rolls.len();
        explored += record.explored.len();
    }
    let share = explored as f64 / plies as f64;
    assert!((0.22..0.28).contains(&share), "{share}");
}

#[test]
fn exploration_asks_neither_for_the_roll_nor_for_its_plays() {
    // What is explored is not learnt. The start of the toy game is known exactly, so the mean of what is left to learn about
    // it, one ply ahead, must be that, although two of its three rolls leave a choice and the other none.
    let worth = |state: &ToyState| {
        let mut judged = Vec::new();
        Exact.judge(std::slice::from_ref(state), &mut judged);
        f64::from(judged[0].points())
    };
    for margin in [0.0, 0.3] {
        let series = Series { explore_margin: margin, ..self_play(8, LuckMode::LuckNone, 0.3) };
        let mut table = alone(&series, Exact).unwrap();
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for number in 0..20_000 {
            let record = table.play(number).unwrap();
            if record.explored.first() == Some(&0) {
                continue;
            }
            let mut replay = Replay::new(Toy, &record);
            let after = replay.next_ply().unwrap().expect("a first ply").after;
            let points = Toy.payoff(after).map_or_else(|| worth(after), f64::from);
            (sum, squares, count) = (sum - points, squares + points * points, count + 1.0);
        }
        let mean: f64 = sum / count;
        let error = ((squares / count - mean * mean) / count).sqrt();
        let truth = worth(&ToyState::default());
        assert!((mean - truth).abs() < 4.0 * error && error < 0.01, "{mean} +-{error}, and it is {truth}");
    }
}

#[test]
fn exploration_within_a_margin_draws_rivals_of_the_best_play_and_never_the_best_itself() {
    let series = Series { explore_margin: 0.2, ..self_play(6, LuckMode::LuckNone, 0.5) };
    let mut table = alone(&series, Pips).unwrap();
    let mut drawn = 0;
    for number in 0..20 {
        let record = table.play(number).unwrap();
        let mut state = Backgammon.start();
        let (mut plays, mut judged) = (Plays::new(), Vec::new());
        for ply in 0..record.plays.len() {
            let (roll, _) = Backgammon.rolls(&state, ply)[usize::from(record.rolls[ply])];
            Backgammon.plays(&state, roll, &mut plays);
            Pips.judge(&plays.after, &mut judged);
            let points: Vec<f32> = judged.iter().map(Chances::points).collect();
            let (best, made) = (best_play(&judged), record.plays[ply] as usize);
            let rivals = points.iter().filter(|other| f64::from(**other - points[best]) <= 0.2).count() > 1;
            if record.explored.contains(&(ply as u32)) && rivals {
                assert_ne!(made, best, "game {number}, ply {ply}");
                assert!(points[made] - points[best] <= 0.2, "{} beside {}", points[made], points[best]);
                drawn += 1;
            } else {
                assert_eq!(made, best, "game {number}, ply {ply}");
            }
            state = plays.after[made];
        }
    }
    assert!(drawn > 100, "{drawn}");
}

#[test]
fn exploration_within_a_margin_is_the_same_with_and_without_luck() {
    let play = |luck| {
        let series = Series { explore_margin: 0.2, ..self_play(6, luck, 0.3) };
        let record = alone(&series, Pips).unwrap().play(3).unwrap();
        (record.rolls, record.plays, record.explored)
    };
    assert_eq!(play(LuckMode::LuckNone), play(LuckMode::LuckPositions));
}

/// Counts the batches it is asked to judge.
struct Counting(Arc<AtomicUsize>);

impl Evaluator<Backgammon> for Counting {
    fn judge(
        &mut self,
        positions: &[<Backgammon as Game>::State],
        chances: &mut Vec<<Backgammon as Game>::Chances>,
    ) {
        self.0.fetch_add(1, Ordering::Relaxed);
        Pips.judge(positions, chances);
    }
}

#[test]
fn luck_and_the_choice_of_the_play_share_one_judgement() {
    let count = Arc::new(AtomicUsize::new(0));
    let mut table = alone(&self_play(9, LuckMode::LuckPositions, 0.0), Counting(count.clone())).unwrap();
    let record = table.play(0).unwrap();
    assert_eq!(count.load(Ordering::Relaxed), record.rolls.len());
}

#[test]
fn settings_that_make_no_sense_are_refused_with_what_to_do() {
    let random = |series: &Series| {
        let seated = Seated::alone(Box::new(RandomPlayer) as Box<dyn Player<Backgammon>>);
        SeriesTable::new(Backgammon, series, [named("random"), named("random")], seated)
    };
    for luck in [LuckMode::LuckPositions, LuckMode::LuckTotal] {
        let error = refusal(random(&self_play(1, luck, 0.0)));
        assert!(error.contains("random") && error.contains("play without luck"), "{error}");
    }
    let mirrored = Series { mirrored: true, ..self_play(1, LuckMode::LuckNone, 0.0) };
    assert!(refusal(random(&mirrored)).contains("plays every game twice"));
    assert!(random(&Series { explore: 0.1, ..mirrored }).is_ok());

    let plain = gate(1, LuckMode::LuckNone, 0.0);
    let with = |change: fn(&mut Series)| {
        let mut series = plain;
        change(&mut series);
        refusal(pips_against_random(&series))
    };
    assert!(with(|series| series.kind = SeriesKind::SelfPlay.into()).contains("same player"));
    assert!(with(|series| series.kind = 0).contains("kind 0"));
    assert!(with(|series| series.luck = 9).contains("luck mode 9"));
    assert!(with(|series| series.explore = 0.1).contains("only self-play explores"));
    assert!(with(|series| series.explore = f64::NAN).contains("not a probability"));
    assert!(with(|series| series.luck = LuckMode::LuckTotal.into()).contains("luck_bound"));
    assert!(pips_against_random(&plain).is_ok());
}

/// A game that never ends.
#[derive(Clone, Copy, Default, Debug)]
struct Endless;

impl Game for Endless {
    const NAME: &'static str = "endless";
    const REVISION: u32 = 1;
    type State = ();
    type Roll = ();
    type Move = ();
    type Chances = BackgammonChances;

    fn start(&self) {}

    fn payoff(&self, _: &()) -> Option<i8> {
        None
    }

    fn rolls(&self, _: &(), _: usize) -> &'static [((), f32)] {
        &[((), 1.0)]
    }

    fn plays(&self, _: &(), _: (), plays: &mut Plays<Self>) {
        plays.clear();
        plays.moves.push(());
        plays.after.push(());
    }

    fn read_position(&self, _: &str) -> Result<(), NotationError> {
        Ok(())
    }

    fn write_position(&self, _: &()) -> String {
        String::new()
    }

    fn read_roll(&self, _: &str) -> Result<(), NotationError> {
        Ok(())
    }

    fn write_roll(&self, _: ()) -> String {
        String::new()
    }

    fn write_move(&self, _: &(), _: ()) -> String {
        String::new()
    }
}

#[test]
fn a_game_without_an_end_is_given_up_and_reported() {
    let series = self_play(1, LuckMode::LuckNone, 0.0);
    let mut table = alone::<Endless>(&series, Noise(1)).unwrap();
    assert_eq!(table.play(4), Err(PlayError::TooLong { number: 4, plies: MAX_PLIES }));
}

/// Judges nothing.
struct Broken;

impl Evaluator<Backgammon> for Broken {
    fn judge(
        &mut self,
        positions: &[<Backgammon as Game>::State],
        chances: &mut Vec<<Backgammon as Game>::Chances>,
    ) {
        chances.clear();
        chances.resize(positions.len(), BackgammonChances([f32::NAN; 5]));
    }
}

#[test]
fn luck_that_is_not_a_number_ends_the_game_with_an_error() {
    for luck in [LuckMode::LuckPositions, LuckMode::LuckTotal] {
        let mut table = alone(&self_play(1, luck, 0.0), Broken).unwrap();
        assert_eq!(table.play(2), Err(PlayError::NotFinite { number: 2, ply: 0 }));
    }
}
