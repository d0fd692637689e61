//! Writing: one method for each thing that can change.

use ludus_proto::v1::{GateStatus, Progress};
use prost::Message;
use rusqlite::{Connection, OptionalExtension, Result, params};

use super::row_number;
use crate::book::{GateMatch, Run, RunId, Series, Version, VersionState};
use crate::leases::LeaseId;

/// The database inside a transaction.
pub(crate) struct Writer<'t>(&'t Connection);

/// A game of a gate, for its log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GateGame {
    pub number: u64,
    /// Of the candidate.
    pub payoff: i32,
    /// Of the candidate; 0 without luck adjustment.
    pub luck: f64,
    /// Came after the verdict.
    pub late: bool,
}

/// Why a series hands out nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// Its run was stopped.
    Stopped,
    /// Its gate was decided.
    Verdict,
}

impl EndReason {
    fn word(self) -> &'static str {
        match self {
            EndReason::Stopped => "stopped",
            EndReason::Verdict => "verdict",
        }
    }
}

impl<'t> Writer<'t> {
    pub(crate) fn new(transaction: &'t Connection) -> Self {
        Writer(transaction)
    }

    pub(crate) fn connection(&self) -> &Connection {
        self.0
    }

    /// Runs a statement that must change exactly one row.
    pub(super) fn one(&self, sql: &str, values: impl rusqlite::Params) -> Result<()> {
        match self.0.prepare_cached(sql)?.execute(values)? {
            1 => Ok(()),
            changed => Err(rusqlite::Error::StatementChangedRows(changed)),
        }
    }

    pub(crate) fn next_lease(&self, next: LeaseId) -> Result<()> {
        self.one("UPDATE counters SET value = ? WHERE name = 'lease'", [next])
    }

    pub(crate) fn next_series(&self, next: u64) -> Result<()> {
        self.one("UPDATE counters SET value = ? WHERE name = 'series'", [next])
    }

    /// A new run without its series.
    pub(crate) fn new_run(&self, run: &Run) -> Result<()> {
        self.one(
            "INSERT INTO runs (id, name, stream, revision, config, active, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![
                run.id,
                run.name,
                run.stream,
                run.revision,
                run.config.to_toml(),
                run.active,
                run.created_at
            ],
        )
    }

    pub(crate) fn stopped(&self, run: RunId) -> Result<()> {
        self.one("UPDATE runs SET active = 0 WHERE id = ?", [run])
    }

    pub(crate) fn joined(&self, run: &Run) -> Result<()> {
        self.one(
            "UPDATE runs SET fence = ?, trainer = ? WHERE id = ?",
            params![run.fence, run.trainer, run.id],
        )
    }

    /// Moves the champion, if it is still the one the candidate played against. `false` when it is not.
    pub(crate) fn crown(&self, run: RunId, from: u64, to: u64) -> Result<bool> {
        let sql = "UPDATE runs SET champion = ? WHERE id = ? AND champion = ?";
        Ok(self.0.prepare_cached(sql)?.execute(params![to, run, from])? == 1)
    }

    pub(crate) fn new_version(&self, run: RunId, version: &Version) -> Result<()> {
        self.one(
            "INSERT INTO versions (run, version, state, sha256, parent, size, published_at, progress)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                run,
                version.number,
                version.state.to_string(),
                version.sha256.0,
                version.parent,
                version.size,
                version.published_at,
                version.progress.encode_to_vec(),
            ],
        )
    }

    pub(crate) fn version_state(&self, run: RunId, version: u64, state: VersionState) -> Result<()> {
        self.one(
            "UPDATE versions SET state = ? WHERE run = ? AND version = ?",
            params![state.to_string(), run, version],
        )
    }

    pub(crate) fn new_series(&self, run: RunId, series: &Series) -> Result<()> {
        self.one(
            "INSERT INTO series (id, run, settings) VALUES (?, ?, ?)",
            params![series.settings.id, run, series.settings.encode_to_vec()],
        )
    }

    /// The numbers of a series, and its block `lease`, which is gone from the file when it is gone from the book.
    pub(crate) fn series(&self, series: &Series, lease: LeaseId) -> Result<()> {
        let numbers = series.book.accounting();
        self.one(
            "UPDATE series SET next = ?, accepted = ?, void = ?, unplayable = ? WHERE id = ?",
            params![numbers.issued, numbers.accepted, numbers.void, numbers.unplayable, series.settings.id],
        )?;
        let Some(block) = series.book.blocks().get(&lease) else { return self.forget_block(lease) };
        let [seat0, seat1] = block.players.each_ref().map(Message::encode_to_vec);
        let issue = &block.issue;
        let owners: Vec<u8> = block.owners().iter().flat_map(|owner| owner.to_le_bytes()).collect();
        self.one(
            "INSERT INTO blocks (lease, series, first, count, seat0, seat1, token, holder, since, deadline, asked,
                                 done, owners)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (lease) DO UPDATE SET token = excluded.token, holder = excluded.holder,
                 since = excluded.since, deadline = excluded.deadline, asked = excluded.asked, done = excluded.done,
                 owners = excluded.owners",
            params![
                lease,
                series.settings.id,
                block.first,
                block.count,
                seat0,
                seat1,
                issue.token,
                issue.holder,
                issue.since,
                issue.deadline,
                block.asked,
                block.done_bits(),
                owners,
            ],
        )
    }

    pub(crate) fn forget_block(&self, lease: LeaseId) -> Result<()> {
        self.0.prepare_cached("DELETE FROM blocks WHERE lease = ?")?.execute([lease])?;
        Ok(())
    }

    pub(crate) fn ended(&self, series: &Series, reason: EndReason) -> Result<()> {
        let void = series.book.accounting().void;
        self.one(
            "UPDATE series SET void = ?, ended = ? WHERE id = ?",
            params![void, reason.word(), series.settings.id],
        )
    }

    /// The number of the next batch in the outbox. None is used twice.
    pub(crate) fn next_post(&self) -> Result<u64> {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'outbox'";
        let last = self.0.prepare_cached(sql)?.query_row([], |row| row.get::<_, u64>(0)).optional()?;
        Ok(last.unwrap_or(0) + 1)
    }

    pub(crate) fn outbox(&self, post: u64, run: RunId, payload: &[u8]) -> Result<()> {
        self.one("INSERT INTO outbox (id, run, payload) VALUES (?, ?, ?)", params![post, run, payload])
    }

    /// The streams have every batch up to this one.
    pub(crate) fn posted(&self, post: u64) -> Result<()> {
        self.one(
            "INSERT INTO counters (name, value) VALUES ('posted', ?1)
             ON CONFLICT (name) DO UPDATE SET value = ?1",
            [post],
        )
    }

    /// Takes a batch of the run out of the outbox, if it is there.
    pub(crate) fn settled(&self, run: RunId, post: u64) -> Result<()> {
        let sql = "DELETE FROM outbox WHERE id = ? AND run = ?";
        self.0.prepare_cached(sql)?.execute(params![row_number(post), run])?;
        Ok(())
    }

    /// The oldest batch of the run in the outbox.
    pub(crate) fn first_unsettled(&self, run: RunId) -> Result<Option<u64>> {
        let sql = "SELECT id FROM outbox WHERE run = ? ORDER BY id LIMIT 1";
        self.0.prepare_cached(sql)?.query_row([run], |row| row.get(0)).optional()
    }

    pub(crate) fn new_gate(&self, run: RunId, gate: &GateMatch, started_at: u64) -> Result<()> {
        let rule = gate.fold.rule();
        self.one(
            "INSERT INTO gates (series, run, candidate, opponent, alpha, beta, delta, limit_pairs, bound, started_at,
                                benchmark)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                gate.series.settings.id,
                run,
                gate.candidate,
                gate.opponent,
                rule.alpha,
                rule.beta,
                rule.delta,
                rule.limit_pairs,
                rule.bound,
                started_at,
                gate.benchmark,
            ],
        )
    }

    pub(crate) fn gate_benchmark(&self, series: u64, found: &str) -> Result<()> {
        self.one("UPDATE gates SET benchmark = ? WHERE series = ?", params![found, series])
    }

    pub(crate) fn gate_game(&self, series: u64, game: GateGame) -> Result<()> {
        self.one(
            "INSERT INTO gate_games (series, number, payoff, luck, late) VALUES (?, ?, ?, ?, ?)",
            params![series, game.number, game.payoff, game.luck, game.late],
        )
    }

    pub(crate) fn gate_decided(&self, series: u64, summary: &GateStatus, at: u64) -> Result<()> {
        self.one(
            "UPDATE gates SET summary = ?, decided_at = ? WHERE series = ? AND summary IS NULL",
            params![summary.encode_to_vec(), at, series],
        )
    }

    pub(crate) fn report(&self, run: RunId, progress: &Progress, accepted: u64, at: u64) -> Result<()> {
        let bytes = progress.encode_to_vec();
        self.one("UPDATE runs SET progress = ? WHERE id = ?", params![bytes, run])?;
        self.one(
            "INSERT INTO reports (run, at, accepted, progress) VALUES (?, ?, ?, ?)",
            params![run, at, accepted, bytes],
        )
    }

    pub(crate) fn refused(&self, run: RunId, reason: &str, count: u64) -> Result<()> {
        self.one(
            "INSERT INTO refusals (run, reason, count) VALUES (?1, ?2, ?3)
             ON CONFLICT (run, reason) DO UPDATE SET count = count + ?3",
            params![run, reason, count],
        )
    }
}
