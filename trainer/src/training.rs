//! The training loop: stream entries in, rounds of lessons, checkpoints and versions out.
//!
//! One thread does everything in turn, so the order of events is the order of the code. The rules it keeps:
//!
//! - A game is *seen* (in the ledger) together with the round that learns from it, and checkpoints are written between
//!   rounds. So a checkpoint holds a game's steps and its mark, or neither; games still waiting are in neither.
//! - An entry is acknowledged when both kept checkpoints know that it is done with, and the coordinator has confirmed
//!   that this trainer still holds the run. So a damaged newest checkpoint costs nothing: what the one before does not
//!   know comes from the stream again.
//! - The labels of a game go into the archive before the checkpoint that counts it, see [`crate::labels::archive`].
//! - A version is announced in a checkpoint before it is published. Killed in between, the trainer publishes the very
//!   same bytes again, or finds that they have arrived.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ludus_config::RunConfig;
use ludus_players::arena::Violation;
use ludus_players::lessons::{LabelLesson, Lessons, Teacher};
use ludus_players::rollout::LABEL_RANGE;
use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::{PublishRequest, ReportReply, ReportRequest};
use ludus_stream::GameStream;

use crate::TrainerError;
use crate::checkpoint::{Checkpoint, CheckpointFolder, Origin};
use crate::coordination::{Coordination, CoordinationError};
use crate::intake::{Game, Intake, Subject};
use crate::labels::Label;
use crate::labels::archive::Archive;
use crate::learner::{LearnError, Learner};
use crate::patience::Patience;
use crate::versions::{next_version, next_version_at};

/// Steps' worth of positions in a round: a batch mixes positions of about this many times as many games as one alone.
const ROUND_BATCHES: usize = 16;
/// Entries asked for at once.
const READ: usize = 16;
/// Wait between reports while a stopped run's last games are to come.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// Longest wait for entries before the loop looks at the clock again.
const LISTEN: Duration = Duration::from_millis(100);
/// Checkpoints that must know of an entry before it is acknowledged: all that are kept.
const SAFE: usize = 2;

/// How a session of learning ended.
#[derive(Debug)]
pub enum End {
    /// The run was stopped and everything is learnt.
    Finished,
    /// The trainer was told to stop.
    ToldToStop,
    /// The weights are lost: go back to the last checkpoint.
    Diverged(String),
}

/// One stretch of learning from a checkpoint on.
pub struct Session<'a> {
    /// The run's configuration.
    pub config: &'a RunConfig,
    /// What its checkpoints are marked with.
    pub origin: &'a Origin,
    /// Proof that this trainer holds the run.
    pub fence: u64,
    /// Name under which it reads the stream.
    pub consumer: &'a str,
    /// The coordinator.
    pub coordination: &'a mut dyn Coordination,
    /// The games.
    pub stream: Arc<dyn GameStream>,
    /// Makes lessons of them, with the judgement of the weights as they are.
    pub teacher: Box<dyn Teacher>,
    /// Where checkpoints go.
    pub folder: &'a mut CheckpointFolder,
    /// Where labels go.
    pub archive: Archive,
    /// What learns.
    pub learner: Learner,
    /// The checkpoint gone on from is older than what was reported. Until the entries delivered again are learnt, the
    /// counters are behind, and nothing is reported.
    pub catching_up: bool,
    /// Whether to publish a last version when told to stop.
    pub last_version: bool,
    /// Games that wait.
    pub intake: Intake,
    /// How to wait.
    pub patience: &'a Patience,
}

/// When the loop last did what it does from time to time.
struct Clock {
    /// The last checkpoint or report.
    looked: Instant,
    /// Games trained on by the last checkpoint.
    games: u64,
    /// What the coordinator said to the last report.
    told: ReportReply,
    /// Since then the stream had nothing once.
    dry: bool,
    /// Everything that was delivered to an earlier session has been read.
    all_heard: bool,
}

impl Session<'_> {
    /// Learns until the run is over, the trainer is told to stop, or the weights are lost.
    pub fn learn(&mut self) -> Result<End, TrainerError> {
        let mut clock = Clock {
            looked: Instant::now(),
            games: self.learner.ledger.games,
            told: ReportReply::default(),
            dry: false,
            all_heard: false,
        };
        if self.learner.ledger.publishing.is_some() || self.learner.ledger.version == 0 {
            self.publish(&mut clock)?;
        }
        let positions = ROUND_BATCHES * self.config.learn.batch;
        while !self.patience.is_over() {
            let idle = self.intake.lessons() < positions && !self.listen(&mut clock)?;
            let due = self.is_due(&clock) || (idle && self.may_be_the_end(&clock));
            // At a checkpoint what waits is learnt too, however little: games must not wait for others for ever.
            while self.intake.lessons() >= positions || (due && !self.intake.is_empty()) {
                if let Some(end) = self.round_or_end(positions)? {
                    return Ok(end);
                }
            }
            let dry = self.is_dry(&clock);
            let ledger = &self.learner.ledger;
            if ledger.games >= next_version_at(self.config, ledger.version_games) {
                self.publish(&mut clock)?;
            } else if due {
                self.checkpoint(&mut clock)?;
            }
            if due && self.is_complete(&clock, dry) {
                return self.finish(&mut clock);
            }
        }
        self.leave(&mut clock, positions)
    }

    /// Told to stop: a checkpoint to go on from and, if that is wanted, what was read in a last version.
    fn leave(&mut self, clock: &mut Clock, positions: usize) -> Result<End, TrainerError> {
        while self.last_version && !self.intake.is_empty() {
            if let Some(end) = self.round_or_end(positions)? {
                return Ok(end);
            }
        }
        if self.last_version && self.learner.ledger.games > self.learner.ledger.version_games {
            self.publish(clock)?;
        } else {
            self.checkpoint(clock)?;
        }
        Ok(End::ToldToStop)
    }

    /// A round; the end when the weights are lost by it.
    fn round_or_end(&mut self, positions: usize) -> Result<Option<End>, TrainerError> {
        match self.round(positions) {
            Ok(()) => Ok(None),
            Err(LearnError::Diverged) => Ok(Some(End::Diverged(LearnError::Diverged.to_string()))),
            Err(error) => Err(TrainerError::Fault(error.to_string())),
        }
    }

    /// Takes in what the stream has; `false` when it had nothing.
    fn listen(&mut self, clock: &mut Clock) -> Result<bool, TrainerError> {
        let read = self.stream.read(self.consumer, READ, LISTEN);
        match self.patience.wait(read) {
            None => Ok(false),
            Some(Ok(entries)) => {
                let waiting = entries.is_empty() && self.intake.is_empty();
                self.patience.stats.wait_for(waiting.then(|| "waiting for games".to_owned()));
                let (now, any) = (unix_seconds(), !entries.is_empty());
                clock.dry |= !any;
                // What was delivered before comes first.
                if entries.iter().all(|entry| entry.deliveries <= 1) {
                    clock.all_heard = true;
                }
                for entry in entries {
                    self.intake.accept(entry, &mut self.learner.ledger, now);
                }
                Ok(any)
            }
            Some(Err(error)) => {
                self.patience.say(format!("cannot read games, trying again: {error}"));
                self.patience.pause(Duration::from_secs(1));
                Ok(false)
            }
        }
    }

    /// Whether it is time for a checkpoint. The coordinator learns of progress by it, and stops handing out games when
    /// too many seem to be waiting: so a quarter of that many are reason enough.
    fn is_due(&self, clock: &Clock) -> bool {
        let backlog = (self.config.leases.backlog_games / 4).max(1);
        clock.looked.elapsed().as_secs() >= self.config.learn.checkpoint_seconds
            || self.learner.ledger.games >= clock.games + backlog
    }

    /// Whether the coordinator should hear where the trainer is, because the run was stopped: at once when something was
    /// learnt, otherwise now and then, for games may still be to come.
    fn may_be_the_end(&self, clock: &Clock) -> bool {
        clock.told.run_stopped
            && (self.learner.ledger.games > clock.games || clock.looked.elapsed() >= ASK_AGAIN)
    }

    /// Learns from the games that wait, up to about so many positions.
    fn round(&mut self, positions: usize) -> Result<(), LearnError> {
        let _span = tracing::info_span!("round", run = self.origin.run, positions).entered();
        let mut lessons: Vec<Lessons> =
            self.origin.networks.iter().map(|network| Lessons::new(network.outputs)).collect();
        while lessons.iter().map(Lessons::len).sum::<usize>() + self.learner.owed() < positions {
            let Some(game) = self.intake.next(&mut self.learner.ledger) else { break };
            let taught = match game.source.subject {
                Subject::Games => {
                    let lambda = self.config.phase(game.source.phase).lambda as f32;
                    self.teacher.teach(&game.record, lambda, &mut lessons)
                }
                Subject::Returns | Subject::Labels => self.take_labels(&game, &mut lessons),
            };
            let ledger = &mut self.learner.ledger;
            match &taught {
                Ok(()) => ledger.games += 1,
                Err(_) => ledger.refused += 1,
            }
            self.intake.close(game, taught.err().map(|violation| violation.to_string()), ledger);
        }
        self.learner.learn(&mut lessons)?;
        let version = self.version();
        // Neither saved nor published: weights beyond all bounds.
        version.check().map_err(|_| LearnError::Diverged)?;
        self.teacher.follow(&version)?;
        self.show();
        Ok(())
    }

    /// Takes the labels of a game into the memory and the archive.
    fn take_labels(&mut self, game: &Game, lessons: &mut [Lessons]) -> Result<(), Violation> {
        let Session { config, teacher, learner, archive, origin, .. } = self;
        let (source, number) = (&game.source, game.record.number);
        let outputs = teacher.chances().len();
        let sound =
            |chances: &[f32]| chances.len() == outputs && chances.iter().all(|c| LABEL_RANGE.contains(c));
        if let Some(label) = game.record.labels.iter().find(|label| !sound(&label.chances)) {
            let detail = format!("ply {}: {:?} are not {outputs} chances", label.ply, label.chances);
            return Err(Violation { reason: "bad-label", detail });
        }
        let mut take = |lesson: LabelLesson<'_>| {
            if let Some(inputs) = lesson.inputs {
                learner.receive(lesson.class, inputs, lesson.target);
            }
            archive.add(Label {
                series: source.series,
                game: number,
                ply: lesson.ply,
                play: lesson.play,
                position: lesson.position,
                class: origin.networks[lesson.class].class.clone(),
                chances: lesson.target.to_vec(),
                error: lesson.error,
                trials: lesson.trials,
                player: source.player.clone(),
            });
        };
        if source.subject == Subject::Labels {
            return teacher.labels(&game.record, &mut take);
        }
        let lambda = config.phase(source.phase).lambda as f32;
        teacher.returns(&game.record, lambda, lessons, &mut take)
    }

    /// Writes a checkpoint if anything changed, reports, and settles the entries that are safe.
    fn checkpoint(&mut self, clock: &mut Clock) -> Result<(), TrainerError> {
        let _span = tracing::info_span!("checkpoint", run = self.origin.run).entered();
        if self.learner.ledger.games != clock.games || self.intake.finished() > 0 {
            self.save()?;
        }
        clock.games = self.learner.ledger.games;
        clock.looked = Instant::now();
        self.catching_up &= !(clock.all_heard && self.intake.is_empty());
        if !self.catching_up {
            self.report(clock, SAFE)?;
        }
        // For people alone: a stream that does not answer is told of by whoever reads it.
        let depths = self.patience.runtime.block_on(self.stream.depths());
        self.patience.stats.show_stream(depths.ok());
        Ok(())
    }

    /// Reports, and settles the entries that at least so many checkpoints know of.
    fn report(&mut self, clock: &mut Clock, checkpoints: usize) -> Result<(), TrainerError> {
        let request = ReportRequest {
            run: self.origin.run.clone(),
            fence: self.fence,
            progress: Some(self.learner.progress()),
            settled: self.intake.settled(checkpoints),
            missing: self.is_dry(clock) && self.learner.ledger.seen.count() < clock.told.accepted,
        };
        match self.coordination.report(&request) {
            Ok(reply) => {
                if let Some(progress) = &request.progress {
                    self.patience.stats.show_losses(&progress.losses);
                }
                self.learner.forget_losses();
                (clock.told, clock.dry) = (reply, false);
                self.settle(checkpoints);
                Ok(())
            }
            // Training goes on without the coordinator as long as the stream has games.
            Err(CoordinationError::NotNow(reason)) => {
                self.patience.say(format!("cannot report progress, trying again: {reason}"));
                Ok(())
            }
            Err(CoordinationError::FenceLost(reason)) => Err(TrainerError::FenceLost { reason }),
            Err(CoordinationError::Refused(reason)) => {
                Err(TrainerError::Refused { what: "report progress".into(), reason })
            }
        }
    }

    /// Makes all of it durable.
    fn save(&mut self) -> Result<(), TrainerError> {
        let checkpoint = Checkpoint {
            origin: self.origin.clone(),
            ledger: self.learner.ledger.clone(),
            students: self.learner.students.clone(),
        };
        self.archive.save(self.folder.next())?;
        self.folder.save(&checkpoint)?;
        self.intake.checkpointed();
        self.patience.stats.count_checkpoint();
        Ok(())
    }

    /// Acknowledges or buries the entries that at least so many checkpoints know of. What fails is tried again later.
    fn settle(&mut self, checkpoints: usize) {
        let (bury, acknowledge): (Vec<_>, Vec<_>) =
            self.intake.take_finished(checkpoints).into_iter().partition(|finished| finished.fault.is_some());
        let ids: Vec<_> = acknowledge.iter().map(|finished| finished.entry.id.clone()).collect();
        let runtime = &self.patience.runtime;
        if !ids.is_empty() {
            match runtime.block_on(self.stream.acknowledge(&ids)) {
                Ok(()) => ids.iter().for_each(|id| {
                    self.learner.ledger.done.remove(&id.0);
                }),
                Err(error) => {
                    self.patience.say(format!("cannot acknowledge games, trying again: {error}"));
                    self.intake.put_back(acknowledge);
                }
            }
        }
        for finished in bury {
            let reason = finished.fault.as_deref().unwrap_or_default();
            match runtime.block_on(self.stream.bury(&finished.entry, reason)) {
                Ok(()) => {
                    self.learner.ledger.done.remove(&finished.entry.id.0);
                    self.patience.stats.count_buried();
                    tracing::warn!(entry = finished.entry.id.0, reason, "buried a stream entry");
                }
                Err(error) => {
                    self.patience.say(format!("cannot bury an entry, trying again: {error}"));
                    self.intake.put_back(vec![finished]);
                }
            }
        }
    }

    /// Publishes the present weights as the next version.
    fn publish(&mut self, clock: &mut Clock) -> Result<(), TrainerError> {
        let _span = tracing::info_span!("publish", run = self.origin.run).entered();
        self.learner.ledger.publishing.get_or_insert_with(unix_seconds);
        self.save()?;
        clock.games = self.learner.ledger.games;
        let bytes = self.version().to_bytes().map_err(|error| TrainerError::Arena(error.into()))?;
        let sha256 = Digest::of(&bytes).to_string();
        let request = PublishRequest {
            run: self.origin.run.clone(),
            fence: self.fence,
            weights: bytes,
            progress: Some(self.learner.progress()),
        };
        let published = self.patience.persist("publish a version", || self.coordination.publish(&request))?;
        if let Some(version) = published {
            let ledger = &mut self.learner.ledger;
            ledger.version = version;
            ledger.version_sha256 = sha256;
            ledger.version_games = ledger.games;
            ledger.publishing = None;
            tracing::info!(version, games = ledger.games, "published a version");
            self.show();
            self.checkpoint(clock)?;
        }
        Ok(())
    }

    /// The present weights as the version that comes next.
    fn version(&self) -> WeightFile {
        next_version(&self.learner, self.origin)
    }

    /// Whether nothing waits here, nor did in the stream after the coordinator's last word.
    fn is_dry(&self, clock: &Clock) -> bool {
        clock.dry && self.intake.is_empty()
    }

    /// Whether every game accepted before the run was stopped is dealt with. Games in entries that had to be buried
    /// never come: then that is said, and counts as complete once the coordinator has no others.
    fn is_complete(&self, clock: &Clock, dry: bool) -> bool {
        if !clock.told.run_stopped {
            return false;
        }
        let missing = clock.told.accepted.saturating_sub(self.learner.ledger.seen.count());
        if missing == 0 {
            return true;
        }
        let gone = dry && !clock.told.unsettled;
        if gone {
            tracing::warn!(missing, "the run ends without some games");
        } else {
            self.patience.say(format!("the run was stopped; {missing} accepted games are still to come"));
        }
        gone
    }

    /// The last version of a run that is over.
    fn finish(&mut self, clock: &mut Clock) -> Result<End, TrainerError> {
        if self.learner.ledger.games > self.learner.ledger.version_games {
            self.publish(clock)?;
            if self.learner.ledger.publishing.is_some() {
                return Ok(End::ToldToStop);
            }
        }
        // This checkpoint is the last, and all of it is known to be done.
        self.save()?;
        self.report(clock, 1)?;
        self.patience.stats.wait_for(None);
        Ok(End::Finished)
    }

    fn show(&self) {
        self.patience.stats.show(&self.learner.ledger);
    }
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
