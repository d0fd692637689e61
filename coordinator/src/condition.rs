//! The benchmark condition of gates: what comes before the head-to-head test when a run asks for it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ludus_players::arena::{Arena, Seating, Source};
use ludus_players::benchmark::BenchmarkReport;
use ludus_players::weight_file::{Digest, WeightFile};
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::book::{Book, RunId};
use crate::coordinator::Shared;
use crate::gate::{ClassLosses, compare_benchmark};
use crate::series::FIRST_OPPONENT;
use crate::{CoordinatorError, clock, gatekeeper};

/// How long to wait when a condition could not be checked, before the next try.
const PATIENCE: Duration = Duration::from_secs(30);

/// A condition that is due.
struct Due {
    run: RunId,
    arena: Arc<dyn Arena>,
    /// The benchmark, as the run names it.
    file: String,
    tolerance: f64,
    plies: u32,
    candidate: (u64, Digest),
    champion: (u64, Digest),
}

impl Shared {
    /// Checks every condition that falls due, until `stop`.
    pub(crate) async fn run_conditions(self: Arc<Self>, stop: CancellationToken) {
        loop {
            let shared = self.clone();
            let checked = blocking(move || shared.check_conditions()).await;
            let failed = checked
                .inspect_err(|error| tracing::warn!("a gate waits for its benchmark: {error}"))
                .is_err();
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(PATIENCE), if failed => {}
                () = self.gate_bell.notified(), if !failed => {}
            }
        }
    }

    /// Checks the conditions that are due now; a candidate that fails makes room for the next one.
    pub(crate) fn check_conditions(&self) -> Result<(), CoordinatorError> {
        loop {
            let Some(due) = self.due_condition()? else { return Ok(()) };
            let (passed, found) = self.compare(&due)?;
            let mut state = self.lock()?;
            state.step(|book, writer| {
                let now = clock::now();
                let Some(run) = book.runs.get_mut(&due.run) else { return Ok(()) };
                // The run may have been stopped meanwhile.
                if run.gate.as_ref().is_some_and(|gate| gate.candidate == due.candidate.0) {
                    gatekeeper::benchmarked(run, writer, &found, passed, now)?;
                    gatekeeper::start(book, writer, due.run, due.arena.max_points(), now)?;
                }
                Ok(())
            })?;
        }
    }

    fn due_condition(&self) -> Result<Option<Due>, CoordinatorError> {
        let state = self.lock()?;
        let book: &Book = state.book();
        let due = book.runs.values().find_map(|run| {
            let gate = run.gate.as_ref().filter(|gate| gate.benchmark.is_none())?;
            let (candidate, champion) = (run.version(gate.candidate)?, run.version(gate.opponent)?);
            Some((run, candidate, champion))
        });
        due.map(|(run, candidate, champion)| {
            Ok(Due {
                run: run.id,
                arena: self.arena(run)?.clone(),
                file: run.config.gate.benchmark.clone(),
                tolerance: run.config.gate.benchmark_tolerance,
                plies: run.config.self_play.plies,
                candidate: (candidate.number, candidate.sha256),
                champion: (champion.number, champion.sha256),
            })
        })
        .transpose()
    }

    /// Whether the candidate is within the tolerance, and what was found, for people.
    fn compare(&self, due: &Due) -> Result<(bool, String), CoordinatorError> {
        let text = read(&due.file, &*due.arena)?;
        let score = |(number, sha256): (u64, Digest)| -> Result<BenchmarkReport, CoordinatorError> {
            let weights = self.weights.read(sha256)?;
            let name = format!("v{number}");
            let unusable = |error: &dyn std::fmt::Display| CoordinatorError::Benchmark {
                file: due.file.clone(),
                reason: error.to_string(),
            };
            let file = WeightFile::from_bytes(&weights, &name).map_err(|error| unusable(&error))?;
            let source = Source::Weights { digest: sha256, file: Arc::new(file) };
            let seating = Seating { source, plies: due.plies };
            due.arena.score((&due.file, &text), (&name, &seating), 1).map_err(|error| unusable(&error))
        };
        let (candidate, champion) = (score(due.candidate)?, score(due.champion)?);
        let classes: Vec<ClassLosses<'_>> = candidate
            .losses
            .iter()
            .map(|(class, losses)| ClassLosses {
                class,
                candidate: losses,
                champion: champion.losses.get(class).map(Vec::as_slice).unwrap_or_default(),
            })
            .collect();
        let report = compare_benchmark(&classes, due.tolerance).map_err(|error| {
            CoordinatorError::Benchmark { file: due.file.clone(), reason: error.to_string() }
        })?;
        Ok((report.passed(), format!("benchmark: {}", report.reason())))
    }
}

/// The name in a run's configuration of the benchmark that comes with the program.
pub(crate) const SHIPPED: &str = "shipped";

/// The benchmark of a new run once it is known to be usable: a file by its full path, `shipped`, or none where a game comes
/// without one.
pub(crate) fn checked_benchmark(name: &str, arena: &dyn Arena) -> Result<String, CoordinatorError> {
    let unusable = |error: &dyn std::fmt::Display| CoordinatorError::Benchmark {
        file: name.to_owned(),
        reason: error.to_string(),
    };
    let name = match name {
        "" => return Ok(String::new()),
        SHIPPED if arena.shipped_benchmark().is_none() => return Ok(String::new()),
        SHIPPED => SHIPPED.to_owned(),
        file => {
            let path = Path::new(file).canonicalize().map_err(|error| unusable(&error))?;
            path.to_str().ok_or_else(|| unusable(&"its path is not UTF-8"))?.to_owned()
        }
    };
    let text = read(&name, arena)?;
    let anybody = Seating { source: Source::Baseline(FIRST_OPPONENT.into()), plies: 0 };
    arena.score((&name, &text), (FIRST_OPPONENT, &anybody), 1).map_err(|error| unusable(&error))?;
    Ok(name)
}

/// The text of a benchmark as a run names it.
pub(crate) fn read(name: &str, arena: &dyn Arena) -> Result<Cow<'static, str>, CoordinatorError> {
    if let Some(text) = arena.shipped_benchmark().filter(|_| name == SHIPPED) {
        return Ok(text.into());
    }
    let text = std::fs::read_to_string(name);
    text.map(Cow::from)
        .map_err(|error| CoordinatorError::Benchmark { file: name.to_owned(), reason: error.to_string() })
}
