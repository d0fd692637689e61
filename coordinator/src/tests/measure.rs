//! How much one coordinator can take. Run with
//! `cargo test --release -p ludus-coordinator --lib -- --ignored --nocapture measure`.

use std::time::Instant;

use super::desk::{CONFIG, Desk, games_of};

#[test]
#[ignore = "a measurement"]
fn leases_and_submissions_a_second() {
    let config = CONFIG
        .replace("max_games = 8", "max_games = 512")
        .replace("backlog_games = 1000", "backlog_games = 100000000");
    let mut desk = Desk::new(&format!("{config}[learn]\npublish_games = 100000000\n"));
    let rounds = 200;
    let (mut leasing, mut submitting, mut games) = (0.0, 0.0, 0);
    for round in 0..rounds {
        // As fast as leases grow: the coordinator believes that games take a millisecond.
        desk.now += 100;
        let started = Instant::now();
        let lease = desk.lease("w");
        leasing += started.elapsed().as_secs_f64();
        let played = games_of(&lease, |_| 1);
        let count = played.len();
        let started = Instant::now();
        desk.submit(&lease, played);
        if round > rounds / 2 {
            submitting += started.elapsed().as_secs_f64();
            games += count;
        }
    }
    println!("leases: {:.0}/s", f64::from(rounds) / leasing);
    println!(
        "submissions: {:.0}/s, of {} games",
        f64::from(rounds / 2 - 1) / submitting,
        games / (rounds as usize / 2 - 1)
    );
}
