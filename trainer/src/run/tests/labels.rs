//! Rollout games: their labels are learnt several times each and archived once, whatever happens.

use std::fs;
use std::fs::File;

use ludus_config::Phase;
use ludus_games::Game;
use ludus_players::arena::Arena;
use ludus_players::game_arena::GameArena;
use ludus_players::lessons::Lessons;
use ludus_players::weight_file::WeightFile;
use ludus_proto::v1::{LuckMode, Series};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use super::bench::{Bench, kill_at_every_call, worst_error};
use super::survival::newest_file;
use crate::labels::archive::Archive;
use crate::run::remember;
use crate::toy::{self, Race};
use crate::versions::next_version;

/// A run that becomes supervised after so many games.
fn bench(from_games: u64) -> Bench {
    let mut bench = Bench::new();
    bench.config.learn.replay = 5;
    bench.config.learn.label_memory = 400;
    bench.config.phases = vec![Phase { from_games, rollout_share: Some(1.0), ..Phase::default() }];
    bench
}

/// Where the labels of these games come from and where they are, by game and ply.
fn labels_of(numbers: std::ops::Range<u64>) -> Vec<(u64, u64, u32, String, f32)> {
    let mut labels = Vec::new();
    for game in toy::rollouts(numbers) {
        let mut states = toy::replay(&game);
        for label in &game.labels {
            let state = states.remove(0);
            labels.push((5, game.number, label.ply, format!("{}-{}", state.0, state.1), label.chances[0]));
        }
    }
    labels
}

/// The same of every row of the archive, in the order of the shards.
fn archived(bench: &Bench) -> Vec<(u64, u64, u32, String, f32)> {
    archived_with_trials(bench, 0.01, 7)
}

/// The same, where labels have this error and so many trials.
fn archived_with_trials(bench: &Bench, error: f32, trials: u32) -> Vec<(u64, u64, u32, String, f32)> {
    let mut shards: Vec<_> = match fs::read_dir(bench.folder().join("labels")) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => Vec::new(),
    };
    shards.sort();
    let mut rows = Vec::new();
    for path in shards {
        for row in SerializedFileReader::new(File::open(path).unwrap()).unwrap().get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let names: Vec<&str> = row.get_column_iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(
                names,
                ["series", "game", "ply", "play", "position", "class", "win", "error", "trials", "player"]
            );
            let class = row.get_string(5).unwrap();
            assert_eq!(class == "near", row.get_string(4).unwrap().as_bytes()[0] <= b'2', "{row}");
            assert_eq!((row.get_float(7).unwrap(), row.get_uint(8).unwrap()), (error, trials));
            assert_eq!(*row.get_string(9).unwrap(), "ab".repeat(32));
            rows.push((
                row.get_ulong(0).unwrap(),
                row.get_ulong(1).unwrap(),
                row.get_uint(2).unwrap(),
                row.get_string(4).unwrap().clone(),
                row.get_float(6).unwrap(),
            ));
        }
    }
    rows
}

/// All of these rollout games, and as many games of self-play, are learnt as they should, and their labels archived once.
fn assert_complete(bench: &Bench, games: u64, rollouts: u64) {
    let labels = labels_of(0..rollouts);
    let plies: usize = toy::games(0..games).iter().map(|game| game.rolls.len()).sum();
    bench.assert_complete_with(games + rollouts, (plies + 5 * labels.len()) as u64);
    let ledger = bench.found().checkpoint.ledger;
    assert_eq!((ledger.labels, ledger.label_lessons), (labels.len() as u64, 5 * labels.len() as u64));
    let mut rows = archived(bench);
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(rows, labels, "every label once");
}

#[test]
fn a_run_that_has_only_rollouts_learns_the_true_chances() {
    let mut bench = bench(1);
    bench.config.self_play.rollout_share = 1.0;
    bench.config.learn.label_memory = 100_000;
    bench.accept_from(toy::rollout_series(), &toy::rollouts(0..3000));
    bench.stop_run();
    bench.train().unwrap();
    assert_complete(&bench, 0, 3000);
    let office = bench.office.lock().unwrap();
    let version = |number: usize| WeightFile::from_bytes(&office.versions[number - 1], "version").unwrap();
    // Games start there, so no play leads to the first.
    let reached = &toy::positions()[1..];
    let error = |number: usize| worst_error(&version(number), reached);
    let (first, last) = (error(1), error(office.versions.len()));
    assert!(first > 0.3, "random weights are off by {first}");
    assert!(last < 0.12, "trained weights are off by {last}");
    let losses = |class: &str| {
        let reports = office.reports.iter().flat_map(|report| &report.losses);
        reports.filter(|loss| loss.class == class).map(|loss| loss.loss).collect::<Vec<f64>>()
    };
    assert_eq!(losses("far"), [0.0; 0], "no game was learnt from by TD(lambda)");
    let far = losses("far labels");
    assert!(far[far.len() - 1] < far[0] - 0.01, "the loss fell not: {far:?}");
    let shown = bench.stats.snapshot();
    assert_eq!((shown.games, shown.label_lessons), (3000, 5 * shown.labels));
    assert_eq!((shown.positions_received(), shown.replay_ratio()), (shown.labels, Some(5.0)));
}

#[test]
fn both_kinds_of_games_are_learnt_side_by_side() {
    let bench = bench(1);
    let rollouts = toy::rollouts(0..400);
    for part in 0..4 {
        let games = 100 * part..100 * (part + 1);
        bench.accept_from(toy::rollout_series(), &rollouts[games.start as usize..games.end as usize]);
        bench.accept(games);
    }
    bench.stop_run();
    bench.train().unwrap();
    assert_complete(&bench, 400, 400);
}

/// A series of self-play in which luck is measured.
fn measured() -> Series {
    Series { id: 6, luck: LuckMode::LuckPositions.into(), ..toy::series() }
}

#[test]
fn games_whose_luck_was_measured_are_learnt_as_labels_several_times_and_archived_once() {
    let mut bench = Bench::new();
    bench.config.learn.replay = 5;
    bench.config.learn.lambda = 1.0;
    let games = toy::games_of(measured(), 0..500);
    bench.accept_from(measured(), &games);
    bench.stop_run();
    bench.train().unwrap();
    // No play leads to the first position.
    let labels: u64 = games.iter().map(|game| game.rolls.len() as u64 - 1).sum();
    bench.assert_complete_with(500, 5 * labels);
    let ledger = bench.found().checkpoint.ledger;
    assert_eq!((ledger.labels, ledger.label_lessons), (labels, 5 * labels));
    let mut rows = archived_with_trials(&bench, 0.0, 1);
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let mut expected = Vec::new();
    for game in &games {
        for (ply, state) in (0..).zip(toy::replay(game)).filter(|(_, state)| Race.payoff(state).is_none()) {
            expected.push((6, game.number, ply, format!("{}-{}", state.0, state.1)));
        }
    }
    let found: Vec<_> =
        rows.into_iter().map(|(series, game, ply, position, _)| (series, game, ply, position)).collect();
    assert_eq!(found, expected);
}

/// Kills a trainer during a call to the coordinator and lets another go on. `false` when there was no such call.
fn killed_during(call: u64, seen: bool) -> bool {
    let mut bench = bench(100);
    bench.config.learn.publish_games = 80;
    bench.accept(0..100);
    bench.accept_from(toy::rollout_series(), &toy::rollouts(0..250));
    bench.stop_run();
    bench.office.lock().unwrap().kill_at = Some((call, seen));
    let first = bench.train();
    let killed = bench.office.lock().unwrap().calls >= call;
    if killed {
        first.unwrap_err();
        bench.train().unwrap();
    } else {
        first.unwrap();
    }
    assert_complete(&bench, 100, 250);
    killed
}

#[test]
fn killed_at_any_call_every_label_is_archived_once_and_learnt_as_often_as_it_should() {
    kill_at_every_call(14, killed_during);
}

#[test]
fn a_damaged_newest_checkpoint_takes_its_labels_with_it_and_they_come_again() {
    let mut bench = bench(1);
    bench.config.learn.publish_games = 80;
    bench.accept_from(toy::rollout_series(), &toy::rollouts(0..400));
    bench.stop_run();
    bench.office.lock().unwrap().kill_at = Some((6, false));
    bench.train().unwrap_err();
    let newest = newest_file(&bench.folder());
    fs::write(&newest, b"rubbish").unwrap();
    bench.train().unwrap();
    assert_complete(&bench, 0, 400);
}

#[test]
fn after_a_restart_the_memory_is_what_it_was() {
    let bench = bench(1);
    bench.accept_from(toy::rollout_series(), &toy::rollouts(0..300));
    bench.stop_run();
    bench.train().unwrap();
    let rows = archived(&bench);
    assert!(rows.len() > 600, "{} labels", rows.len());

    let (found, mut learner) = (bench.found(), bench.learner());
    let weights = next_version(&learner, &found.checkpoint.origin);
    let mut teacher = GameArena::<Race>::default().teacher(&weights).unwrap();
    let archive = Archive::open(&bench.folder(), found.number, teacher.chances(), u64::MAX).unwrap();
    remember(&archive, teacher.as_mut(), &mut learner.memory, 400).unwrap();
    assert_eq!(learner.memory.len(), 400);
    for (index, row) in rows[rows.len() - 400..].iter().enumerate() {
        let (class, inputs) = teacher.recall(&row.3).unwrap().unwrap();
        let mut expected = [Lessons::new(1), Lessons::new(1)];
        expected[class].push(inputs, &[row.4]);
        let mut found = [Lessons::new(1), Lessons::new(1)];
        learner.memory.copy(index, &mut found, &mut Default::default());
        assert_eq!(found, expected, "label {index}");
    }
}

#[test]
fn damaged_labels_are_passed_over_and_training_goes_on() {
    let mut bench = bench(1);
    bench.config.learn.publish_games = 80;
    bench.accept_from(toy::rollout_series(), &toy::rollouts(0..200));
    bench.stop_run();
    bench.train().unwrap();
    let labels = bench.folder().join("labels");
    let shards = || fs::read_dir(&labels).unwrap().map(|entry| entry.unwrap().path());
    let before = shards().count();
    assert!(before > 1);
    for shard in shards() {
        fs::write(shard, b"PAR1 rubbish PAR1").unwrap();
    }
    bench.accept_from(toy::rollout_series(), &toy::rollouts(200..400));
    bench.train().unwrap();
    let known = labels_of(0..400).len() as u64;
    bench.assert_complete_with(400, 5 * known);
    assert!(shards().count() > before);
}

#[test]
fn labels_that_are_none_are_refused_with_their_game() {
    let bench = bench(1);
    let mut games = toy::rollouts(0..4);
    games[0].labels[0].chances = vec![0.5, 0.5];
    games[1].labels[1].chances = vec![f32::NAN];
    games[2].labels[0].play = 1;
    let sound = games[3].labels.len() as u64;
    bench.accept_from(toy::rollout_series(), &games);
    bench.stop_run();
    bench.train().unwrap();
    let ledger = bench.found().checkpoint.ledger;
    assert_eq!((ledger.games, ledger.refused, ledger.labels), (1, 3, sound));
    assert_eq!(archived(&bench).len() as u64, sound);
}

#[test]
fn lambda_is_that_of_the_phase_whose_series_a_game_belongs_to() {
    let weights = |lambda: f64, later: Option<f64>, phase: u32| {
        let mut bench = Bench::new();
        bench.config.learn.lambda = lambda;
        bench.config.phases = vec![Phase { from_games: 1_000_000, lambda: later, ..Phase::default() }];
        bench.accept_from(Series { phase, ..toy::series() }, &toy::games(0..300));
        bench.stop_run();
        bench.train().unwrap();
        bench.found().checkpoint.students
    };
    let expected = weights(0.9, None, 0);
    assert_eq!(weights(0.2, Some(0.9), 1), expected);
    assert_ne!(weights(0.2, Some(0.9), 0), expected);
}
