//! What a trainer does: it joins, publishes and reports.

use std::sync::Arc;

use ludus_players::arena::{Arena, Seating, Source};
use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::{
    JoinReply, JoinRequest, Progress, PublishReply, PublishRequest, ReportReply, ReportRequest,
};

use crate::CoordinatorError;
use crate::book::{Book, Run, Version, VersionState};
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
            })
        })
    }

    /// Takes a new version. The same bytes again are the same version.
    pub(crate) fn publish(
        &self,
        request: &PublishRequest,
        now: Millis,
    ) -> Result<PublishReply, CoordinatorError> {
        let sha256 = Digest::of(&request.weights);
        let arena = {
            let state = self.lock()?;
            let run = fenced(state.book(), &request.run, request.fence)?;
            if let Some(version) = run.versions.iter().find(|version| version.sha256 == sha256) {
                return Ok(PublishReply { version: version.number });
            }
            self.arena(run)?.clone()
        };
        // Reading, checking and writing weights takes time, so it is done without the lock.
        let file = self.check_weights(request, sha256, arena.as_ref())?;
        let parent = parent_of(&file).map_err(|reason| refused(request, reason))?;
        self.weights.keep(sha256, &request.weights)?;

        let mut state = self.lock()?;
        let run = fenced(state.book(), &request.run, request.fence)?;
        if let Some(version) = run.versions.iter().find(|version| version.sha256 == sha256) {
            return Ok(PublishReply { version: version.number });
        }
        check_card(&file, run).map_err(|reason| refused(request, reason))?;
        let id = run.id;
        let version = Version {
            number: run.latest() + 1,
            state: VersionState::Published,
            sha256,
            parent,
            size: request.weights.len() as u64,
            published_at: now / 1000,
            progress: request.progress.clone().unwrap_or_default(),
        };
        let number = version.number;
        state.step(|book, writer| {
            writer.new_version(id, &version)?;
            if let Some(run) = book.runs.get_mut(&id) {
                run.versions.push(version);
            }
            gatekeeper::start(book, writer, id, arena.max_points(), now)
        })?;
        drop(state);
        self.gate_bell.notify_one();
        Ok(PublishReply { version: number })
    }

    /// Keeps the cumulative counters of a trainer.
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
        let reply = ReportReply { run_stopped: !run.active, accepted: run.accepted() };
        state.step(|book, writer| {
            writer.report(id, &progress, reply.accepted, now / 1000)?;
            if let Some(run) = book.runs.get_mut(&id) {
                run.progress = progress;
            }
            Ok(())
        })?;
        Ok(reply)
    }

    /// The weights of a publication, if players can be made of them.
    fn check_weights(
        &self,
        request: &PublishRequest,
        sha256: Digest,
        arena: &dyn Arena,
    ) -> Result<WeightFile, CoordinatorError> {
        let bytes = &request.weights;
        if bytes.len() > MOST_WEIGHTS {
            return Err(refused(request, format!("{} bytes, and the limit is {MOST_WEIGHTS}", bytes.len())));
        }
        let place = format!("weights published for run {}", request.run);
        let file =
            WeightFile::from_bytes(bytes, &place).map_err(|error| refused(request, error.to_string()))?;
        let source = Source::Weights { digest: sha256, file: Arc::new(file.clone()) };
        let seat = Seating { source, plies: 0 };
        // A table is where weights, game and input set meet.
        let series = crate::series::self_play(&Default::default(), 0);
        arena.table(&series, [&seat, &seat]).map_err(|error| refused(request, error.to_string()))?;
        check_progress(&request.progress.clone().unwrap_or_default())?;
        Ok(file)
    }
}

fn refused(request: &PublishRequest, reason: String) -> CoordinatorError {
    CoordinatorError::Weights { run: request.run.clone(), reason }
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
        _ => Err(CoordinatorError::WhichRun { found: format!("{} are active", active.len()) }),
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

/// Whether the file's card agrees with the run it is published in.
fn check_card(file: &WeightFile, run: &Run) -> Result<(), String> {
    let (card, next) = (&file.card, run.latest() + 1);
    let wrong = |what: &str, found: &dyn std::fmt::Display, wanted: &dyn std::fmt::Display| {
        Err(format!("its card says {what} {found}, and this is {what} {wanted}"))
    };
    if card.game != run.config.game {
        return wrong("game", &card.game, &run.config.game);
    }
    if card.revision != run.revision {
        return wrong("revision", &card.revision, &run.revision);
    }
    if card.inputs != run.config.network.inputs {
        return wrong("input set", &card.inputs, &run.config.network.inputs);
    }
    if card.run != run.name {
        return wrong("run", &card.run, &run.name);
    }
    if card.version != next {
        return wrong("version", &card.version, &next);
    }
    let hidden = run.config.network.hidden;
    if let Some(network) = file.networks.iter().find(|network| network.hidden != hidden) {
        return Err(format!(
            "its {} network has {} hidden units, and this run has {hidden}",
            network.class, network.hidden
        ));
    }
    Ok(())
}

fn parent_of(file: &WeightFile) -> Result<Vec<u8>, String> {
    match file.card.parent.as_str() {
        "" => Ok(Vec::new()),
        parent => {
            parent.parse().map(|Digest(sum)| sum.to_vec()).map_err(|error| format!("its parent: {error}"))
        }
    }
}
