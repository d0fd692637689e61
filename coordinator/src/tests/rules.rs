//! Who gets what, what is taken and what is refused.

use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{AcquireRequest, PlayableGame, SeriesKind, SubmitRequest};

use super::coin;
use super::desk::{CONFIG, Desk, games_of, options, series_of};
use crate::leases::Accounting;
use crate::{Coordinator, CoordinatorError, Records};

#[test]
fn self_play_waits_for_the_first_weights_plays_at_random_until_some_have_learnt_and_then_the_newest() {
    let mut desk = Desk::empty(CONFIG);
    assert!(desk.wait_reason("w").contains("the trainer has not published its first weights yet"));
    desk.join();
    desk.publish(0, 0);
    let lease = desk.lease("w");
    let players: Vec<_> = lease.players.iter().map(|player| player.who.clone()).collect();
    let random = Some(Who::Baseline("random".into()));
    assert_eq!(players, vec![random.clone(), random]);
    assert_eq!((lease.first, lease.ttl_seconds, lease.revision), (0, 60, 1));

    desk.publish(1, 0);
    let next = desk.lease_of(SeriesKind::SelfPlay);
    assert_eq!(next.first, u64::from(lease.count));
    let newest = Some(Who::Weights(desk.version(2).sha256));
    assert!(next.players.iter().all(|player| player.who == newest));
}

#[test]
fn the_first_weights_play_themselves_where_they_come_from_others_or_have_to_judge() {
    let first = |desk: &Desk| Some(Who::Weights(desk.version(1).sha256));
    let mut desk = Desk::empty(CONFIG);
    desk.join();
    let mut weights = coin::weights(&desk.run, 1, 1, 0);
    weights.card.parent = "ab".repeat(32);
    desk.publish_bytes(weights.to_bytes().expect("bytes"), 0).expect("published");
    assert_eq!(desk.lease("w").players[0].who, first(&desk));

    for more in ["[self_play]\nvariance = \"luck\"\n", "[self_play]\nrollout_share = 1.0\n"] {
        let desk = Desk::new(&format!("{CONFIG}{more}"));
        assert_eq!(desk.lease("w").players[0].who, first(&desk), "{more}");
    }
}

#[test]
fn a_lost_lease_comes_back_with_its_numbers_and_players_and_late_games_count_once() {
    let mut desk = Desk::new(CONFIG);
    let lost = desk.lease("a");
    desk.publish(0, 0);
    desk.now += 30_000;
    assert_ne!(desk.lease("b").id, lost.id, "not before its time");
    // Handing something in keeps a lease.
    let reply = desk.submit(&lost, games_of(&lost, |_| 1)[..1].to_vec());
    assert_eq!((reply.accepted, reply.lease_over), (1, false));
    desk.now += 59_000;
    desk.play(&desk.lease("b"), 1);
    desk.now += 1000;

    let again = std::iter::repeat_with(|| desk.lease("b")).find(|lease| lease.id == lost.id).expect("again");
    assert_eq!((again.first, again.count, &again.players), (lost.first, lost.count, &lost.players));
    assert_eq!(again.done, vec![lost.first]);
    assert_ne!(again.token, lost.token);

    let before = desk.numbers().accepted;
    let reply = desk.play(&lost, 1);
    assert_eq!((reply.accepted, reply.repeated_games), (lost.count - 1, 1), "the first worker was only slow");
    let reply = desk.play(&again, 1);
    assert_eq!((reply.accepted, reply.repeated_games), (0, lost.count - 1));
    assert!(reply.lease_over);
    assert_eq!(desk.numbers().accepted, before + u64::from(lost.count) - 1);
    assert!(desk.numbers().balances());
}

#[test]
fn a_released_lease_is_played_by_the_next_worker() {
    let desk = Desk::new(CONFIG);
    let given_back = desk.lease("a");
    desk.submit(&given_back, games_of(&given_back, |_| 1)[..2].to_vec());
    desk.release(&given_back);
    let again = desk.lease("b");
    assert_eq!((again.id, again.done.len()), (given_back.id, 2));
    // The release of an old issue, come late, takes nothing from the new holder.
    desk.release(&given_back);
    assert_ne!(desk.lease("c").id, again.id);
}

#[test]
fn games_that_are_wrong_are_refused_one_by_one_and_counted_by_reason() {
    let mut desk = Desk::new(CONFIG);
    let lease = desk.lease("w");
    let series = series_of(&lease);
    let mut games = games_of(&lease, |_| 1);
    games[0].payoff = 2;
    games[1].digest[0] ^= 1;
    games[2].total_luck = f64::NAN;
    games.push(coin::game(&series, lease.first + u64::from(lease.count), 1, 0.0));
    let reply = desk.submit(&lease, games.clone());
    let reasons: Vec<_> = reply.refused.iter().map(|refusal| (refusal.number, &refusal.reason[..])).collect();
    let outside = lease.first + u64::from(lease.count);
    assert_eq!(
        reasons,
        [(0, "wrong-result"), (1, "wrong-digest"), (2, "luck-out-of-range"), (outside, "outside-lease")]
    );
    assert_eq!(reply.accepted, lease.count - 3);

    // The same game twice in one submission counts once.
    let again = coin::game(&series, 0, 1, 0.0);
    let reply = desk.submit(&lease, vec![again.clone(), again]);
    assert_eq!((reply.accepted, reply.repeated_games), (1, 1));

    desk.reopen();
    let state = desk.open().shared.lock().expect("locked");
    let refusals = &state.book().runs[&1].refusals;
    assert_eq!(refusals.len(), 4);
    assert!(refusals.values().all(|&count| count == 1), "{refusals:?}");
}

#[test]
fn games_of_a_lease_that_never_was_are_refused_and_those_of_a_closed_one_are_repeats() {
    let mut desk = Desk::new(CONFIG);
    let lease = desk.lease("w");
    let games = games_of(&lease, |_| 1);
    desk.play(&lease, 1);
    let reply = desk.submit(&lease, games.clone());
    assert_eq!((reply.accepted, reply.repeated_games, reply.lease_over), (0, lease.count, true));

    let mut unknown = lease.clone();
    unknown.id += 1;
    for _ in 0..2 {
        let reply = desk.submit(&unknown, games[..1].to_vec());
        assert_eq!(reply.refused[0].reason, "unknown-lease");
    }
    desk.reopen();
    let state = desk.open().shared.lock().expect("locked");
    assert_eq!(state.book().strays["unknown-lease"], 2);
}

#[test]
fn a_game_that_nobody_can_finish_is_void_and_not_issued_again() {
    let mut desk = Desk::new(CONFIG);
    let lease = desk.lease("w");
    let request = SubmitRequest {
        lease_id: lease.id,
        token: lease.token,
        worker: "w".into(),
        games: games_of(&lease, |_| 1)[1..].to_vec(),
        unplayable: vec![lease.first, lease.first],
    };
    let reply =
        desk.open().shared.submit(crate::tokens::Caller::Anyone, &request, desk.now).expect("submitted");
    assert_eq!(reply.accepted, lease.count - 1);
    let issued = u64::from(lease.count);
    let numbers = Accounting { issued, accepted: issued - 1, leased: 0, void: 1, unplayable: 1 };
    assert_eq!(desk.numbers(), numbers);
    desk.now += 1_000_000;
    desk.reopen();
    assert_eq!(desk.numbers(), numbers);
    assert_eq!(desk.lease("w").first, issued);
}

#[test]
fn self_play_stops_when_the_trainer_is_behind_and_gates_go_on() {
    let config = CONFIG.replace("backlog_games = 1000", "backlog_games = 10");
    let desk = Desk::new(&config);
    desk.play(&desk.lease("w"), 1);
    let rest = desk.lease("w");
    assert_eq!(rest.count, 2, "not one more than the limit");
    let full = "run coin: the trainer is 8 games behind and 2 more are out; the limit is 10";
    assert_eq!(desk.wait_reason("w"), full);
    desk.play(&rest, 1);
    let full = "run coin: the trainer is 10 games behind and 0 more are out; the limit is 10";
    assert_eq!(desk.wait_reason("w"), full);
    desk.publish(5, 0);
    for _ in 0..3 {
        assert_eq!(series_of(&desk.lease("w")).kind(), SeriesKind::Gate);
    }
    desk.report(2).expect("reported");
    assert_eq!(desk.open().run("").expect("the run").backlog, 8);
    assert_eq!(desk.lease_of(SeriesKind::SelfPlay).count, 2);
}

#[test]
fn near_the_limit_pairs_stay_together_and_a_limit_of_one_game_lets_one_out() {
    let with =
        |limit| Desk::new(&CONFIG.replace("backlog_games = 1000", &format!("backlog_games = {limit}")));
    let desk = with(11);
    assert_eq!((desk.lease("w").count, desk.lease("w").count), (8, 2));
    assert_eq!(with(1).lease("w").count, 1);
}

/// What is out counts, so a worker that dies with all of it must not stop the run.
#[test]
fn at_the_limit_games_that_got_lost_are_still_handed_out_again() {
    let config = CONFIG.replace("backlog_games = 1000", "backlog_games = 8");
    let mut desk = Desk::new(&config);
    let lost = desk.lease("a");
    assert_eq!(lost.count, 8);
    assert!(desk.wait_reason("b").contains("0 games behind and 8 more are out"));
    desk.now += 60_001;
    let again = desk.lease("b");
    assert_eq!((again.id, again.first, again.count), (lost.id, lost.first, 8));
    assert!(desk.wait_reason("c").contains("8 more are out"));
}

#[test]
fn weights_that_have_learnt_nothing_get_no_more_games_than_the_next_ones_need() {
    let desk = Desk::new(&format!("{CONFIG}[learn]\npublish_games = 12\n"));
    desk.play(&desk.lease("w"), 1);
    desk.play(&desk.lease("w"), 1);
    assert_eq!(desk.numbers().accepted, 12);
    assert!(desk.wait_reason("w").contains("the limit is 12"));
    desk.publish(12, 0);
    assert_eq!(desk.lease_of(SeriesKind::SelfPlay).count, 8);
}

#[test]
fn a_stopped_run_hands_out_nothing_and_its_trainer_is_told() {
    let mut desk = Desk::new(CONFIG);
    let lease = desk.lease("w");
    desk.submit(&lease, games_of(&lease, |_| 1)[..1].to_vec());
    desk.publish(1, 0);
    let gate = desk.lease_of(SeriesKind::Gate);
    desk.open().stop_run("coin").expect("stopped");
    desk.open().stop_run("coin").expect("twice does no harm");

    assert_eq!(desk.wait_reason("w"), "no run is active");
    let numbers = desk.numbers();
    assert!(numbers.balances() && numbers.leased == 0 && numbers.accepted == 1, "{numbers:?}");
    for lease in [&lease, &gate] {
        let reply = desk.play(lease, 1);
        assert!(reply.accepted == 0 && reply.lease_over && reply.refused.is_empty(), "{reply:?}");
    }
    assert_eq!(desk.numbers(), numbers);
    let reply = desk.report(1).expect("reported");
    assert!(reply.run_stopped && reply.accepted == 1);
    assert_eq!(desk.publish(1, 0), 3, "what was learnt may still be published");
    desk.reopen();
    let versions = desk.open().versions("coin").expect("versions");
    assert!(versions.iter().all(|version| version.state == "published"));
    assert_eq!(desk.version(2).gate.expect("it had a gate").verdict, "stopped");
    assert_eq!(desk.open().run("coin").expect("the run").state, "stopped");
}

#[test]
fn only_the_trainer_that_joined_last_may_publish_and_report() {
    let mut desk = Desk::new(CONFIG);
    let stale = desk.fence;
    desk.join();
    desk.fence = stale;
    let weights = coin::weights("coin", 2, 2, 0).to_bytes().expect("bytes");
    assert!(matches!(
        desk.publish_bytes(weights, 1),
        Err(CoordinatorError::StaleFence { fence: 1, current: 2, .. })
    ));
    assert!(matches!(desk.report(1), Err(CoordinatorError::StaleFence { .. })));
    desk.reopen();
    assert!(matches!(desk.report(1), Err(CoordinatorError::StaleFence { .. })), "after a restart too");
}

#[test]
fn weights_that_do_not_fit_the_run_are_refused_and_the_same_bytes_are_one_version() {
    let desk = Desk::new(CONFIG);
    let good = coin::weights("coin", 2, 2, 0);
    let refusal = |bytes: Vec<u8>| match desk.publish_bytes(bytes, 1) {
        Err(CoordinatorError::Weights { reason, .. }) => reason,
        other => panic!("taken: {other:?}"),
    };
    let bytes = good.to_bytes().expect("bytes");
    assert!(!refusal(bytes[..bytes.len() - 9].to_vec()).is_empty());
    let mut poisoned = bytes.clone();
    let end = poisoned.len();
    poisoned[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(!refusal(poisoned).is_empty());

    let mut wrong = good.clone();
    wrong.card.run = "other".into();
    assert!(refusal(wrong.to_bytes().expect("bytes")).contains("their card says run \"other\""));
    let mut wrong = good.clone();
    wrong.card.version = 7;
    assert!(refusal(wrong.to_bytes().expect("bytes")).contains("version"));
    let mut wrong = good.clone();
    wrong.networks.push(ludus_players::weight_file::ClassWeights {
        class: "other".into(),
        ..wrong.networks[0].clone()
    });
    assert!(refusal(wrong.to_bytes().expect("bytes")).contains("their networks are not those of the run"));

    let files = || std::fs::read_dir(desk.folder().join("weights")).expect("the folder").count();
    assert_eq!(files(), 1, "nothing of it was kept");
    assert_eq!(desk.publish_bytes(bytes.clone(), 1).expect("taken"), 2);
    assert_eq!(desk.publish_bytes(bytes, 1).expect("taken again"), 2);
    assert_eq!((desk.open().run("").expect("the run").latest_version, files()), (2, 2));
}

#[test]
fn a_trainer_that_lost_its_checkpoints_is_not_believed() {
    let desk = Desk::new(CONFIG);
    desk.report(100).expect("reported");
    desk.report(100).expect("a repeat does no harm");
    assert!(matches!(desk.report(99), Err(CoordinatorError::WentBack { reported: 99, known: 100, .. })));
    assert_eq!(desk.count("SELECT count(*) FROM reports"), 2, "kept for the learning curve");
}

#[test]
fn a_worker_with_other_rules_gets_nothing() {
    let desk = Desk::new(CONFIG);
    let ask = |name: &str, revision| {
        let games = vec![PlayableGame { name: name.into(), revision }];
        let request = AcquireRequest { worker: "w".into(), games, ..AcquireRequest::default() };
        desk.open().shared.acquire(crate::tokens::Caller::Anyone, &request, desk.now)
    };
    let refusal = ask("coin", 2).expect_err("refused").to_string();
    assert!(refusal.contains("revision 2") && refusal.contains("run coin needs revision 1"), "{refusal}");
    match ask("dice", 1).expect("an answer") {
        ludus_proto::v1::acquire_reply::Answer::Wait(wait) => assert!(wait.reason.contains("coin is played")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn runs_are_created_from_good_configurations_only() {
    let desk = Desk::empty(CONFIG);
    let create =
        |config: &str, name: &str| desk.open().create_run(config, name).map_err(|error| error.to_string());
    let refusal = |config: &str| create(config, "").expect_err("refused");
    assert!(refusal("gmae = \"coin\"").contains("line 1: unknown key `gmae`; did you mean `game`?"));
    assert!(refusal("game = \"chess\"").contains("there is no game \"chess\"; the games are coin"));
    let foreign = "[network]\ninputs = \"tesauro-198\"";
    assert!(
        refusal(&format!("game = \"coin\"\n{foreign}")).contains("coin has no input set \"tesauro-198\"")
    );
    assert!(refusal(&CONFIG.replace("delta = 0.1", "delta = 1.0")).contains("gate.delta"));
    let shortlist = refusal(&format!("{CONFIG}[self_play]\nshortlist = 6\n"));
    assert!(shortlist.contains("faces-2 has no small networks"), "{shortlist}");
    assert!(!shortlist.contains("  "), "{shortlist}");
    let no_file = CONFIG.replace("delta = 0.1", "benchmark = \"/nowhere/x.bm\"");
    assert!(refusal(&no_file).contains("/nowhere/x.bm"));
    assert!(create(CONFIG, "a b").expect_err("refused").contains("cannot name a run"));
    assert!(create(CONFIG, "coin").expect_err("refused").contains("there is a run coin already"));
    assert_eq!(create(CONFIG, "").expect("made"), "coin-2");
    assert_eq!(create(CONFIG, "mine").expect("made"), "mine");
    assert_eq!(create("game = \"coin\"", "").expect("made from nothing but the game"), "coin-3");
    let config = desk.open().run("coin-3").expect("the run").config;
    assert!(config.contains("inputs = \"faces-2\""), "the game's first input set: {config}");
    let names: Vec<_> = desk.open().runs().expect("runs").into_iter().map(|run| run.run).collect();
    assert_eq!(names, ["coin", "coin-2", "mine", "coin-3"]);
    let missing = desk.open().run("yours").expect_err("none").to_string();
    assert_eq!(missing, "there is no run yours; the runs are: coin, coin-2, mine, coin-3");
}

#[test]
fn a_folder_in_use_and_a_run_of_other_rules_are_not_opened() {
    let mut desk = Desk::new(CONFIG);
    let error = Coordinator::open(options(&desk.folder())).err().expect("in use");
    assert!(matches!(error, CoordinatorError::InUse { .. }));
    desk.coordinator = None;
    let mut newer = options(&desk.folder());
    newer.registry =
        ludus_players::arena::Registry::new(vec![std::sync::Arc::new(coin::Coin { revision: 2 })]);
    let error = Coordinator::open(newer).err().expect("other rules");
    assert!(matches!(error, CoordinatorError::Revision { wanted: 1, .. }), "{error}");
}

#[test]
fn a_folder_can_be_read_while_it_is_in_use_and_afterwards() {
    let mut desk = Desk::new(CONFIG);
    assert!(matches!(Records::open(&desk.folder().join("none")), Err(CoordinatorError::NothingHere { .. })));
    desk.play(&desk.lease("w"), 1);
    desk.publish(3, 0);
    let look = |desk: &Desk| {
        let records = Records::open(&desk.folder()).expect("readable");
        let run = records.run("").expect("the run");
        let versions = records.versions("coin").expect("versions");
        let sha256 = ludus_players::weight_file::Digest(versions[1].sha256[..].try_into().expect("32 bytes"));
        records.weights(sha256).expect("weights");
        (run, versions)
    };
    let (run, versions) = look(&desk);
    let mut live = desk.open().run("").expect("the run");
    live.workers = 0;
    assert_eq!((run, versions), (live, desk.open().versions("").expect("versions")));
    let before = look(&desk);
    desk.coordinator = None;
    assert_eq!(look(&desk), before);
}

#[test]
fn a_folder_is_read_as_of_one_moment_while_games_come_in() {
    let desk = Desk::new(CONFIG);
    let folder = desk.folder();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            for _ in 0..100 {
                let run = Records::open(&folder).expect("it makes sense").run("").expect("the run");
                assert_eq!(run.issued, run.accepted + run.leased + run.void);
            }
        });
        while !reader.is_finished() {
            desk.play(&desk.lease("w"), 1);
            desk.report(desk.numbers().accepted).expect("reported");
        }
    });
}
