//! A worker against a coordinator that follows a script, over real gRPC.

mod support;

use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use ludus_players::arena::PlayError;
use ludus_worker::WorkerError;
use support::{Fake, Script, ScriptedGame, lease, options, start};
use tonic::Status;

fn plain() -> ScriptedGame {
    ScriptedGame::playing(|_| Ok(()))
}

#[tokio::test]
async fn every_number_of_its_leases_is_handed_in_once_except_those_already_done() {
    let mut second = lease(2, 150, 30);
    second.done = vec![150, 155, 179];
    let fake = Fake::new(Script { leases: [lease(1, 0, 150), second].into(), ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    let game = plain();
    let tables = game.tables.clone();
    let worker = start(options(&served.url(), game));

    fake.until("both leases are in", |script| script.numbers().len() >= 177).await;
    let stats = worker.stats.clone();
    worker.stop().await.unwrap();
    let wanted: Vec<u64> = (0..180).filter(|number| ![150, 155, 179].contains(number)).collect();
    fake.with(|script| {
        assert_eq!(script.sorted_numbers(), wanted);
        assert!(script.submits.iter().all(|submit| submit.token == submit.lease_id * 100));
        assert!(script.releases.is_empty());
        assert_eq!(script.acquires[0].games[0].name, support::GAME);
        assert!(script.acquires.last().unwrap().games_per_second > 0.0, "its rate is known by now");
    });
    assert_eq!(*tables.lock().unwrap(), 1, "the table stays while series and players do");
    let progress = stats.progress();
    assert_eq!((progress.games, progress.positions, progress.accepted), (177, 354, 177));
    assert_eq!(progress.evaluations, 3 * 177);
}

#[tokio::test]
async fn finished_games_are_handed_in_while_the_next_ones_are_played() {
    let fake = Fake::new(Script { leases: [lease(1, 0, 100)].into(), ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    // Game 80 is not over before the first games are in.
    let (go, handed_in) = mpsc::channel::<()>();
    let handed_in = Mutex::new(handed_in);
    let game = ScriptedGame::playing(move |number| {
        if number == 80 {
            handed_in.lock().unwrap().recv().unwrap();
        }
        Ok(())
    });
    let worker = start(options(&served.url(), game));
    fake.until("the first games are in", |script| script.numbers().len() >= 64).await;
    go.send(()).unwrap();
    fake.until("the lease is in", |script| script.numbers().len() >= 100).await;
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn calls_that_fail_are_repeated_and_lose_nothing() {
    let fake = Fake::new(Script {
        leases: [lease(1, 0, 100)].into(),
        failing_acquires: 2,
        failing_submits: 3,
        ..Default::default()
    });
    let served = fake.serve("127.0.0.1:0").await;
    let worker = start(options(&served.url(), plain()));
    fake.until("the lease is in", |script| script.numbers().len() >= 100).await;
    worker.stop().await.unwrap();
    fake.with(|script| assert_eq!(script.sorted_numbers(), (0..100).collect::<Vec<_>>()));
}

#[tokio::test]
async fn games_played_while_the_coordinator_is_away_are_handed_in_when_it_is_back() {
    let fake = Fake::new(Script { leases: [lease(1, 0, 300)].into(), ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    let address = served.address.to_string();
    // The first game is not over before the coordinator has gone.
    let (go, gone) = mpsc::channel::<()>();
    let gone = Mutex::new(gone);
    let game = ScriptedGame::playing(move |number| {
        if number == 0 {
            gone.lock().unwrap().recv().unwrap();
        }
        Ok(())
    });
    let worker = start(options(&served.url(), game));
    fake.until("the lease is taken", |script| script.leases.is_empty()).await;
    served.close().await;
    go.send(()).unwrap();
    let stats = worker.stats.clone();
    until_played(&stats, 300).await;
    assert_eq!(stats.progress().accepted, 0);

    let served = fake.serve(&address).await;
    fake.until("the spool is empty", |script| script.numbers().len() >= 300).await;
    worker.stop().await.unwrap();
    served.close().await;
    fake.with(|script| assert_eq!(script.sorted_numbers(), (0..300).collect::<Vec<_>>()));
}

async fn until_played(stats: &ludus_worker::WorkerStats, games: u64) {
    while stats.progress().games < games {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn on_shutdown_finished_games_are_handed_in_and_the_rest_is_released() {
    let fake = Fake::new(Script { leases: [lease(1, 0, 1000)].into(), ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    // The tenth game lasts until the worker has been told to stop.
    let (go, told) = mpsc::channel::<()>();
    let told = Mutex::new(told);
    let (reached, at_ten) = mpsc::channel::<()>();
    let game = ScriptedGame::playing(move |number| {
        if number == 10 {
            reached.send(()).unwrap();
            told.lock().unwrap().recv().unwrap();
        }
        Ok(())
    });
    let worker = start(options(&served.url(), game));
    tokio::task::spawn_blocking(move || at_ten.recv().unwrap()).await.unwrap();
    worker.tell_to_stop();
    go.send(()).unwrap();
    worker.ended().await.unwrap();
    fake.with(|script| {
        assert_eq!(script.sorted_numbers(), (0..=10).collect::<Vec<_>>());
        assert_eq!(script.releases.len(), 1);
        assert_eq!((script.releases[0].lease_id, script.releases[0].token), (1, 100));
    });
}

#[tokio::test]
async fn a_lease_that_is_over_is_played_no_further_and_not_released() {
    let fake = Fake::new(Script {
        leases: [lease(1, 0, 1_000_000), lease(2, 5_000_000, 10)].into(),
        lease_over: true,
        ..Default::default()
    });
    let served = fake.serve("127.0.0.1:0").await;
    let worker = start(options(&served.url(), plain()));
    fake.until("the next lease is begun", |script| script.submits.iter().any(|submit| submit.lease_id == 2))
        .await;
    worker.stop().await.unwrap();
    fake.with(|script| {
        assert!(script.numbers().len() < 1_000_000);
        assert!(script.releases.is_empty());
    });
}

#[tokio::test]
async fn a_refused_game_is_counted_and_never_handed_in_again() {
    let fake = Fake::new(Script {
        leases: [lease(1, 0, 20), lease(2, 20, 20)].into(),
        refuse_numbers: [3, 4].into(),
        ..Default::default()
    });
    let served = fake.serve("127.0.0.1:0").await;
    let worker = start(options(&served.url(), plain()));
    fake.until("both leases are in", |script| script.numbers().len() >= 40).await;
    let stats = worker.stats.clone();
    worker.stop().await.unwrap();
    fake.with(|script| assert_eq!(script.numbers().iter().filter(|&&number| number == 3).count(), 1));
    assert_eq!((stats.progress().accepted, stats.progress().refused), (38, 2));
}

#[tokio::test]
async fn a_submission_refused_as_a_whole_ends_its_lease_and_the_worker_goes_on() {
    let fake = Fake::new(Script {
        leases: [lease(1, 0, 1_000_000)].into(),
        refuse_submits: Some(Status::failed_precondition("unknown lease")),
        ..Default::default()
    });
    let served = fake.serve("127.0.0.1:0").await;
    let worker = start(options(&served.url(), plain()));
    // Asking for the next lease is no sign: that happens ahead of time, too.
    while worker.stats.progress().refused == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    fake.with(|script| {
        script.refuse_submits = None;
        script.leases.push_back(lease(2, 0, 10));
    });
    fake.until("the next lease is in", |script| script.numbers().len() >= 10).await;
    worker.stop().await.unwrap();
    fake.with(|script| assert!(script.submits.iter().all(|submit| submit.lease_id == 2)));
}

#[tokio::test]
async fn a_game_that_cannot_be_played_is_reported_by_its_number() {
    let fake = Fake::new(Script { leases: [lease(1, 0, 10)].into(), ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    let game = ScriptedGame::playing(|number| match number {
        4 => Err(PlayError::TooLong { number, plies: 9 }),
        _ => Ok(()),
    });
    let worker = start(options(&served.url(), game));
    fake.until("the lease is in", |script| script.numbers().len() >= 9).await;
    worker.stop().await.unwrap();
    fake.with(|script| {
        let unplayable: Vec<u64> =
            script.submits.iter().flat_map(|submit| submit.unplayable.clone()).collect();
        assert_eq!(unplayable, [4]);
        assert!(script.releases.is_empty(), "released, the number would come back for ever");
    });
}

#[tokio::test]
async fn while_there_is_nothing_to_do_the_worker_says_why() {
    let fake = Fake::new(Script { wait_reason: "the trainer is behind".into(), ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    let worker = start(options(&served.url(), plain()));
    fake.until("it asks again", |script| script.acquires.len() >= 3).await;
    assert_eq!(worker.stats.progress().waiting.as_deref(), Some("the trainer is behind"));
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn a_lease_of_other_rules_is_released_unplayed() {
    let mut other = lease(1, 0, 10);
    other.revision += 1;
    let fake = Fake::new(Script { leases: [other].into(), ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    let worker = start(options(&served.url(), plain()));
    fake.until("it is released", |script| script.releases.len() == 1).await;
    worker.stop().await.unwrap();
    fake.with(|script| assert!(script.submits.is_empty()));
}

#[tokio::test]
async fn several_threads_share_the_work_and_no_game_is_played_twice() {
    let leases = (0..20).map(|i| lease(i + 1, i * 10, 10)).collect();
    let fake = Fake::new(Script { leases, ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    let played = Arc::new(Mutex::new(Vec::new()));
    let seen = played.clone();
    let game = ScriptedGame::playing(move |number| {
        seen.lock().unwrap().push(number);
        Ok(())
    });
    let mut options = options(&served.url(), game);
    options.threads = 3;
    let worker = start(options);
    fake.until("all leases are in", |script| script.numbers().len() >= 200).await;
    worker.stop().await.unwrap();
    let mut played = played.lock().unwrap().clone();
    played.sort();
    assert_eq!(played, (0..200).collect::<Vec<_>>());
    fake.with(|script| assert_eq!(script.sorted_numbers(), played));
}

#[tokio::test]
async fn a_coordinator_that_will_not_have_the_worker_ends_it_with_its_reason() {
    let fake = Fake::new(Script {
        refuse_acquires: Some(Status::failed_precondition("other rules")),
        ..Default::default()
    });
    let served = fake.serve("127.0.0.1:0").await;
    let error = start(options(&served.url(), plain())).ended().await.unwrap_err();
    assert!(matches!(error, WorkerError::Refused { .. }), "{error}");
    assert!(error.to_string().ends_with("other rules"), "{error}");
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_at_once() {
    for address in ["http://127.0.0.1:1/ with spaces", "ftp://127.0.0.1:1", ""] {
        let error = start(options(address, plain())).ended().await.unwrap_err();
        assert!(matches!(error, WorkerError::Address(_)), "{error}");
    }
}

#[tokio::test]
async fn a_player_that_panics_ends_the_worker_with_its_message() {
    let fake = Fake::new(Script { leases: [lease(1, 0, 10)].into(), ..Default::default() });
    let served = fake.serve("127.0.0.1:0").await;
    let worker = start(options(&served.url(), ScriptedGame::playing(|_| panic!("scripted bug"))));
    let error = worker.ended().await.unwrap_err();
    assert!(error.to_string().contains("scripted bug"), "{error}");
}
