//! A coordinator that says what the tests want.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ludus_games::Backgammon;
use ludus_players::arena::{Arena, ArenaError, Seating};
use ludus_players::game_arena::GameArena;
use ludus_players::weight_file::{Card, Digest, Shape, WeightFile};
use ludus_proto::v1::{
    Accounting, ClassLoss, GateStatus, Progress, RunStatus, Series, SeriesKind, VersionInfo,
};

use crate::CoordinatorError;
use crate::gate::{Gate, GateRule, PairOutcome};
use crate::http::{Accounts, Overview, RunView, View, WorkerView};
use crate::watch::curves::Point;
use crate::watch::disk::Disk;
use crate::watch::kept::ListedGame;
use crate::watch::leased::OpenLease;
use crate::watch::strength::{Meeting, Score, Strength};
use crate::watch::trace::{Moment, Trace};
use crate::watch::viewing::{ViewedGame, ViewedPosition};

/// A coordinator with a run of three versions and an empty one.
pub(super) struct Scripted {
    pub files: BTreeMap<Digest, Vec<u8>>,
    pub versions: Vec<VersionInfo>,
    pub broken: AtomicBool,
    pub reads: AtomicUsize,
    /// What was asked for that changes something.
    pub actions: Mutex<Vec<String>>,
}

impl Scripted {
    pub fn new() -> Arc<Self> {
        let mut files = BTreeMap::new();
        let mut versions = vec![];
        let mut parent = vec![];
        for (number, state) in [(1, "promoted"), (2, "rejected"), (3, "gating")] {
            let card = Card {
                game: "backgammon".into(),
                revision: 1,
                inputs: "tesauro-198".into(),
                run: "bg".into(),
                version: number,
                parent: String::new(),
                created_at: 1000 * number,
                counters: BTreeMap::from([("games".into(), 500 * number)]),
            };
            let shape = Shape { class: "contact".into(), inputs: 6, hidden: 2, outputs: 5 };
            let bytes = WeightFile::fresh(card, &[shape], number).unwrap().to_bytes().unwrap();
            let sha256 = Digest::of(&bytes);
            versions.push(VersionInfo {
                version: number,
                state: state.into(),
                sha256: sha256.0.to_vec(),
                parent: std::mem::replace(&mut parent, sha256.0.to_vec()),
                size: bytes.len() as u64,
                published_at: 1000 * number,
                progress: Some(Progress {
                    games: 500 * number,
                    positions: 30_000 * number,
                    ..Progress::default()
                }),
                gate: (number == 1).then(|| GateStatus {
                    candidate: 1,
                    pairs: 40,
                    ppg: 1.25,
                    verdict: "promoted".into(),
                    ..GateStatus::default()
                }),
            });
            files.insert(sha256, bytes);
        }
        Arc::new(Scripted {
            files,
            versions,
            broken: AtomicBool::new(false),
            reads: AtomicUsize::new(0),
            actions: Mutex::default(),
        })
    }

    pub fn bytes(&self, number: usize) -> &[u8] {
        &self.files[&self.digest(number)]
    }

    pub fn digest(&self, number: usize) -> Digest {
        Digest(self.versions[number - 1].sha256.as_slice().try_into().unwrap())
    }
}

impl View for Scripted {
    fn ready(&self) -> Result<(), String> {
        if self.broken.load(Ordering::Relaxed) { Err("the disk is <full>".into()) } else { Ok(()) }
    }

    fn overview(&self) -> Result<Overview, CoordinatorError> {
        let rule = GateRule { alpha: 0.05, beta: 0.05, delta: 0.005, limit_pairs: 1000, bound: 3.0 };
        let log = (0..10).map(|pair| PairOutcome { pair, points: if pair % 2 == 0 { 0.5 } else { 0.0 } });
        let report = Gate::replay(rule, log).unwrap().report();
        let status = RunStatus {
            run: "bg".into(),
            game: "backgammon".into(),
            state: "active".into(),
            created_at: 900,
            issued: 2100,
            accepted: 1780,
            leased: 310,
            void: 10,
            progress: Some(Progress {
                games: 1500,
                positions: 90_000,
                losses: vec![ClassLoss { class: "contact".into(), loss: 0.125, positions: 10 }],
                ..Progress::default()
            }),
            latest_version: 3,
            champion: 1,
            gate: Some(GateStatus {
                candidate: 3,
                opponent: 1,
                pairs: report.pairs,
                limit: report.limit,
                ppg: report.ppg,
                ppg_low: report.interval.low,
                ppg_high: report.interval.high,
                e_better: report.e_better,
                e_worse: report.e_worse,
                verdict: report.verdict.as_str().into(),
                reason: report.reason.clone(),
            }),
            workers: 1,
            config: "game = \"backgammon\"\n".into(),
            backlog: 200,
            phase: 1,
            next_phase: 5000,
            rollouts: Some(Accounting { issued: 100, accepted: 80, leased: 20, void: 0 }),
        };
        let void = BTreeMap::from([("run-stopped".to_owned(), 10)]);
        let run = RunView {
            status,
            gate: Some(report),
            self_play: Accounts { issued: 2000, accepted: 1700, leased: 290, void },
            rollouts: Accounts { issued: 100, accepted: 80, leased: 20, void: BTreeMap::new() },
            gates: Accounts { issued: 100, accepted: 60, leased: 39, void: BTreeMap::new() },
            refused: BTreeMap::from([("illegal-play".into(), 4)]),
            audits: BTreeMap::from([("agreed".into(), 17)]),
            leases: BTreeMap::from([("gate", 3)]),
            outbox: 6,
            reported_at: Some(2900),
        };
        let empty = RunStatus { run: "empty".into(), state: "stopped".into(), ..RunStatus::default() };
        Ok(Overview {
            runs: vec![run, RunView { status: empty, ..RunView::default() }],
            workers: vec![WorkerView {
                name: "<script>alert(1)</script>".into(),
                engine: "0.1.0".into(),
                idle_seconds: 3,
                games_per_second: 12.34,
                accepted: 5000,
                refused: 4,
                leased: 64,
            }],
            strays: BTreeMap::from([("unknown-lease".into(), 2)]),
            refused_requests: BTreeMap::from([("no-token".into(), 3)]),
            tokens: BTreeMap::from([("active".into(), 1)]),
        })
    }

    fn versions(&self, run: &str) -> Result<Vec<VersionInfo>, CoordinatorError> {
        match run {
            "bg" => Ok(self.versions.clone()),
            "empty" => Ok(vec![]),
            _ => Err(CoordinatorError::NoRun { name: run.into(), known: "bg, empty".into() }),
        }
    }

    fn weights(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.files.get(&sha256).cloned().ok_or(CoordinatorError::NoWeights { sha256: sha256.to_string() })
    }

    fn learnable(&self) -> Vec<&'static str> {
        vec!["backgammon"]
    }

    fn curve(&self, run: &str, after: u64, _: u64) -> Result<Vec<Point>, CoordinatorError> {
        self.versions(run)?;
        let losses = BTreeMap::from([("contact".to_owned(), 0.5)]);
        let point = |id: u64| Point {
            id,
            at: 1000 + id,
            accepted: 100 * id,
            games: 90 * id,
            positions: 5000 * id,
            backlog: 10 * id,
            losses: losses.clone(),
        };
        Ok((after + 1..=if run == "bg" { 3 } else { 0 }).map(point).collect())
    }

    fn strength(&self, run: &str) -> Result<Strength, CoordinatorError> {
        self.versions(run)?;
        let score = Score { version: 1, class: "contact".into(), decisions: 300, er: 8.5, se: Some(0.4) };
        let opponent = "pubeval".to_owned();
        let meeting = Meeting { version: 1, opponent, pairs: 1000, ppg: 0.5, low: 0.4, high: 0.6 };
        Ok(Strength { scores: vec![score], meetings: vec![meeting] })
    }

    fn gate_trace(&self, run: &str, candidate: u64) -> Result<Trace, CoordinatorError> {
        self.versions(run)?;
        let moment = Moment { pairs: 10, e_better: 1.5, e_worse: 0.5, ppg: 0.25, low: -3.0, high: 3.0 };
        Ok(Trace {
            candidate,
            opponent: "v1".into(),
            started_at: 2000,
            decided_at: None,
            e_promote: 20.0,
            e_reject: 20.0,
            limit: 1000,
            series: 4,
            points: vec![moment],
        })
    }

    fn leases(&self, run: &str) -> Result<Vec<OpenLease>, CoordinatorError> {
        self.versions(run)?;
        Ok(vec![OpenLease {
            lease: 9,
            kind: "gate",
            series: 4,
            first: 100,
            games: 64,
            missing: 60,
            worker: "w".into(),
            age: 2,
            left: 58,
        }])
    }

    fn games(&self, run: &str, gate: Option<u64>) -> Result<Vec<ListedGame>, CoordinatorError> {
        self.versions(run)?;
        let kind = if gate.is_some() { "gate" } else { "self-play" };
        let players = ["v1".to_owned(), "v1".to_owned()];
        Ok(vec![ListedGame { series: 1, number: 7, kind, players, payoff: -2, at: Some(1500) }])
    }

    fn game(
        &self,
        run: &str,
        (series, number): (u64, u64),
        judge: Option<u64>,
    ) -> Result<ViewedGame, CoordinatorError> {
        if (series, number) != (1, 7) {
            return Err(CoordinatorError::NoGame { run: run.into(), series, number });
        }
        let arena = GameArena::<Backgammon>::default();
        let player = Seating { source: arena.shipped()?, plies: 0 };
        let series_settings = Series { kind: SeriesKind::SelfPlay.into(), seed: 5, ..Series::default() };
        let record = arena.table(&series_settings, [&player, &player])?.play(number);
        let game = arena.viewer(Some(&player))?.game(&record.expect("a game"), ["v1", "v1"])?;
        Ok(ViewedGame {
            run: run.into(),
            rules: "backgammon".into(),
            series,
            number,
            kind: "self-play".into(),
            players: ["v1".into(), "v1".into()],
            at: Some(1500),
            judge: judge.map(|judge| format!("v{judge}")),
            game,
        })
    }

    fn position(
        &self,
        run: &str,
        _: Option<u64>,
        (position, roll): (&str, &str),
    ) -> Result<ViewedPosition, CoordinatorError> {
        let arena = GameArena::<Backgammon>::default();
        let player = Seating { source: arena.shipped()?, plies: 0 };
        let study = arena.viewer(Some(&player))?.position(position, roll)?;
        Ok(ViewedPosition { run: run.into(), rules: "backgammon".into(), judge: Some("v1".into()), study })
    }

    fn disk(&self) -> Disk {
        Disk { free: 3 << 30, size: 8 << 30, database: 1000, weights: 2000 }
    }

    fn create_run(&self, config: &str, name: &str) -> Result<String, CoordinatorError> {
        self.actions.lock().unwrap().push(format!("create {name}: {config}"));
        Ok(name.into())
    }

    fn stop_run(&self, run: &str) -> Result<(), CoordinatorError> {
        self.versions(run)?;
        self.actions.lock().unwrap().push(format!("stop {run}"));
        Ok(())
    }
}

impl From<ArenaError> for CoordinatorError {
    fn from(error: ArenaError) -> Self {
        CoordinatorError::Request(error.to_string())
    }
}
