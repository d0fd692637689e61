//! What the HTTP side sees.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use ludus_players::weight_file::Digest;
use ludus_proto::v1::{SeriesKind, VersionInfo};
use rusqlite::Connection;

use crate::book::{Book, Run, RunId};
use crate::http::{Accounts, Overview, RunView, View, WorkerView};
use crate::leases::Millis;
use crate::state::State;
use crate::watch::curves::Point;
use crate::watch::disk::Disk;
use crate::watch::kept::ListedGame;
use crate::watch::leased::{OpenLease, kind_word};
use crate::watch::strength::Strength;
use crate::watch::trace::Trace;
use crate::watch::viewing::{ViewedGame, ViewedPosition};
use crate::{Coordinator, CoordinatorError, clock, status};

impl View for Coordinator {
    fn ready(&self) -> Result<(), String> {
        drop(self.shared.lock().map_err(|error| error.to_string())?);
        let trouble = self.shared.stream_trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        trouble.map_or(Ok(()), Err)
    }

    fn depot(&self) -> Option<Result<(), String>> {
        let depot = self.shared.options.depot.as_ref()?;
        Some(depot.trouble().map_or(Ok(()), Err))
    }

    fn overview(&self) -> Result<Overview, CoordinatorError> {
        let now = clock::now();
        let state = self.shared.lock()?;
        let workers = workers(&state, now);
        let runs = state.book().runs.values().rev().map(|run| {
            let ends = state.query(|connection| series_ends(connection, run.id))?;
            let (outbox, reported_at) = state.query(|connection| outbox(connection, run.id))?;
            let accounts = |kind| accounts(&ends, |series| kind_of(run, series) == kind, leased(run, kind));
            Ok(RunView {
                status: status::run(run, workers.len()),
                gate: run.gate.as_ref().map(|gate| gate.fold.report()),
                self_play: accounts(SeriesKind::SelfPlay),
                rollouts: accounts(SeriesKind::Rollout),
                gates: accounts(SeriesKind::Gate),
                refused: run.refusals.clone(),
                audits: run.audits.clone(),
                leases: held(run, now),
                outbox,
                reported_at,
            })
        });
        let runs = runs.collect::<Result<Vec<_>, CoordinatorError>>()?;
        let refused = self.shared.refused_requests.lock().unwrap_or_else(PoisonError::into_inner);
        let refused_requests = refused.iter().map(|(&reason, &count)| (reason.to_owned(), count)).collect();
        let mut tokens = BTreeMap::new();
        for token in state.book().tokens.0.values() {
            *tokens.entry(token.standing.to_string()).or_default() += 1;
        }
        Ok(Overview { runs, workers, strays: state.book().strays.clone(), refused_requests, tokens })
    }

    fn versions(&self, run: &str) -> Result<Vec<VersionInfo>, CoordinatorError> {
        Coordinator::versions(self, run)
    }

    fn weights(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
        Coordinator::weights(self, sha256)
    }

    fn learnable(&self) -> Vec<&'static str> {
        let registry = &self.shared.options.registry;
        let has_networks =
            |game: &&'static str| registry.find(game).is_some_and(|arena| !arena.input_sets().is_empty());
        registry.games().into_iter().filter(has_networks).collect()
    }

    fn curve(&self, run: &str, after: u64, most: u64) -> Result<Vec<Point>, CoordinatorError> {
        self.shared.curve(run, after, most)
    }

    fn strength(&self, run: &str) -> Result<Strength, CoordinatorError> {
        self.shared.strength(run)
    }

    fn gate_trace(&self, run: &str, candidate: u64) -> Result<Trace, CoordinatorError> {
        self.shared.gate_trace(run, candidate)
    }

    fn leases(&self, run: &str) -> Result<Vec<OpenLease>, CoordinatorError> {
        self.shared.open_leases(run, clock::now())
    }

    fn games(&self, run: &str, gate: Option<u64>) -> Result<Vec<ListedGame>, CoordinatorError> {
        self.shared.listed_games(run, gate)
    }

    fn game(&self, run: &str, game: (u64, u64), judge: Option<u64>) -> Result<ViewedGame, CoordinatorError> {
        self.shared.viewed_game(run, game, judge)
    }

    fn position(
        &self,
        run: &str,
        judge: Option<u64>,
        asked: (&str, &str),
    ) -> Result<ViewedPosition, CoordinatorError> {
        self.shared.viewed_position(run, judge, asked)
    }

    fn disk(&self) -> Disk {
        self.shared.disk()
    }

    fn create_run(&self, config: &str, name: &str) -> Result<String, CoordinatorError> {
        Coordinator::create_run(self, config, name)
    }

    fn stop_run(&self, run: &str) -> Result<(), CoordinatorError> {
        Coordinator::stop_run(self, run)
    }
}

/// Batches in the outbox of a run, and when its trainer reported last.
fn outbox(connection: &Connection, run: RunId) -> rusqlite::Result<(u64, Option<u64>)> {
    let sql = "SELECT (SELECT count(*) FROM outbox WHERE run = ?1),
                      (SELECT at FROM reports WHERE run = ?1 ORDER BY id DESC LIMIT 1)";
    connection.prepare_cached(sql)?.query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The numbers of a series as the database has them.
struct SeriesEnd {
    series: u64,
    issued: u64,
    accepted: u64,
    void: u64,
    unplayable: u64,
    ended: Option<String>,
}

fn series_ends(connection: &Connection, run: i64) -> rusqlite::Result<Vec<SeriesEnd>> {
    let sql = "SELECT id, next, accepted, void, unplayable, ended FROM series WHERE run = ?";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([run], |row| {
        Ok(SeriesEnd {
            series: row.get(0)?,
            issued: row.get(1)?,
            accepted: row.get(2)?,
            void: row.get(3)?,
            unplayable: row.get(4)?,
            ended: row.get(5)?,
        })
    })?;
    rows.collect()
}

/// What the games of a series of this run are for. Gates come and go; the others stay.
fn kind_of(run: &Run, series: u64) -> SeriesKind {
    let learning = run.learning.iter().find(|learning| learning.settings.id == series);
    learning.map_or(SeriesKind::Gate, |series| series.settings.kind())
}

/// Leases that somebody holds, by what their games are for.
fn held(run: &Run, now: Millis) -> BTreeMap<&'static str, u64> {
    let mut held = BTreeMap::from(["self-play", "rollout", "gate"].map(|kind| (kind, 0)));
    for series in run.series().filter(|series| !series.book.ended()) {
        let leases = series.book.blocks().values().filter(|block| block.issue.deadline > now).count();
        *held.entry(kind_word(series.settings.kind())).or_default() += leases as u64;
    }
    held
}

/// Games that are out, counted from the blocks.
fn leased(run: &Run, kind: SeriesKind) -> u64 {
    let series = run.series().filter(|series| series.settings.kind() == kind);
    series.map(|series| series.book.accounting().leased).sum()
}

fn accounts(ends: &[SeriesEnd], wanted: impl Fn(u64) -> bool, leased: u64) -> Accounts {
    let mut accounts = Accounts { leased, ..Accounts::default() };
    for end in ends.iter().filter(|end| wanted(end.series)) {
        accounts.issued += end.issued;
        accounts.accepted += end.accepted;
        let reasons = [
            ("unplayable", end.unplayable),
            (end.ended.as_deref().unwrap_or("unknown"), end.void - end.unplayable),
        ];
        for (reason, games) in reasons.into_iter().filter(|(_, games)| *games > 0) {
            *accounts.void.entry(reason.to_owned()).or_default() += games;
        }
    }
    accounts
}

fn workers(state: &State, now: Millis) -> Vec<WorkerView> {
    let leased = leased_by_worker(state.book(), now);
    let view = state.roster.look(now).into_iter().map(|seen| WorkerView {
        name: seen.name.to_owned(),
        engine: seen.engine.to_owned(),
        idle_seconds: now.saturating_sub(seen.at) / 1000,
        games_per_second: seen.rate,
        accepted: seen.accepted,
        refused: seen.refused,
        leased: leased.get(seen.name).copied().unwrap_or_default(),
    });
    view.collect()
}

fn leased_by_worker(book: &Book, now: Millis) -> BTreeMap<&str, u64> {
    let mut leased = BTreeMap::new();
    let open = book.runs.values().flat_map(Run::series).filter(|series| !series.book.ended());
    for block in open.flat_map(|series| series.book.blocks().values()) {
        if block.issue.deadline > now {
            *leased.entry(block.issue.holder.as_str()).or_default() += u64::from(block.undone());
        }
    }
    leased
}
