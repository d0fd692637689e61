//! What a trainer does: it joins, publishes and reports.

use ludus_players::arena::Arena;
use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::{
    JoinReply, JoinRequest, Progress, PublishReply, PublishRequest, ReportReply, ReportRequest,
};

use crate::CoordinatorError;
use crate::book::{Book, Run, RunId, Version, VersionState};
use crate::coordinator::Shared;
use crate::gatekeeper;
use crate::leases::Millis;
use crate::status;

/// Longest weight file, in bytes.
pub(crate) const MOST_WEIGHTS: usize = 64 << 20;
/// Most position classes a report speaks of.
const MOST_CLASSES: usize = 64;

impl Shared {
    /// Gives a trainer the run, and a fence that outranks every trainer before it.
    pub(crate) fn join(&self, request: &JoinRequest) -> Result<JoinReply, CoordinatorError> {
        if request.trainer.len() > 128 || request.trainer.contains(char::is_control) {
            let rule = "a trainer's name has at most 128 characters, none of them a control character";
            return Err(CoordinatorError::Request(rule.into()));
        }
        let mut state = self.lock()?;
        let id = run_to_join(state.book(), &request.run)?.id;
        state.step(|book, writer| {
            // It was there a moment ago, under the same lock.
            let run = book.runs.get_mut(&id).ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            run.fence += 1;
            run.trainer.clone_from(&request.trainer);
            writer.joined(run)?;
            Ok(JoinReply {
                run: run.name.clone(),
                game: run.config.game.clone(),
                revision: run.revision,
                config: run.config.to_toml(),
                fence: run.fence,
                latest_version: run.latest(),
                stream: run.stream.clone(),
            })
        })
    }

    /// Takes a new version. The same bytes again are the same version.
    pub(crate) fn publish(
        &self,
        request: &PublishRequest,
        now: Millis,
    ) -> Result<PublishReply, CoordinatorError> {
        let refused = |reason| CoordinatorError::Weights { run: request.run.clone(), reason };
        let bytes = &request.weights;
        if bytes.len() > MOST_WEIGHTS {
            return Err(refused(format!("they have {} bytes, and the limit is {MOST_WEIGHTS}", bytes.len())));
        }
        let progress = request.progress.clone().unwrap_or_default();
        check_progress(&progress)?;
        let sha256 = Digest::of(bytes);
        let place = format!("published by fence {}", request.fence);
        let file = WeightFile::from_bytes(bytes, &place).map_err(|error| refused(error.to_string()))?;
        let parent = parent_of(&file).map_err(refused)?;
        // Asked twice, because the bytes are put on the disk without the lock.
        let check = |book: &Book| -> Result<Checked, CoordinatorError> {
            let run = fenced(book, &request.run, request.fence)?;
            if let Some(version) = run.versions.iter().find(|version| version.sha256 == sha256) {
                return Ok(Checked::Known(version.number));
            }
            let arena = self.arena(run)?;
            check_file(&file, run, arena.as_ref()).map_err(refused)?;
            Ok(Checked::New { run: run.id, version: run.latest() + 1, max_points: arena.max_points() })
        };
        if let Checked::Known(version) = check(self.lock()?.book())? {
            return Ok(PublishReply { version });
        }
        self.weights.keep(sha256, bytes)?;

        let mut state = self.lock()?;
        let (id, number, max_points) = match check(state.book())? {
            Checked::Known(version) => return Ok(PublishReply { version }),
            Checked::New { run, version, max_points } => (run, version, max_points),
        };
        let version = Version {
            number,
            state: VersionState::Published,
            sha256,
            parent,
            size: bytes.len() as u64,
            published_at: now / 1000,
            progress,
        };
        state.step(|book, writer| {
            writer.new_version(id, &version)?;
            if let Some(run) = book.runs.get_mut(&id) {
                run.versions.push(version);
                gatekeeper::overtake(run, writer, now)?;
            }
            gatekeeper::start(book, writer, id, max_points, now)
        })?;
        drop(state);
        self.gate_bell.notify_one();
        self.prune_bell.notify_one();
        Ok(PublishReply { version: number })
    }

    /// Keeps the cumulative counters of a trainer, and drops what it needs no more from the outbox. When games it
    /// should have had are missing, the rest goes to the stream again: whatever the stream loses, the outbox has.
    pub(crate) fn report(
        &self,
        request: &ReportRequest,
        now: Millis,
    ) -> Result<ReportReply, CoordinatorError> {
        let progress = request.progress.clone().unwrap_or_default();
        check_progress(&progress)?;
        let mut state = self.lock()?;
        let run = fenced(state.book(), &request.run, request.fence)?;
        let (id, known) = (run.id, run.progress.games);
        if progress.games < known {
            return Err(CoordinatorError::WentBack {
                run: run.name.clone(),
                reported: progress.games,
                known,
            });
        }
        let mut reply =
            ReportReply { run_stopped: !run.active, accepted: run.accepted(), ..ReportReply::default() };
        let again = state.step(|book, writer| {
            writer.report(id, &progress, reply.accepted, now / 1000)?;
            if let Some(run) = book.runs.get_mut(&id) {
                run.progress = progress;
            }
            request.settled.iter().try_for_each(|&post| writer.settled(id, post))?;
            let first = writer.first_unsettled(id)?;
            reply.unsettled = first.is_some();
            let before = first.map(|post| post - 1).filter(|&before| request.missing && before < book.posted);
            if let Some(before) = before {
                book.posted = before;
                writer.posted(before)?;
            }
            Ok(before.is_some())
        })?;
        drop(state);
        if again {
            tracing::warn!(
                run = request.run,
                "accepted games did not reach the trainer; what it has not settled is appended to the stream again"
            );
            self.outbox_bell.notify_one();
        }
        Ok(reply)
    }
}

/// What publishing some bytes means.
enum Checked {
    /// They are this version already.
    Known(u64),
    /// They become a version.
    New { run: RunId, version: u64, max_points: u32 },
}

/// The run a trainer means; with an empty name the only active one.
fn run_to_join<'b>(book: &'b Book, name: &str) -> Result<&'b Run, CoordinatorError> {
    if !name.is_empty() {
        return status::find(book, name);
    }
    let active: Vec<&Run> = book.runs.values().filter(|run| run.active).collect();
    match active[..] {
        [run] => Ok(run),
        [] => Err(CoordinatorError::WhichRun { found: "none is active".into() }),
        _ => {
            let names: Vec<&str> = active.iter().map(|run| run.name.as_str()).collect();
            Err(CoordinatorError::ManyRuns { active: names.join(", ") })
        }
    }
}

/// The run, for the trainer that joined last.
fn fenced<'b>(book: &'b Book, run: &str, fence: u64) -> Result<&'b Run, CoordinatorError> {
    let run = status::find(book, run)?;
    if run.fence != fence {
        return Err(CoordinatorError::StaleFence { run: run.name.clone(), fence, current: run.fence });
    }
    Ok(run)
}

fn check_progress(progress: &Progress) -> Result<(), CoordinatorError> {
    let fits = |number: u64| i64::try_from(number).is_ok();
    let counters =
        [progress.games, progress.positions, progress.steps, progress.expired, progress.skipped_steps];
    if progress.losses.len() > MOST_CLASSES || !counters.into_iter().all(fits) {
        return Err(CoordinatorError::Request("a report's counters or classes are beyond all bounds".into()));
    }
    Ok(())
}

/// Whether the file is what this run trains: by its card, and by the sizes of its networks.
fn check_file(file: &WeightFile, run: &Run, arena: &dyn Arena) -> Result<(), String> {
    let (card, next) = (&file.card, run.latest() + 1);
    let pairs = [
        ("game", card.game.clone(), run.config.game.clone()),
        ("revision", card.revision.to_string(), run.revision.to_string()),
        ("input set", card.inputs.clone(), run.config.network.inputs.clone()),
        ("run", card.run.clone(), run.name.clone()),
        ("version", card.version.to_string(), next.to_string()),
    ];
    if let Some((what, found, wanted)) = pairs.iter().find(|(_, found, wanted)| found != wanted) {
        return Err(format!("their card says {what} {found:?}, and this is {what} {wanted:?}"));
    }
    let network = &run.config.network;
    let shapes = arena.shapes(&network.inputs, network.hidden).map_err(|error| error.to_string())?;
    if file.shapes() != shapes {
        return Err(format!(
            "their networks are not those of the run, which read {} with {} hidden units",
            network.inputs, network.hidden
        ));
    }
    Ok(())
}

fn parent_of(file: &WeightFile) -> Result<Vec<u8>, String> {
    match file.card.parent.as_str() {
        "" => Ok(Vec::new()),
        parent => parent
            .parse()
            .map(|Digest(sum)| sum.to_vec())
            .map_err(|error| format!("their card's parent: {error}")),
    }
}
