//! A trainer's life: join, restore, learn, and again from the last checkpoint when the weights are lost.

use std::sync::Arc;
use std::thread;

use ludus_config::RunConfig;
use ludus_players::arena::Arena;
use ludus_players::lessons::Teacher;
use ludus_players::weight_file::{Card, Digest, Shape, WeightFile};
use ludus_proto::v1::{JoinReply, JoinRequest};
use ludus_stream::original_stream;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::checkpoint::{Checkpoint, CheckpointFolder, Found, Origin};
use crate::coordination::{Coordination, CoordinationError, Remote};
use crate::intake::{Expected, Intake};
use crate::labels::archive::Archive;
use crate::labels::memory::LabelMemory;
use crate::learner::{Learner, Student};
use crate::ledger::Ledger;
use crate::network::Network;
use crate::patience::Patience;
use crate::stats::TrainerStats;
use crate::training::{End, Session};
use crate::versions::next_version;
use crate::{TrainerError, TrainerOptions};

/// Times the trainer goes back to one checkpoint before it gives up.
const ROLLBACKS: u32 = 3;

/// Trains the run until it is stopped and learnt to its end, or until `shutdown`, which leaves a checkpoint to go on
/// from. Waits for a coordinator or stream that is away; [`TrainerStats`] shows what it waits for.
///
/// Must be called within a tokio runtime of several threads. The training itself runs on one thread of its own.
pub async fn run(
    options: TrainerOptions,
    shutdown: CancellationToken,
    stats: Arc<TrainerStats>,
) -> Result<(), TrainerError> {
    let runtime = Handle::current();
    let mut coordination =
        Remote::new(&options.coordinator, options.access.clone(), runtime.clone(), shutdown.clone())
            .map_err(|error| TrainerError::Refused {
                what: "reach the coordinator".into(),
                reason: error.to_string(),
            })?;
    let patience = Patience { runtime, shutdown, stats };
    let (done, outcome) = oneshot::channel();
    thread::Builder::new()
        .name("trainer".into())
        .spawn(move || {
            let outcome = train(&options, &mut coordination, &patience);
            // The receiver is gone when the caller was dropped: then nobody wants to know.
            let _ = done.send(outcome);
        })
        .map_err(|error| TrainerError::Fault(format!("its thread cannot start: {error}")))?;
    outcome.await.unwrap_or_else(|_| Err(TrainerError::Fault("its thread panicked".into())))
}

/// Joins and learns, on the calling thread.
pub(crate) fn train(
    options: &TrainerOptions,
    coordination: &mut dyn Coordination,
    patience: &Patience,
) -> Result<(), TrainerError> {
    let request = JoinRequest { run: options.run.clone(), trainer: options.name.clone() };
    let join = || match coordination.join(&request) {
        // There is no fence to lose yet: the run may still have to be made.
        Err(CoordinationError::FenceLost(reason)) => Err(CoordinationError::NotNow(reason)),
        answer => answer,
    };
    let Some(joined) = patience.persist("join the run", join)? else { return Ok(()) };
    let mut run = Run::new(joined, options)?;
    let mut rollbacks = 0;
    loop {
        let Restored { mut learner, number, passed_over } = run.restore()?;
        let checkpoints = run.folder.written();
        // Opened anew, it delivers once more what was not acknowledged.
        let Some(stream) = patience.wait(options.stream.open(&run.joined.stream)) else { return Ok(()) };
        let mut teacher = run.arena.teacher(&next_version(&learner, &run.origin))?;
        let most = match run.config.learn.label_archive {
            0 => u64::MAX,
            megabytes => megabytes.saturating_mul(1_000_000),
        };
        let archive = Archive::open(run.folder.path(), number, teacher.chances(), most)?;
        remember(&archive, teacher.as_mut(), &mut learner.memory, run.config.learn.label_memory)?;
        let mut session = Session {
            config: &run.config,
            origin: &run.origin,
            fence: run.joined.fence,
            consumer: &options.name,
            coordination,
            stream: stream?,
            teacher,
            folder: &mut run.folder,
            archive,
            learner,
            catching_up: passed_over,
            last_version: options.last_version,
            intake: Intake::new(Expected {
                run: run.joined.run.clone(),
                game: run.joined.game.clone(),
                revision: run.joined.revision,
                max_age_seconds: run.config.learn.max_age_seconds,
                replay: run.config.learn.replay,
            }),
            patience,
        };
        let end = session.learn()?;
        let version = session.learner.ledger.version;
        match end {
            End::Finished | End::ToldToStop => return Ok(()),
            End::Diverged(reason) => {
                run.joined.latest_version = version;
                rollbacks = if run.folder.written() == checkpoints { rollbacks + 1 } else { 1 };
                patience.stats.count_rollback();
                tracing::error!(reason, rollbacks, "training diverged; going back to the last checkpoint");
                if rollbacks > ROLLBACKS {
                    return Err(TrainerError::Diverged { reason, rollbacks });
                }
            }
        }
    }
}

/// The run that was joined.
struct Run {
    joined: JoinReply,
    config: RunConfig,
    origin: Origin,
    folder: CheckpointFolder,
    arena: Arc<dyn Arena>,
    /// The weights it was given to begin with.
    from: Option<WeightFile>,
}

impl Run {
    fn new(joined: JoinReply, options: &TrainerOptions) -> Result<Self, TrainerError> {
        let JoinReply { run, game, revision, stream, .. } = joined.clone();
        let config = RunConfig::parse(&joined.config)
            .map_err(|source| TrainerError::Config { run: run.clone(), source })?;
        let unknown = |what| TrainerError::Unknown { run: run.clone(), what };
        let arena = options.registry.find(&game).ok_or_else(|| unknown(format!("the game {game}")))?;
        if arena.revision() != revision {
            return Err(unknown(format!("revision {revision} of {game}")));
        }
        let networks = arena.shapes(&config.network.inputs, config.network.hidden)?;
        let folder = CheckpointFolder::open(&options.dir.join(&run))?;
        let stream = original_stream(&stream).to_owned();
        let origin = Origin { run, stream, game, revision, inputs: config.network.inputs.clone(), networks };
        Ok(Run { joined, config, origin, folder, arena: arena.clone(), from: options.from.clone() })
    }

    /// What a run without a checkpoint begins with: the weights it was given, or random ones.
    fn beginning(&self) -> Result<WeightFile, TrainerError> {
        let Origin { run, game, revision, inputs, networks, .. } = &self.origin;
        let Some(from) = &self.from else {
            return WeightFile::fresh(Card::default(), networks, self.config.seed)
                .map_err(|error| TrainerError::Arena(error.into()));
        };
        let (card, shapes) = (&from.card, from.shapes());
        let fits = (&card.game, card.revision, &card.inputs) == (game, *revision, inputs);
        if !fits || shapes != *networks {
            return Err(TrainerError::From {
                run: run.clone(),
                from: Box::new(card.clone()),
                found: in_words(&shapes),
                wanted: in_words(networks),
                inputs: inputs.clone(),
            });
        }
        Ok(from.clone())
    }

    /// What the last checkpoint holds; before the first, what the run begins with.
    fn restore(&self) -> Result<Restored, TrainerError> {
        let (run, folder) = (self.joined.run.clone(), self.folder.path().to_owned());
        let latest = self.joined.latest_version;
        let Some(Found { checkpoint, number, passed_over }) = self.folder.newest(&self.origin)? else {
            if latest > 0 {
                return Err(TrainerError::Elsewhere { run, latest, folder });
            }
            let beginning = self.beginning()?;
            let ledger = match &self.from {
                Some(_) => {
                    let bytes = beginning.to_bytes().map_err(|error| TrainerError::Arena(error.into()))?;
                    Ledger { version_sha256: Digest::of(&bytes).to_string(), ..Ledger::default() }
                }
                None => Ledger::default(),
            };
            let students = beginning
                .networks
                .into_iter()
                .map(|weights| Student::new(Network::from_weights(&weights), &self.config.learn));
            let learner = Learner::new(students.collect(), ledger, self.config.clone());
            return Ok(Restored { learner, number: 0, passed_over: false });
        };
        let Checkpoint { students, ledger, .. } = checkpoint;
        let mut learner = Learner::new(students, ledger, self.config.clone());
        let known = learner.ledger.version;
        if latest < known {
            return Err(TrainerError::OtherRun { run, latest, folder, known });
        }
        if latest > known {
            if learner.ledger.publishing.is_some() && latest == known + 1 {
                // It was published, and the trainer died before it could write that down.
                let bytes = next_version(&learner, &self.origin).to_bytes();
                let bytes = bytes.map_err(|error| TrainerError::Arena(error.into()))?;
                learner.ledger.version_sha256 = Digest::of(&bytes).to_string();
            } else {
                tracing::warn!(
                    known,
                    latest,
                    "the checkpoint is older than the newest version; going on from it"
                );
            }
            learner.ledger.version = latest;
            learner.ledger.version_games = learner.ledger.games;
            learner.ledger.publishing = None;
        }
        tracing::info!(
            run,
            games = learner.ledger.games,
            version = latest,
            "going on from the last checkpoint"
        );
        Ok(Restored { learner, number, passed_over })
    }
}

/// Networks as people write them, such as `contact 382-160-5`.
fn in_words(networks: &[Shape]) -> String {
    let words = networks.iter().map(|shape| format!("{} {shape}", shape.class));
    words.collect::<Vec<_>>().join(", ")
}

/// Where to go on from.
struct Restored {
    learner: Learner,
    /// Number of the checkpoint, 0 when there was none.
    number: u64,
    /// Whether it is not the last that was written.
    passed_over: bool,
}

/// Fills the memory of labels with the newest in the archive.
fn remember(
    archive: &Archive,
    teacher: &mut dyn Teacher,
    memory: &mut LabelMemory,
    kept: usize,
) -> Result<(), TrainerError> {
    for shard in archive.newest(kept)? {
        let chances = shard.chances.chunks_exact(teacher.chances().len());
        for (position, chances) in shard.positions.iter().zip(chances) {
            match teacher.recall(position) {
                Ok(Some((class, inputs))) => memory.add(class, inputs, chances),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "passed over a label in the archive"),
            }
        }
    }
    if memory.len() > 0 {
        tracing::info!(labels = memory.len(), "remembers labels");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
