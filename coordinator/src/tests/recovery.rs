//! Death at bad moments.

use ludus_proto::v1::{ReportRequest, SeriesKind};
use tokio_util::sync::CancellationToken;

use super::desk::{CONFIG, Desk, drain_stream, games_of, options};
use crate::{Coordinator, Records};

/// Serves until the stream has all of the outbox.
async fn post_all(coordinator: &Coordinator, desk: &Desk) {
    let stop = CancellationToken::new();
    let address = "127.0.0.1:0".parse().expect("an address");
    let listener = coordinator.bind(address).await.expect("a port");
    let server = tokio::spawn({
        let (coordinator, stop) = (coordinator.clone(), stop.clone());
        async move { coordinator.serve(listener, stop).await }
    });
    while desk.count("SELECT count(*) FROM outbox WHERE id > (SELECT coalesce(max(value), 0) FROM counters WHERE name = 'posted')") > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    stop.cancel();
    server.await.expect("served").expect("well");
}

/// Numbers of all games in these batches, in order.
fn numbers(batches: &[ludus_proto::v1::GameBatch]) -> Vec<u64> {
    batches.iter().flat_map(|batch| &batch.games).map(|game| game.number).collect()
}

#[tokio::test]
async fn games_accepted_before_a_death_reach_the_stream_after_it() {
    let mut desk = Desk::new(CONFIG);
    let lease = desk.lease("w");
    desk.play(&lease, 1);
    assert_eq!(numbers(&desk.outbox()).len(), lease.count as usize);
    desk.reopen();
    post_all(desk.open(), &desk).await;
    let batches = drain_stream(&desk.folder(), &desk.stream()).await;
    assert_eq!(numbers(&batches), (0..u64::from(lease.count)).collect::<Vec<_>>());
    let batch = &batches[0];
    assert_eq!((&batch.run[..], &batch.game[..], batch.revision), ("coin", "coin", 1));
    assert_eq!((batch.series, &batch.players), (lease.series, &lease.players));
    assert_eq!(batch.accepted_at, desk.now / 1000);
}

#[test]
fn runs_of_the_same_name_in_two_folders_have_streams_of_their_own() {
    let (mine, yours) = (Desk::new(CONFIG), Desk::new(CONFIG));
    assert_eq!(mine.run, yours.run);
    assert_ne!(mine.stream(), yours.stream(), "they may share a Redis");
}

/// The old stream has games of which the copy knows nothing: from there they would be learnt, and then handed out again.
#[tokio::test]
async fn a_copy_has_streams_of_its_own_with_all_that_is_not_settled() {
    let desk = Desk::new(CONFIG);
    let first = desk.lease("w");
    desk.play(&first, 1);
    post_all(desk.open(), &desk).await;
    let copy = tempfile::tempdir().expect("a folder");
    std::fs::remove_dir(copy.path()).expect("a copy makes its folder");
    Records::open(&desk.folder()).expect("opens").back_up(copy.path()).expect("copied");
    desk.play(&desk.lease("w"), 1);
    post_all(desk.open(), &desk).await;

    let coordinator = Coordinator::open(options(copy.path())).expect("opens");
    let (run, now, fence) = (desk.run.clone(), desk.now, desk.fence);
    let copy = Desk { coordinator: Some(coordinator), dir: copy, run, now, fence };
    assert_ne!(copy.stream(), desk.stream());
    post_all(copy.open(), &copy).await;
    let first = (0..u64::from(first.count)).collect::<Vec<_>>();
    assert_eq!(numbers(&drain_stream(&copy.folder(), &copy.stream()).await), first);
    let all = numbers(&drain_stream(&desk.folder(), &desk.stream()).await);
    assert!(all.len() > first.len() && all.starts_with(&first), "the folder itself goes on as it was");
}

#[tokio::test]
async fn a_death_between_stream_and_outbox_repeats_an_entry_and_loses_none() {
    let mut desk = Desk::new(CONFIG);
    desk.play(&desk.lease("w"), 1);
    // The stream has it, and the outbox does not know yet.
    let stream = desk.open().shared.options.stream.open(&desk.stream()).await.expect("opens");
    let payload = {
        let state = desk.open().shared.lock().expect("locked");
        let sql = "SELECT payload FROM outbox";
        state.query(|connection| connection.query_row(sql, [], |row| row.get(0))).expect("an entry")
    };
    stream.append(vec![payload]).await.expect("appended");
    drop(stream);
    desk.reopen();
    desk.play(&desk.lease("w"), 1);
    post_all(desk.open(), &desk).await;
    let numbers = numbers(&drain_stream(&desk.folder(), &desk.stream()).await);
    let count = desk.numbers().accepted as usize;
    let first = count / 2;
    assert_eq!(numbers[..first], numbers[first..2 * first], "the same entry twice");
    assert_eq!(numbers.len(), first + count);
}

#[tokio::test]
async fn what_the_stream_loses_comes_from_the_outbox_again_until_it_is_settled() {
    let mut desk = Desk::new(CONFIG);
    for _ in 0..3 {
        desk.play(&desk.lease("w"), 1);
    }
    post_all(desk.open(), &desk).await;
    // Reading to the end and acknowledging makes the stream forget.
    let lost = drain_stream(&desk.folder(), &desk.stream()).await;
    assert_eq!(lost.iter().map(|batch| batch.post).collect::<Vec<_>>(), [1, 2, 3]);
    let report = |settled: &[u64], missing| ReportRequest {
        run: "coin".into(),
        fence: 1,
        settled: settled.to_vec(),
        missing,
        ..ReportRequest::default()
    };
    let reply = desk.open().shared.report(&report(&[2], false), desk.now).expect("reported");
    assert!(reply.unsettled);
    desk.reopen();
    post_all(desk.open(), &desk).await;
    assert_eq!(drain_stream(&desk.folder(), &desk.stream()).await, [], "nobody missed anything");

    desk.open().shared.report(&report(&[2], true), desk.now).expect("reported");
    desk.reopen();
    post_all(desk.open(), &desk).await;
    assert_eq!(drain_stream(&desk.folder(), &desk.stream()).await, [lost[0].clone(), lost[2].clone()]);

    let reply = desk.open().shared.report(&report(&[1, 3], true), desk.now).expect("reported");
    assert!(!reply.unsettled && desk.outbox().is_empty());
    desk.report(desk.numbers().accepted).expect("reported");
    desk.play(&desk.lease("w"), 1);
    post_all(desk.open(), &desk).await;
    assert_eq!(drain_stream(&desk.folder(), &desk.stream()).await[0].post, 4, "no number is used twice");
}

#[test]
fn a_gate_goes_on_where_it_was_and_comes_to_the_same_verdict() {
    let result = |number: u64| if number % 7 < 2 { -1 } else { 1 };
    let play = |desk: &mut Desk, restarts: bool| {
        desk.publish(100, 0);
        let mut order = Vec::new();
        while desk.open().run("").expect("the run").gate.is_some() {
            // Two at a time, the later one first, so that there is always something waiting for the prefix.
            let (first, second) = (desk.lease_of(SeriesKind::Gate), desk.lease_of(SeriesKind::Gate));
            for lease in [second, first] {
                desk.submit(&lease, games_of(&lease, result));
                order.push(lease.first);
                if restarts {
                    let before = desk.open().run("").expect("the run");
                    desk.reopen();
                    let mut after = desk.open().run("").expect("the run");
                    after.workers = before.workers;
                    assert_eq!(after, before);
                }
            }
        }
        (order, desk.version(2).gate)
    };
    let (through, restarted) = (&mut Desk::new(CONFIG), &mut Desk::new(CONFIG));
    let (_, expected) = play(through, false);
    let (_, found) = play(restarted, true);
    assert_eq!(found, expected);
    assert_eq!(restarted.version(2).state, through.version(2).state);
}

#[test]
fn leases_outlive_a_restart_and_late_games_are_taken_after_it() {
    let mut desk = Desk::new(CONFIG);
    let held = desk.lease("a");
    desk.submit(&held, games_of(&held, |_| 1)[..1].to_vec());
    let before = desk.numbers();
    desk.reopen();
    assert_eq!(desk.numbers(), before);
    assert_ne!(desk.lease("b").id, held.id, "its worker may be alive");
    let reply = desk.play(&held, 1);
    assert_eq!((reply.accepted, reply.repeated_games), (held.count - 1, 1));
    desk.now += 120_000;
    desk.reopen();
    assert!(desk.numbers().balances());
}

#[test]
fn a_step_that_fails_or_panics_leaves_no_trace() {
    let desk = Desk::new(CONFIG);
    let lease = desk.lease("w");
    let before = desk.numbers();
    let shared = &desk.open().shared;
    let spoil = |book: &mut crate::book::Book| {
        let run = book.runs.get_mut(&1).expect("the run");
        run.learning[0].book.accept(lease.id, lease.first);
        run.champion = 99;
    };
    let failed = shared.lock().expect("locked").step(|book, _| {
        spoil(book);
        Err::<(), _>(rusqlite::Error::InvalidQuery)
    });
    assert!(failed.is_err());
    assert_eq!((desk.numbers(), desk.open().run("").expect("the run").champion), (before, 0));

    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let step = shared.lock().expect("locked").step(|book, _| -> rusqlite::Result<()> {
            spoil(book);
            panic!("on purpose");
        });
        drop(step);
    }));
    assert!(panicked.is_err());
    assert_eq!((desk.numbers(), desk.open().run("").expect("the run").champion), (before, 0));
    assert_eq!(desk.play(&lease, 1).accepted, lease.count);
}
