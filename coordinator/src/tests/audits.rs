//! Forgers, and how they are found.

use std::sync::Arc;

use ludus_games::Backgammon;
use ludus_players::arena::{Arena, Registry, Seating, Source};
use ludus_players::record;
use ludus_players::weight_file::{Card, Digest, WeightFile};
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::{
    AcquireRequest, GameRecord, JoinRequest, Lease, PlayableGame, PublishRequest, SubmitRequest,
};
use ludus_stream::StreamHome;

use super::desk::{CONFIG, Desk, games_of};
use crate::audit::Auditor;
use crate::tokens::Caller;
use crate::{Coordinator, CoordinatorOptions, Retention, Role};

/// Plays again whatever waits for it.
fn audit(coordinator: &Coordinator) {
    let mut auditor = Auditor::default();
    while coordinator.shared.audit_next(&mut auditor).expect("audited") {}
}

fn state_of(coordinator: &Coordinator, name: &str) -> String {
    let tokens = coordinator.tokens().expect("listed");
    tokens.into_iter().find(|token| token.name == name).expect("there").state
}

/// A new worker's token.
fn worker(coordinator: &Coordinator, name: &str) -> Caller {
    coordinator.create_token(name, Role::Worker).expect("made");
    let state = coordinator.shared.lock().expect("locked");
    Caller::Holder(state.book().tokens.named(name).expect("there").id)
}

const SEED: u64 = 3;

/// A run of backgammon with a tiny network, whose games are audited at 10%.
struct Cluster {
    coordinator: Coordinator,
    _dir: tempfile::TempDir,
    arena: Arc<dyn Arena>,
    weights: WeightFile,
    digest: Digest,
}

impl Cluster {
    fn new() -> Cluster {
        let dir = tempfile::tempdir().expect("a folder");
        let registry = Registry::standard();
        let arena = registry.find("backgammon").expect("the game").clone();
        let coordinator = Coordinator::open(CoordinatorOptions {
            dir: dir.path().to_owned(),
            stream: StreamHome::Local { folder: dir.path().to_owned() },
            registry,
            insecure: false,
            keep: Retention::default(),
            depot: None,
            tls: None,
        })
        .expect("opens");
        let inputs = arena.input_sets()[0];
        let config = format!(
            "game = \"backgammon\"\nphases = []\n[network]\ninputs = \"{inputs}\"\nhidden = 2\n\
             [self_play]\nvariance = \"luck\"\n[gate]\nshare = 0.0\nbenchmark = \"\"\n[audit]\nshare = 0.1\n"
        );
        let run = coordinator.create_run(&config, "").expect("a run");
        let join = JoinRequest { run: run.clone(), trainer: "t".into() };
        let fence = coordinator.shared.join(&join).expect("joins").fence;
        let card = Card {
            game: "backgammon".into(),
            revision: arena.revision(),
            inputs: inputs.into(),
            run: run.clone(),
            version: 1,
            parent: String::new(),
            created_at: 1,
            counters: Default::default(),
        };
        let weights =
            WeightFile::fresh(card, &arena.shapes(inputs, 2).expect("shapes"), SEED).expect("weights");
        let bytes = weights.to_bytes().expect("bytes");
        let digest = Digest::of(&bytes);
        let publish = PublishRequest { run, fence, weights: bytes, progress: None };
        coordinator.shared.publish(&publish, crate::clock::now()).expect("published");
        Cluster { coordinator, _dir: dir, arena, weights, digest }
    }

    fn lease(&self, caller: Caller) -> Lease {
        let request = AcquireRequest {
            worker: "w".into(),
            games: vec![PlayableGame { name: "backgammon".into(), revision: self.arena.revision() }],
            ..AcquireRequest::default()
        };
        match self.coordinator.shared.acquire(caller, &request, crate::clock::now()) {
            Ok(Answer::Lease(lease)) => lease,
            other => panic!("no lease: {other:?}"),
        }
    }

    /// Plays as a worker does, hands in what `forge` makes of each game, one by one, until the token is out or `most` games
    /// are in. Gives the games that were taken.
    fn work(&self, name: &str, most: u32, forge: impl Fn(&Lease, GameRecord) -> GameRecord) -> u32 {
        let caller = worker(&self.coordinator, name);
        let mut taken = 0;
        loop {
            let lease = self.lease(caller);
            let seat = Seating {
                source: Source::Weights { digest: self.digest, file: Arc::new(self.weights.clone()) },
                plies: 0,
            };
            let series = lease.series.expect("a series");
            let mut table = self.arena.table(&series, [&seat, &seat]).expect("a table");
            for number in lease.first..lease.first + u64::from(lease.count) {
                let game = forge(&lease, table.play(number).expect("played"));
                let request = SubmitRequest {
                    lease_id: lease.id,
                    token: lease.token,
                    worker: "w".into(),
                    games: vec![game],
                    unplayable: Vec::new(),
                };
                let reply = self.coordinator.shared.submit(caller, &request, crate::clock::now());
                let reply = reply.expect("an answer");
                assert_eq!(reply.refused, vec![], "no rule is broken");
                taken += reply.accepted;
                audit(&self.coordinator);
                if taken == most || state_of(&self.coordinator, name) != "active" {
                    return taken;
                }
            }
        }
    }
}

/// The game with another digest, the one that belongs to it.
fn sealed(lease: &Lease, mut game: GameRecord) -> GameRecord {
    game.digest = record::digest::<Backgammon>(&lease.series.expect("a series"), &lease.players, &game);
    game
}

/// One luck value of the middle of the game, off by one unit.
fn forge_luck(lease: &Lease, mut game: GameRecord) -> GameRecord {
    let middle = game.luck.len() / 4 * 2;
    game.luck[middle] ^= 1;
    sealed(lease, game)
}

/// Another play late in the game that leads to the same result by the rules; the game as it is where there is none.
fn forge_play(arena: &dyn Arena, lease: &Lease, game: GameRecord) -> GameRecord {
    let series = lease.series.expect("a series");
    for ply in (0..game.plays.len()).rev().take(16) {
        for play in (0..8).filter(|&play| play != game.plays[ply]) {
            let mut forged = game.clone();
            forged.plays[ply] = play;
            let forged = sealed(lease, forged);
            if arena.check(&series, &lease.players, &forged).is_ok() {
                return forged;
            }
        }
    }
    game
}

#[test]
fn who_forges_one_luck_value_of_each_game_is_out_within_a_hundred_and_the_honest_stay() {
    let cluster = Cluster::new();
    assert_eq!(cluster.work("honest", 40, |_, game| game), 40);
    assert_eq!(state_of(&cluster.coordinator, "honest"), "active");
    let taken = cluster.work("forger", 100, forge_luck);
    assert_eq!(state_of(&cluster.coordinator, "forger"), "quarantined", "after {taken} games");
    let tokens = cluster.coordinator.tokens().expect("listed");
    assert!(tokens[1].reason.contains("its luck"), "{}", tokens[1].reason);
    assert!(cluster.coordinator.run("").expect("the run").accepted >= 40);
}

#[test]
fn who_forges_one_move_of_each_game_is_out_within_a_hundred() {
    let cluster = Cluster::new();
    let arena = cluster.arena.clone();
    let forged = std::cell::Cell::new(0);
    let taken = cluster.work("forger", 100, |lease, game| {
        let other = forge_play(&*arena, lease, game.clone());
        forged.set(forged.get() + u32::from(other != game));
        other
    });
    assert!(forged.get() * 2 > taken, "only {} of {taken} games could be forged", forged.get());
    assert_eq!(state_of(&cluster.coordinator, "forger"), "quarantined", "after {taken} games");
}

#[test]
fn versions_know_whose_games_they_may_have_learnt_from_and_which_are_marked() {
    let config = format!("{CONFIG}[audit]\nshare = 1.0\n").replace("share = 0.5", "share = 0.0");
    let mut desk = Desk::new(&config);
    let (honest, forger) = (worker(desk.open(), "honest"), worker(desk.open(), "forger"));
    let play = |desk: &Desk, caller, payoff| {
        let lease = desk.lease_as(caller);
        let request = SubmitRequest {
            lease_id: lease.id,
            token: lease.token,
            worker: "w".into(),
            games: games_of(&lease, |_| payoff),
            unplayable: Vec::new(),
        };
        let reply = desk.open().shared.submit(caller, &request, desk.now).expect("an answer");
        assert_eq!(reply.accepted, lease.count);
        u64::from(lease.count)
    };
    // At this table seat 0 always wins.
    let good = play(&desk, honest, 1);
    audit(desk.open());
    assert_eq!(desk.publish(8, 0), 2);
    let bad = play(&desk, forger, -1);
    let held = desk.lease_as(forger);
    assert_eq!(desk.publish(16, 0), 3);
    audit(desk.open());
    assert_eq!(
        (state_of(desk.open(), "honest"), state_of(desk.open(), "forger")),
        ("active".into(), "quarantined".into())
    );
    assert_eq!(desk.lease_as(honest).id, held.id, "what the forger held is handed out again");

    desk.reopen();
    let records = crate::Records::open(&desk.folder()).expect("read");
    for lineage in [desk.open().lineage("").expect("told"), records.lineage("").expect("told")] {
        let learnt = |version: usize| {
            let parts = lineage[version - 1].learnt.iter();
            parts.map(|part| (part.token.clone(), part.games, part.marked)).collect::<Vec<_>>()
        };
        assert_eq!(learnt(1), vec![]);
        assert_eq!(learnt(2), vec![("honest".into(), good, 0)]);
        assert_eq!(learnt(3), vec![("forger".into(), bad, bad), ("honest".into(), good, 0)]);
        assert_eq!(lineage[2].parent, lineage[1].parent);
    }
    let state = desk.open().shared.lock().expect("locked");
    let run = state.book().runs.values().next().expect("the run");
    assert_eq!(run.audits.values().sum::<u64>(), good + bad);
    assert!(run.audits["agreed"] >= good && run.audits["differed"] >= 1);
}

#[test]
fn a_game_that_is_called_unplayable_and_can_be_played_is_a_forgery() {
    let config = format!("{CONFIG}[audit]\nshare = 1.0\n");
    let desk = Desk::new(&config);
    let lazy = worker(desk.open(), "lazy");
    let lease = desk.lease_as(lazy);
    let request = SubmitRequest {
        lease_id: lease.id,
        token: lease.token,
        worker: "w".into(),
        games: Vec::new(),
        unplayable: vec![lease.first],
    };
    desk.open().shared.submit(lazy, &request, desk.now).expect("an answer");
    audit(desk.open());
    assert_eq!(state_of(desk.open(), "lazy"), "quarantined");
}

#[test]
fn players_of_the_coordinators_own_process_are_neither_audited_nor_written_down() {
    let desk = Desk::new(&format!("{CONFIG}[audit]\nshare = 1.0\n"));
    let lease = desk.lease_as(Caller::House);
    let request = SubmitRequest {
        lease_id: lease.id,
        token: lease.token,
        worker: "w".into(),
        games: games_of(&lease, |_| -1),
        unplayable: Vec::new(),
    };
    desk.open().shared.submit(Caller::House, &request, desk.now).expect("an answer");
    assert_eq!(desk.count("SELECT count(*) FROM audits"), 0);
    assert_eq!(desk.count("SELECT count(*) FROM origins"), 0);
}
