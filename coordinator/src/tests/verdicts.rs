//! Verdicts recomputed from their logs.

use ludus_proto::v1::{RunStatus, SeriesKind};
use rusqlite::Connection;

use super::desk::{CONFIG, Desk};
use crate::{Finding, Records, VerdictCheck};

fn status(desk: &Desk) -> RunStatus {
    desk.open().run("").expect("the run")
}

/// Plays the gate in progress with these results until it is decided.
fn decide(desk: &Desk, payoff: i32) {
    let gated = status(desk).gate.map(|gate| gate.candidate);
    while status(desk).gate.map(|gate| gate.candidate) == gated {
        desk.play(&desk.lease_of(SeriesKind::Gate), payoff);
    }
}

/// v2 promoted, v3 rejected, v4 in its gate with some games played.
fn three_gates() -> Desk {
    let desk = Desk::new(CONFIG);
    for payoff in [1, -1] {
        desk.publish(status(&desk).latest_version * 100, 0);
        decide(&desk, payoff);
    }
    desk.publish(1000, 0);
    desk.play(&desk.lease_of(SeriesKind::Gate), 1);
    desk
}

fn checks(desk: &Desk) -> Vec<VerdictCheck> {
    Records::open(&desk.folder()).expect("opens").verify_gates("").expect("the logs are read")
}

fn tamper(desk: &Desk, sql: &str) {
    let database = Connection::open(desk.folder().join("coordinator.sqlite")).expect("opens");
    assert!(database.execute(sql, []).expect("valid SQL") > 0, "{sql} changes nothing");
}

fn disagreements(desk: &Desk) -> Vec<(u64, String)> {
    let found = checks(desk).into_iter().filter_map(|check| match check.finding {
        Finding::Disagrees(how) => Some((check.candidate, how)),
        _ => None,
    });
    found.collect()
}

#[test]
fn stored_verdicts_come_out_of_their_logs_again() {
    let desk = three_gates();
    let checks = checks(&desk);
    let stored: Vec<_> = checks.iter().map(|check| (check.candidate, &check.stored[..])).collect();
    assert_eq!(stored, [(2, "promoted"), (3, "rejected"), (4, "running")]);
    assert_eq!([&checks[0].finding, &checks[1].finding], [&Finding::Agrees; 2]);
    assert!(matches!(checks[2].finding, Finding::NothingToCompare(_)));
    assert_eq!((checks[0].opponent, checks[1].opponent), (0, 2));
    assert!(checks[0].recomputed.as_ref().is_some_and(|report| report.e_better >= 20.0));
}

#[test]
fn a_changed_result_a_missing_game_and_a_changed_state_are_found() {
    let changed = "UPDATE gate_games SET payoff = -payoff WHERE series = (SELECT min(series) FROM gates)";
    // A gate in progress that cannot be read is found when the folder is opened.
    let impossible = "UPDATE gate_games SET payoff = 100 WHERE number = 3
                      AND series = (SELECT min(series) FROM gates)";
    for (sql, candidate, how) in [
        (changed, 2, "its games decide nothing"),
        ("DELETE FROM gate_games WHERE number = 0", 2, "its games decide nothing"),
        ("UPDATE gate_games SET luck = 0.01 WHERE number = 1", 2, "is stored and"),
        ("UPDATE versions SET state = 'promoted' WHERE version = 3", 3, "listed as \"promoted\""),
        (impossible, 2, "can be worth more than"),
    ] {
        let desk = three_gates();
        assert_eq!(disagreements(&desk), []);
        tamper(&desk, sql);
        let found = disagreements(&desk);
        assert!(
            found.iter().any(|(found, words)| *found == candidate && words.contains(how)),
            "{sql}: {found:?}"
        );
    }
}

#[test]
fn a_gate_that_was_stopped_has_nothing_to_compare() {
    let desk = three_gates();
    let run = desk.run.clone();
    desk.open().stop_run(&run).expect("stops");
    let last = checks(&desk).pop().expect("three gates");
    assert_eq!((last.candidate, &last.stored[..]), (4, "stopped"));
    assert!(matches!(last.finding, Finding::NothingToCompare(_)));
}
