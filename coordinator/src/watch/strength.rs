//! How strong versions are, measured beside their gates, for people: nothing is decided by it.
//!
//! Every version is scored on the run's benchmark, and every promoted one plays a match against opponents that stay the
//! same: the game's first baseline and the run's first champion. Promotion margins, added up, would flatter (each was
//! looked at until it was good); a match against a fixed opponent does not.
//!
//! One thread does it, at the lowest priority, the newest version first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ludus_players::arena::{Arena, Seating, Source};
use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::{Series as SeriesSettings, SeriesKind};
use rusqlite::{Connection, Result as SqlResult, params};
use serde::Serialize;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::aside::{self, Wait};
use crate::book::{Book, Run, RunId, VersionState};
use crate::condition;
use crate::coordinator::Shared;
use crate::gate::{IntervalRule, Moments, PairOutcome, Prefix};
use crate::{CoordinatorError, status};

/// Pairs of a match.
const PAIRS: u64 = 1000;
/// Time after which a match ends early. Its interval holds whenever it ends.
const LONGEST: Duration = Duration::from_secs(120);
/// Chance that the interval of a match ever misses.
const ALPHA: f64 = 0.05;
/// Seed of the matches: the same dice for every version, so that the curve is smoother than its points.
const SEED: u64 = 0x6c75_6475_735f_7070;
/// How long to wait when there is nothing to do.
const PAUSE: Duration = Duration::from_secs(2);
/// How long to wait after a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is known of the strength of a run's versions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Strength {
    /// Error rates, by version and class.
    pub scores: Vec<Score>,
    /// Matches against opponents that stay the same.
    pub meetings: Vec<Meeting>,
}

/// The error rate of a version in a position class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Score {
    /// The version.
    pub version: u64,
    /// The class, or `overall`.
    pub class: String,
    /// Decisions of the class.
    pub decisions: u64,
    /// Millipoints lost in a decision.
    pub er: f64,
    /// Its standard error.
    pub se: Option<f64>,
}

/// A match of a version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Meeting {
    /// The version.
    pub version: u64,
    /// A baseline, or a version such as `v3`.
    pub opponent: String,
    /// Pairs played.
    pub pairs: u64,
    /// Points per game of the version.
    pub ppg: f64,
    /// Lower end of its interval, valid whenever one looks.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Something to be measured.
enum Due {
    Score { benchmark: String },
    Meeting { opponent: String, seat: Opponent },
}

/// Who stays the same.
enum Opponent {
    Baseline(String),
    Version(Digest),
}

/// A version and what is to be measured of it.
struct Task {
    run: RunId,
    arena: Arc<dyn Arena>,
    version: u64,
    sha256: Digest,
    due: Due,
}

impl Shared {
    /// What is known of the strength of a run's versions.
    pub(crate) fn strength(&self, run: &str) -> Result<Strength, CoordinatorError> {
        let state = self.lock()?;
        let run = status::find(state.book(), run)?.id;
        state.query(|connection| {
            Ok(Strength { scores: scores(connection, run)?, meetings: meetings(connection, run)? })
        })
    }

    /// Starts the thread that measures until `stop`. What is given back resolves when it has ended.
    pub(crate) fn start_measuring(self: Arc<Self>, stop: CancellationToken) -> oneshot::Receiver<()> {
        let mut given_up = BTreeSet::new();
        let stopped = stop.clone();
        aside::start(
            self,
            stop,
            "ludus-strength",
            "the strength of versions is not measured",
            move |shared| match shared.measure_next(&mut given_up, &stopped) {
                Ok(true) => Wait::Not,
                Ok(false) => Wait::For(PAUSE),
                Err(error) => {
                    tracing::warn!("the strength of versions is not measured: {error}");
                    Wait::For(PATIENCE)
                }
            },
        )
    }

    /// Measures one thing; `false` when nothing is due. What cannot be measured is noted in `given_up`.
    pub(crate) fn measure_next(
        &self,
        given_up: &mut BTreeSet<(RunId, u64, String)>,
        stop: &CancellationToken,
    ) -> Result<bool, CoordinatorError> {
        let Some(task) = self.next_task(given_up)? else { return Ok(false) };
        // Those of an old version may be deleted by now.
        let bytes = self.weights.read(task.sha256).map_err(|error| error.to_string());
        let seat = bytes.and_then(|bytes| {
            let file = WeightFile::from_bytes(&bytes, &format!("v{}", task.version));
            file.map(|file| seated(task.sha256, file)).map_err(|error| error.to_string())
        });
        let (what, measured) = match &task.due {
            Due::Score { benchmark } => {
                let scored = seat.and_then(|seat| score(&task, benchmark, &seat));
                let written = scored.and_then(|scores| {
                    let step = self.lock().and_then(|mut state| {
                        state.step(|_, writer| {
                            scores
                                .iter()
                                .try_for_each(|score| add_score(writer.connection(), task.run, score))
                        })
                    });
                    step.map_err(|error| error.to_string())
                });
                (String::new(), written)
            }
            Due::Meeting { opponent, seat: against } => {
                let played = seat.and_then(|seat| {
                    let against = self.opponent(against)?;
                    meet(&task, opponent, [&seat, &against], stop)
                });
                let written = played.and_then(|meeting| {
                    let Some(meeting) = meeting else { return Ok(()) };
                    let step = self.lock().and_then(|mut state| {
                        state.step(|_, writer| add_meeting(writer.connection(), task.run, &meeting))
                    });
                    step.map_err(|error| error.to_string())
                });
                (opponent.clone(), written)
            }
        };
        if let Err(why) = measured {
            tracing::warn!("the strength of v{} is not measured: {why}", task.version);
            given_up.insert((task.run, task.version, what));
        }
        Ok(true)
    }

    fn opponent(&self, opponent: &Opponent) -> Result<Seating, String> {
        match opponent {
            Opponent::Baseline(name) => Ok(Seating { source: Source::Baseline(name.clone()), plies: 0 }),
            Opponent::Version(sha256) => {
                let bytes = self.weights.read(*sha256).map_err(|error| error.to_string())?;
                let file = WeightFile::from_bytes(&bytes, "the first champion")
                    .map_err(|error| error.to_string())?;
                Ok(seated(*sha256, file))
            }
        }
    }

    fn next_task(&self, given_up: &BTreeSet<(RunId, u64, String)>) -> Result<Option<Task>, CoordinatorError> {
        let state = self.lock()?;
        let book: &Book = state.book();
        for run in book.runs.values().rev() {
            let (scored, met) =
                state.query(|connection| Ok((scored(connection, run.id)?, met(connection, run.id)?)))?;
            let Ok(arena) = self.arena(run) else { continue };
            let open = |version: u64, what: &str| !given_up.contains(&(run.id, version, what.to_owned()));
            let benchmark = benchmark_of(run, arena.as_ref());
            let due = run.versions.iter().rev().find_map(|version| {
                let number = version.number;
                if let Some(benchmark) = &benchmark
                    && !scored.contains(&number)
                    && open(number, "")
                {
                    return Some((version, Due::Score { benchmark: benchmark.clone() }));
                }
                if version.state != VersionState::Promoted {
                    return None;
                }
                let opponents = opponents(run, arena.as_ref()).into_iter();
                let missing = |(name, _): &(String, Opponent)| {
                    !met.contains(&(number, name.clone()))
                        && open(number, name)
                        && *name != format!("v{number}")
                };
                let (opponent, seat) = opponents.into_iter().find(missing)?;
                Some((version, Due::Meeting { opponent, seat }))
            });
            if let Some((version, due)) = due {
                let (run, arena) = (run.id, arena.clone());
                return Ok(Some(Task { run, arena, version: version.number, sha256: version.sha256, due }));
            }
        }
        Ok(None)
    }
}

/// The benchmark of a run: the one that its gates judge by, or where they have none the one that comes with the program.
fn benchmark_of(run: &Run, arena: &dyn Arena) -> Option<String> {
    let named = Some(run.config.gate.benchmark.clone()).filter(|name| !name.is_empty());
    named.or_else(|| arena.shipped_benchmark().map(|_| condition::SHIPPED.to_owned()))
}

/// Who stays the same in a run: the game's first baseline after `random`, and the first champion.
fn opponents(run: &Run, arena: &dyn Arena) -> Vec<(String, Opponent)> {
    let baselines = arena.baselines();
    let baseline = baselines.get(1).or(baselines.first());
    let first = run.versions.iter().find(|version| version.state == VersionState::Promoted);
    let baseline = baseline.map(|&name| (name.to_owned(), Opponent::Baseline(name.to_owned())));
    let first = first.map(|first| (format!("v{}", first.number), Opponent::Version(first.sha256)));
    baseline.into_iter().chain(first).collect()
}

fn seated(digest: Digest, file: WeightFile) -> Seating {
    Seating { source: Source::Weights { digest, file: Arc::new(file) }, plies: 0 }
}

fn score(task: &Task, benchmark: &str, seat: &Seating) -> Result<Vec<Score>, String> {
    let text = condition::read(benchmark, task.arena.as_ref()).map_err(|error| error.to_string())?;
    let name = format!("v{}", task.version);
    let report = task.arena.score((benchmark, &text), (&name, seat), 1).map_err(|error| error.to_string())?;
    let rates: BTreeMap<_, _> =
        report.classes.into_iter().map(|(class, rate)| (class.to_string(), rate)).collect();
    let rates = rates.into_iter().chain([("overall".to_owned(), report.overall)]);
    let scores = rates.map(|(class, rate)| Score {
        version: task.version,
        class,
        decisions: rate.decisions,
        er: rate.er,
        se: rate.se,
    });
    Ok(scores.collect())
}

/// Plays a match; `None` when it was broken off by the end of the program.
fn meet(
    task: &Task,
    opponent: &str,
    seats: [&Seating; 2],
    stop: &CancellationToken,
) -> Result<Option<Meeting>, String> {
    let series = SeriesSettings {
        kind: SeriesKind::Gate.into(),
        seed: SEED,
        mirrored: true,
        ..SeriesSettings::default()
    };
    let mut table = task.arena.table(&series, seats).map_err(|error| error.to_string())?;
    let (mut prefix, mut moments) = (Prefix::new(), Moments::default());
    let begun = Instant::now();
    for number in 0..2 * PAIRS {
        if stop.is_cancelled() {
            return Ok(None);
        }
        let record = table.play(number).map_err(|error| error.to_string())?;
        prefix.game(number, f64::from(record.payoff));
        if let Some(PairOutcome { points, .. }) = prefix.next_pair() {
            moments.take(points);
        }
        if number > 0 && begun.elapsed() > LONGEST {
            break;
        }
    }
    let bound = f64::from(task.arena.max_points());
    let interval = IntervalRule::new(ALPHA, bound, PAIRS).interval(&moments);
    Ok(Some(Meeting {
        version: task.version,
        opponent: opponent.to_owned(),
        pairs: moments.count as u64,
        ppg: moments.mean(),
        low: interval.low,
        high: interval.high,
    }))
}

fn add_score(connection: &Connection, run: RunId, score: &Score) -> SqlResult<()> {
    let sql =
        "INSERT OR REPLACE INTO scores (run, version, class, decisions, er, se) VALUES (?, ?, ?, ?, ?, ?)";
    let Score { version, class, decisions, er, se } = score;
    connection.prepare_cached(sql)?.execute(params![run, version, class, decisions, er, se]).map(drop)
}

fn add_meeting(connection: &Connection, run: RunId, meeting: &Meeting) -> SqlResult<()> {
    let sql = "INSERT OR REPLACE INTO meetings (run, version, opponent, pairs, ppg, low, high)
               VALUES (?, ?, ?, ?, ?, ?, ?)";
    let Meeting { version, opponent, pairs, ppg, low, high } = meeting;
    connection.prepare_cached(sql)?.execute(params![run, version, opponent, pairs, ppg, low, high]).map(drop)
}

fn scored(connection: &Connection, run: RunId) -> SqlResult<BTreeSet<u64>> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT version FROM scores WHERE run = ?")?;
    statement.query_map([run], |row| row.get(0))?.collect()
}

fn met(connection: &Connection, run: RunId) -> SqlResult<BTreeSet<(u64, String)>> {
    let mut statement = connection.prepare_cached("SELECT version, opponent FROM meetings WHERE run = ?")?;
    statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn scores(connection: &Connection, run: RunId) -> SqlResult<Vec<Score>> {
    let sql = "SELECT version, class, decisions, er, se FROM scores WHERE run = ? ORDER BY version, class";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([run], |row| {
        Ok(Score {
            version: row.get(0)?,
            class: row.get(1)?,
            decisions: row.get(2)?,
            er: row.get(3)?,
            se: row.get(4)?,
        })
    })?;
    rows.collect()
}

fn meetings(connection: &Connection, run: RunId) -> SqlResult<Vec<Meeting>> {
    let sql = "SELECT version, opponent, pairs, ppg, low, high FROM meetings WHERE run = ? ORDER BY version, opponent";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([run], |row| {
        Ok(Meeting {
            version: row.get(0)?,
            opponent: row.get(1)?,
            pairs: row.get(2)?,
            ppg: row.get(3)?,
            low: row.get(4)?,
            high: row.get(5)?,
        })
    })?;
    rows.collect()
}
