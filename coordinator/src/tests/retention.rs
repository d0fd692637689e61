//! What is kept of old versions.

use ludus_players::weight_file::Digest;
use ludus_proto::v1::SubmitRequest;

use super::desk::{CONFIG, Desk, games_of, options};
use crate::tokens::Caller;
use crate::{Coordinator, CoordinatorOptions, Records};

/// The versions of which the weights are there.
fn kept(desk: &Desk) -> Vec<u64> {
    let versions = desk.open().versions("").expect("versions");
    let there = versions.iter().filter(|version| {
        let sum = <[u8; 32]>::try_from(&version.sha256[..]).expect("a sum");
        desk.open().weights(Digest(sum)).is_ok()
    });
    there.map(|version| version.version).collect()
}

fn reopen(desk: &mut Desk, keep_versions: usize) {
    desk.coordinator = None;
    let options = CoordinatorOptions { keep_versions, ..options(desk.dir.path()) };
    desk.coordinator = Some(Coordinator::open(options).expect("opens"));
}

#[test]
fn old_weights_go_unless_they_were_promoted_are_judged_or_have_games_out() {
    let mut desk = Desk::new(CONFIG);
    reopen(&mut desk, 2);
    let lease = desk.lease_as(Caller::Anyone);
    for version in 2..=6 {
        assert_eq!(desk.publish(version * 100, 0), version);
    }
    let by_hand = desk.folder().join("weights/by-hand.safetensors");
    std::fs::write(&by_hand, b"mine").expect("written");
    // Version 1 is played with, version 2 is in the gate.
    assert_eq!(kept(&desk), [1, 2, 5, 6]);
    let games = SubmitRequest {
        lease_id: lease.id,
        token: lease.token,
        worker: "w".into(),
        games: games_of(&lease, |_| 1),
        unplayable: Vec::new(),
    };
    let reply = desk.open().shared.submit(Caller::Anyone, &games, desk.now).expect("an answer");
    assert_eq!(reply.accepted, lease.count);
    desk.publish(700, 0);
    assert_eq!(kept(&desk), [2, 6, 7]);
    assert_eq!(desk.open().versions("").expect("versions").len(), 7, "all are still known");
    assert!(by_hand.exists(), "what was brought by hand stays");

    // More are not brought back by asking for more, fewer at the next start.
    reopen(&mut desk, 100);
    assert_eq!(kept(&desk), [2, 6, 7]);
    reopen(&mut desk, 1);
    assert_eq!(kept(&desk), [2, 7]);
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
