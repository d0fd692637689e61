//! The workers: who was here lately, and how fast each plays.
//!
//! Nothing here is kept on disk: after a restart it is learnt again within a lease or two.

use std::collections::{BTreeMap, HashMap};

use ludus_config::Leases;

use crate::leases::Millis;
use crate::turns::Work;

/// A worker that has not asked for this long is no longer counted.
const HERE: Millis = 60_000;
/// A worker that has not asked for this long is forgotten.
const FORGOTTEN: Millis = 3_600_000;
/// Size of a lease whose duration nobody can guess.
const FIRST_GAMES: f64 = 8.0;
/// A lease is at most this many times as large as what was measured on, so that one lucky measurement does no harm.
const LARGEST_STEP: f64 = 8.0;

/// All workers, by name.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    workers: HashMap<String, Worker>,
}

#[derive(Debug, Default)]
struct Worker {
    seen: Millis,
    /// Build of its program, such as `0.1.0`.
    engine: String,
    accepted: u64,
    refused: u64,
    pulse: Pulse,
    /// How fast one of its threads plays, by kind of work and phase: another phase may measure luck, or not any more.
    pace: HashMap<(Work, u32), Pace>,
}

#[derive(Clone, Copy, Debug)]
struct Pace {
    games_per_second: f64,
    /// Size of the last lease it was measured on.
    games: f64,
}

/// How many games a second come in, counted over stretches of some seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Pulse {
    since: Millis,
    games: u64,
    /// Of the last whole stretch.
    rate: f64,
}

/// Length of a stretch.
const STRETCH: Millis = 10_000;

impl Pulse {
    fn beat(&mut self, games: u64, now: Millis) {
        if self.since == 0 {
            self.since = now;
        }
        self.games += games;
        let passed = now.saturating_sub(self.since);
        if passed >= STRETCH {
            self.rate = self.games as f64 * 1000.0 / passed as f64;
            (self.since, self.games) = (now, 0);
        }
    }

    fn rate(&self, now: Millis) -> f64 {
        let passed = now.saturating_sub(self.since);
        match passed {
            // Nothing has come for a long while, or a first stretch is under way.
            _ if passed > 3 * STRETCH || (self.rate == 0.0 && passed > 1000) => {
                self.games as f64 * 1000.0 / passed as f64
            }
            _ => self.rate,
        }
    }
}

/// What people see of a worker.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen<'r> {
    pub name: &'r str,
    pub engine: &'r str,
    pub at: Millis,
    /// Games accepted and refused since the coordinator started or it was forgotten.
    pub accepted: u64,
    pub refused: u64,
    /// Games a second.
    pub rate: f64,
}

/// How much to hand out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Portion {
    pub games: u32,
    /// Games a second, as far as one can know.
    pub rate: Option<f64>,
}

impl Portion {
    /// How long a lease will take that came of it, which has `games` to play: more than asked for when a block that somebody
    /// gave back is handed out again. It is what the lease costs on the clock of its work.
    pub(crate) fn seconds(&self, games: f64, leases: &Leases) -> f64 {
        let seconds = self.rate.map_or(leases.target_seconds, |rate| games / rate);
        // Nobody holds a lease for so long without handing anything in; a rate that says so is a worker that slept, or
        // a claim, and the clock of the work would keep all others waiting for it.
        seconds.min(leases.target_seconds.max(f64::from(leases.ttl_seconds)))
    }
}

impl Roster {
    /// Notes that a worker is here.
    pub(crate) fn greet(&mut self, name: &str, now: Millis) {
        if !self.workers.contains_key(name) {
            self.workers.retain(|_, worker| worker.seen + FORGOTTEN > now);
        }
        self.workers.entry(name.to_owned()).or_default().seen = now;
    }

    /// Notes the build of a worker's program.
    pub(crate) fn introduce(&mut self, name: &str, engine: &str) {
        const LONGEST: usize = 40;
        if let Some(worker) = self.workers.get_mut(name).filter(|worker| worker.engine != engine) {
            worker.engine = engine.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
        }
    }

    /// Notes what became of games that a worker handed in.
    pub(crate) fn handed_in(&mut self, name: &str, accepted: u64, refused: u64, now: Millis) {
        let Some(worker) = self.workers.get_mut(name) else { return };
        worker.accepted += accepted;
        worker.refused += refused;
        worker.pulse.beat(accepted, now);
    }

    /// The workers that were here lately, by name.
    pub(crate) fn look(&self, now: Millis) -> Vec<Seen<'_>> {
        let here = self.here(now).into_keys().filter_map(|name| self.workers.get_key_value(name));
        let seen = here.map(|(name, worker)| Seen {
            name,
            engine: &worker.engine,
            at: worker.seen,
            accepted: worker.accepted,
            refused: worker.refused,
            rate: worker.pulse.rate(now),
        });
        seen.collect()
    }

    /// How many workers were here lately.
    pub(crate) fn count(&self, now: Millis) -> usize {
        self.here(now).len()
    }

    /// The workers that were here lately, by name, with the moment each was seen last.
    pub(crate) fn here(&self, now: Millis) -> BTreeMap<&str, Millis> {
        let here = self.workers.iter().filter(|(_, worker)| worker.seen + HERE > now);
        here.map(|(name, worker)| (name.as_str(), worker.seen)).collect()
    }

    /// Notes that a thread of `name` played `games` of a lease of `work` in this phase in `millis`.
    pub(crate) fn timed(&mut self, name: &str, work: (Work, u32), games: u32, millis: Millis) {
        let Some(worker) = self.workers.get_mut(name) else { return };
        let games = f64::from(games);
        let measured = games * 1000.0 / millis.max(1) as f64;
        let pace = worker.pace.entry(work).or_insert(Pace { games_per_second: measured, games });
        pace.games_per_second = 0.5 * (pace.games_per_second + measured);
        pace.games = games;
    }

    /// How many games of `work` in this phase to hand to a thread of `name`, which says of itself that it plays `claimed`
    /// self-play games a second (0 when it does not know).
    pub(crate) fn portion(&self, name: &str, work: (Work, u32), claimed: f64, leases: &Leases) -> Portion {
        let most = f64::from(leases.max_games);
        let worker = self.workers.get(name);
        let pace = worker.and_then(|worker| worker.pace.get(&work));
        // What it says of itself may be of another phase once it has played for this run.
        let known = worker.is_some_and(|worker| worker.pace.keys().any(|(known, _)| *known == work.0));
        let trusted = matches!(work.0, Work::SelfPlay(_)) && !known;
        let claimed = Some(claimed).filter(|rate| trusted && rate.is_finite() && *rate > 0.0);
        let rate = pace.map(|pace| pace.games_per_second).or(claimed);
        let ceiling = pace.map_or(most, |pace| (pace.games * LARGEST_STEP).min(most));
        let wanted = rate.map_or(FIRST_GAMES, |rate| rate * leases.target_seconds);
        // Even, so that pairs stay together.
        let games = ((wanted.min(ceiling) / 2.0).round() * 2.0).clamp(2.0, (most / 2.0).floor() * 2.0);
        Portion { games: games as u32, rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAY: (Work, u32) = (Work::SelfPlay(1), 0);
    const ROLLOUT: (Work, u32) = (Work::Rollout(1), 0);
    const GATE: (Work, u32) = (Work::Gate(1), 0);

    fn leases() -> Leases {
        Leases { target_seconds: 4.0, max_games: 1001, ..Leases::default() }
    }

    #[test]
    fn a_lease_lasts_as_long_as_was_asked_for_once_the_pace_is_known() {
        let mut roster = Roster::default();
        roster.greet("w", 0);
        assert_eq!(roster.portion("w", PLAY, 0.0, &leases()), Portion { games: 8, rate: None });
        roster.timed("w", PLAY, 8, 200);
        assert_eq!(roster.portion("w", PLAY, 0.0, &leases()).games, 64, "grows by steps");
        roster.timed("w", PLAY, 64, 1600);
        assert_eq!(roster.portion("w", PLAY, 0.0, &leases()), Portion { games: 160, rate: Some(40.0) });
        assert_eq!(roster.portion("w", GATE, 0.0, &leases()).games, 8, "another kind of game, another pace");
    }

    #[test]
    fn a_worker_that_knows_its_pace_starts_with_it_but_only_for_self_play() {
        let roster = Roster::default();
        assert_eq!(roster.portion("w", PLAY, 30.0, &leases()).games, 120);
        assert_eq!(roster.portion("w", GATE, 30.0, &leases()).games, 8);
        assert_eq!(roster.portion("w", ROLLOUT, 30.0, &leases()).games, 8);
    }

    #[test]
    fn a_new_phase_is_measured_anew() {
        let mut roster = Roster::default();
        roster.greet("w", 0);
        roster.timed("w", PLAY, 100, 1000);
        assert_eq!(roster.portion("w", PLAY, 0.0, &leases()).games, 400);
        let next = (Work::SelfPlay(1), 1);
        assert_eq!(roster.portion("w", next, 100.0, &leases()).games, 8, "its claim is of the phase before");
        roster.timed("w", next, 8, 8000);
        assert_eq!(roster.portion("w", next, 100.0, &leases()).games, 4);
    }

    #[test]
    fn leases_are_even_and_within_their_limits_whatever_a_worker_claims() {
        let roster = Roster::default();
        for claimed in [f64::MIN_POSITIVE, 1e-9, 0.3, 55.55, 1e300, f64::NAN, f64::INFINITY, -7.0] {
            let portion = roster.portion("w", PLAY, claimed, &leases());
            assert!(portion.games % 2 == 0 && (2..=1000).contains(&portion.games), "{claimed}: {portion:?}");
            let seconds = portion.seconds(f64::from(portion.games), &leases());
            assert!(seconds > 0.0 && seconds <= 60.0, "{claimed}: {portion:?}");
        }
    }

    #[test]
    fn a_large_block_that_comes_back_costs_its_work_no_more_than_a_lease_may_last() {
        let mut roster = Roster::default();
        roster.greet("w", 0);
        // Of a pace that nobody knows yet, 4096 games are taken for a lease of the usual length.
        assert_eq!(roster.portion("w", GATE, 0.0, &leases()).seconds(4096.0, &leases()), 4.0);
        roster.timed("w", GATE, 8, 2000);
        let known = roster.portion("w", GATE, 0.0, &leases());
        assert_eq!(known.seconds(100.0, &leases()), 25.0);
        assert_eq!(known.seconds(4096.0, &leases()), 60.0);
    }

    #[test]
    fn the_rate_of_a_worker_is_that_of_the_last_stretch_and_fades_when_nothing_comes() {
        let mut roster = Roster::default();
        roster.greet("w", 1000);
        roster.introduce("w", "0.1.0");
        for second in 1..=20 {
            roster.greet("w", second * 1000);
            roster.handed_in("w", 50, 1, second * 1000);
        }
        let seen = roster.look(20_000)[0].clone();
        assert_eq!((seen.engine, seen.accepted, seen.refused), ("0.1.0", 1000, 20));
        assert!((seen.rate - 50.0).abs() < 6.0, "{}", seen.rate);
        assert!(roster.look(70_000)[0].rate < 10.0);
    }

    #[test]
    fn workers_are_counted_while_they_ask_and_forgotten_after_an_hour() {
        let mut roster = Roster::default();
        roster.greet("a", 0);
        roster.greet("b", 30_000);
        assert_eq!((roster.count(59_999), roster.count(60_000), roster.count(90_000)), (2, 1, 0));
        roster.greet("c", FORGOTTEN + 1);
        assert_eq!(roster.workers.len(), 2);
    }
}
