//! Gates: who is tested, on what, and what comes of it.

use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{Lease, SeriesKind};

use super::coin;
use super::desk::{CONFIG, Desk, games_of, kind_of, series_of};
use crate::gate::{Gate, GateRule, PairOutcome};
use crate::http::View;
use crate::{Finding, Records};

/// Plays the gate in progress with these results until it is decided; what self-play comes is given back.
fn decide(desk: &Desk, payoff: i32) {
    let candidate = || desk.open().run("").expect("the run").gate.map(|gate| gate.candidate);
    let gated = candidate();
    while candidate() == gated {
        desk.play(&desk.lease_of(SeriesKind::Gate), payoff);
    }
}

/// A gate that is not decided by its limit.
fn long_gate() -> Desk {
    let desk = Desk::new(&CONFIG.replace("limit_pairs = 40", "limit_pairs = 400"));
    desk.publish(100, 0);
    desk
}

#[test]
fn the_first_trained_version_plays_random_and_later_ones_the_champion() {
    let desk = Desk::new(CONFIG);
    assert!(desk.version(1).gate.is_none(), "untrained weights are not worth a gate");
    desk.publish(100, 0);
    let lease = desk.lease_of(SeriesKind::Gate);
    assert!(series_of(&lease).mirrored);
    assert_eq!(lease.players[0].who, Some(Who::Weights(desk.version(2).sha256)));
    assert_eq!(lease.players[1].who, Some(Who::Baseline("random".into())));
    assert_eq!(desk.version(2).state, "gating");
    desk.release(&lease);

    decide(&desk, 1);
    let run = desk.open().run("").expect("the run");
    assert_eq!((run.champion, run.gate), (2, None));
    let promoted = desk.version(2);
    let gate = promoted.gate.expect("it had a gate");
    assert_eq!((&promoted.state[..], &gate.verdict[..], gate.opponent), ("promoted", "promoted", 0));
    assert!(gate.e_better >= 20.0 && gate.ppg == 1.0, "{gate:?}");

    desk.publish(200, 0);
    let lease = desk.lease_of(SeriesKind::Gate);
    assert_eq!(lease.players[1].who, Some(Who::Weights(desk.version(2).sha256)));
    desk.release(&lease);
    decide(&desk, -1);
    assert_eq!(desk.version(3).state, "rejected");
    assert_eq!(desk.version(3).gate.expect("it had a gate").opponent, 2);
    assert_eq!(desk.open().run("").expect("the run").champion, 2);
}

#[test]
fn after_a_verdict_the_newest_version_is_next_and_the_ones_between_stay_published() {
    let desk = Desk::new(CONFIG);
    for games in [10, 20, 30] {
        desk.publish(games, 0);
    }
    decide(&desk, 1);
    let states: Vec<_> = (1..=4).map(|version| desk.version(version).state).collect();
    assert_eq!(states, ["published", "promoted", "published", "gating"]);
}

#[test]
fn a_candidate_without_a_verdict_gives_way_to_a_version_with_far_more_games() {
    let rule = "delta = 0.0001\novertaken = 1.5\nlimit_pairs = 100000";
    let config = CONFIG.replace("delta = 0.1\novertaken = 0.0\nlimit_pairs = 40", rule);
    let config = config.replace("max_games = 8", "max_games = 1000");
    // Even, so that nothing is decided.
    let even = |lease: &Lease| games_of(lease, |number| if number % 4 < 2 { 1 } else { -1 });
    let desk = Desk::new(&config);
    desk.publish(1000, 0);
    while desk.open().run("").expect("the run").gate.expect("a gate").pairs < 2000 {
        let lease = desk.lease_of(SeriesKind::Gate);
        desk.submit(&lease, even(&lease));
    }
    desk.publish(1499, 0);
    assert_eq!(desk.version(2).state, "gating", "that one has hardly learnt more");
    let late = desk.lease_of(SeriesKind::Gate);
    desk.publish(1500, 0);
    assert_eq!(desk.version(2).state, "published");
    assert_eq!(desk.version(2).gate.expect("it had one").verdict, "overtaken");
    assert_eq!(desk.open().run("").expect("the run").gate.expect("the next").candidate, 4);
    // What was out comes late, and the accounts balance.
    desk.submit(&late, even(&late));
    let checks = Records::open(&desk.folder()).expect("opens").verify_gates("").expect("read");
    assert_eq!(checks[0].finding, Finding::NothingToCompare("given up for a newer version".into()));
    assert!(desk.numbers().balances());

    let desk = Desk::new(&config);
    desk.publish(1000, 0);
    let lease = desk.lease_of(SeriesKind::Gate);
    desk.submit(&lease, even(&lease));
    desk.publish(9000, 0);
    assert_eq!(desk.version(2).state, "gating", "it had no fair trial yet");
}

#[test]
fn results_are_read_in_the_order_of_their_numbers_and_late_ones_are_logged_and_not_counted() {
    let desk = long_gate();
    let slow = desk.lease_of(SeriesKind::Gate);
    assert_eq!(slow.first, 0);
    // The slow lease holds everything up.
    for _ in 0..20 {
        let lease = desk.lease_of(SeriesKind::Gate);
        assert_eq!(desk.play(&lease, 1).accepted, lease.count);
    }
    let waiting = desk.lease_of(SeriesKind::Gate);
    assert_eq!(desk.open().run("").expect("the run").gate.expect("running").pairs, 0);

    // Its candidate lost there, so the verdict needs more pairs than it would have by arrival.
    let reply = desk.play(&slow, -1);
    assert_eq!((reply.accepted, reply.lease_over), (slow.count, true));
    let verdict = desk.version(2).gate.expect("decided");
    let lost = f64::from(slow.count) / 2.0;
    assert_eq!(verdict.ppg, (verdict.pairs as f64 - 2.0 * lost) / verdict.pairs as f64);
    let reply = desk.play(&waiting, -1);
    assert_eq!((reply.accepted, reply.repeated_games, reply.lease_over), (0, waiting.count, true));
    assert_eq!(desk.count("SELECT count(*) FROM gate_games WHERE late = 1"), u64::from(waiting.count));
    assert_eq!(desk.version(2).gate.expect("decided"), verdict);
    let reply = desk.play(&waiting, -1);
    assert_eq!((reply.accepted, reply.lease_over), (0, true));
    assert_eq!(desk.count("SELECT count(*) FROM gate_games WHERE late = 1"), u64::from(waiting.count));
}

#[test]
fn luck_is_taken_out_of_the_results_when_the_run_asks_for_it() {
    let config = CONFIG.replace("delta = 0.1", "delta = 0.1\nluck = true\nluck_bound = 2.0");
    let desk = Desk::new(&config);
    desk.publish(100, 0);
    let lease = desk.lease_of(SeriesKind::Gate);
    let series = series_of(&lease);
    assert_eq!(series.luck_bound, 2.0);
    let game = |offset: u64, payoff, luck| coin::game(&series, lease.first + offset, payoff, luck);
    let reply = desk.submit(&lease, vec![game(0, 1, 1.5), game(1, -1, -0.25)]);
    assert_eq!(reply.accepted, 2);
    let gate = desk.open().run("").expect("the run").gate.expect("running");
    assert_eq!((gate.pairs, gate.ppg), (1, ((1.0 - 1.5) + (-1.0 + 0.25)) / 2.0));
}

#[test]
fn a_verdict_can_be_recomputed_from_the_log_alone() {
    let desk = Desk::new(CONFIG);
    desk.publish(100, 0);
    while desk.open().run("").expect("the run").gate.is_some() {
        let lease = desk.lease_of(SeriesKind::Gate);
        let games = games_of(&lease, |number| if number % 5 == 0 { -1 } else { 1 });
        desk.submit(&lease, games);
    }
    let state = desk.open().shared.lock().expect("locked");
    let (pairs, rule) = state
        .query(|connection| {
            let mut statement = connection.prepare(
                "SELECT number / 2, avg(payoff - luck) FROM gate_games WHERE late = 0 GROUP BY number / 2
                 HAVING count(*) = 2 ORDER BY 1",
            )?;
            let pairs = statement
                .query_map([], |row| Ok(PairOutcome { pair: row.get(0)?, points: row.get(1)? }))?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            let rule = connection.query_row(
                "SELECT alpha, beta, delta, limit_pairs, bound FROM gates",
                [],
                |row| {
                    let (alpha, beta, delta) = (row.get(0)?, row.get(1)?, row.get(2)?);
                    Ok(GateRule { alpha, beta, delta, limit_pairs: row.get(3)?, bound: row.get(4)? })
                },
            )?;
            Ok((pairs, rule))
        })
        .expect("the log");
    drop(state);
    let report = Gate::replay(rule, pairs).expect("a good log").report();
    let told = desk.version(2).gate.expect("decided");
    assert_eq!(
        (report.pairs, report.ppg, report.e_better, report.verdict.as_str()),
        (told.pairs, told.ppg, told.e_better, &told.verdict[..])
    );
}

#[test]
fn no_game_is_issued_beyond_the_pair_limit() {
    let desk = Desk::new(&CONFIG.replace("limit_pairs = 40", "limit_pairs = 5"));
    desk.publish(100, 0);
    let mut issued = 0;
    for _ in 0..20 {
        let lease = desk.lease("w");
        if kind_of(&lease) == SeriesKind::Gate {
            issued += u64::from(lease.count);
        }
    }
    assert_eq!(issued, 10);
}

#[test]
fn gates_and_self_play_share_the_workers_as_configured() {
    let desk = Desk::new(
        &CONFIG.replace("share = 0.5", "share = 0.25").replace("limit_pairs = 40", "limit_pairs = 4000"),
    );
    desk.publish(100, 0);
    let gates = (0..100).filter(|_| kind_of(&desk.lease("w")) == SeriesKind::Gate).count();
    assert!((24..=26).contains(&gates), "{gates}");
}

#[test]
fn a_run_without_a_share_for_gates_has_none() {
    let desk = Desk::new(&CONFIG.replace("share = 0.5", "share = 0.0"));
    desk.publish(100, 0);
    assert!((0..10).all(|_| kind_of(&desk.lease("w")) == SeriesKind::SelfPlay));
    assert_eq!(desk.version(2).state, "published");
}

#[test]
fn the_benchmark_condition_comes_first_and_a_candidate_that_fails_it_plays_no_match() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let key = format!("benchmark = {:?}\nbenchmark_tolerance = 2.0\ndelta = 0.1", file.path());
    let desk = Desk::new(&CONFIG.replace("delta = 0.1", &key));
    // The first candidate has no champion to be compared with.
    desk.publish(100, 50);
    decide(&desk, 1);

    desk.publish(200, 53);
    assert!(
        (0..6).all(|_| kind_of(&desk.lease("w")) == SeriesKind::SelfPlay),
        "no game before the condition"
    );
    desk.open().shared.check_conditions().expect("checked");
    let failed = desk.version(3);
    assert_eq!(failed.state, "rejected");
    let gate = failed.gate.expect("it had a gate");
    assert!(gate.pairs == 0 && gate.reason.contains("toss ER 53.00 is +3.00"), "{gate:?}");

    desk.publish(300, 52);
    desk.open().shared.check_conditions().expect("checked");
    assert_eq!(desk.version(4).state, "gating");
    decide(&desk, 1);
    assert!(desk.version(4).gate.expect("decided").reason.contains("every class within the tolerance"));
}

#[test]
fn a_game_of_a_gate_that_nobody_can_finish_counts_as_a_draw() {
    let desk = Desk::new(CONFIG);
    desk.publish(100, 0);
    let lease = desk.lease_of(SeriesKind::Gate);
    let request = ludus_proto::v1::SubmitRequest {
        lease_id: lease.id,
        token: lease.token,
        worker: "w".into(),
        games: games_of(&lease, |_| 1)[1..].to_vec(),
        unplayable: vec![0],
    };
    desk.open().shared.submit(crate::tokens::Caller::Anyone, &request, desk.now).expect("submitted");
    let gate = desk.open().run("").expect("the run").gate.expect("running");
    let pairs = f64::from(lease.count) / 2.0;
    assert_eq!((gate.pairs as f64, gate.ppg), (pairs, (pairs - 0.5) / pairs));
}

#[test]
fn everything_is_accounted_for_when_gates_have_come_and_gone() {
    let desk = long_gate();
    let leases: Vec<_> = (0..23).map(|_| desk.lease_of(SeriesKind::Gate)).collect();
    let (played, out) = leases.split_at(20);
    for lease in played {
        desk.play(lease, 1);
    }
    assert_eq!(desk.version(2).state, "promoted");
    desk.publish(200, 0);
    desk.lease_of(SeriesKind::Gate);
    let overview = desk.open().overview().expect("an overview");
    let run = &overview.runs[0];
    for accounts in [&run.self_play, &run.gates] {
        assert_eq!(accounts.unaccounted(), 0, "{accounts:?}");
    }
    let void: u64 = out.iter().map(|lease| u64::from(lease.count)).sum();
    assert!(run.gates.void["verdict"] >= void, "{:?}", run.gates);
    assert_eq!(run.gates.void.len(), 1);
    assert!(run.self_play.void.is_empty());
}
