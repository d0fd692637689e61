//! The trainer of a run whose games make a benchmark: it publishes one version, learns nothing, and keeps every game.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ludus_config::RunConfig;
use ludus_players::weight_file::{Card, WeightFile};
use ludus_proto::v1::{
    GameRecord, JoinReply, JoinRequest, Progress, PublishRequest, ReportRequest, SeriesKind,
};
use ludus_stream::{EntryId, GameStream, StreamHome};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::coordinator_client::CoordinatorClient;

/// Name under which the stream is read: the same after a restart, which then gets everything again.
const READER: &str = "benchmark";
/// Entries read at once, and longest wait for the first.
const ENTRIES: usize = 64;
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest wait for games that were on their way when the run was stopped.
const REST: Duration = Duration::from_millis(200);
/// Time between two reports.
const REPORT: Duration = Duration::from_secs(2);
/// How long the coordinator may be away.
const AWAY: Duration = Duration::from_secs(600);

/// The role, once it was taken.
pub(super) struct Role<'a> {
    runtime: &'a Runtime,
    client: CoordinatorClient,
    joined: JoinReply,
    stream: Arc<dyn GameStream>,
    /// Games taken in, by series and number: the stream may deliver one twice.
    seen: HashSet<(u64, u64)>,
    /// Entries and their numbers in the coordinator's outbox. They are kept until the end, so that a build that is ended
    /// and begun again gets them again.
    entries: Vec<EntryId>,
    posts: Vec<u64>,
    /// Games the coordinator knows to be taken in.
    reported: u64,
    /// Games that were accepted at the last report.
    accepted: u64,
    asked: Instant,
    away_since: Option<(Instant, String)>,
}

impl<'a> Role<'a> {
    /// Finds the run or makes it, takes its training role and publishes `weights` as its only version.
    pub(super) fn take(
        runtime: &'a Runtime,
        client: CoordinatorClient,
        home: &StreamHome,
        (name, config): (&str, &RunConfig),
        weights: &WeightFile,
    ) -> Result<Self> {
        let run = find_or_create(&client, name, config)?;
        let joined = client.join(JoinRequest { run, trainer: READER.into() })?;
        let stream = runtime.block_on(home.open(&joined.stream))?;
        let reported = client.run(&joined.run)?.progress.unwrap_or_default().games;
        if joined.latest_version == 0 {
            let card =
                Card { run: joined.run.clone(), version: 1, parent: String::new(), ..weights.card.clone() };
            let weights = WeightFile { card, networks: weights.networks.clone() }.to_bytes()?;
            let published = client.publish(PublishRequest {
                run: joined.run.clone(),
                fence: joined.fence,
                weights,
                progress: None,
            });
            published.context("the player's weights")?;
        }
        Ok(Role {
            runtime,
            client,
            joined,
            stream,
            seen: HashSet::new(),
            entries: Vec::new(),
            posts: Vec::new(),
            reported,
            accepted: 0,
            asked: Instant::now(),
            away_since: None,
        })
    }

    /// Games that have come, none of them a second time; empty when none comes for a while.
    pub(super) fn next_games(&mut self, told_to_stop: &CancellationToken) -> Result<Vec<GameRecord>> {
        let read = self.stream.read(READER, ENTRIES, PATIENCE);
        let Some(entries) = self.runtime.block_on(told_to_stop.run_until_cancelled(read)) else {
            return Ok(Vec::new());
        };
        let entries = entries?;
        let dry = entries.is_empty();
        let mut games = Vec::new();
        for entry in entries {
            let batch = ludus_trainer::batch_of(&entry.payload)
                .and_then(|batch| {
                    let series = batch.series.filter(|series| series.kind() == SeriesKind::Rollout);
                    series.map(|series| (series.id, batch)).ok_or_else(|| "no games of rollouts".into())
                })
                .map_err(|fault| anyhow::anyhow!("entry {} of the stream: {fault}", entry.id.0))?;
            let (series, batch) = batch;
            games.extend(batch.games.into_iter().filter(|game| self.seen.insert((series, game.number))));
            self.entries.push(entry.id);
            self.posts.push(batch.post);
        }
        if self.asked.elapsed() >= REPORT {
            self.asked = Instant::now();
            self.report(dry)?;
        }
        Ok(games)
    }

    /// Tells the coordinator how far it is, so that it goes on handing out games. `dry`: no games come.
    fn report(&mut self, dry: bool) -> Result<()> {
        let taken = self.seen.len() as u64;
        // After a restart the games come again; the coordinator knows of more for a while.
        let progress = Progress { games: taken.max(self.reported), ..Progress::default() };
        let missing = dry && self.accepted > taken;
        match self.send(progress, Vec::new(), missing) {
            Ok(accepted) => {
                (self.accepted, self.away_since) = (accepted, None);
                self.refuse_void()
            }
            Err(error) => {
                let (since, _) = *self.away_since.get_or_insert((Instant::now(), format!("{error:#}")));
                if since.elapsed() > AWAY { Err(error) } else { Ok(()) }
            }
        }
    }

    fn send(&mut self, progress: Progress, settled: Vec<u64>, missing: bool) -> Result<u64> {
        let JoinReply { run, fence, .. } = &self.joined;
        let games = progress.games;
        let request =
            ReportRequest { run: run.clone(), fence: *fence, progress: Some(progress), settled, missing };
        let reply = self.client.report(request)?;
        self.reported = games;
        if reply.run_stopped {
            bail!(
                "run {run} was stopped at the coordinator, so no more games come: give the command again to begin anew"
            );
        }
        Ok(reply.accepted)
    }

    /// Fails when a game could not be played: decisions are taken in the order of the games, and this one never comes.
    fn refuse_void(&self) -> Result<()> {
        match self.client.run(&self.joined.run)?.void {
            0 => Ok(()),
            void => bail!(
                "{void} games of run {} could not be played to the end: the player's judgement is not finite, or it \
                 avoids the end for ever",
                self.joined.run
            ),
        }
    }

    /// What is waited for, if anything.
    pub(super) fn waiting(&self) -> Option<String> {
        self.away_since.as_ref().map(|(_, reason)| format!("waiting: {reason}"))
    }

    /// Stops the run and gives back what the stream and the coordinator have kept for it.
    pub(super) fn leave(mut self) -> Result<()> {
        self.client.stop_run(&self.joined.run)?;
        // What was on its way.
        loop {
            let entries = self.runtime.block_on(self.stream.read(READER, ENTRIES, REST))?;
            if entries.is_empty() {
                break;
            }
            for entry in entries {
                if let Ok(batch) = ludus_trainer::batch_of(&entry.payload) {
                    let series = batch.series.map_or(0, |series| series.id);
                    self.seen.extend(batch.games.iter().map(|game| (series, game.number)));
                    self.posts.push(batch.post);
                }
                self.entries.push(entry.id);
            }
        }
        self.runtime.block_on(self.stream.acknowledge(&self.entries))?;
        let JoinReply { run, fence, .. } = &self.joined;
        let progress = Progress { games: (self.seen.len() as u64).max(self.reported), ..Progress::default() };
        let posts = std::mem::take(&mut self.posts);
        self.client.report(ReportRequest {
            run: run.clone(),
            fence: *fence,
            progress: Some(progress),
            settled: posts.into_iter().filter(|&post| post > 0).collect(),
            missing: false,
        })?;
        Ok(())
    }
}

/// The active run of this name, or a new one; with a number behind the name when one of this name was stopped.
fn find_or_create(client: &CoordinatorClient, name: &str, config: &RunConfig) -> Result<String> {
    let runs = client.runs()?;
    let mut tried = name.to_owned();
    for number in 2.. {
        match runs.iter().find(|run| run.run == tried) {
            Some(run) if run.state == "active" => return Ok(tried),
            Some(_) => tried = format!("{name}-{number}"),
            None => break,
        }
    }
    client.create_run(&config.to_toml(), &tried)
}
