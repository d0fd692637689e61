//! `ludus trainer`: learns from the games of a run and publishes versions.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use ludus_coordinator::exposition::Exposition;
use ludus_players::arena::Registry;
use ludus_players::weight_file::WeightFile;
use ludus_stream::StreamHome;
use ludus_trainer::{TrainerOptions, TrainerSnapshot, TrainerStats};

use crate::access::AccessArgs;
use crate::log::LogArgs;
use crate::metrics_port::MetricsArgs;
use crate::report::{grouped, losses_in_words};
use crate::{roles, signals};

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  ludus trainer --coordinator http://127.0.0.1:7777 --redis redis://127.0.0.1:6379 --dir runs/trainer")]
pub struct Args {
    /// Address of the coordinator; the trainer waits for it when it is away
    #[arg(long, value_name = "URL", env = "LUDUS_COORDINATOR")]
    coordinator: String,
    /// Redis that carries the games, the same as the coordinator's
    #[arg(long, value_name = "URL", env = "LUDUS_REDIS", required_unless_present = "stream_dir")]
    redis: Option<String>,
    /// Instead of --redis: the folder of a coordinator on this machine that runs without one
    #[arg(long, value_name = "DIR", conflicts_with = "redis")]
    stream_dir: Option<PathBuf>,
    /// Folder for its checkpoints; the same after a restart
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Name of the run [default: the only active one]
    #[arg(long, value_name = "RUN", default_value = "", hide_default_value = true)]
    run: String,
    /// Weight file that a run without a version begins with, instead of random weights
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Name under which it reads the games; the same after a restart
    #[arg(long, value_name = "NAME", default_value = "trainer")]
    name: String,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    access: AccessArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Trains until the run is over or it is told to stop.
pub fn run(args: Args) -> Result<()> {
    roles::runtime()?.block_on(train(args))
}

async fn train(args: Args) -> Result<()> {
    let told_to_stop = signals::told_to_stop()?;
    let stream = match (args.redis, args.stream_dir) {
        (None, Some(folder)) => StreamHome::Local { folder },
        (url, _) => StreamHome::Redis { url: url.unwrap_or_default() },
    };
    let from = args.from.map(|file| WeightFile::read(&file)).transpose()?.map(|(file, _)| file);
    stream.check().await?;
    tracing::info!("training for {} from {stream}", args.coordinator);
    let stats = Arc::new(TrainerStats::default());
    let shown = stats.clone();
    let metrics = args.metrics.serve(move || exposition(&shown.snapshot())).await?;
    tokio::pin!(metrics);
    let options = TrainerOptions {
        access: args.access.read()?,
        coordinator: args.coordinator,
        run: args.run,
        stream,
        dir: args.dir,
        name: args.name,
        last_version: false,
        from,
        registry: Registry::standard(),
    };
    let training = ludus_trainer::run(options, told_to_stop.clone(), stats.clone());
    tokio::pin!(training);
    let mut before = stats.snapshot();
    let outcome = loop {
        tokio::select! {
            outcome = &mut training => break outcome,
            () = &mut metrics => {}
            () = tokio::time::sleep(roles::NEWS) => {
                let now = stats.snapshot();
                tracing::info!("{}", news(&before, &now));
                before = now;
            }
        }
    };
    if outcome.is_ok() {
        let why = if told_to_stop.is_cancelled() { "told to stop" } else { "the run is over" };
        tracing::info!("{why}, with {} games learnt", grouped(stats.snapshot().games));
    }
    Ok(outcome?)
}

fn exposition(now: &TrainerSnapshot) -> String {
    let mut text = Exposition::new();
    let one = |value: u64| [(vec![], value)];
    text.counter("ludus_trainer_games_total", "Games trained on since the run began", one(now.games));
    text.counter(
        "ludus_trainer_positions_total",
        "Positions trained on since the run began",
        one(now.positions),
    );
    text.counter(
        "ludus_trainer_positions_received_total",
        "Positions received that a network learns, each once",
        one(now.positions_received()),
    );
    text.counter("ludus_trainer_steps_total", "Steps of the optimiser since the run began", one(now.steps));
    text.counter(
        "ludus_trainer_labels_total",
        "Labels of rollouts received since the run began",
        one(now.labels),
    );
    text.counter("ludus_trainer_label_lessons_total", "Lessons drawn from them", one(now.label_lessons));
    text.counter("ludus_trainer_expired_total", "Games dropped for their age", one(now.expired));
    text.counter(
        "ludus_trainer_skipped_steps_total",
        "Steps skipped for a loss that was not finite",
        one(now.skipped_steps),
    );
    text.counter("ludus_trainer_refused_total", "Games that could not be replayed", one(now.refused));
    text.counter(
        "ludus_trainer_buried_total",
        "Entries of the stream moved to the dead letters",
        one(now.buried),
    );
    text.counter(
        "ludus_trainer_rollbacks_total",
        "Times it went back to the last checkpoint",
        one(now.rollbacks),
    );
    text.counter("ludus_trainer_checkpoints_total", "Checkpoints written", one(now.checkpoints));
    let number = |value: f64| [(vec![], value)];
    text.gauge("ludus_trainer_version", "Newest version, 0 before the first", number(now.version as f64));
    if let Some(ratio) = now.replay_ratio() {
        text.gauge(
            "ludus_trainer_replay_ratio",
            "Times a position received was learnt, in the mean",
            number(ratio),
        );
    }
    if let Some(depths) = now.stream {
        let stream = [
            ("ludus_trainer_stream_waiting", "Stream entries not yet acknowledged", depths.waiting),
            ("ludus_trainer_stream_pending", "Those of them that were delivered", depths.pending),
            ("ludus_trainer_stream_buried", "Stream entries in the dead letters", depths.buried),
            ("ludus_trainer_stream_lost", "Stream entries that somebody else removed", depths.lost),
        ];
        for (name, help, entries) in stream {
            text.gauge(name, help, number(entries as f64));
        }
    }
    let waiting = f64::from(u8::from(now.waiting.is_some()));
    text.gauge("ludus_trainer_waiting", "1 while it waits; the log says for what", number(waiting));
    let losses = now.losses.iter().map(|loss| (vec![("class", loss.class.clone())], loss.loss));
    text.gauge("ludus_trainer_loss", "Mean loss over the last checkpoint interval", losses);
    text.finish()
}

fn news(before: &TrainerSnapshot, now: &TrainerSnapshot) -> String {
    let mut text = format!(
        "v{}, {} positions/s, {} games learnt, loss {}",
        now.version,
        grouped(now.positions.saturating_sub(before.positions) / roles::NEWS.as_secs()),
        grouped(now.games),
        losses_in_words(&now.losses)
    );
    if let Some(reason) = &now.waiting {
        text += &format!("; {reason}");
    }
    text
}
