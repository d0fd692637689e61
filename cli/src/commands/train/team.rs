//! All roles of a run in this process.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use ludus_coordinator::{Coordinator, CoordinatorError};
use ludus_players::arena::Registry;
use ludus_players::weight_file::WeightFile;
use ludus_stream::StreamHome;
use ludus_trainer::{TrainerOptions, TrainerStats};
use ludus_worker::{WorkerOptions, WorkerStats};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::budget::Budget;
use super::progress::{Display, Moment};
use crate::roles;

/// First port tried, and how many after it.
const PORT: u16 = 7777;
const MORE_PORTS: u16 = 50;
/// Longest wait at the end for the trainer to learn what was handed in.
const LEARN_THE_REST: Duration = Duration::from_secs(60);
/// The trainer learns in rounds, and what is less than a round waits. When nothing moved for this long, only that is
/// left; the trainer learns it when it is told to stop.
const STILL: Duration = Duration::from_secs(2);
/// More games than any round leaves. When so many wait, the machine is only busy, and it is given more time.
const MANY: u64 = 500;
const STILL_WITH_MANY: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(250);

/// A listener on the usual port, or on the next free one.
pub async fn listen(coordinator: &Coordinator) -> Result<TcpListener> {
    for port in PORT..PORT + MORE_PORTS {
        match coordinator.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await {
            Err(CoordinatorError::PortInUse { .. }) => {}
            other => return Ok(other?),
        }
    }
    Ok(coordinator.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?)
}

/// Coordinator, trainer and worker of one run, at work.
pub struct Team {
    coordinator: Coordinator,
    run: String,
    server: Role,
    trainer: Role,
    worker: Role,
    worker_stats: Arc<WorkerStats>,
    trainer_stats: Arc<TrainerStats>,
}

/// One role: what it is called, how to stop it, how it ended.
struct Role {
    name: &'static str,
    stop: CancellationToken,
    task: JoinHandle<Result<()>>,
    outcome: Option<Result<()>>,
}

/// Why the team stops.
enum End {
    /// Somebody wants it, or the time is up.
    Wanted,
    /// The run was stopped, and the trainer has learnt all of it.
    Over,
    /// A role failed; its outcome says how.
    Failed,
}

impl Team {
    /// Starts all roles.
    pub fn start(
        coordinator: Coordinator,
        run: String,
        stream: StreamHome,
        dir: PathBuf,
        from: Option<WeightFile>,
        threads: usize,
        listener: TcpListener,
    ) -> Self {
        let url = listener.local_addr().map(|address| format!("http://{address}")).unwrap_or_default();
        let (worker_stats, trainer_stats) = (Arc::<WorkerStats>::default(), Arc::<TrainerStats>::default());
        let access = roles::house_access(&coordinator);
        let serving = coordinator.clone();
        let server = Role::start("coordinator", async move |stop| Ok(serving.serve(listener, stop).await?));
        let options = TrainerOptions {
            coordinator: url.clone(),
            access: access.clone(),
            run: run.clone(),
            stream,
            dir: dir.join("trainer"),
            name: "trainer".into(),
            last_version: true,
            from,
            registry: Registry::standard(),
        };
        let stats = trainer_stats.clone();
        let trainer =
            Role::start("trainer", async move |stop| Ok(ludus_trainer::run(options, stop, stats).await?));
        let options = WorkerOptions {
            coordinator: url,
            access,
            name: "local".into(),
            threads,
            cache: None,
            registry: Registry::standard(),
        };
        let stats = worker_stats.clone();
        let worker =
            Role::start("worker", async move |stop| Ok(ludus_worker::run(options, stop, stats).await?));
        Team { coordinator, run, server, trainer, worker, worker_stats, trainer_stats }
    }

    /// Works until `budget` is used up, `told_to_stop` is cancelled, the run is over or a role fails, and ends all roles
    /// in good order. Fails if a role did.
    pub async fn work(
        mut self,
        budget: Budget,
        told_to_stop: CancellationToken,
        display: &mut Display,
    ) -> Result<()> {
        let started = Instant::now();
        let time_is_up = budget.used_up();
        tokio::pin!(time_is_up);
        let end = loop {
            tokio::select! {
                () = told_to_stop.cancelled() => break End::Wanted,
                () = &mut time_is_up => break End::Wanted,
                () = self.server.ended() => break End::Failed,
                () = self.worker.ended() => break End::Failed,
                () = self.trainer.ended() => {
                    break if self.trainer.succeeded() { End::Over } else { End::Failed };
                }
                () = tokio::time::sleep(LOOK) => display.show(&self.look(started)?),
            }
        };
        self.worker.stop().await;
        if matches!(end, End::Wanted) {
            display.say("ending: learning the last games (Ctrl-C again ends at once)");
            self.learn_the_rest(started, display).await?;
        }
        self.trainer.stop().await;
        self.server.stop().await;
        for role in [self.server, self.trainer, self.worker] {
            let name = role.name;
            role.outcome.unwrap_or(Ok(())).with_context(|| format!("the {name} failed"))?;
        }
        match end {
            End::Failed => Err(anyhow!("a part of it ended unasked")),
            End::Wanted | End::Over => Ok(()),
        }
    }

    /// Waits for the trainer to learn what was handed in.
    async fn learn_the_rest(&mut self, started: Instant, display: &mut Display) -> Result<()> {
        let deadline = Instant::now() + LEARN_THE_REST;
        let mut moved = Instant::now();
        let mut learnt = None;
        let mut patience = STILL;
        while Instant::now() < deadline && moved.elapsed() < patience {
            let now = self.look(started)?;
            display.show(&now);
            let done = now.trainer.games + now.trainer.expired + now.trainer.refused;
            if done >= now.run.accepted {
                break;
            }
            patience = if now.run.accepted - done > MANY { STILL_WITH_MANY } else { STILL };
            if learnt.replace(done) != Some(done) {
                moved = Instant::now();
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.trainer.ended() => break,
            }
        }
        Ok(())
    }

    fn look(&self, started: Instant) -> Result<Moment> {
        Ok(Moment {
            elapsed: started.elapsed(),
            worker: self.worker_stats.progress(),
            trainer: self.trainer_stats.snapshot(),
            run: self.coordinator.run(&self.run)?,
        })
    }
}

impl Role {
    fn start<F>(name: &'static str, work: impl FnOnce(CancellationToken) -> F) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let task = tokio::spawn(work(stop.clone()));
        Role { name, stop, task, outcome: None }
    }

    /// Waits for its end.
    async fn ended(&mut self) {
        if self.outcome.is_none() {
            let outcome = Pin::new(&mut self.task).await;
            self.outcome = Some(outcome.unwrap_or_else(|panic| Err(anyhow!("{panic}"))));
        }
    }

    /// Tells it to stop, and waits for its end.
    async fn stop(&mut self) {
        self.stop.cancel();
        self.ended().await;
    }

    fn succeeded(&self) -> bool {
        matches!(self.outcome, Some(Ok(())))
    }
}
