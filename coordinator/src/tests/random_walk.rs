//! Random workers, trainers, deaths and stops: whatever happens, every game is somewhere, and once.

use std::collections::{BTreeMap, BTreeSet};

use ludus_config::RunConfig;
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::{Lease, SeriesKind};
use proptest::prelude::*;

use super::desk::{CONFIG, Desk, games_of, kind_of, series_of};
use crate::http::View;

/// Self-play, then both, then rollouts alone.
const PHASES: &str = "
[[phases]]
from_games = 12
rollout_share = 0.5
[[phases]]
from_games = 40
rollout_share = 1.0
";

#[derive(Clone, Debug)]
enum Event {
    Acquire {
        worker: u8,
    },
    /// Some games of some lease, old or new, perhaps for the second time.
    Submit {
        lease: usize,
        from: usize,
        count: usize,
        payoff: i32,
    },
    Release {
        lease: usize,
    },
    Publish,
    Report,
    Wait {
        seconds: u64,
    },
    Die,
    Stop,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        10 => (0..4u8).prop_map(|worker| Event::Acquire { worker }),
        16 => (0..12usize, 0..8usize, 1..9usize, -1..=1).prop_map(|(lease, from, count, payoff)| Event::Submit {
            lease, from, count, payoff
        }),
        2 => (0..12usize).prop_map(|lease| Event::Release { lease }),
        2 => Just(Event::Publish),
        1 => Just(Event::Report),
        3 => (0..80u64).prop_map(|seconds| Event::Wait { seconds }),
        2 => Just(Event::Die),
    ]
}

fn walk() -> impl Strategy<Value = Vec<Event>> {
    (prop::collection::vec(event(), 1..80), prop::option::of(0..80usize)).prop_map(|(mut events, stop)| {
        if let Some(stop) = stop.filter(|&stop| stop < events.len()) {
            events.insert(stop, Event::Stop);
        }
        events
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_game_is_somewhere_and_every_accepted_one_is_sent_once(events in walk()) {
        let config = format!("{CONFIG}{PHASES}");
        let phases = RunConfig::parse(&config).expect("good");
        let mut desk = Desk::new(&config);
        let mut leases: Vec<Lease> = Vec::new();
        let (mut accepted, mut trained) = (BTreeMap::<SeriesKind, u64>::new(), 0);
        for event in events {
            match event {
                Event::Acquire { worker } => {
                    if let Answer::Lease(lease) = desk.acquire(&format!("w{worker}")).expect("an answer") {
                        let series = series_of(&lease);
                        let known = leases.iter().any(|known: &Lease| known.id == lease.id);
                        let now = phases.phase_at(desk.numbers().accepted);
                        prop_assert!(known || kind_of(&lease) == SeriesKind::Gate || series.phase == now);
                        leases.push(lease);
                    }
                }
                Event::Submit { lease, from, count, payoff } => {
                    let Some(lease) = leases.len().checked_sub(1 + lease).map(|at| leases[at].clone()) else { continue };
                    let games = games_of(&lease, |_| payoff);
                    let some = games.iter().cycle().skip(from).take(count).cloned().collect();
                    let reply = desk.submit(&lease, some);
                    prop_assert_eq!(reply.accepted + reply.repeated_games, count as u32);
                    prop_assert!(reply.refused.is_empty());
                    if kind_of(&lease) != SeriesKind::Gate {
                        *accepted.entry(kind_of(&lease)).or_default() += u64::from(reply.accepted);
                    }
                }
                Event::Release { lease } => {
                    if let Some(at) = leases.len().checked_sub(1 + lease) {
                        desk.release(&leases[at]);
                    }
                }
                Event::Publish => {
                    desk.publish(trained + 1, 0);
                }
                Event::Report => {
                    trained = desk.numbers().accepted;
                    let reply = desk.report(trained).expect("reported");
                    prop_assert_eq!(reply.accepted, trained);
                }
                Event::Wait { seconds } => desk.now += seconds * 1000,
                Event::Die => {
                    let before = desk.open().run("").expect("the run");
                    desk.reopen();
                    let mut after = desk.open().run("").expect("the run");
                    after.workers = before.workers;
                    prop_assert_eq!(after, before);
                }
                Event::Stop => desk.open().stop_run("coin").expect("stopped"),
            }
            for run in desk.open().overview().expect("an overview").runs {
                let kinds = [&run.self_play, &run.rollouts, &run.gates];
                prop_assert_eq!(kinds.map(|games| games.unaccounted()), [0; 3]);
                prop_assert_eq!(run.status.phase, phases.phase_at(run.status.accepted));
                let count = |kind| accepted.get(&kind).copied().unwrap_or_default();
                let counted = [SeriesKind::SelfPlay, SeriesKind::Rollout].map(count);
                prop_assert_eq!([run.self_play.accepted, run.rollouts.accepted], counted);
            }
        }
        let numbers = desk.numbers();
        prop_assert_eq!(numbers.accepted, accepted.values().sum::<u64>());
        let sent: Vec<(u64, u64)> = desk
            .outbox()
            .iter()
            .flat_map(|batch| batch.games.iter().map(|game| (batch.series.expect("a series").id, game.number)))
            .collect();
        prop_assert_eq!(sent.len() as u64, numbers.accepted);
        prop_assert_eq!(sent.iter().collect::<BTreeSet<_>>().len(), sent.len());
    }
}
