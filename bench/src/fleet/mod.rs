//! A fleet of simulated workers against one coordinator, to see where it saturates.
//!
//! Each worker is a real gRPC client with a connection of its own that does what a worker's player thread does, lease by
//! lease and batch by batch; only playing is replaced by waiting, at a pace that is prescribed, or by nothing. What it
//! hands in are real games, played beforehand (`pool`), for the coordinator replays every record.
//!
//! [`run`] asks for one load after the other, each in a run of its own: runs of one configuration have the same dice, so
//! the same games serve all. The trainer's part is to publish one version; nobody learns, so entries stay in the outbox.

mod pool;
mod process;
mod stub;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::admin_service_client::AdminServiceClient;
use ludus_proto::v1::trainer_service_client::TrainerServiceClient;
use ludus_proto::v1::{CreateRunRequest, JoinRequest, Lease, PublishRequest, StopRunRequest};
use serde::Serialize;
use tokio::task::JoinSet;
use tonic::transport::Channel;

use crate::samples;
use pool::Pool;
use process::Process;
use stub::{Latencies, Plan, Stub, Supply, Tally};

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Address of the coordinator, which has no active run.
    pub coordinator: String,
    /// Its process.
    pub process: u32,
    /// Workers.
    pub workers: usize,
    /// Loads to ask for, in games a second of all workers together; 0: as fast as they are taken.
    pub loads: Vec<f64>,
    /// How long each load is measured.
    pub duration: Duration,
    /// Games that are there to hand in; a load ends when they are used up, and so does what is measured.
    pub games: u64,
}

/// What came of a load.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Workers.
    pub workers: usize,
    /// Games a second that were to come; 0: as many as are taken.
    pub offered: f64,
    /// Seconds measured.
    pub seconds: f64,
    /// Games taken a second.
    pub games_per_second: f64,
    /// Leases a second.
    pub leases_per_second: f64,
    /// Submissions a second.
    pub submits_per_second: f64,
    /// Requests that failed, games that were refused.
    pub failures: u64,
    /// Time of an `Acquire`, in milliseconds.
    pub acquire: Quantiles,
    /// Time of a `Submit`, in milliseconds.
    pub submit: Quantiles,
    /// Processor time of the coordinator per second.
    pub coordinator_cpu: f64,
    /// Processor time of this program per second.
    pub fleet_cpu: f64,
    /// Memory of the coordinator at the end, in MiB.
    pub coordinator_mib: f64,
    /// Bytes of a game in the submissions, without headers.
    pub bytes_per_game: f64,
}

/// How times are distributed.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Quantiles {
    /// Half are shorter.
    pub p50: f64,
    /// Ninety-nine of a hundred are shorter.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// The configuration of the runs: self-play and nothing else, no trainer to wait for, and no audit, which would find out
/// who made the plays.
const CONFIG: &str = "\
phases = []
[self_play]
explore = 0.0
[network]
inputs = \"tesauro-198\"
hidden = 1
[gate]
benchmark = \"\"
limit_pairs = 1
share = 0.0
[learn]
publish_games = 1000000000
[leases]
backlog_games = 1000000000
[audit]
share = 0.0
";

/// Asks for all loads in turn, and hands each outcome to `report`.
pub async fn run(fleet: &Fleet, pool_file: &Path, mut report: impl FnMut(&Outcome)) -> Result<()> {
    let channel = stub::endpoint(&fleet.coordinator)?.connect().await.context("no coordinator")?;
    let mut pool: Option<Pool> = None;
    for &load in &fleet.loads {
        let run = open_run(&channel).await?;
        let lease = first_lease(fleet).await?;
        let mut games = match pool.take().filter(|pool| pool.fits(&lease)) {
            Some(games) => games,
            None => Pool::at(pool_file, &lease, fleet.games)?,
        };
        games.sign(&lease);
        let games = Arc::new(games);
        report(&measure(fleet, load, &games).await?);
        // All workers have ended.
        pool = Arc::into_inner(games);
        AdminServiceClient::new(channel.clone()).stop_run(StopRunRequest { run }).await?;
    }
    Ok(())
}

/// A new run with one version.
async fn open_run(channel: &Channel) -> Result<String> {
    let request = CreateRunRequest { config: CONFIG.to_owned(), name: String::new() };
    let run = AdminServiceClient::new(channel.clone()).create_run(request).await?.into_inner().run;
    let mut trainer = TrainerServiceClient::new(channel.clone());
    let join = JoinRequest { run: run.clone(), trainer: "fleet".into() };
    let fence = trainer.join(join).await?.into_inner().fence;
    let mut version = samples::fresh(&*samples::arena()?, "tesauro-198", 1)?;
    version.card.run.clone_from(&run);
    version.card.version = 1;
    let weights = version.to_bytes()?;
    let publish = PublishRequest { run: run.clone(), fence, weights, progress: Some(Default::default()) };
    trainer.publish(publish).await?;
    Ok(run)
}

/// The first lease of self-play, given back: it says what games will be asked for. Games of the gate that come before are
/// declared unplayable, which ends it.
async fn first_lease(fleet: &Fleet) -> Result<Lease> {
    let mut scout = Stub::new(&fleet.coordinator, "scout".into())?;
    for _ in 0..100 {
        match scout.acquire(0.0).await? {
            Answer::Lease(lease) if stub::is_self_play(&lease) => {
                scout.release(&lease).await?;
                return Ok(lease);
            }
            Answer::Lease(lease) => scout.give_up(&lease).await?,
            Answer::Wait(wait) => tokio::time::sleep(Duration::from_millis(wait.milliseconds.into())).await,
        }
    }
    bail!("the coordinator hands out no games of self-play")
}

/// Lets all workers work, and looks at both processes meanwhile.
async fn measure(fleet: &Fleet, load: f64, pool: &Arc<Pool>) -> Result<Outcome> {
    // What everybody does first, connecting above all, belongs to no load.
    let warm_up = Duration::from_secs(2);
    let begin = Instant::now() + warm_up;
    let supply = Arc::new(Supply::default());
    let plan = Plan {
        pace: load / fleet.workers as f64,
        begin,
        end: begin + fleet.duration,
        games: Arc::clone(pool),
        supply: Arc::clone(&supply),
    };
    let mut tasks = JoinSet::new();
    for number in 0..fleet.workers {
        let stub = Stub::new(&fleet.coordinator, format!("worker-{number}"))?;
        tasks.spawn(stub.work(plan.clone()));
    }
    let (coordinator, own) = (Process::of(fleet.process), Process::of(std::process::id()));
    tokio::time::sleep_until(begin.into()).await;
    let before = (coordinator.cpu()?, own.cpu()?);
    let start = Instant::now();
    let mut total = Tally::default();
    let used_up = tokio::time::timeout_at(plan.end.into(), supply.ended()).await.is_ok();
    let seconds = start.elapsed().as_secs_f64();
    let after = (coordinator.cpu()?, own.cpu()?);
    let coordinator_mib = coordinator.memory_mib()?;
    while let Some(tally) = tasks.join_next().await {
        total.add(tally?);
    }
    if used_up {
        eprintln!("the games that were there were used up after {seconds:.1} s: ask for more with --games");
    }
    let per_second = |count: u64| count as f64 / seconds;
    Ok(Outcome {
        workers: fleet.workers,
        offered: load,
        seconds,
        games_per_second: per_second(total.games),
        leases_per_second: per_second(total.acquire.count()),
        submits_per_second: per_second(total.submit.count()),
        failures: total.failures,
        acquire: total.acquire.quantiles(),
        submit: total.submit.quantiles(),
        coordinator_cpu: (after.0 - before.0) / seconds,
        fleet_cpu: (after.1 - before.1) / seconds,
        coordinator_mib,
        bytes_per_game: total.bytes as f64 / total.games.max(1) as f64,
    })
}

impl Latencies {
    fn quantiles(mut self) -> Quantiles {
        let times = self.sorted();
        let at = |share: f64| {
            let index = (share * times.len() as f64) as usize;
            times.get(index.min(times.len().saturating_sub(1))).map_or(0.0, |&micros| micros as f64 / 1000.0)
        };
        Quantiles { p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}
