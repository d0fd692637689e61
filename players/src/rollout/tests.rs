use std::collections::HashMap;

use ludus_games::Backgammon;
use ludus_games::backgammon::{BackgammonChances, Position};
use prost::Message;

use super::*;
use crate::arena::{ArenaError, Table};
use crate::player::{RandomPlayer, best_play};
use crate::record::{Replay, check};
use crate::search::{Lookahead, ValuePlayer};
use crate::table::{Seated, SeriesTable};
use crate::toys::{Exact, Noise, Pips, Toy, ToyState, named, rollouts};

fn settings(trials: u32, horizon: u32) -> Rollout {
    Rollout { positions: 3, margin: 0.0, plays: 6, trials, horizon, balanced: false, decisions: false }
}

fn by<G: Game>(evaluator: impl Evaluator<G> + 'static) -> ValuePlayer<G> {
    ValuePlayer::new(G::default(), Box::new(evaluator), 0)
}

fn table<G: Game>(series: &Series, player: ValuePlayer<G>) -> SeriesTable<G> {
    let refs = [named("one"), named("one")];
    SeriesTable::new(G::default(), series, refs, Seated::alone(Box::new(player))).expect("a table")
}

/// Rolls out one position as if it came after ply 2 of game 5.
fn roll_out<G: Game>(
    player: &mut dyn Player<G>,
    state: &G::State,
    seed: u64,
    settings: Rollout,
) -> Estimate<G::Chances> {
    let series = rollouts(seed, settings);
    Rollouts::new(G::default(), &series, settings).roll_out(player, state, 5, 2).expect("an estimate")
}

fn judge<G: Game>(evaluator: &mut dyn Evaluator<G>, state: &G::State) -> G::Chances {
    let mut judged = Vec::new();
    evaluator.judge(std::slice::from_ref(state), &mut judged);
    judged[0]
}

/// What a position of the toy game comes to on average when `chooser` plays on for `horizon` plies and `judge` judges
/// then: every sequence of rolls, one by one.
fn enumerate(
    state: &ToyState,
    horizon: u32,
    chooser: &mut dyn Evaluator<Toy>,
    end: &mut dyn Evaluator<Toy>,
) -> [f64; 5] {
    if horizon == 0 || Toy.payoff(state).is_some() {
        return judge(end, state).0.map(f64::from);
    }
    let mut sums = [0.0; 5];
    let rolls = Toy.rolls(state, 1);
    for ((roll, _), share) in rolls.iter().zip(dice::shares(rolls)) {
        let (mut plays, mut judged) = (Plays::new(), Vec::new());
        Toy.plays(state, *roll, &mut plays);
        chooser.judge(&plays.after, &mut judged);
        let [win, gammon, backgammon, lost_gammon, lost_backgammon] =
            enumerate(&plays.after[best_play(&judged)], horizon - 1, chooser, end);
        let turned = [1.0 - win, lost_gammon, lost_backgammon, gammon, backgammon];
        for (sum, number) in sums.iter_mut().zip(turned) {
            *sum += share * number;
        }
    }
    sums
}

fn points(chances: [f64; 5]) -> f64 {
    2.0 * chances[0] - 1.0 + chances[1] + chances[2] - chances[3] - chances[4]
}

/// Positions of the toy game that are far from decided.
fn open_positions() -> [ToyState; 3] {
    [((0, false), (1, false)), ((1, false), (2, true)), ((1, true), (1, false))]
        .map(|(own, other)| ToyState { own, other })
}

#[test]
fn the_mean_of_many_trials_is_the_exact_value_under_the_players_own_play_however_bad_its_judgement() {
    for (number, state) in (0..).zip(open_positions()) {
        let exact = enumerate(&state, 99, &mut Noise(number), &mut Exact);
        let found = roll_out::<Toy>(&mut by(Noise(number)), &state, number, settings(20_000, 0));
        assert!(found.error > 0.001, "{found:?} has no error to speak of");
        let off = (f64::from(found.chances.points()) - points(exact)).abs();
        assert!(off < 4.0 * f64::from(found.error), "{found:?} instead of {exact:?}");
        for (found, exact) in found.chances.0.iter().zip(exact) {
            assert!((f64::from(*found) - exact).abs() < 0.03, "{found} instead of {exact}");
        }
    }
}

#[test]
fn at_the_horizon_the_evaluators_judgement_counts_and_luck_before_it_is_still_taken_out() {
    for horizon in [1, 2, 3] {
        let state = ToyState { own: (0, false), other: (0, false) };
        let exact = points(enumerate(&state, horizon, &mut Noise(3), &mut Noise(3)));
        let found = roll_out::<Toy>(&mut by(Noise(3)), &state, 8, settings(20_000, horizon));
        let off = (f64::from(found.chances.points()) - exact).abs();
        assert!(off < 4.0 * f64::from(found.error) + 1e-5, "{horizon} plies: {found:?} instead of {exact}");
    }
}

#[test]
fn labels_of_a_single_trial_are_right_on_average_in_each_number_also_where_a_chance_is_next_to_none() {
    let near_the_end = ToyState { own: (3, false), other: (2, true) };
    for state in open_positions().into_iter().chain([near_the_end]) {
        let exact = enumerate(&state, 2, &mut Noise(4), &mut Noise(4));
        let labels =
            (0..4000).map(|seed| roll_out::<Toy>(&mut by(Noise(4)), &state, seed, settings(1, 2)).chances.0);
        let labels: Vec<[f32; 5]> = labels.collect();
        for (number, exact) in exact.into_iter().enumerate() {
            let of = |power: i32| {
                labels.iter().map(|label| f64::from(label[number]).powi(power)).sum::<f64>() / 4000.0
            };
            let (mean, square) = (of(1), of(2));
            let error = ((square - mean * mean).max(0.0) / 4000.0).sqrt();
            assert!(
                (mean - exact).abs() < 4.0 * error + 1e-5,
                "{number}: {mean} +-{error} instead of {exact}"
            );
        }
    }
}

#[test]
fn with_perfect_judgement_every_trial_gives_the_truth() {
    for state in open_positions() {
        let truth = judge(&mut Exact, &state);
        for horizon in [0, 1, 2] {
            let found = roll_out::<Toy>(&mut by(Exact), &state, 1, settings(20, horizon));
            assert!((found.chances.points() - truth.points()).abs() < 1e-5);
            assert!(found.error < 1e-5, "{found:?}");
        }
    }
}

#[test]
fn one_trial_to_a_horizon_of_one_ply_is_what_looking_one_ply_ahead_gives() {
    let start = Backgammon.start();
    let mut plays = Plays::new();
    Backgammon.plays(&start, Backgammon.read_roll("31").expect("a roll"), &mut plays);
    for after in &plays.after {
        for seed in [1, 2] {
            let found = roll_out::<Backgammon>(&mut by(Pips), after, seed, settings(1, 1));
            let expected = judge(&mut Lookahead::new(Backgammon, Box::new(Pips), 1), after);
            for (found, expected) in found.chances.0.iter().zip(expected.0) {
                assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
            }
            assert_eq!(found.error, 0.0);
        }
    }
}

/// A race of few checkers, the own ones and the other side's on these points.
fn race(own: &[usize], other: &[usize]) -> Position {
    let side = |points: &[usize]| {
        let mut side = [0; 25];
        points.iter().for_each(|point| side[point - 1] += 1);
        side
    };
    Position::new(side(own), side(other)).expect("a position")
}

/// The exact chances of winning a race when `evaluator` chooses the plays.
fn win(
    state: &Position,
    evaluator: &mut dyn Evaluator<Backgammon>,
    known: &mut HashMap<Position, f64>,
) -> f64 {
    if let Some(points) = Backgammon.payoff(state) {
        return if points > 0 { 1.0 } else { 0.0 };
    }
    if let Some(win) = known.get(state) {
        return *win;
    }
    let rolls = Backgammon.rolls(state, 1);
    let mut sum = 0.0;
    for ((roll, _), share) in rolls.iter().zip(dice::shares(rolls)) {
        let (mut plays, mut judged) = (Plays::new(), Vec::new());
        Backgammon.plays(state, *roll, &mut plays);
        evaluator.judge(&plays.after, &mut judged);
        sum += share * (1.0 - win(&plays.after[best_play(&judged)], evaluator, known));
    }
    known.insert(*state, sum);
    sum
}

#[test]
fn a_race_rolled_out_to_its_end_has_the_chances_of_the_exact_recursion() {
    for (own, other) in [(vec![6, 6, 5], vec![4, 4, 1]), (vec![3, 2, 2, 1], vec![5, 3, 1])] {
        let state = race(&own, &other);
        let exact = win(&state, &mut Pips, &mut HashMap::new());
        let found = roll_out::<Backgammon>(&mut by(Pips), &state, 4, settings(300, 0));
        let error = f64::from(found.error) / 2.0;
        assert!(error > 0.0 && error < 0.03, "{found:?}");
        assert!((f64::from(found.chances.0[0]) - exact).abs() < 4.0 * error, "{found:?} instead of {exact}");
        assert_eq!(found.chances.0[1..], [0.0; 4]);
    }
}

#[test]
fn plays_of_one_decision_have_common_dice_and_other_decisions_have_their_own() {
    let state = Backgammon.start();
    let series = rollouts(3, settings(4, 3));
    let mut rollouts = Rollouts::new(Backgammon, &series, settings(4, 3));
    let mut player = by(Pips);
    let mut at = |number, ply| rollouts.roll_out(&mut player, &state, number, ply).expect("an estimate");
    assert_eq!(at(5, 2), at(5, 2));
    assert_ne!(at(5, 2).chances, at(5, 3).chances);
    assert_ne!(at(5, 2).chances, at(6, 2).chances);

    // What two plays have in common cancels: differences scatter less than they would between independent trials.
    let mut plays = Plays::new();
    Toy.plays(&ToyState { own: (1, false), other: (1, false) }, 2, &mut plays);
    let (mut common, mut apart) = (0.0, 0.0);
    for seed in 0..400 {
        let points = |play: usize, seed| {
            roll_out::<Toy>(&mut by(Noise(11)), &plays.after[play], seed, settings(1, 0)).chances.points()
        };
        common += f64::from(points(0, seed) - points(1, seed)).powi(2);
        apart += f64::from(points(0, seed) - points(1, seed + 1)).powi(2);
    }
    assert!(common < 0.8 * apart, "{common} with common dice, {apart} without");
}

#[test]
fn labels_depend_on_the_games_number_alone_and_the_records_check_out() {
    for margin in [0.0, 0.2] {
        let series = rollouts(7, Rollout { margin, plays: 3, ..settings(2, 2) });
        let mut forwards = table(&series, by::<Backgammon>(Pips));
        let records: Vec<GameRecord> = (0..3).map(|number| forwards.play(number).expect("a game")).collect();
        for number in [2, 0, 1] {
            let alone = table(&series, by::<Backgammon>(Pips)).play(number).expect("a game");
            assert_eq!(alone.encode_to_vec(), records[number as usize].encode_to_vec());
        }
        for record in &records {
            check(Backgammon, &series, &[named("one"), named("one")], &[], record).expect("a good record");
            let plies: Vec<u32> = record.labels.iter().map(|label| label.ply).collect();
            let mut different = plies.clone();
            different.dedup();
            assert_eq!(different.len(), 3);
            assert_eq!(margin > 0.0, plies.len() >= 6, "{plies:?}");
        }
    }
}

#[test]
fn rolling_out_changes_nothing_else_of_a_game() {
    let with = table(&rollouts(7, settings(1, 1)), by::<Backgammon>(Pips)).play(4).expect("a game");
    let series = Series { kind: ludus_proto::v1::SeriesKind::SelfPlay.into(), ..rollouts(7, settings(1, 1)) };
    let without = table(&series, by::<Backgammon>(Pips)).play(4).expect("a game");
    assert_ne!(with.digest, without.digest);
    assert_eq!(GameRecord { labels: Vec::new(), digest: without.digest.clone(), ..with }, without);
}

#[test]
fn rivals_are_the_plays_near_the_best_at_sight_and_the_one_made() {
    for decisions in [false, true] {
        let rollout = Rollout {
            positions: 1000,
            margin: 0.1,
            plays: 3,
            trials: 1,
            horizon: 1,
            balanced: false,
            decisions,
        };
        let series = Series { explore: 0.3, ..rollouts(2, rollout) };
        let record = table(&series, by::<Backgammon>(Pips)).play(1).expect("a game");
        let mut replay = Replay::new(Backgammon, &record);
        let (mut drawn, mut strays, mut dances) = (0, 0, 0);
        while let Some(ply) = replay.next_ply().expect("a good record") {
            let labelled: Vec<usize> = (record.labels.iter())
                .filter(|label| label.ply as usize == ply.ply)
                .map(|label| label.play as usize)
                .collect();
            let loss = |play: usize| {
                let best = ply.plays.after.iter().map(|after| judge(&mut Pips, after).points());
                judge(&mut Pips, &ply.plays.after[play]).points() - best.fold(f32::INFINITY, f32::min)
            };
            let near = (0..ply.plays.len()).filter(|&play| loss(play) <= 0.1).count();
            if labelled.is_empty() {
                let left_out = Backgammon.payoff(ply.after).is_some() || (decisions && near < 2);
                assert!(left_out, "ply {} was left out", ply.ply);
                continue;
            }
            drawn += 1;
            dances += usize::from(ply.after.other()[24] > 0);
            assert!(labelled.len() <= 3 && labelled.contains(&ply.play));
            assert!(!decisions || labelled.len() >= 2);
            for play in labelled {
                strays += usize::from(loss(play) > 0.1);
                assert!(loss(play) <= 0.1 || play == ply.play);
            }
        }
        assert!(drawn > 10 && strays > 0, "{drawn} plies, {strays} plays made at random");
        assert_eq!(dances > 0, !decisions, "a dance is no decision, and has a label all the same");
    }
}

/// Judges like `Pips` and holds that for the truth where few checkers are left.
struct Sure;

impl Evaluator<Backgammon> for Sure {
    fn judge(&mut self, positions: &[Position], chances: &mut Vec<BackgammonChances>) {
        Pips.judge(positions, chances);
    }

    fn knows(&self, position: &Position) -> bool {
        position.own_off() > 3
    }
}

#[test]
fn nothing_is_played_on_that_is_known() {
    let state = race(&[6, 6, 5], &[4, 4, 1]);
    let found = roll_out::<Backgammon>(&mut by(Sure), &state, 1, settings(8, 0));
    assert_eq!(found, Estimate { chances: judge(&mut Pips, &state), error: 0.0 });

    let series = rollouts(2, Rollout { positions: 1000, ..settings(1, 1) });
    let record = table(&series, by::<Backgammon>(Sure)).play(1).expect("a game");
    let mut replay = Replay::new(Backgammon, &record);
    let mut labels = record.labels.iter().peekable();
    let mut known = 0;
    while let Some(ply) = replay.next_ply().expect("a good record") {
        let labelled = labels.next_if(|label| label.ply as usize == ply.ply).is_some();
        known += usize::from(Sure.knows(ply.after));
        assert_eq!(labelled, !Sure.knows(ply.after) && Backgammon.payoff(ply.after).is_none());
    }
    assert!(known > 3);
}

#[test]
fn settings_that_make_no_sense_are_refused_with_what_to_do() {
    let refusal = |series: &Series, player: Box<dyn Player<Backgammon>>, other: &str| {
        let seated = Seated::alone(player);
        let made: Result<_, ArenaError> =
            SeriesTable::new(Backgammon, series, [named("one"), named(other)], seated);
        made.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let pips = || Box::new(by::<Backgammon>(Pips));
    let fine = rollouts(1, settings(2, 2));
    let with = |change: fn(&mut Rollout)| {
        let mut rollout = settings(2, 2);
        change(&mut rollout);
        refusal(&rollouts(1, rollout), pips(), "one")
    };
    assert_eq!(refusal(&fine, pips(), "one"), "");
    assert!(with(|rollout| rollout.positions = 0).contains("positions = 0"));
    assert!(with(|rollout| rollout.trials = 0).contains("trials = 0"));
    assert!(with(|rollout| rollout.margin = -0.1).contains("0 or more points"));
    assert!(with(|rollout| rollout.margin = f64::NAN).contains("margin = NaN"));
    assert!(with(|rollout| (rollout.margin, rollout.plays) = (0.1, 1)).contains("2 or more, or margin = 0"));
    let unsaid = Series { rollout: None, ..fine };
    assert!(refusal(&unsaid, pips(), "one").contains("what to roll out"));
    assert!(refusal(&fine, pips(), "two").contains("same player"));
    let error = refusal(&fine, Box::new(RandomPlayer), "one");
    assert!(error.contains("one has none; roll out with a network"), "{error}");
}

/// Judges nothing.
struct Broken;

impl Evaluator<Backgammon> for Broken {
    fn judge(&mut self, positions: &[Position], chances: &mut Vec<BackgammonChances>) {
        chances.clear();
        chances.resize(positions.len(), BackgammonChances([f32::NAN; 5]));
    }
}

#[test]
fn a_judgement_that_is_not_a_number_ends_the_game_with_an_error() {
    for margin in [0.0, 0.1] {
        let series = rollouts(7, Rollout { margin, ..settings(1, 2) });
        let error = table(&series, by::<Backgammon>(Broken)).play(2).expect_err("no game");
        assert!(matches!(error, PlayError::NotFinite { number: 2, .. }), "{error}");
    }
}

/// Judges like `Pips`. Positions in which the sides together have fewer than 100 pips to go are of class 1, all others, which are
/// the most, of class 0.
struct Staged;

impl Evaluator<Backgammon> for Staged {
    fn judge(&mut self, positions: &[Position], chances: &mut Vec<BackgammonChances>) {
        Pips.judge(positions, chances);
    }

    fn class(&self, position: &Position) -> usize {
        let pips =
            |side: &[u8; 25]| (1..).zip(side).map(|(slot, &n): (u32, _)| slot * u32::from(n)).sum::<u32>();
        usize::from(pips(position.own()) + pips(position.other()) < 100)
    }
}

#[test]
fn balanced_rollouts_draw_every_class_as_often_however_rare_it_is() {
    // Of all positions after a play, and of those drawn, the share that is of class 1.
    let shares = |balanced: bool| {
        let series = rollouts(4, Rollout { positions: 4, balanced, ..settings(1, 1) });
        let mut table = table(&series, by::<Backgammon>(Staged));
        let (mut all, mut drawn) = ([0_usize; 2], [0_usize; 2]);
        for number in 0..40 {
            let record = table.play(number).expect("a game");
            let mut labels = record.labels.iter().peekable();
            let mut replay = Replay::new(Backgammon, &record);
            while let Some(ply) = replay.next_ply().expect("a good record") {
                if Backgammon.payoff(ply.after).is_none() {
                    all[Staged.class(ply.after)] += 1;
                }
                if labels.next_if(|label| label.ply as usize == ply.ply).is_some() {
                    drawn[Staged.class(ply.after)] += 1;
                }
            }
            assert!(labels.next().is_none(), "every label belongs to a ply");
        }
        assert_eq!(drawn[0] + drawn[1], 160);
        [all, drawn].map(|[zero, one]| one as f64 / (zero + one) as f64)
    };
    // A share of 160 has a standard error of 0.04.
    let [all, drawn] = shares(false);
    assert!(all < 0.3 && (drawn - all).abs() < 0.12, "{drawn} of the drawn ones, {all} of all");
    let [_, drawn] = shares(true);
    assert!((drawn - 0.5).abs() < 0.12, "{drawn} of the drawn ones");
}

#[test]
fn balanced_rollouts_draw_every_ply_when_asked_for_more_than_there_are() {
    let rollout = Rollout { positions: 1000, balanced: true, ..settings(1, 1) };
    let record = table(&rollouts(4, rollout), by::<Backgammon>(Staged)).play(3).expect("a game");
    let plies: Vec<u32> = record.labels.iter().map(|label| label.ply).collect();
    let all: Vec<u32> = (0..record.plays.len() as u32 - 1).collect();
    assert_eq!(plies, all);
}
