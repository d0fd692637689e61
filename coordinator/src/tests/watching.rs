//! What people look at: curves, games that are kept, the strength of versions, the evidence of gates, open leases.

use std::collections::BTreeSet;

use ludus_proto::v1::SeriesKind;
use tokio_util::sync::CancellationToken;

use super::desk::{CONFIG, Desk, games_of, series_of};
use crate::CoordinatorError;
use crate::http::View;

#[test]
fn now_and_then_a_game_is_kept_and_the_first_of_every_version_for_ever() {
    let mut desk = Desk::new(CONFIG);
    desk.publish(1, 0);
    let view = |desk: &Desk| View::games(desk.open(), &desk.run, None).expect("games");
    let play = |desk: &Desk| desk.play(&desk.lease_of(SeriesKind::SelfPlay), 1);
    play(&desk);
    play(&desk);
    let first = view(&desk);
    assert_eq!(first.len(), 1, "no two within three seconds");
    assert_eq!((first[0].kind, first[0].payoff), ("self-play", 1));
    assert_eq!(first[0].players, ["v2", "v2"].map(String::from));
    for _ in 0..230 {
        desk.now += 3000;
        desk.report(desk.numbers().accepted).expect("learnt");
        play(&desk);
    }
    // Its oldest game stays, and besides it the newest ones.
    assert_eq!(desk.count("SELECT count(*) FROM kept_games"), 201);
    assert_eq!(desk.count("SELECT count(*) FROM kept_games WHERE stays = 1"), 1);
    let oldest = desk.count("SELECT number FROM kept_games WHERE stays = 1");
    assert_eq!(oldest, first[0].number);
    let newest = view(&desk);
    assert!(newest.is_sorted_by(|a, b| a.at >= b.at) && newest[0].number > oldest);
    desk.reopen();
    assert_eq!(view(&desk), newest);
}

#[test]
fn the_curve_has_every_report_or_as_many_as_are_wanted_and_the_last_always() {
    let desk = Desk::new(CONFIG);
    desk.play(&desk.lease_of(SeriesKind::SelfPlay), 1);
    let accepted = desk.numbers().accepted;
    for games in 0..=accepted {
        desk.report(games).expect("reported");
    }
    let curve = |after, most| View::curve(desk.open(), &desk.run, after, most).expect("a curve");
    let all = curve(0, 1000);
    assert_eq!(all.len() as u64, accepted + 1);
    assert!(all.iter().all(|point| point.accepted == accepted && point.backlog == accepted - point.games));
    for most in [1, 2, 3, 5] {
        let some = curve(0, most);
        assert!((1..=most as usize).contains(&some.len()), "{most}: {}", some.len());
        assert_eq!(some.last(), all.last());
    }
    assert_eq!(curve(all[2].id, 1000), all[3..]);
    assert!(curve(all.last().expect("points").id, 1000).is_empty());
}

#[test]
fn strength_is_measured_of_every_version_and_against_fixed_opponents_of_promoted_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let benchmark = folder.path().join("coin.bm");
    std::fs::write(&benchmark, "anything").expect("a file");
    let config =
        CONFIG.replace("[gate]", &format!("[gate]\nbenchmark = {:?}", benchmark.to_str().expect("UTF-8")));
    let desk = Desk::new(&config);
    desk.publish(100, 7);
    let gated = |desk: &Desk| desk.open().run("").expect("the run").gate.is_some();
    while gated(&desk) {
        desk.play(&desk.lease_of(SeriesKind::Gate), 1);
    }
    let (mut given_up, stop) = (BTreeSet::new(), CancellationToken::new());
    let measure = |given_up: &mut _| {
        let mut tasks = 0;
        while desk.open().shared.measure_next(given_up, &stop).expect("measured") {
            tasks += 1;
        }
        tasks
    };
    // Two scores, and the champion against the baseline; it is the first champion itself.
    assert_eq!(measure(&mut given_up), 3);
    assert_eq!(measure(&mut given_up), 0, "once is enough");
    assert!(given_up.is_empty());
    let strength = View::strength(desk.open(), &desk.run).expect("known");
    let scores: Vec<_> =
        strength.scores.iter().map(|score| (score.version, &score.class[..], score.er)).collect();
    assert_eq!(scores, [(1, "overall", 0.0), (2, "overall", 7.0)]);
    let [meeting] = &strength.meetings[..] else { panic!("one match: {:?}", strength.meetings) };
    assert_eq!(
        (meeting.version, &meeting.opponent[..], meeting.pairs, meeting.ppg),
        (2, "random", 1000, 1.0)
    );
    assert!(0.5 < meeting.low && meeting.low < 1.0 && meeting.high >= 1.0 - 1e-9, "{meeting:?}");
}

#[test]
fn the_trace_of_a_gate_ends_where_the_gate_is() {
    let desk = Desk::new(&CONFIG.replace("limit_pairs = 40", "limit_pairs = 4000"));
    desk.publish(100, 0);
    for _ in 0..6 {
        let lease = desk.lease_of(SeriesKind::Gate);
        // Pairs of 0, 1/2 and -1/2 points, so that nothing is decided.
        desk.submit(&lease, games_of(&lease, |number| [1, -1, 0, 1, -1, 0][number as usize % 6]));
    }
    let trace = View::gate_trace(desk.open(), &desk.run, 2).expect("a gate");
    let gate = desk.open().run("").expect("the run").gate.expect("in progress");
    let last = trace.points.last().expect("points");
    assert_eq!(
        (last.pairs, last.ppg, last.low, last.high),
        (gate.pairs, gate.ppg, gate.ppg_low, gate.ppg_high)
    );
    assert_eq!((last.e_better, last.e_worse), (gate.e_better, gate.e_worse));
    assert!(trace.points.is_sorted_by(|a, b| a.pairs < b.pairs));
    assert_eq!((trace.e_promote, &trace.opponent[..], trace.decided_at), (20.0, "random", None));
    let missing = View::gate_trace(desk.open(), &desk.run, 1);
    assert!(matches!(missing, Err(CoordinatorError::NoVersion { .. })), "{missing:?}");

    let games = View::games(desk.open(), &desk.run, Some(2)).expect("games");
    assert_eq!(games[0].players, ["v2", "random"].map(String::from));
    assert!(games.iter().enumerate().all(|(i, game)| game.number == i as u64 && game.kind == "gate"));
}

#[test]
fn open_leases_are_listed_with_what_is_missing_of_each() {
    let desk = Desk::new(CONFIG);
    let lease = desk.lease_of(SeriesKind::SelfPlay);
    let mut games = games_of(&lease, |_| 0);
    games.truncate(3);
    desk.submit(&lease, games);
    let open = desk.open().shared.open_leases(&desk.run, desk.now).expect("leases");
    let listed = open.iter().find(|open| open.lease == lease.id).expect("it is out");
    assert_eq!((listed.kind, listed.series, &listed.worker[..]), ("self-play", series_of(&lease).id, "w"));
    assert_eq!((listed.games, listed.missing, listed.left), (lease.count, lease.count - 3, 60));
    let later = desk.open().shared.open_leases(&desk.run, desk.now + 90_000).expect("leases");
    assert_eq!(later[0].left, 0);
    let nowhere = View::game(desk.open(), &desk.run, (series_of(&lease).id, 1), None);
    assert!(matches!(nowhere, Err(CoordinatorError::NoGame { .. })), "it was not kept: {nowhere:?}");
}
