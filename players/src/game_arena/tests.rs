use std::time::Duration;

use ludus_games::Backgammon;
use ludus_proto::v1::{LuckMode, Rollout, SeriesKind};

use super::*;
use crate::analyst::MoveList;
use crate::arena::Registry;
use crate::matches::{MatchSettings, Method, play_match};
use crate::network::Kernel;
use crate::toys::{gate, rollouts, self_play};
use crate::weight_file::{Card, Digest};

const START: &str = "4HPwATDgc/ABMA";

fn arena() -> Arc<dyn Arena> {
    Registry::standard().find("backgammon").expect("backgammon comes with Ludus").clone()
}

fn baseline(name: &str) -> Seating {
    Seating { source: Source::Baseline(name.into()), plies: 0 }
}

/// A network of random weights: it plays like a beginner, but it judges and plays through all the real parts.
fn network(seed: u64, plies: u32) -> Seating {
    let card = Card {
        game: "backgammon".into(),
        revision: Backgammon::REVISION,
        inputs: "tesauro-198".into(),
        ..Card::default()
    };
    let shapes = arena().shapes("tesauro-198", 10).unwrap();
    let file = WeightFile::fresh(card, &shapes, seed).unwrap();
    let digest = Digest::of(&file.to_bytes().unwrap());
    Seating { source: Source::Weights { digest, file: Arc::new(file) }, plies }
}

fn refusal<T>(result: Result<T, ArenaError>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn backgammon_is_found_with_its_players_and_inputs() {
    assert_eq!(Registry::standard().games(), ["backgammon", "othello", "italian-draughts"]);
    assert!(Registry::standard().find("chess").is_none());
    let arena = arena();
    assert_eq!((arena.game(), arena.revision(), arena.max_points()), ("backgammon", Backgammon::REVISION, 3));
    assert_eq!(arena.baselines(), ["random", "pubeval", "pubeval-listnet"]);
    assert_eq!(arena.input_sets()[0], "ludus-1");
}

#[test]
fn every_player_plays_games_that_check_out() {
    let arena = arena();
    let series = gate(1, LuckMode::LuckNone, 0.0);
    for (first, second) in [("random", "pubeval"), ("pubeval", "random")]
        .map(|(a, b)| (baseline(a), baseline(b)))
        .into_iter()
        .chain([
            (network(1, 0), baseline("pubeval")),
            (network(1, 0), network(2, 0)),
            (network(1, 1), network(1, 0)),
        ])
    {
        let mut table = arena.table(&series, [&first, &second]).unwrap();
        let record = table.play(0).unwrap();
        let players = [first.player_ref(), second.player_ref()];
        assert_eq!(arena.check(&series, &players, &record).unwrap().plies, record.rolls.len());
        let swapped = [second.player_ref(), first.player_ref()];
        assert_eq!(arena.check(&series, &swapped, &record).unwrap_err().reason, "bad-digest");
    }
}

#[test]
fn a_game_replayed_on_the_scalar_path_gives_the_same_record_byte_for_byte() {
    use prost::Message;
    let seating = network(5, 0);
    let Source::Weights { file, .. } = &seating.source else { panic!("a network has weights") };
    let rollout = Rollout {
        positions: 2,
        margin: 0.05,
        plays: 3,
        trials: 2,
        horizon: 2,
        balanced: false,
        decisions: true,
    };
    let plain = [LuckMode::LuckNone, LuckMode::LuckPositions, LuckMode::LuckTotal]
        .map(|luck| self_play(99, luck, 0.05));
    for series in plain.into_iter().chain([rollouts(99, rollout)]) {
        let recorded = arena().table(&series, [&seating, &seating]).unwrap().play(41).unwrap();
        for kernel in Kernel::available() {
            let name = kernel.name();
            let networks = NetEvaluator::new(Backgammon, file, &Backgammon.input_sets()).unwrap();
            let player = ValuePlayer::new(Backgammon, Box::new(networks.with_kernel(kernel)), 0);
            let refs = [seating.player_ref(), seating.player_ref()];
            let mut table =
                SeriesTable::new(Backgammon, &series, refs, Seated::alone(Box::new(player))).unwrap();
            let replayed = table.play(41).unwrap();
            assert_eq!(replayed.encode_to_vec(), recorded.encode_to_vec(), "{name}");
        }
    }
}

#[test]
fn players_that_cannot_be_seated_are_refused_with_the_reason() {
    let arena = arena();
    let series = gate(1, LuckMode::LuckNone, 0.0);
    let random = baseline("random");
    let error = refusal(arena.table(&series, [&random, &baseline("pubevel")]));
    assert!(error.contains("did you mean \"pubeval\"?"), "{error}");
    let deep = Seating { plies: 1, ..baseline("pubeval") };
    let error = refusal(arena.table(&series, [&deep, &random]));
    assert!(error.contains("cannot look ahead"), "{error}");

    let Source::Weights { digest, file } = network(1, 0).source else { panic!("a network has weights") };
    let mut foreign = (*file).clone();
    foreign.card.game = "othello".into();
    let foreign = Seating { source: Source::Weights { digest, file: Arc::new(foreign) }, plies: 0 };
    let error = refusal(arena.table(&series, [&foreign, &random]));
    assert!(error.contains("othello"), "{error}");
}

#[test]
fn luck_in_a_match_is_measured_by_the_first_seat_that_can() {
    let arena = arena();
    let series = gate(1, LuckMode::LuckTotal, 3.0);
    for seats in [[network(1, 0), baseline("pubeval")], [baseline("pubeval"), network(1, 0)]] {
        let record = arena.table(&series, [&seats[0], &seats[1]]).unwrap().play(0).unwrap();
        assert!(record.total_luck != 0.0);
    }
    let error = refusal(arena.table(&series, [&baseline("random"), &baseline("pubeval")]));
    assert!(error.contains("neither random nor pubeval has one"), "{error}");
}

#[test]
fn the_moves_of_a_roll_come_with_equities_best_first_when_a_player_is_asked() {
    let arena = arena();
    let plain = arena.analyst(None).unwrap().moves(START, "31").unwrap();
    assert_eq!((plain.position.as_str(), plain.dice.as_str()), (START, "31"));
    assert!(plain.plays.iter().any(|play| play.play == "8/5 6/5"));
    assert!(plain.plays.iter().all(|play| play.equity.is_none()));
    let json = serde_json::to_value(&plain.plays[0]).expect("a play");
    assert_eq!(json.as_object().expect("an object").len(), 2);

    let sorted = |mut list: MoveList| {
        list.plays.iter_mut().for_each(|play| play.equity = None);
        list.plays.sort_by(|a, b| a.play.cmp(&b.play));
        list
    };
    for plies in [0, 1] {
        let player = network(1, plies);
        let judged = arena.analyst(Some(&player)).unwrap().moves(START, "13").unwrap();
        let equities: Vec<f32> = judged.plays.iter().map(|play| play.equity.expect("an equity")).collect();
        assert!(equities.windows(2).all(|pair| pair[0] >= pair[1]), "{equities:?}");
        // The equity is the mover's, of the position after: what `evaluate --after` says.
        let after: Vec<&str> = judged.plays.iter().map(|play| play.position.as_str()).collect();
        let evaluated = arena.analyst(Some(&player)).unwrap().evaluate(&after, true).unwrap();
        for (play, judgement) in judged.plays.iter().zip(&evaluated) {
            assert_eq!(play.equity, Some(judgement.equity));
            assert_eq!(play.position, judgement.position);
        }
        assert_eq!(sorted(judged), sorted(plain.clone()));
    }
}

#[test]
fn judgements_are_for_the_side_on_roll_and_after_for_the_other() {
    let mut analyst = arena().analyst(Some(&network(1, 0))).unwrap();
    let before = analyst.evaluate(&[START], false).unwrap().remove(0);
    let after = analyst.evaluate(&[START], true).unwrap().remove(0);
    assert_eq!(before.probabilities.len(), 5);
    assert!((before.equity + after.equity).abs() < 1e-6);
    assert_eq!(before.probabilities[1], after.probabilities[3]);
    // The same position in another notation.
    assert_eq!(analyst.evaluate(&["OAHDPAABDAOAHDPAABDA"], false).unwrap()[0], before);
}

#[test]
fn questions_that_have_no_answer_are_refused_with_the_reason() {
    let arena = arena();
    let mut rules = arena.analyst(None).unwrap();
    assert!(refusal(rules.moves("nonsense", "31")).contains("nonsense"));
    assert!(refusal(rules.moves(START, "37")).contains("37"));
    assert!(refusal(rules.evaluate(&[START], false)).contains("name one"));
    // The side on roll has nothing left.
    let (own, mut other) = ([0; 25], [0; 25]);
    other[3] = 2;
    let over = ludus_games::backgammon::Position::new(own, other).expect("a position").id();
    assert!(refusal(rules.moves(&over, "31")).contains("the game is over"));
    assert!(refusal(arena.analyst(Some(&baseline("pubeval")))).contains("without judging positions"));
    assert!(refusal(arena.analyst(Some(&baseline("nobody")))).contains("no player"));
}

#[test]
fn a_match_between_networks_can_be_plain_or_luck_adjusted() {
    let seats = [network(1, 0), baseline("random")];
    for (luck, method) in [(false, Method::Plain), (true, Method::Luck)] {
        let settings = MatchSettings { pairs: 3, seed: 4, luck, threads: 2 };
        let report =
            play_match(&*arena(), [&seats[0], &seats[1]], ["net", "random"], &settings, &mut |_| {}).unwrap();
        assert_eq!((report.pairs, report.method), (3, method));
        assert_eq!(report.wins + report.losses, 6);
    }
}

#[test]
fn a_benchmark_takes_the_class_of_a_position_from_the_line_or_from_the_position() {
    let text = include_str!("../../tests/fixtures/small.bm");
    let report = arena().score(("small.bm", text), ("pubeval", &baseline("pubeval")), 2).unwrap();
    assert_eq!(report.classes["contact"].decisions, 3);
    assert_eq!(report.classes["race"].decisions, 1);
    assert_eq!(report.overall.er, 62.5);
    let error = refusal(arena().score(("small.bm", "m x 1 2"), ("random", &baseline("random")), 1));
    assert!(error.starts_with("small.bm:1: "), "{error}");
}

#[test]
fn speed_is_measured_for_players_with_and_without_judgement() {
    let brief = Duration::from_millis(40);
    let speed =
        arena().speed(&network(1, 0), &SpeedSettings { threads: 2, duration: brief, shortlist: 4 }).unwrap();
    assert!(speed.evaluations_per_second.is_some_and(|rate| rate > 100.0) && speed.games_per_second > 0.0);
    assert_eq!(speed.threads, 2);
    assert_eq!(
        arena()
            .speed(&baseline("pubeval"), &SpeedSettings { threads: 1, duration: brief, shortlist: 0 })
            .unwrap()
            .evaluations_per_second,
        None
    );
}

#[test]
fn self_play_needs_the_same_player_in_both_seats() {
    let series = self_play(1, LuckMode::LuckNone, 0.0);
    assert_eq!(series.kind(), SeriesKind::SelfPlay);
    let error = refusal(arena().table(&series, [&network(1, 0), &network(2, 0)]));
    assert!(error.contains("same player"), "{error}");
}
