//! The coordinator and what programs do with it; what workers and trainers do with it is in the modules named after
//! their requests.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use ludus_config::RunConfig;
use ludus_players::arena::{Arena, Registry};
use ludus_players::weight_file::Digest;
use ludus_proto::v1::{Progress, RunStatus, VersionInfo, VersionLineage};
use ludus_stream::{StreamHome, new_stream};
use tokio::sync::Notify;

use crate::CoordinatorError;
use crate::book::Run;
use crate::retention::Retention;
use crate::state::State;
use crate::store::depot::Depot;
use crate::store::write::EndReason;
use crate::store::{Folder, WeightFolder};
use crate::tls::ServerTls;
use crate::{clock, condition, gatekeeper, lineage, phases, status, tokens};

/// What a coordinator needs to know.
#[derive(Clone)]
pub struct CoordinatorOptions {
    /// Its data folder; made when needed.
    pub dir: PathBuf,
    /// Where the streams of its runs live.
    pub stream: StreamHome,
    /// The games it can host.
    pub registry: Registry,
    /// Whether it may be reached from other machines although there are no tokens, so nobody has to show who he is.
    pub insecure: bool,
    /// What is kept of old versions and gates.
    pub keep: Retention,
    /// Where weights are kept beyond `dir`; `None`: nowhere.
    pub depot: Option<Depot>,
    /// With what it serves TLS, if it does.
    pub tls: Option<ServerTls>,
}

/// Owns the runs of a data folder. A handle: clones share the coordinator, and the last one to go frees the folder.
#[derive(Clone)]
pub struct Coordinator {
    pub(crate) shared: Arc<Shared>,
}

/// What all parts of a coordinator share.
pub(crate) struct Shared {
    pub options: CoordinatorOptions,
    pub weights: WeightFolder,
    /// Rung when there is something in the outbox.
    pub outbox_bell: Notify,
    /// Rung when a gate may have begun.
    pub gate_bell: Notify,
    /// Rung when something may have become old.
    pub prune_bell: Notify,
    /// Rung when a game waits for its audit.
    pub audit_bell: Notify,
    /// Opens every door; see [`Coordinator::house_token`].
    pub house: String,
    /// Requests that got no answer since the start, by reason.
    pub refused_requests: Mutex<BTreeMap<&'static str, u64>>,
    /// Why accepted games do not reach their streams, while they do not.
    pub stream_trouble: Mutex<Option<String>>,
    state: Mutex<State>,
    /// Held as long as this coordinator lives.
    _lock: File,
}

impl Coordinator {
    /// Takes a data folder, which is made when needed, and goes on where it was left.
    pub fn open(options: CoordinatorOptions) -> Result<Coordinator, CoordinatorError> {
        let folder = Folder::new(&options.dir);
        let lock = folder.lock()?;
        let state = State::open(&folder)?;
        let shared = Shared {
            weights: folder.weights().backed_by(options.depot.clone()),
            outbox_bell: Notify::new(),
            gate_bell: Notify::new(),
            audit_bell: Notify::new(),
            prune_bell: Notify::new(),
            house: tokens::new_secret(),
            refused_requests: Mutex::default(),
            stream_trouble: Mutex::new(None),
            state: Mutex::new(state),
            _lock: lock,
            options,
        };
        shared.check_games()?;
        shared.start_gates()?;
        shared.weights.sweep()?;
        match shared.prune().and_then(|()| shared.weights.hand_on()) {
            // It may answer later, and until then there is work to do. One that refuses will go on refusing.
            Err(error @ CoordinatorError::Depot { refused: false, .. }) => {
                tracing::warn!("old weights are neither deleted nor handed on: {error}");
            }
            Ok(handed_on) if handed_on > 0 => tracing::info!(handed_on, "weights are in the store now"),
            done => drop(done?),
        }
        Ok(Coordinator { shared: Arc::new(shared) })
    }

    /// Creates a run from the TOML of its configuration, named `name`, or after its game when that is empty. Gives the
    /// run's name.
    pub fn create_run(&self, config: &str, name: &str) -> Result<String, CoordinatorError> {
        self.shared.create_run(config, name)
    }

    /// A configuration as a run would keep it: with the input set it leaves to the game, and the full path of its
    /// benchmark. Fails where [`Coordinator::create_run`] would.
    pub fn completed(&self, config: RunConfig) -> Result<RunConfig, CoordinatorError> {
        self.shared.completed(config)
    }

    /// Stops a run for good: no more games are handed out, and what is out is void. What was accepted is still trained
    /// on. Stopping twice does no harm.
    pub fn stop_run(&self, run: &str) -> Result<(), CoordinatorError> {
        self.shared.stop_run(run)
    }

    /// Every run, oldest first.
    pub fn runs(&self) -> Result<Vec<RunStatus>, CoordinatorError> {
        let state = self.shared.lock()?;
        let workers = state.roster.count(clock::now());
        Ok(state.book().runs.values().map(|run| status::run(run, workers)).collect())
    }

    /// The run of this name; with an empty name the newest.
    pub fn run(&self, name: &str) -> Result<RunStatus, CoordinatorError> {
        let state = self.shared.lock()?;
        Ok(status::run(status::find(state.book(), name)?, state.roster.count(clock::now())))
    }

    /// The versions of a run, oldest first; with an empty name of the newest run.
    pub fn versions(&self, run: &str) -> Result<Vec<VersionInfo>, CoordinatorError> {
        let state = self.shared.lock()?;
        let run = status::find(state.book(), run)?;
        Ok(run.versions.iter().map(|version| status::version(run, version)).collect())
    }

    /// Whose games the versions of a run may have learnt from, oldest first; with an empty name of the newest run.
    pub fn lineage(&self, run: &str) -> Result<Vec<VersionLineage>, CoordinatorError> {
        let state = self.shared.lock()?;
        let run = status::find(state.book(), run)?;
        state.query(|connection| lineage::of_run(connection, state.book(), run))
    }

    /// The bytes of the weight file with this sum, checked.
    pub fn weights(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
        self.shared.weights.read(sha256)
    }
}

impl Shared {
    /// The state, as the database has it.
    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, State>, CoordinatorError> {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| {
            // A panic broke a step off, so the state knows that it is stale.
            self.state.clear_poison();
            poisoned.into_inner()
        });
        state.refresh()?;
        Ok(state)
    }

    /// The arena of a run's game. It was there when the run was created or the folder opened.
    pub(crate) fn arena(&self, run: &Run) -> Result<&Arc<dyn Arena>, CoordinatorError> {
        let game = &run.config.game;
        match self.options.registry.find(game) {
            Some(arena) if arena.revision() == run.revision => Ok(arena),
            found => Err(CoordinatorError::Revision {
                run: run.name.clone(),
                game: game.clone(),
                wanted: run.revision,
                has: found
                    .map_or("does not know it".into(), |arena| format!("has revision {}", arena.revision())),
            }),
        }
    }

    /// Refuses a folder with an active run that this program cannot go on with.
    fn check_games(&self) -> Result<(), CoordinatorError> {
        let state = self.lock()?;
        state.book().runs.values().filter(|run| run.active).try_for_each(|run| self.arena(run).map(drop))
    }

    /// Starts every gate that is due.
    fn start_gates(&self) -> Result<(), CoordinatorError> {
        let mut state = self.lock()?;
        let active = state.book().runs.values().filter(|run| run.active);
        let due = active.map(|run| Ok((run.id, self.arena(run)?.max_points())));
        for (run, points) in due.collect::<Result<Vec<_>, CoordinatorError>>()? {
            state.step(|book, writer| gatekeeper::start(book, writer, run, points, clock::now()))?;
        }
        Ok(())
    }

    fn game(&self, config: &RunConfig) -> Result<&Arc<dyn Arena>, CoordinatorError> {
        self.options.registry.find(&config.game).ok_or_else(|| {
            let known = self.options.registry.games().join(", ");
            CoordinatorError::Settings(format!("there is no game {:?}; the games are {known}", config.game))
        })
    }

    fn completed(&self, mut config: RunConfig) -> Result<RunConfig, CoordinatorError> {
        let arena = self.game(&config)?.as_ref();
        if config.network.inputs.is_empty() {
            config.network.inputs = arena.input_sets().first().copied().unwrap_or_default().to_owned();
        }
        check_settings(&config, arena)?;
        config.gate.benchmark = condition::checked_benchmark(&config.gate.benchmark, arena)?;
        Ok(config)
    }

    fn create_run(&self, config: &str, name: &str) -> Result<String, CoordinatorError> {
        let config = RunConfig::parse_over(config, |game| self.options.registry.training(game))?;
        let config = self.completed(config)?;
        let revision = self.game(&config)?.revision();

        let mut state = self.lock()?;
        let runs = &state.book().runs;
        let id = runs.keys().next_back().map_or(1, |last| last + 1);
        let name = match name {
            "" => free_name(&config.game, |name| runs.values().any(|run| run.name == name)),
            name => name.to_owned(),
        };
        check_name(&name)?;
        if runs.values().any(|run| run.name == name) {
            return Err(CoordinatorError::RunExists { name });
        }
        let mut run = Run {
            id,
            name: name.clone(),
            stream: new_stream(&name),
            revision,
            config,
            active: true,
            created_at: clock::now() / 1000,
            versions: Vec::new(),
            champion: 0,
            fence: 0,
            trainer: String::new(),
            progress: Progress::default(),
            learning: Vec::new(),
            gate: None,
            past_matches: Vec::new(),
            decided: Default::default(),
            refusals: Default::default(),
            audits: Default::default(),
        };
        state.step(|book, writer| {
            writer.new_run(&run)?;
            phases::begin(&mut run, writer, &mut book.next_series, 0)?;
            book.runs.insert(id, run);
            Ok(())
        })?;
        // The stream of the new run may not be open yet.
        self.outbox_bell.notify_one();
        Ok(name)
    }

    fn stop_run(&self, name: &str) -> Result<(), CoordinatorError> {
        let mut state = self.lock()?;
        let id = status::find(state.book(), name)?.id;
        state.step(|book, writer| {
            let Some(run) = book.runs.get_mut(&id).filter(|run| run.active) else { return Ok(()) };
            run.active = false;
            writer.stopped(id)?;
            for series in &mut run.learning {
                series.book.end();
                writer.ended(series, EndReason::Stopped)?;
            }
            gatekeeper::stop(run, writer, clock::now())
        })
    }
}

/// Whether a name can be part of a file, a key and an address without quoting.
fn check_name(name: &str) -> Result<(), CoordinatorError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if (1..=64).contains(&name.len()) && name.chars().all(fits) && !name.starts_with('.') {
        return Ok(());
    }
    Err(CoordinatorError::RunName { name: name.into() })
}

fn free_name(game: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = game.to_owned();
    let mut number = 1;
    while taken(&name) {
        number += 1;
        name = format!("{game}-{number}");
    }
    name
}

/// Checks what the configuration alone could not know.
fn check_settings(config: &RunConfig, arena: &dyn Arena) -> Result<(), CoordinatorError> {
    let network = &config.network;
    let settings = |error: &dyn std::fmt::Display| CoordinatorError::Settings(error.to_string());
    arena.shapes(&network.inputs, network.hidden).map_err(|error| settings(&error))?;
    if config.self_play.shortlist > 0 && !arena.prunes(&network.inputs) {
        let inputs = &network.inputs;
        return Err(CoordinatorError::Settings(format!(
            "self_play.shortlist = {}: {inputs} has no small networks to make a shortlist with; set it to 0, or \
             network.inputs to inputs that have them (ludus-2, for backgammon)",
            config.self_play.shortlist
        )));
    }
    gatekeeper::rule(config, arena.max_points()).validated().map_err(|error| settings(&error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_name_is_called_after_its_game() {
        assert_eq!(free_name("go", |_| false), "go");
        assert_eq!(free_name("go", |name| ["go", "go-2"].contains(&name)), "go-3");
    }

    #[test]
    fn names_that_would_need_quoting_are_refused() {
        for name in ["first", "a.b-c_9", "X"] {
            check_name(name).expect("good");
        }
        for name in ["", "a b", "../x", ".hidden", "é", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
