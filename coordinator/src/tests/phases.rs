//! Phases: when they begin, what is played in them, and what becomes of the games of those before.

use ludus_config::RunConfig;
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::{Accounting, RunStatus, SeriesKind};

use super::desk::{CONFIG, Desk, games_of, kind_of, series_of};
use crate::http::View;

/// A run whose phases are these, with leases of eight games.
fn desk(phases: &str) -> Desk {
    Desk::new(&format!("{CONFIG}{phases}"))
}

fn status(desk: &Desk) -> RunStatus {
    desk.open().run("").expect("the run")
}

const HALF: &str = "[[phases]]\nfrom_games = 8\nrollout_share = 0.5\n";
const SUPERVISED: &str = "[[phases]]\nfrom_games = 8\nrollout_share = 1\n";

#[test]
fn a_phase_begins_with_the_game_it_waits_for_and_games_that_are_out_still_count() {
    let mut desk = desk("[[phases]]\nfrom_games = 8\nvariance = \"luck\"\nexplore = 0.25\n");
    let (first, second) = (desk.lease("a"), desk.lease("b"));
    let games = games_of(&first, |_| 1);
    desk.submit(&first, games[..7].to_vec());
    assert_eq!((status(&desk).phase, status(&desk).next_phase), (0, 8));
    desk.submit(&first, games);
    assert_eq!((status(&desk).phase, status(&desk).next_phase), (1, 0));

    let before = series_of(&first);
    let lease = desk.lease("a");
    let series = series_of(&lease);
    assert_eq!((lease.first, series.phase, series.explore), (0, 1, 0.25));
    assert!(series.id != before.id && series.seed != before.seed && series.luck != before.luck);
    let reply = desk.play(&second, 1);
    assert_eq!(
        (reply.accepted, reply.lease_over),
        (second.count, false),
        "its series goes on till it is empty"
    );
    desk.reopen();
    let run = status(&desk);
    assert_eq!((run.phase, run.issued, run.accepted, run.leased, run.void), (1, 24, 16, 8, 0));
}

#[test]
fn lost_games_of_an_earlier_phase_come_back_even_when_their_kind_is_over() {
    let mut desk = desk(SUPERVISED);
    let (first, lost) = (desk.lease("a"), desk.lease("b"));
    desk.submit(&lost, games_of(&lost, |_| 1)[..1].to_vec());
    desk.play(&first, 1);
    for _ in 0..4 {
        assert_eq!(kind_of(&desk.lease("a")), SeriesKind::Rollout);
    }
    desk.reopen();
    desk.now += 1_000_000;
    let again = std::iter::repeat_with(|| desk.lease("a")).take(10).find(|lease| lease.id == lost.id);
    let again = again.expect("issued again");
    assert_eq!((series_of(&again), &again.players), (series_of(&lost), &lost.players));
    assert_eq!(desk.play(&again, 1).accepted, lost.count - 1);
    desk.now += 1_000_000;
    for _ in 0..20 {
        assert_eq!(kind_of(&desk.lease("a")), SeriesKind::Rollout, "nothing else is left");
    }
    let run = desk.open().overview().expect("an overview").runs.remove(0);
    assert_eq!((run.self_play.issued, run.self_play.accepted), (16, 16));
}

#[test]
fn the_workers_time_is_shared_by_gates_self_play_and_rollouts() {
    let desk = desk(&HALF.replace("0.5", "0.75"));
    desk.play(&desk.lease("a"), 1);
    desk.publish(8, 0);
    let mut kinds = Vec::new();
    for _ in 0..16 {
        kinds.push(kind_of(&desk.lease("a")));
    }
    let count = |kind| kinds.iter().filter(|&&found| found == kind).count();
    assert_eq!([SeriesKind::Gate, SeriesKind::SelfPlay, SeriesKind::Rollout].map(count), [8, 2, 6]);
}

#[test]
fn what_rollouts_bring_is_sent_like_other_games_and_counted_apart() {
    let desk = desk(HALF);
    desk.play(&desk.lease("a"), 1);
    let lease = desk.lease_of(SeriesKind::Rollout);
    assert_eq!(lease.players[0], lease.players[1], "the latest version against itself");
    let rollout = series_of(&lease).rollout.expect("what is rolled out");
    assert_eq!((rollout.positions, rollout.trials, rollout.horizon), (4, 12, 8));
    let mut games = games_of(&lease, |_| 1);
    games[0].labels.clear();
    let reply = desk.submit(&lease, games);
    assert_eq!((reply.accepted, &reply.refused[0].reason[..]), (lease.count - 1, "wrong-labels"));

    let batch = desk.outbox().pop().expect("a batch");
    assert_eq!((batch.series, batch.games.len()), (lease.series, 7));
    assert!(batch.games.iter().all(|game| game.labels[0].trials == 12));
    let expected = Accounting { issued: 8, accepted: 7, leased: 1, void: 0 };
    let run = status(&desk);
    // The lease of self-play that came in between was given back.
    assert_eq!((run.rollouts, run.accepted, run.backlog), (Some(expected), 15, 15));
    let overview = desk.open().overview().expect("an overview").runs.remove(0);
    assert_eq!((overview.self_play.accepted, overview.rollouts.accepted), (8, 7));
}

#[test]
fn a_trainer_that_is_behind_holds_back_rollouts_and_self_play() {
    let behind = CONFIG.replace("backlog_games = 1000", "backlog_games = 16");
    let desk = Desk::new(&format!("{behind}{HALF}"));
    desk.play(&desk.lease("a"), 1);
    desk.play(&desk.lease("a"), 1);
    assert_eq!(status(&desk).phase, 1);
    assert!(desk.wait_reason("a").contains("the trainer is 16 games behind"));
    desk.report(16).expect("reported");
    let mut kinds = [desk.lease("a"), desk.lease("a")].map(|lease| kind_of(&lease) as i32);
    kinds.sort_unstable();
    assert_eq!(kinds, [SeriesKind::SelfPlay as i32, SeriesKind::Rollout as i32]);
}

#[test]
fn phases_that_are_over_before_they_begin_are_passed_over() {
    let desk = desk(
        "[[phases]]\nfrom_games = 3\nrollout_share = 1\n[[phases]]\nfrom_games = 8\nrollout_share = 0\n",
    );
    desk.play(&desk.lease("a"), 1);
    assert_eq!(status(&desk).phase, 2);
    assert_eq!(desk.count("SELECT count(*) FROM series"), 2);
    let lease = desk.lease("a");
    assert_eq!((kind_of(&lease), series_of(&lease).phase), (SeriesKind::SelfPlay, 2));
}

#[test]
fn a_stop_ends_the_series_of_all_phases() {
    let mut desk = desk(HALF);
    let (first, second) = (desk.lease("a"), desk.lease("b"));
    desk.play(&first, 1);
    let labelled = desk.lease_of(SeriesKind::Rollout);
    desk.open().stop_run("coin").expect("stopped");
    for lease in [&second, &labelled] {
        let reply = desk.play(lease, 1);
        assert_eq!((reply.accepted, reply.lease_over), (0, true));
    }
    desk.reopen();
    let run = status(&desk);
    assert_eq!((run.accepted, run.leased, run.void), (8, 0, run.issued - 8));
    assert!(matches!(desk.acquire("a"), Ok(Answer::Wait(_))));
}

#[test]
fn a_run_may_begin_with_rollouts() {
    let config = CONFIG.replace("[gate]", "[self_play]\nrollout_share = 1\n[gate]");
    let desk = Desk::new(&config);
    assert_eq!(kind_of(&desk.lease("a")), SeriesKind::Rollout);
    assert_eq!(desk.count("SELECT count(*) FROM series"), 1);
}

/// A configuration as it was written down before there were phases.
const OLDER: &str = "
game = \"coin\"
seed = 1

[self_play]
variance = \"none\"
explore = 0.05
plies = 0

[network]
inputs = \"faces-2\"
hidden = 3

[learn]
optimizer = \"adamw\"
step_size = 0.002
final_step_size = 0.0001
decay_games = 3000000
weight_decay = 0.0
batch = 128
lambda = 0.7
publish_games = 20000
publish_growth = 0.02
checkpoint_seconds = 20
max_age_seconds = 0

[gate]
alpha = 0.05
beta = 0.05
delta = 0.1
limit_pairs = 40
luck = false
luck_bound = 3.0
share = 0.5
benchmark = \"\"
benchmark_tolerance = 0.5

[leases]
ttl_seconds = 60
target_seconds = 4.0
max_games = 8
backlog_games = 1000
";

#[test]
fn a_run_from_before_there_were_phases_goes_on() {
    let mut desk = Desk::new(CONFIG);
    desk.play(&desk.lease("a"), 1);
    let held = desk.lease("b");
    let database = rusqlite::Connection::open(desk.folder().join("coordinator.sqlite")).expect("opens");
    assert_eq!(database.execute("UPDATE runs SET config = ?", [OLDER]).expect("valid SQL"), 1);
    drop(database);
    desk.reopen();
    let run = status(&desk);
    let config = RunConfig::parse(&run.config).expect("complete");
    assert_eq!((config.phases.len(), config.self_play.rollout_share), (0, 0.0));
    assert_eq!((run.phase, run.next_phase, run.accepted, run.leased), (0, 0, 8, 8));
    assert_eq!(desk.play(&held, 1).accepted, held.count);
    let next = desk.lease("a");
    assert_eq!((series_of(&next), next.first), (series_of(&held), 16));
}
