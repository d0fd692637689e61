//! One simulated worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ludus_games::{Backgammon, Game};
use ludus_proto::v1::acquire_reply::Answer;
use ludus_proto::v1::worker_service_client::WorkerServiceClient;
use ludus_proto::v1::{
    AcquireRequest, GameRecord, Lease, PlayableGame, ReleaseRequest, SeriesKind, SubmitRequest,
};
use prost::Message;
use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until};
use tonic::transport::{Channel, Endpoint};

use super::pool::Pool;

/// When a real worker hands in: so many games, or ...
const BATCH_GAMES: usize = 64;
/// ... so much time after the first was begun.
const BATCH_AGE: Duration = Duration::from_secs(1);
/// How long a call may take; a real worker gives up then, too.
const ANSWER: Duration = Duration::from_secs(30);

/// What all workers are told.
#[derive(Clone)]
pub struct Plan {
    /// Games a second of each worker; 0: as fast as they are taken.
    pub pace: f64,
    /// What is before does not count.
    pub begin: Instant,
    /// Then they stop.
    pub end: Instant,
    /// What they hand in.
    pub games: Arc<Pool>,
    /// Whether there is more of it.
    pub supply: Arc<Supply>,
}

/// Tells when a lease asks for games that are not there. Then the load is over for everybody: a fleet that waits for nothing
/// hands in all there is in a few seconds, and what it does not do afterwards says nothing about the coordinator.
#[derive(Default)]
pub struct Supply {
    over: AtomicBool,
    told: Notify,
}

impl Supply {
    /// Comes back when the games are used up.
    pub async fn ended(&self) {
        self.told.notified().await;
    }

    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        // It waits for whoever asks later.
        self.told.notify_one();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// What a worker saw, between begin and end of the plan.
#[derive(Default)]
pub struct Tally {
    /// Games taken.
    pub games: u64,
    /// Bytes of the submissions.
    pub bytes: u64,
    /// Calls that failed, and games that were refused.
    pub failures: u64,
    pub acquire: Latencies,
    pub submit: Latencies,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.games += other.games;
        self.bytes += other.bytes;
        self.failures += other.failures;
        self.acquire.0.extend(other.acquire.0);
        self.submit.0.extend(other.submit.0);
    }
}

/// Times of calls in microseconds.
#[derive(Default)]
pub struct Latencies(Vec<u64>);

impl Latencies {
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    pub fn sorted(&mut self) -> &[u64] {
        self.0.sort_unstable();
        &self.0
    }
}

/// How a real worker connects.
pub fn endpoint(coordinator: &str) -> Result<Endpoint> {
    let endpoint = Endpoint::from_shared(coordinator.to_owned()).context("no address of a coordinator")?;
    Ok(endpoint.tcp_nodelay(true).connect_timeout(Duration::from_secs(30)))
}

pub fn is_self_play(lease: &Lease) -> bool {
    lease.series.is_some_and(|series| series.kind() == SeriesKind::SelfPlay)
}

/// A worker with a connection of its own.
pub struct Stub {
    name: String,
    client: WorkerServiceClient<Channel>,
}

impl Stub {
    pub fn new(coordinator: &str, name: String) -> Result<Stub> {
        Ok(Stub { name, client: WorkerServiceClient::new(endpoint(coordinator)?.connect_lazy()) })
    }

    pub async fn acquire(&mut self, pace: f64) -> Result<Answer> {
        let request = AcquireRequest {
            worker: self.name.clone(),
            engine: "fleet".into(),
            games: vec![PlayableGame { name: Backgammon::NAME.into(), revision: Backgammon::REVISION }],
            games_per_second: pace,
        };
        let reply = tokio::time::timeout(ANSWER, self.client.acquire(request)).await??;
        reply.into_inner().answer.context("an empty answer")
    }

    pub async fn release(&mut self, lease: &Lease) -> Result<()> {
        let request = ReleaseRequest { lease_id: lease.id, token: lease.token };
        self.client.release(request).await?;
        Ok(())
    }

    /// Declares all games of a lease unplayable: in a match they count as draws.
    pub async fn give_up(&mut self, lease: &Lease) -> Result<()> {
        let unplayable = (lease.first..lease.first + u64::from(lease.count)).collect();
        let request = SubmitRequest { unplayable, ..self.submission(lease) };
        self.client.submit(request).await?;
        Ok(())
    }

    fn submission(&self, lease: &Lease) -> SubmitRequest {
        SubmitRequest {
            lease_id: lease.id,
            token: lease.token,
            worker: self.name.clone(),
            ..SubmitRequest::default()
        }
    }

    /// Takes leases and hands games in until the end.
    pub async fn work(mut self, plan: Plan) -> Tally {
        let mut tally = Tally::default();
        // Real workers did not all start in the same moment.
        let first = plan.begin.saturating_duration_since(Instant::now()).mul_f64(rand::random());
        sleep(first).await;
        if plan.pace == 0.0 {
            // All games there are would be gone before the beginning.
            self.warm_up().await;
            sleep_until(plan.begin.into()).await;
        }
        while Instant::now() < plan.end && !plan.supply.is_over() {
            if self.lease(&plan, &mut tally).await.is_err() {
                tally.failures += u64::from(counts(&plan));
                sleep(Duration::from_millis(100)).await;
            }
        }
        tally
    }

    /// Connects, by asking for a lease that is given back. What fails here fails again when it counts.
    async fn warm_up(&mut self) {
        if let Ok(Answer::Lease(lease)) = self.acquire(0.0).await {
            let _ = self.release(&lease).await;
        }
    }

    /// One lease, from asking for it to its last game.
    async fn lease(&mut self, plan: &Plan, tally: &mut Tally) -> Result<()> {
        let asked = Instant::now();
        let answer = self.acquire(plan.pace).await?;
        let took = asked.elapsed();
        let lease = match answer {
            Answer::Lease(lease) if is_self_play(&lease) => lease,
            Answer::Lease(lease) => return self.give_up(&lease).await,
            Answer::Wait(wait) => {
                sleep(Duration::from_millis(wait.milliseconds.into())).await;
                return Ok(());
            }
        };
        note(&mut tally.acquire, plan, took);
        let numbers = lease.first..lease.first + u64::from(lease.count);
        let mut rest = numbers.filter(|number| !lease.done.contains(number)).peekable();
        let mut started = Instant::now();
        while rest.peek().is_some() {
            let mut games: Vec<GameRecord> = Vec::new();
            for number in rest.by_ref().take(batch_games(plan.pace)) {
                match plan.games.game(number) {
                    Some(game) => games.push(game.clone()),
                    None => plan.supply.end(),
                }
            }
            if plan.pace > 0.0 {
                started += Duration::from_secs_f64(games.len() as f64 / plan.pace);
                sleep_until(started.into()).await;
            }
            if Instant::now() >= plan.end || plan.supply.is_over() {
                return self.release(&lease).await;
            }
            self.submit(SubmitRequest { games, ..self.submission(&lease) }, plan, tally).await?;
        }
        Ok(())
    }

    async fn submit(&mut self, request: SubmitRequest, plan: &Plan, tally: &mut Tally) -> Result<()> {
        let bytes = request.encoded_len() as u64;
        let handed = Instant::now();
        let reply = tokio::time::timeout(ANSWER, self.client.submit(request)).await??.into_inner();
        note(&mut tally.submit, plan, handed.elapsed());
        if counts(plan) {
            tally.games += u64::from(reply.accepted);
            tally.bytes += bytes;
            tally.failures += reply.refused.len() as u64;
        }
        Ok(())
    }
}

/// Games that a worker of this pace hands in together.
fn batch_games(pace: f64) -> usize {
    let in_time = (pace * BATCH_AGE.as_secs_f64()).ceil() as usize;
    if pace > 0.0 { in_time.clamp(1, BATCH_GAMES) } else { BATCH_GAMES }
}

fn counts(plan: &Plan) -> bool {
    (plan.begin..plan.end).contains(&Instant::now()) && !plan.supply.is_over()
}

fn note(latencies: &mut Latencies, plan: &Plan, took: Duration) {
    if counts(plan) {
        latencies.0.push(took.as_micros() as u64);
    }
}
