//! What is kept of old versions.

use ludus_players::weight_file::Digest;
use ludus_proto::v1::{Lease, SeriesKind, SubmitRequest};

use super::desk::{CONFIG, Desk, games_of, options};
use crate::tokens::Caller;
use crate::{Coordinator, CoordinatorOptions, Finding, Records, Retention, Role};

/// The versions of which the weights are there.
fn kept(desk: &Desk) -> Vec<u64> {
    let versions = desk.open().versions("").expect("versions");
    let there = versions.iter().filter(|version| {
        let sum = <[u8; 32]>::try_from(&version.sha256[..]).expect("a sum");
        desk.open().weights(Digest(sum)).is_ok()
    });
    there.map(|version| version.version).collect()
}

fn reopen(desk: &mut Desk, versions: usize) {
    reopen_with(desk, Retention { versions, ..Retention::default() });
}

fn reopen_with(desk: &mut Desk, keep: Retention) {
    desk.coordinator = None;
    let options = CoordinatorOptions { keep, ..options(desk.dir.path()) };
    desk.coordinator = Some(Coordinator::open(options).expect("opens"));
}

/// Without audits: a game that waits for one keeps its weights and its row, and which do is drawn.
fn unaudited(config: &str) -> String {
    format!("{config}[audit]\nshare = 0.0\n")
}

#[test]
fn old_weights_go_unless_they_were_promoted_are_judged_or_have_games_out() {
    let mut desk = Desk::new(&unaudited(CONFIG));
    reopen(&mut desk, 2);
    assert_eq!((desk.publish(200, 0), desk.publish(300, 0)), (2, 3));
    let lease = desk.lease_as(Caller::Anyone);
    for version in 4..=7 {
        assert_eq!(desk.publish(version * 100, 0), version);
    }
    let by_hand = desk.folder().join("weights/by-hand.safetensors");
    std::fs::write(&by_hand, b"mine").expect("written");
    // Version 3 is played with, version 2 is in the gate.
    assert_eq!(kept(&desk), [2, 3, 6, 7]);
    let games = SubmitRequest {
        lease_id: lease.id,
        token: lease.token,
        worker: "w".into(),
        games: games_of(&lease, |_| 1),
        unplayable: Vec::new(),
    };
    let reply = desk.open().shared.submit(Caller::Anyone, &games, desk.now).expect("an answer");
    assert_eq!(reply.accepted, lease.count);
    desk.publish(800, 0);
    assert_eq!(kept(&desk), [2, 7, 8]);
    assert_eq!(desk.open().versions("").expect("versions").len(), 8, "all are still known");
    assert!(by_hand.exists(), "what was brought by hand stays");

    // More are not brought back by asking for more, fewer at the next start.
    reopen(&mut desk, 100);
    assert_eq!(kept(&desk), [2, 7, 8]);
    reopen(&mut desk, 1);
    assert_eq!(kept(&desk), [2, 8]);
}

/// Plays the gate in progress with these results until it is decided.
fn decide(desk: &Desk, payoff: i32) {
    let gated = |desk: &Desk| desk.open().run("").expect("the run").gate.map(|gate| gate.candidate);
    let candidate = gated(desk).expect("a gate");
    while gated(desk) == Some(candidate) {
        desk.play(&desk.lease_of(SeriesKind::Gate), payoff);
    }
}

fn games_kept(desk: &Desk) -> Vec<u64> {
    let candidates = (2..=5).filter(|candidate| {
        let games = "SELECT count(*) FROM gate_games JOIN gates USING (series) WHERE candidate = ";
        desk.count(&format!("{games}{candidate}")) > 0
    });
    candidates.collect()
}

#[test]
fn the_games_of_old_gates_go_unless_they_promoted_and_their_verdicts_stay() {
    let mut desk = Desk::new(CONFIG);
    // Version 2 is promoted, 3 to 5 are not.
    for (version, payoff) in [(2, 1), (3, -1), (4, -1), (5, -1)] {
        assert_eq!(desk.publish(version * 100, 0), version);
        decide(&desk, payoff);
    }
    assert_eq!(games_kept(&desk), [2, 3, 4, 5]);
    let before = desk.open().shared.gate_trace("", 3).expect("a trace");
    reopen_with(&mut desk, Retention::ALL);
    assert_eq!(games_kept(&desk), [2, 3, 4, 5]);
    let keep = Retention { gates: 1, ..Retention::default() };
    reopen_with(&mut desk, keep);
    assert_eq!(games_kept(&desk), [2, 5]);
    let checks = Records::open(&desk.folder()).expect("opens").verify_gates("").expect("read");
    let gone = Finding::NothingToCompare("its games are no longer kept".into());
    let findings: Vec<_> = checks.iter().map(|check| (check.candidate, &check.finding)).collect();
    assert_eq!(findings, [(2, &Finding::Agrees), (3, &gone), (4, &gone), (5, &Finding::Agrees)]);
    assert!(checks.iter().skip(1).all(|check| check.stored == "rejected"));
    // Of the evidence the end is still known.
    let after = desk.open().shared.gate_trace("", 3).expect("a trace");
    assert_eq!(after.points[..], before.points[before.points.len() - 1..]);
    // Once more there is nothing to do.
    reopen_with(&mut desk, keep);
    assert_eq!(games_kept(&desk), [2, 5]);
}

#[test]
fn whose_games_were_taken_is_one_row_for_a_token_and_a_version_once_nothing_is_open() {
    let config = unaudited(&CONFIG.replace("share = 0.5", "share = 0.0"));
    let mut desk = Desk::new(&config);
    desk.open().create_token("peer", Role::Worker).expect("made");
    let caller = Caller::Holder(1);
    let hand_in = |desk: &Desk, lease: &Lease, most: usize| {
        let games = SubmitRequest {
            lease_id: lease.id,
            token: lease.token,
            worker: "w".into(),
            games: games_of(lease, |_| 1).into_iter().take(most).collect(),
            unplayable: Vec::new(),
        };
        let reply = desk.open().shared.submit(caller, &games, desk.now).expect("an answer");
        u64::from(reply.accepted)
    };
    let play = |desk: &Desk| hand_in(desk, &desk.lease_as(caller), usize::MAX);
    let rows = |desk: &Desk| desk.count("SELECT count(*) FROM origins");
    let learnt = |desk: &Desk| {
        let lineage = desk.open().lineage("").expect("a lineage");
        lineage.last().expect("a version").learnt.iter().map(|share| share.games).sum::<u64>()
    };
    let mut games = 0;
    for _ in 0..5 {
        games += play(&desk);
    }
    let open = desk.lease_as(caller);
    games += hand_in(&desk, &open, 1);
    games += play(&desk);
    assert_eq!(rows(&desk), 7);
    desk.publish(100, 0);
    // The one that is out stays alone, for its other games; what came after it does not.
    assert_eq!((rows(&desk), learnt(&desk)), (2, games));
    let given_back = ludus_proto::v1::ReleaseRequest { lease_id: open.id, token: open.token };
    desk.open().shared.release(caller, &given_back).expect("given back");
    // Its other games, then new ones.
    games += play(&desk) + play(&desk);
    desk.publish(200, 0);
    assert_eq!(learnt(&desk), games);
    let keep = Retention::default();
    reopen_with(&mut desk, keep);
    let why = "one for each version under which games came, and one for the lease that was out";
    assert_eq!((rows(&desk), learnt(&desk)), (3, games), "{why}");
    assert_eq!(desk.count("SELECT count(*) FROM origins WHERE count > 0"), 0, "nothing is left to look at");
}

#[test]
fn what_a_death_left_half_written_is_swept_away_at_the_next_start() {
    let mut desk = Desk::new(CONFIG);
    let part = desk.folder().join("weights/.x.safetensors.1.0.part");
    std::fs::write(&part, b"half").expect("written");
    reopen(&mut desk, 2);
    assert!(!part.exists());
    assert_eq!(kept(&desk), [1]);
}

#[test]
fn a_copy_made_while_the_coordinator_works_holds_everything_of_that_moment() {
    let desk = Desk::new(CONFIG);
    let copy = tempfile::tempdir().expect("a folder");
    let to = copy.path().join("copy");
    Records::open(&desk.folder()).expect("opens").back_up(&to).expect("copied");
    let again = Records::open(&desk.folder()).expect("opens").back_up(&to);
    assert!(again.expect_err("refused").to_string().contains("is there already"));
    desk.publish(100, 0);
    let restored =
        Desk { coordinator: None, dir: copy, run: desk.run.clone(), now: desk.now, fence: desk.fence };
    let coordinator = Coordinator::open(options(&to)).expect("opens");
    assert_eq!(coordinator.versions("").expect("versions").len(), 1);
    let restored = Desk { coordinator: Some(coordinator), ..restored };
    assert_eq!(kept(&restored), [1]);
}
