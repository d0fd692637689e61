//! Whatever a peer sends: nothing panics, nothing is counted wrongly, and the honest go on.
//!
//! Few cases by default. A million: `LUDUS_CASES=1000000 cargo test --release -p ludus-coordinator --lib hostile`.

use std::cell::RefCell;

use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use prost::Message;

use super::coin;
use super::desk::{CONFIG, Desk, series_of};
use crate::tokens::{Caller, Need};
use crate::{Coordinator, CoordinatorError, Role};

pub(super) fn runner(default: u32) -> TestRunner {
    let cases = std::env::var("LUDUS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default);
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

/// Numbers at which programs break, and any other.
pub(super) fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..20u64,
        Just(u64::MAX),
        Just(i64::MAX as u64),
        Just(1 << 63),
        Just(u64::from(u32::MAX)),
        any::<u64>()
    ]
}

pub(super) fn real() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MIN_POSITIVE),
        Just(-0.0),
        -2.0..2.0
    ]
}

pub(super) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("coin".to_owned()),
        Just("../../etc/passwd".to_owned()),
        Just("x".repeat(300)),
        any::<String>(),
    ]
}

pub(super) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..70)
}

fn label() -> impl Strategy<Value = Label> {
    (any::<u32>(), any::<u32>(), prop::collection::vec(real(), 0..7), real(), any::<u32>()).prop_map(
        |(ply, play, chances, error, trials)| {
            let chances = chances.into_iter().map(|chance| chance as f32).collect();
            Label { ply, play, chances, error: error as f32, trials }
        },
    )
}

fn game() -> impl Strategy<Value = GameRecord> {
    let indices = || prop::collection::vec(any::<u32>(), 0..9);
    let moves = (bytes(), indices(), indices());
    (number(), moves, any::<i32>(), bytes(), real(), bytes(), prop::collection::vec(label(), 0..3)).prop_map(
        |(number, (rolls, plays, explored), payoff, luck, total_luck, digest, labels)| GameRecord {
            number,
            rolls,
            plays,
            payoff,
            luck,
            explored,
            total_luck,
            digest,
            labels,
        },
    )
}

/// What is done to a lease that the worker holds.
#[derive(Clone, Debug)]
enum Trick {
    /// Hands in these, under the lease or under another number.
    Submit {
        lease: Option<u64>,
        token: Option<u64>,
        games: Vec<GameRecord>,
        unplayable: Vec<u64>,
    },
    /// Hands in good games with a change: another number, result or luck under the old digest.
    Bend {
        payoff: i32,
        luck: f64,
        shift: u64,
    },
    /// Hands in good games, twice.
    Repeat,
    /// Gives a lease back.
    Release {
        lease: Option<u64>,
        token: Option<u64>,
    },
    Acquire(AcquireRequest),
    Fetch(Vec<u8>),
    Join(JoinRequest),
    Publish(PublishRequest),
    Report(ReportRequest),
    CreateRun(CreateRunRequest),
    Ask(String),
    Tokens(String, String),
    Stop(String),
    /// Bytes as a message of each kind.
    Raw(Vec<u8>),
}

fn progress() -> impl Strategy<Value = Option<Progress>> {
    let loss =
        (text(), real(), number()).prop_map(|(class, loss, positions)| ClassLoss { class, loss, positions });
    let losses = prop::collection::vec(loss, 0..3);
    let progress =
        ([number(), number(), number(), number(), number()], losses).prop_map(|(counts, losses)| {
            let [games, positions, steps, expired, skipped_steps] = counts;
            Progress { games, positions, steps, expired, skipped_steps, losses }
        });
    prop::option::of(progress)
}

fn trick() -> impl Strategy<Value = Trick> {
    let games = prop::collection::vec(game(), 0..4);
    let lease = || prop::option::of(number());
    let config = prop_oneof![any::<String>(), Just("game = \"coin\"\nseed = -1".to_owned()), text()];
    prop_oneof![
        (lease(), lease(), games, prop::collection::vec(number(), 0..4))
            .prop_map(|(lease, token, games, unplayable)| Trick::Submit { lease, token, games, unplayable }),
        (any::<i32>(), real(), number()).prop_map(|(payoff, luck, shift)| Trick::Bend {
            payoff,
            luck,
            shift
        }),
        Just(Trick::Repeat),
        (lease(), lease()).prop_map(|(lease, token)| Trick::Release { lease, token }),
        (text(), text(), prop::collection::vec((text(), any::<u32>()), 0..3), real()).prop_map(
            |(worker, engine, games, games_per_second)| {
                let games =
                    games.into_iter().map(|(name, revision)| PlayableGame { name, revision }).collect();
                Trick::Acquire(AcquireRequest { worker, engine, games, games_per_second })
            }
        ),
        bytes().prop_map(Trick::Fetch),
        (text(), text()).prop_map(|(run, trainer)| Trick::Join(JoinRequest { run, trainer })),
        (text(), number(), bytes(), progress()).prop_map(|(run, fence, weights, progress)| Trick::Publish(
            PublishRequest { run, fence, weights, progress }
        )),
        (text(), number(), progress(), prop::collection::vec(number(), 0..4), any::<bool>()).prop_map(
            |(run, fence, progress, settled, missing)| {
                Trick::Report(ReportRequest { run, fence, progress, settled, missing })
            }
        ),
        (config, text()).prop_map(|(config, name)| Trick::CreateRun(CreateRunRequest { config, name })),
        text().prop_map(Trick::Ask),
        (text(), text()).prop_map(|(name, role)| Trick::Tokens(name, role)),
        text().prop_map(Trick::Stop),
        bytes().prop_map(Trick::Raw),
    ]
}

/// What came of a request, if anything: a refusal is an answer, that the database could not do it is none.
fn taken<T>(answer: Result<T, CoordinatorError>) -> Option<T> {
    if let Err(error @ (CoordinatorError::Database { .. } | CoordinatorError::Damaged { .. })) = &answer {
        panic!("{error}: {error:?}");
    }
    answer.ok()
}

/// The coordinator's answer to a trick; only that there is one matters.
fn play(desk: &Desk, caller: Caller, lease: &Lease, trick: Trick) {
    let coordinator: &Coordinator = desk.open();
    let shared = &coordinator.shared;
    let good = || {
        let series = series_of(lease);
        let numbers = lease.first..lease.first + u64::from(lease.count);
        numbers.map(move |number| coin::game(&series, number, 1, 0.0)).collect::<Vec<_>>()
    };
    let submission = |games| SubmitRequest {
        lease_id: lease.id,
        token: lease.token,
        worker: "w".into(),
        games,
        unplayable: Vec::new(),
    };
    match trick {
        Trick::Submit { lease: id, token, games, unplayable } => {
            let request = SubmitRequest {
                lease_id: id.unwrap_or(lease.id),
                token: token.unwrap_or(lease.token),
                unplayable,
                ..submission(games)
            };
            taken(shared.submit(caller, &request, desk.now));
        }
        Trick::Bend { payoff, luck, shift } => {
            let mut games = good();
            for game in &mut games {
                game.number = game.number.wrapping_add(shift);
                game.payoff = game.payoff.wrapping_add(payoff);
                game.total_luck = luck;
            }
            taken(shared.submit(caller, &submission(games), desk.now));
        }
        Trick::Repeat => {
            let _ = shared.submit(caller, &submission(good()), desk.now);
            let again = shared.submit(caller, &submission(good()), desk.now);
            assert_eq!(again.map_or(0, |reply| reply.accepted), 0, "counted twice");
        }
        Trick::Release { lease: id, token } => {
            let (lease_id, token) = (id.unwrap_or(lease.id), token.unwrap_or(lease.token));
            taken(shared.release(caller, &ReleaseRequest { lease_id, token }));
        }
        Trick::Acquire(request) => {
            taken(shared.acquire(caller, &request, desk.now));
        }
        Trick::Fetch(sha256) => {
            taken(shared.fetch_weights(&FetchWeightsRequest { sha256 }));
        }
        Trick::Join(request) => {
            taken(shared.join(&request));
        }
        Trick::Publish(request) => {
            taken(shared.publish(&request, desk.now));
        }
        Trick::Report(request) => {
            taken(shared.report(&request, desk.now));
            // By the trainer itself, of the games that it can have had.
            let progress = request.progress.clone().map(|progress| Progress { games: 0, ..progress });
            let (run, fence) = (desk.run.clone(), desk.fence);
            taken(shared.report(&ReportRequest { run, fence, progress, ..request }, desk.now));
        }
        Trick::CreateRun(request) => {
            taken(coordinator.create_run(&request.config, &request.name));
        }
        Trick::Ask(name) => {
            taken(coordinator.run(&name));
            taken(coordinator.versions(&name));
            taken(coordinator.lineage(&name));
            shared.admit(Some(&name), Need::Role(Role::Admin)).expect_err("no such token");
        }
        Trick::Tokens(name, role) => {
            let role = role.parse().unwrap_or(Role::Read);
            taken(coordinator.create_token(&name, role));
            taken(coordinator.lift_token(&name));
            taken(coordinator.revoke_token(&name));
        }
        // Not the run that the honest play for.
        Trick::Stop(name) if !["", "coin"].contains(&&*name) => {
            taken(coordinator.stop_run(&name));
        }
        Trick::Stop(_) => {}
        Trick::Raw(bytes) => raw(desk, caller, lease, &bytes),
    }
}

/// Bytes that may be read as a message, put where they are one.
fn raw(desk: &Desk, caller: Caller, lease: &Lease, bytes: &[u8]) {
    let shared = &desk.open().shared;
    if let Ok(request) = AcquireRequest::decode(bytes) {
        taken(shared.acquire(caller, &request, desk.now));
    }
    if let Ok(mut request) = SubmitRequest::decode(bytes) {
        taken(shared.submit(caller, &request, desk.now));
        request.lease_id = lease.id;
        request.worker = "w".into();
        taken(shared.submit(caller, &request, desk.now));
    }
    if let Ok(request) = ReleaseRequest::decode(bytes) {
        taken(shared.release(caller, &request));
    }
    if let Ok(request) = JoinRequest::decode(bytes) {
        taken(shared.join(&request));
    }
    if let Ok(request) = PublishRequest::decode(bytes) {
        taken(shared.publish(&request, desk.now));
    }
    if let Ok(request) = ReportRequest::decode(bytes) {
        taken(shared.report(&request, desk.now));
    }
}

#[test]
fn no_message_breaks_the_coordinator_or_its_accounts() {
    let desk = RefCell::new(Desk::new(&CONFIG.replace("backlog_games = 1000", "backlog_games = 1000000000")));
    desk.borrow().open().create_token("peer", Role::Worker).expect("made");
    let caller = Caller::Holder(1);
    let checked = runner(300).run(&trick(), |trick| {
        let mut desk = desk.borrow_mut();
        // Every lease is free again, so that few are out.
        desk.now += 61_000;
        desk.open().lift_token("peer").expect("let in again");
        let request = AcquireRequest {
            worker: "w".into(),
            games: vec![PlayableGame { name: "coin".into(), revision: 1 }],
            ..AcquireRequest::default()
        };
        let lease = match desk.open().shared.acquire(caller, &request, desk.now) {
            Ok(Answer::Lease(lease)) => lease,
            other => panic!("the honest get no lease: {other:?}"),
        };
        play(&desk, caller, &lease, trick);
        let state = desk.open().shared.lock().expect("locked");
        for run in state.book().runs.values() {
            prop_assert!(run.series().all(|series| series.book.accounting().balances()));
        }
        Ok(())
    });
    checked.expect("nothing breaks");
    // And what is on the disk is what is in memory.
    let accounts = desk.borrow().numbers();
    desk.borrow_mut().reopen();
    assert_eq!(desk.borrow().numbers(), accounts);
}

#[test]
fn no_record_breaks_the_rules_of_backgammon() {
    let registry = ludus_players::arena::Registry::standard();
    let arena = registry.find("backgammon").expect("the game");
    let series = Series { seed: 5, luck: LuckMode::LuckPositions.into(), ..Series::default() };
    let checked = runner(2000).run(&game(), |game| {
        prop_assert!(arena.check(&series, &[], &game).is_err(), "nobody played this");
        Ok(())
    });
    checked.expect("nothing breaks");
}
