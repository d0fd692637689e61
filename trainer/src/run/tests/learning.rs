//! A trainer that nobody disturbs: what it learns, and how its run ends.

use ludus_games::Game;
use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::GameBatch;

use super::bench::{Bench, worst_error};
use crate::toy::{self, Race, Standing};

#[test]
fn it_learns_the_true_chances_and_leaves_every_game_trained_once() {
    let mut bench = Bench::new();
    bench.config.learn.lambda = 0.5;
    bench.accept(0..5000);
    bench.stop_run();
    bench.train().unwrap();
    bench.assert_complete(5000);

    let office = bench.office.lock().unwrap();
    let version = |number: usize| WeightFile::from_bytes(&office.versions[number - 1], "version").unwrap();
    // The first before any game, then one about every 800 games, then the last.
    assert_eq!(version(1).card.counters["games"], 0);
    assert_eq!(version(2).card.counters["games"] / 200, 4);
    assert!((6..=8).contains(&office.versions.len()), "{} versions", office.versions.len());
    let error = |number: usize| worst_error(&version(number), &toy::positions());
    let (first, last) = (error(1), error(office.versions.len()));
    assert!(first > 0.3, "random weights are off by {first}");
    assert!(last < 0.12, "trained weights are off by {last}");

    let losses: Vec<f64> = (office.reports.iter())
        .filter_map(|report| report.losses.iter().find(|loss| loss.class == "far").map(|loss| loss.loss))
        .collect();
    assert!(losses.len() >= 4);
    assert!(losses[losses.len() - 1] < losses[0] - 0.01, "the loss fell not: {losses:?}");
    let shown = bench.stats.snapshot();
    assert_eq!((shown.games, shown.version), (5000, office.versions.len() as u64));
}

#[test]
fn the_same_seed_and_games_give_the_same_weights() {
    let weights = || {
        let bench = Bench::new();
        bench.accept(0..300);
        bench.stop_run();
        bench.train().unwrap();
        bench.found().checkpoint.students
    };
    assert_eq!(weights(), weights());
}

#[test]
fn a_run_begins_with_the_weights_it_is_given_and_they_must_fit_it() {
    let first_version = |bench: &Bench| {
        bench.accept(0..300);
        bench.stop_run();
        bench.train().unwrap();
        WeightFile::from_bytes(&bench.office.lock().unwrap().versions[0], "v1").unwrap()
    };
    let learnt = {
        let bench = Bench::new();
        first_version(&bench);
        WeightFile::from_bytes(bench.office.lock().unwrap().versions.last().unwrap(), "last").unwrap()
    };
    let first = first_version(&Bench { from: Some(learnt.clone()), ..Bench::new() });
    assert_eq!(first.networks, learnt.networks);
    assert_eq!((first.card.version, first.card.counters["games"]), (1, 0));
    assert_eq!(first.card.parent, Digest::of(&learnt.to_bytes().unwrap()).to_string());

    let mut wider = Bench { from: Some(learnt), ..Bench::new() };
    wider.config.network.hidden = 9;
    let error = wider.train().unwrap_err().to_string();
    assert!(
        error.contains("cannot be where run first begins") && error.contains("network.hidden"),
        "{error}"
    );
    assert!(error.contains("12-8-1") && error.contains("12-9-1"), "{error}");
    assert!(wider.office.lock().unwrap().versions.is_empty());
}

#[test]
fn told_to_stop_it_leaves_a_last_version_if_that_is_wanted() {
    for (last_version, games) in [(false, 0), (true, 100)] {
        let bench = Bench { last_version, ..Bench::new() };
        bench.accept(0..100);
        let (office, shutdown) = (bench.office.clone(), bench.shutdown.clone());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while office.lock().unwrap().reports.last().is_none_or(|report| report.games < 100) {
                    std::thread::yield_now();
                }
                shutdown.cancel();
            });
            bench.train().unwrap();
        });
        assert_eq!(bench.found().checkpoint.ledger.games, 100);
        let office = bench.office.lock().unwrap();
        let last = WeightFile::from_bytes(office.versions.last().unwrap(), "last").unwrap();
        assert_eq!(last.card.counters["games"], games);
    }
}

#[test]
fn entries_that_are_none_of_the_runs_are_buried_and_the_run_ends_without_them() {
    let bench = Bench::new();
    let foreign = GameBatch { game: "chess".into(), ..toy::batch(toy::games(500..510)) };
    let older = GameBatch { revision: Race::REVISION - 1, ..toy::batch(toy::games(510..520)) };
    let mut illegal = toy::batch(toy::games(520..530));
    illegal.games[4].plays[1] = 6;
    bench.append(vec![
        b"no zstd frame".to_vec(),
        zstd::bulk::compress(b"\xff\xff no batch", 3).unwrap(),
        toy::payload(&foreign),
        toy::payload(&older),
        toy::payload(&illegal),
    ]);
    bench.accept(0..500);
    bench.office.lock().unwrap().accepted += 30;
    bench.stop_run();
    bench.train().unwrap();

    let ledger = bench.found().checkpoint.ledger;
    assert_eq!((ledger.games, ledger.refused), (509, 1));
    let depths = bench.runtime.block_on(bench.stream().depths()).unwrap();
    assert_eq!((depths.waiting, depths.buried), (0, 5));
    let shown = bench.stats.snapshot();
    assert_eq!((shown.buried, shown.stream), (5, Some(depths)));
}

#[test]
fn games_that_are_too_old_expire_and_count() {
    let mut bench = Bench::new();
    bench.config.learn.max_age_seconds = 3600;
    bench.accept(0..100);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let fresh = GameBatch { accepted_at: now - 60, ..toy::batch(toy::games(100..150)) };
    bench.append(vec![toy::payload(&fresh)]);
    bench.office.lock().unwrap().accepted += 50;
    bench.stop_run();
    bench.train().unwrap();
    let last = bench.office.lock().unwrap().reports.last().cloned().unwrap();
    assert_eq!((last.games, last.expired), (50, 100));
}

#[test]
fn a_coordinator_that_is_away_is_waited_for() {
    let bench = Bench::new();
    bench.accept(0..100);
    bench.stop_run();
    bench.office.lock().unwrap().away = 2;
    bench.train().unwrap();
    bench.assert_complete(100);

    let bench = Bench::new();
    bench.office.lock().unwrap().away = u64::MAX;
    let (stats, shutdown) = (bench.stats.clone(), bench.shutdown.clone());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            loop {
                if let Some(waiting) = stats.snapshot().waiting {
                    assert!(waiting.contains("cannot join the run, trying again: nobody there"), "{waiting}");
                    break shutdown.cancel();
                }
                std::thread::yield_now();
            }
        });
        bench.train().unwrap();
    });
}

#[test]
fn the_truth_of_the_race_is_what_play_shows() {
    let games = toy::games(0..4000);
    let wins = games.iter().filter(|game| (game.payoff > 0) == (game.number % 2 == 0)).count();
    let share = wins as f64 / games.len() as f64;
    let start = Standing(5, 5);
    assert_eq!(Race.start(), start);
    assert!((share - toy::truth(&start)).abs() < 0.025, "{share} is not {}", toy::truth(&start));
}
