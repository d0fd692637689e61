//! A trainer whose coordinator, stream, disk or own life fails: nothing is lost, and no game is trained on twice.

use std::path::Path;

use ludus_config::Optimizer as Kind;
use ludus_proto::v1::Progress;
use tokio_util::sync::CancellationToken;

use super::bench::{Bench, ENTRY, kill_at_every_call};
use crate::TrainerError;
use crate::checkpoint::CheckpointFolder;
use crate::toy::{self, POISON};

/// Kills a trainer during a call to the coordinator, which gets to see the call or not, and lets another go on. `false`
/// when there was no such call.
fn killed_during(call: u64, seen: bool) -> bool {
    let mut bench = Bench::new();
    bench.config.learn.publish_games = 250;
    bench.accept(0..500);
    bench.stop_run();
    bench.office.lock().unwrap().kill_at = Some((call, seen));
    let first = bench.train();
    let killed = bench.office.lock().unwrap().calls >= call;
    if killed {
        assert!(matches!(first, Err(TrainerError::Refused { .. })), "{first:?}");
        bench.train().unwrap();
    } else {
        first.unwrap();
    }
    bench.assert_complete(500);
    killed
}

#[test]
fn killed_at_any_call_it_goes_on_and_trains_every_game_once() {
    kill_at_every_call(12, killed_during);
}

#[test]
fn stopped_in_the_middle_it_resumes_where_it_was_and_the_loss_does_not_jump() {
    let bench = Bench::new();
    bench.accept(0..3000);
    let (office, shutdown) = (bench.office.clone(), bench.shutdown.clone());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while office.lock().unwrap().reports.last().is_none_or(|report| report.games < 2000) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            shutdown.cancel();
        });
        bench.train().unwrap();
    });
    let before = bench.found().checkpoint;
    assert!(before.ledger.games >= 2000);

    let mut bench = Bench { shutdown: CancellationToken::new(), ..bench };
    bench.config.learn.publish_games = 100_000;
    bench.accept(3000..4000);
    bench.stop_run();
    let reports = bench.office.lock().unwrap().reports.len();
    bench.train().unwrap();
    bench.assert_complete(4000);
    let after = bench.found().checkpoint;
    let crate::optimizer::Optimizer::AdamW(adam) = &after.students[0].optimizer else { panic!("AdamW") };
    let crate::optimizer::Optimizer::AdamW(earlier) = &before.students[0].optimizer else { panic!("AdamW") };
    assert!(earlier.steps > 0 && adam.steps > earlier.steps, "the optimiser goes on");

    let office = bench.office.lock().unwrap();
    let loss = |report: &Progress| {
        let positions: u64 = report.losses.iter().map(|loss| loss.positions).sum();
        let sum: f64 = report.losses.iter().map(|loss| loss.loss * loss.positions as f64).sum();
        (positions > 1000).then_some(sum / positions as f64)
    };
    let losses = |reports: &[Progress]| reports.iter().filter_map(loss).collect::<Vec<f64>>();
    let (old, new) = (losses(&office.reports[..reports]), losses(&office.reports[reports..]));
    assert!(old[0] > old[old.len() - 1] + 0.03, "it learnt before: {old:?}");
    assert!(new[0] < old[old.len() - 1] + 0.02, "the loss jumped: {old:?}, {new:?}");
}

#[test]
fn a_damaged_newest_checkpoint_costs_nothing() {
    let bench = Bench::new();
    bench.accept(0..1500);
    bench.stop_run();
    // Killed late, with games in the stream acknowledged already.
    bench.office.lock().unwrap().kill_at = Some((6, false));
    bench.train().unwrap_err();
    let newest = newest_file(&bench.folder());
    let mut bytes = std::fs::read(&newest).unwrap();
    let end = bytes.len() - 7;
    bytes[end] ^= 0x10;
    std::fs::write(&newest, bytes).unwrap();
    bench.train().unwrap();
    bench.assert_complete(1500);
}

pub fn newest_file(folder: &Path) -> std::path::PathBuf {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "safetensors")).max().unwrap()
}

#[test]
fn when_every_checkpoint_is_damaged_it_says_so_and_does_not_start_anew() {
    let bench = Bench::new();
    bench.accept(0..500);
    bench.stop_run();
    bench.train().unwrap();
    let folder = bench.folder();
    for entry in std::fs::read_dir(&folder).unwrap() {
        std::fs::write(entry.unwrap().path(), b"rubbish").unwrap();
    }
    let error = bench.train().unwrap_err();
    assert!(error.to_string().contains("no checkpoint in"), "{error}");

    std::fs::remove_dir_all(&folder).unwrap();
    let error = bench.train().unwrap_err();
    assert!(error.to_string().contains("holds no checkpoint of it"), "{error}");
}

#[test]
fn a_trainer_that_has_been_superseded_stops_and_acknowledges_nothing() {
    let bench = Bench::new();
    bench.accept(0..500);
    let office = bench.office.clone();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            loop {
                let mut office = office.lock().unwrap();
                if !office.versions.is_empty() {
                    office.fence += 1;
                    break;
                }
                drop(office);
                std::thread::yield_now();
            }
        });
        let error = bench.train().unwrap_err();
        assert!(matches!(error, TrainerError::FenceLost { .. }), "{error}");
    });
    let depths = bench.runtime.block_on(bench.stream().depths()).unwrap();
    assert_eq!(depths.waiting, 500 / ENTRY);
}

#[test]
fn two_trainers_cannot_share_a_folder() {
    let bench = Bench::new();
    let folder = bench.folder();
    let _first = CheckpointFolder::open(&folder).unwrap();
    let error = bench.train().unwrap_err();
    assert!(error.to_string().contains("another trainer is using"), "{error}");
}

#[test]
fn games_delivered_twice_are_trained_once() {
    let bench = Bench::new();
    bench.accept(0..500);
    // The coordinator appends its outbox again after a crash, in other portions.
    bench.append(
        toy::games(100..300).chunks(40).map(|games| toy::payload(&toy::batch(games.to_vec()))).collect(),
    );
    bench.stop_run();
    bench.train().unwrap();
    bench.assert_complete(500);
}

#[test]
fn games_the_stream_has_lost_come_again_from_the_outbox() {
    let bench = Bench::new();
    bench.accept(0..200);
    bench.accept(200..500);
    let stream = bench.stream();
    let entries =
        bench.runtime.block_on(stream.read("somebody else", 10, std::time::Duration::ZERO)).unwrap();
    let ids: Vec<_> = entries.iter().map(|entry| entry.id.clone()).collect();
    assert!(!ids.is_empty());
    bench.runtime.block_on(stream.acknowledge(&ids)).unwrap();
    drop(stream);
    bench.office.lock().unwrap().stream = Some(bench.home());
    bench.stop_run();
    bench.train().unwrap();
    bench.assert_complete(500);
}

#[test]
fn lost_weights_are_taken_from_the_last_checkpoint_and_no_game_is_lost_with_them() {
    let mut bench = Bench::new();
    bench.config.learn.optimizer = Kind::Sgd;
    bench.accept(0..1000);
    bench.stop_run();
    // Enough positions for five steps that cannot be taken.
    POISON.set(1000);
    bench.train().unwrap();
    assert_eq!(bench.stats.snapshot().rollbacks, 1);
    bench.assert_complete(1000);

    let bench = Bench::new();
    bench.accept(0..1000);
    POISON.set(u32::MAX);
    let error = bench.train().unwrap_err();
    POISON.set(0);
    assert!(error.to_string().contains("smaller learn.step_size"), "{error}");
    let office = bench.office.lock().unwrap();
    assert_eq!(office.versions.len(), 1, "nothing but the initial weights was published");
}
