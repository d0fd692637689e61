//! Tokens, whose games are whose, and what waits to be audited.

use rusqlite::{Connection, Result, params};

use super::write::Writer;
use crate::book::RunId;
use crate::leases::LeaseId;
use crate::tokens::{Token, TokenId};

/// Games that may wait for their audit. With more, new ones are passed over, and counted.
const MOST_WAITING: u32 = 10_000;

/// Games of a lease that were accepted under a token.
pub(crate) struct Origin {
    pub run: RunId,
    pub series: u64,
    pub lease: LeaseId,
    pub token: TokenId,
    /// The lease's block.
    pub first: u64,
    pub count: u32,
    /// Games accepted now.
    pub games: u32,
    /// The run's newest version at that moment: only later ones can have learnt from the games.
    pub latest: u64,
}

/// A game that is to be played again.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub run: RunId,
    pub series: u64,
    pub lease: LeaseId,
    pub token: TokenId,
    pub number: u64,
    /// ludus.v1.PlayerRef.
    pub seats: [Vec<u8>; 2],
    /// ludus.v1.GameRecord; `None` for a game that is said to be unplayable.
    pub record: Option<Vec<u8>>,
}

/// Games of one token among those that may be in a version, or of a gate.
pub(crate) struct Share {
    /// Newest version when the games were accepted.
    pub latest: u64,
    pub token: TokenId,
    /// The candidate, for games of a gate.
    pub candidate: Option<u64>,
    pub games: u64,
    pub marked: u64,
}

impl Writer<'_> {
    pub(crate) fn new_token(&self, token: &Token) -> Result<()> {
        self.one(
            "INSERT INTO tokens (id, name, role, hash, created_at) VALUES (?, ?, ?, ?, ?)",
            params![token.id, token.name, token.role.to_string(), token.hash, token.created_at],
        )
    }

    /// What may change of a token.
    pub(crate) fn token(&self, token: &Token) -> Result<()> {
        self.one(
            "UPDATE tokens SET standing = ?, reason = ?, accepted = ?, faults = ? WHERE id = ?",
            params![token.standing.to_string(), token.reason, token.accepted, token.faults, token.id],
        )
    }

    pub(crate) fn origin(&self, origin: &Origin) -> Result<()> {
        self.one(
            "INSERT INTO origins (lease, token, run, series, first, count, games, latest)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (lease, token) DO UPDATE SET games = games + excluded.games",
            params![
                origin.lease,
                origin.token,
                origin.run,
                origin.series,
                origin.first,
                origin.count,
                origin.games,
                origin.latest
            ],
        )
    }

    /// Marks the games of a token; where there is none, those of the lease alone.
    pub(crate) fn mark(&self, token: TokenId, lease: LeaseId) -> Result<()> {
        let sql = "UPDATE origins SET marked = 1 WHERE token = ?1 AND (token <> 0 OR lease = ?2)";
        self.connection().prepare_cached(sql)?.execute(params![token, lease])?;
        Ok(())
    }

    /// Puts a game up for audit. `false` when too many wait.
    pub(crate) fn sample(&self, sample: &Sample) -> Result<bool> {
        let sql = "INSERT INTO audits (run, series, lease, token, number, seat0, seat1, record)
                   SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
                   WHERE (SELECT coalesce(max(id) - min(id), 0) FROM audits) < ?9";
        let added = self.connection().prepare_cached(sql)?.execute(params![
            sample.run,
            sample.series,
            sample.lease,
            sample.token,
            sample.number,
            sample.seats[0],
            sample.seats[1],
            sample.record,
            MOST_WAITING,
        ])?;
        Ok(added == 1)
    }

    /// Takes a game off the list, with what came of it.
    pub(crate) fn audited(&self, id: i64) -> Result<()> {
        self.one("DELETE FROM audits WHERE id = ?", [id])
    }

    pub(crate) fn audit_result(&self, run: RunId, result: &str) -> Result<()> {
        self.one(
            "INSERT INTO audit_results (run, result, count) VALUES (?1, ?2, 1)
             ON CONFLICT (run, result) DO UPDATE SET count = count + 1",
            params![run, result],
        )
    }
}

/// The game that waits longest, its id and the settings of its series.
pub(crate) fn next_sample(connection: &Connection) -> Result<Option<(i64, Vec<u8>, Sample)>> {
    let sql =
        "SELECT a.id, s.settings, a.run, a.series, a.lease, a.token, a.number, a.seat0, a.seat1, a.record
               FROM audits a JOIN series s ON s.id = a.series ORDER BY a.id LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query_map([], |row| {
        let sample = Sample {
            run: row.get(2)?,
            series: row.get(3)?,
            lease: row.get(4)?,
            token: row.get(5)?,
            number: row.get(6)?,
            seats: [row.get(7)?, row.get(8)?],
            record: row.get(9)?,
        };
        Ok((row.get(0)?, row.get(1)?, sample))
    })?;
    rows.next().transpose()
}

/// Whose games a run has taken, by the newest version of that moment.
pub(crate) fn shares(connection: &Connection, run: RunId) -> Result<Vec<Share>> {
    let sql = "SELECT o.latest, o.token, g.candidate, sum(o.games), sum(o.games * o.marked)
               FROM origins o LEFT JOIN gates g ON g.series = o.series
               WHERE o.run = ? GROUP BY o.latest, o.token, g.candidate";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([run], |row| {
        Ok(Share {
            latest: row.get(0)?,
            token: row.get(1)?,
            candidate: row.get(2)?,
            games: row.get(3)?,
            marked: row.get(4)?,
        })
    })?;
    rows.collect()
}
