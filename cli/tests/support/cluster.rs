//! A cluster of real processes with a real Redis, watched over as systemd or Kubernetes would: what dies is started again.

#![allow(dead_code, reason = "not every test program needs all of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::redis_server::RedisServer;
use crate::support::{Accounts, Place, Process, arg, until};

/// A part of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Redis,
    Coordinator,
    Trainer,
    WorkerOne,
    WorkerTwo,
}

/// All of them.
pub const PARTS: [Part; 5] =
    [Part::Redis, Part::Coordinator, Part::Trainer, Part::WorkerOne, Part::WorkerTwo];

/// A run named `test` and everybody who takes part in it.
pub struct Cluster {
    pub place: Place,
    pub redis: RedisServer,
    /// Where the coordinator is, also after a restart.
    pub url: String,
    /// Where workers reach it; a test may put something in between.
    pub workers_url: String,
    /// More arguments of the coordinator.
    pub serve: Vec<String>,
    /// More arguments of all who talk to it.
    pub access: Vec<String>,
    /// The coordinator's folder.
    pub data: PathBuf,
    /// The trainer's folder, with one for each run in it.
    pub trainer: PathBuf,
    processes: BTreeMap<Part, Process>,
    /// Processes that ended by themselves.
    pub fallen: Vec<Part>,
}

impl Cluster {
    /// Starts a Redis and a coordinator with a run of `config`.
    pub fn start(config: &str) -> Self {
        let mut cluster = Cluster::prepare();
        cluster.begin(config);
        cluster
    }

    /// Starts a Redis; folders and arguments can still be changed.
    pub fn prepare() -> Self {
        let place = Place::new();
        Cluster {
            redis: RedisServer::start(),
            url: String::new(),
            workers_url: String::new(),
            serve: Vec::new(),
            access: Vec::new(),
            data: place.path("data"),
            trainer: place.path("trainer"),
            processes: BTreeMap::new(),
            fallen: Vec::new(),
            place,
        }
    }

    /// Starts the coordinator and makes the run.
    pub fn begin(&mut self, config: &str) {
        let mut coordinator = self.launch_coordinator("127.0.0.1:0");
        let line = coordinator.first_line();
        let url = line.split_whitespace().find(|word| word.starts_with("http")).expect("its address");
        self.url = url.trim_end_matches(',').to_owned();
        self.workers_url = self.url.clone();
        self.processes.insert(Part::Coordinator, coordinator);
        let config = self.place.file("run.toml", config);
        self.command(&["run", "create", "--config", &config, "--name", "test"]);
    }

    /// What a command that asks the coordinator writes.
    pub fn command(&self, args: &[&str]) -> String {
        let access = self.access.iter().map(String::as_str);
        let args = args.iter().copied().chain(["--coordinator", &self.url]).chain(access);
        self.place.ok(&args.collect::<Vec<_>>())
    }

    /// Where the trainer keeps the checkpoints of the run.
    pub fn checkpoints(&self) -> PathBuf {
        self.trainer.join("test")
    }

    /// Starts a part that is not there.
    pub fn raise(&mut self, part: Part) {
        let url = self.workers_url.clone();
        let access: Vec<&str> = self.access.iter().map(String::as_str).collect();
        let process = match part {
            Part::Redis => return self.redis.restart(),
            Part::Coordinator => self.launch_coordinator(self.url.rsplit('/').next().expect("host and port")),
            Part::Trainer => {
                let redis = self.redis.url();
                let dir = arg(&self.trainer);
                let args = ["trainer", "--coordinator", &self.url, "--redis", &redis, "--dir", dir];
                self.place.start("trainer", &[&args[..], &access].concat())
            }
            Part::WorkerOne | Part::WorkerTwo => {
                let (name, cache) = (name(part), self.place.path("cache"));
                let args = ["worker", "--coordinator", &url, "--threads", "1", "--name", name];
                self.place.start(name, &[&args[..], &["--cache", arg(&cache)], &access].concat())
            }
        };
        self.processes.insert(part, process);
    }

    fn launch_coordinator(&self, address: &str) -> Process {
        let redis = self.redis.url();
        let args = ["coordinator", "--dir", arg(&self.data), "--listen", address, "--redis", &redis];
        let serve = self.serve.iter().map(String::as_str);
        self.place.start("coordinator", &args.into_iter().chain(serve).collect::<Vec<_>>())
    }

    /// SIGKILL.
    pub fn kill(&mut self, part: Part) {
        match part {
            Part::Redis => self.redis.kill(),
            part => drop(self.processes.remove(&part)),
        }
    }

    /// A part that runs.
    pub fn process(&mut self, part: Part) -> &mut Process {
        self.processes.get_mut(&part).expect("it was started")
    }

    /// Takes a process out of the cluster's care.
    pub fn take(&mut self, part: Part) -> Process {
        self.processes.remove(&part).expect("it was started")
    }

    /// Starts again what has ended by itself.
    pub fn watch(&mut self) {
        let ended =
            self.processes.iter_mut().filter_map(|(part, process)| process.has_ended().then_some(*part));
        for part in ended.collect::<Vec<_>>() {
            self.fallen.push(part);
            self.raise(part);
        }
    }

    /// Lets so much time pass, watching.
    pub fn watch_for(&mut self, time: Duration) {
        let end = std::time::Instant::now() + time;
        while std::time::Instant::now() < end {
            self.watch();
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The accounts as the coordinator's folder has them, whether the coordinator lives or not.
    pub fn accounts(&self) -> Accounts {
        Accounts::of(&self.place.json(&["run", "show", "test", "--dir", arg(&self.data), "--json"]))
    }

    /// The versions there are, likewise.
    pub fn versions(&self) -> Vec<Value> {
        let versions = self.place.json(&["versions", "test", "--dir", arg(&self.data), "--json"]);
        versions.as_array().expect("a list").clone()
    }

    /// Waits until so many more games are learnt and versions published, watching; the accounts balance all the time.
    pub fn until_more(&mut self, games: u64, versions: u64) {
        let before = self.accounts();
        until("games are learnt and versions published", || {
            self.watch();
            let now = self.accounts();
            now.assert_balanced();
            (now.trained >= before.trained + games && now.latest >= before.latest + versions).then_some(())
        });
    }

    /// Stops the run, lets everybody end in good order, and gives the accounts, in which nothing is missing.
    pub fn end(&mut self) -> Accounts {
        self.command(&["run", "stop", "test"]);
        self.take(Part::Trainer).ends_well();
        for part in [Part::WorkerOne, Part::WorkerTwo, Part::Coordinator] {
            if let Some(process) = self.processes.remove(&part) {
                process.terminate();
                process.ends_well();
            }
        }
        let end = self.accounts();
        end.assert_drained();
        assert_eq!(end.leased, 0, "{end:?}");
        end
    }
}

fn name(part: Part) -> &'static str {
    match part {
        Part::Redis => "redis",
        Part::Coordinator => "coordinator",
        Part::Trainer => "trainer",
        Part::WorkerOne => "one",
        Part::WorkerTwo => "two",
    }
}

/// The files of a folder and of the folders in it.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files
}
