//! Reading everything back.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use ludus_config::RunConfig;
use ludus_players::weight_file::Digest;
use ludus_proto::v1::{GateStatus, PlayerRef, Progress};
use prost::Message;
use rusqlite::{Connection, Row, params};

use super::{database_failed, knows_tokens};
use crate::CoordinatorError;
use crate::book::{Book, GateMatch, NO_RUN, Players, Run, RunId, Series, Version};
use crate::gate::{Gate, GateRule, Prefix};
use crate::leases::{Accounting, Block, Issue, LeaseId, SeriesBook};
use crate::tokens::{NOBODY, Role, Standing, Token, TokenId, Tokens};

/// A database that cannot be read, or makes no sense.
enum Fault {
    Sqlite(rusqlite::Error),
    Damaged(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sqlite(error)
    }
}

/// What `error` makes of `place`.
fn damaged(place: impl Display, error: impl Display) -> Fault {
    Fault::Damaged(format!("{place}: {error}"))
}

/// The whole book.
pub(crate) fn book(connection: &Connection, path: &Path) -> Result<Book, CoordinatorError> {
    // One snapshot: while a folder is looked at, its coordinator writes.
    let snapshot = connection.unchecked_transaction().map_err(|source| database_failed(path, source))?;
    Loader { connection: &snapshot }.book().map_err(|fault| match fault {
        Fault::Sqlite(source) => database_failed(path, source),
        Fault::Damaged(what) => CoordinatorError::Damaged { path: path.to_owned(), what },
    })
}

struct Loader<'c> {
    connection: &'c Connection,
}

impl Loader<'_> {
    fn book(&self) -> Result<Book, Fault> {
        let mut book = Book {
            next_lease: self.counter("lease")?,
            next_series: self.counter("series")?,
            posted: self.posted()?,
            ..Book::default()
        };
        for run in self.all("SELECT id FROM runs ORDER BY id", [], |row| row.get::<_, RunId>(0))? {
            book.runs.insert(run, self.run(run)?);
        }
        book.strays = self.refusals(NO_RUN)?;
        book.tokens = self.tokens()?;
        Ok(book)
    }

    fn tokens(&self) -> Result<Tokens, Fault> {
        if !knows_tokens(self.connection)? {
            return Ok(Tokens::default());
        }
        let sql = "SELECT id, name, role, hash, created_at, standing, reason, accepted, faults FROM tokens";
        let rows = self.all(sql, [], |row| {
            let token = Token {
                id: row.get(0)?,
                name: row.get(1)?,
                role: Role::Read,
                hash: row.get(3)?,
                created_at: row.get(4)?,
                standing: Standing::Revoked,
                reason: row.get(6)?,
                accepted: row.get(7)?,
                faults: row.get(8)?,
            };
            Ok((row.get::<_, String>(2)?, row.get::<_, String>(5)?, token))
        })?;
        let mut tokens = Tokens::default();
        for (role, standing, mut token) in rows {
            let place = format!("token {}", token.name);
            token.role = role.parse().map_err(|error: String| damaged(&place, error))?;
            token.standing = standing.parse().map_err(|error: String| damaged(&place, error))?;
            tokens.0.insert(token.id, token);
        }
        Ok(tokens)
    }

    fn audits(&self, run: RunId) -> Result<BTreeMap<String, u64>, Fault> {
        if !knows_tokens(self.connection)? {
            return Ok(BTreeMap::new());
        }
        let sql = "SELECT result, count FROM audit_results WHERE run = ?";
        Ok(self.all(sql, [run], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
    }

    fn counter(&self, name: &str) -> Result<u64, Fault> {
        let sql = "SELECT value FROM counters WHERE name = ?";
        Ok(self.connection.query_row(sql, [name], |row| row.get(0))?)
    }

    /// Nothing was posted while there is no such counter.
    fn posted(&self) -> Result<u64, Fault> {
        let sql = "SELECT coalesce(max(value), 0) FROM counters WHERE name = 'posted'";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    fn all<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(values, read)?.collect::<rusqlite::Result<Vec<T>>>()?;
        Ok(rows)
    }

    fn run(&self, id: RunId) -> Result<Run, Fault> {
        let sql =
            "SELECT name, revision, config, active, created_at, champion, fence, trainer, progress, stream
                   FROM runs WHERE id = ?";
        let (config, progress, mut run) = self.connection.query_row(sql, [id], |row| {
            let run = Run {
                id,
                name: row.get(0)?,
                stream: row.get(9)?,
                revision: row.get(1)?,
                config: RunConfig::default(),
                active: row.get(3)?,
                created_at: row.get(4)?,
                champion: row.get(5)?,
                fence: row.get(6)?,
                trainer: row.get(7)?,
                progress: Progress::default(),
                versions: Vec::new(),
                learning: Vec::new(),
                gate: None,
                past_matches: Vec::new(),
                decided: BTreeMap::new(),
                refusals: BTreeMap::new(),
                audits: BTreeMap::new(),
            };
            Ok((row.get::<_, String>(2)?, row.get::<_, Vec<u8>>(8)?, run))
        })?;
        let place = format!("run {}", run.name);
        run.config = RunConfig::parse(&config).map_err(|error| damaged(&place, error))?;
        run.progress = decode(&place, &progress)?;
        run.versions = self.versions(id, &place)?;
        self.gates(&mut run, &place)?;
        self.matches(&mut run, &place)?;
        run.refusals = self.refusals(id)?;
        run.audits = self.audits(id)?;
        Ok(run)
    }

    fn refusals(&self, run: RunId) -> Result<BTreeMap<String, u64>, Fault> {
        let sql = "SELECT reason, count FROM refusals WHERE run = ?";
        Ok(self.all(sql, [run], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
    }

    fn versions(&self, run: RunId, place: &str) -> Result<Vec<Version>, Fault> {
        let sql = "SELECT version, state, sha256, parent, size, published_at, progress
                   FROM versions WHERE run = ? ORDER BY version";
        let rows = self.all(sql, [run], |row| {
            let texts = (row.get::<_, String>(1)?, row.get::<_, [u8; 32]>(2)?, row.get::<_, Vec<u8>>(6)?);
            Ok((row.get::<_, u64>(0)?, texts, row.get(3)?, row.get(4)?, row.get(5)?))
        })?;
        let mut versions = Vec::with_capacity(rows.len());
        for (number, (state, sha256, progress), parent, size, published_at) in rows {
            let place = format!("{place} v{number}");
            if number != versions.len() as u64 + 1 {
                return Err(damaged(place, "a version before it is missing"));
            }
            let state = state.parse().map_err(|error: String| damaged(&place, error))?;
            let progress = decode(&place, &progress)?;
            let sha256 = Digest(sha256);
            versions.push(Version { number, state, sha256, parent, size, published_at, progress });
        }
        Ok(versions)
    }

    /// The verdicts, and the gate in progress with an empty series.
    fn gates(&self, run: &mut Run, place: &str) -> Result<(), Fault> {
        let sql =
            "SELECT series, candidate, opponent, alpha, beta, delta, limit_pairs, bound, benchmark, summary
                   FROM gates WHERE run = ? ORDER BY series";
        let rows = self.all(sql, [run.id], |row| {
            let rule = GateRule {
                alpha: row.get(3)?,
                beta: row.get(4)?,
                delta: row.get(5)?,
                limit_pairs: row.get(6)?,
                bound: row.get(7)?,
            };
            let numbers = (row.get::<_, u64>(0)?, row.get::<_, u64>(1)?, row.get::<_, u64>(2)?);
            Ok((numbers, rule, row.get::<_, Option<String>>(8)?, row.get::<_, Option<Vec<u8>>>(9)?))
        })?;
        for ((series, candidate, opponent), rule, benchmark, summary) in rows {
            let place = format!("{place}, gate of v{candidate}");
            if let Some(summary) = summary {
                run.decided.insert(candidate, decode::<GateStatus>(&place, &summary)?);
                continue;
            }
            let (prefix, fold) = self.fold(series, rule, &place)?;
            let series = self.series(series, &place)?;
            run.gate = Some(GateMatch { series, candidate, opponent, benchmark, prefix, fold });
        }
        Ok(())
    }

    /// Folds the log of a gate again.
    fn fold(&self, series: u64, rule: GateRule, place: &str) -> Result<(Prefix, Gate), Fault> {
        let mut prefix = Prefix::new();
        let mut fold = Gate::new(rule).map_err(|error| damaged(place, error))?;
        let sql = "SELECT number, payoff, luck FROM gate_games WHERE series = ? AND late = 0 ORDER BY number";
        let games = self.all(sql, [series], |row| {
            Ok((row.get::<_, u64>(0)?, row.get::<_, i32>(1)?, row.get::<_, f64>(2)?))
        })?;
        for (number, payoff, luck) in games {
            prefix.game(number, f64::from(payoff) - luck);
            while let Some(outcome) = prefix.next_pair() {
                fold.take(outcome).map_err(|error| damaged(place, error))?;
            }
        }
        Ok((prefix, fold))
    }

    /// The series of games to learn from, and the series of decided gates that have blocks out.
    fn matches(&self, run: &mut Run, place: &str) -> Result<(), Fault> {
        let sql = "SELECT id FROM series
                   WHERE run = ?1 AND id NOT IN (SELECT series FROM gates WHERE run = ?1) ORDER BY id";
        for series in self.all(sql, [run.id], |row| row.get(0))? {
            run.learning.push(self.series(series, place)?);
        }
        if run.learning.is_empty() {
            return Err(damaged(place, "it has no series of games to learn from"));
        }
        let sql = "SELECT series FROM gates WHERE run = ? AND summary IS NOT NULL
                   AND series IN (SELECT series FROM blocks) ORDER BY series";
        for series in self.all(sql, [run.id], |row| row.get(0))? {
            run.past_matches.push(self.series(series, place)?);
        }
        Ok(())
    }

    fn series(&self, id: u64, place: &str) -> Result<Series, Fault> {
        let place = format!("{place}, series {id}");
        let sql =
            "SELECT settings, next, accepted, void, unplayable, ended IS NOT NULL FROM series WHERE id = ?";
        let (settings, numbers, ended) = self.connection.query_row(sql, [id], |row| {
            let numbers = Accounting {
                issued: row.get(1)?,
                accepted: row.get(2)?,
                leased: 0,
                void: row.get(3)?,
                unplayable: row.get(4)?,
            };
            Ok((row.get::<_, Vec<u8>>(0)?, numbers, row.get(5)?))
        })?;
        let book = SeriesBook::restore(numbers, ended, self.blocks(id, &place)?);
        if !book.accounting().balances() {
            return Err(damaged(place, format!("the games do not add up: {:?}", book.accounting())));
        }
        Ok(Series { settings: decode(&place, &settings)?, book })
    }

    fn blocks(&self, series: u64, place: &str) -> Result<BTreeMap<LeaseId, Block<Players>>, Fault> {
        let owners = if knows_tokens(self.connection)? { "owners" } else { "x''" };
        let sql = format!(
            "SELECT lease, first, count, seat0, seat1, token, holder, since, deadline, asked, done, {owners}
             FROM blocks WHERE series = ?"
        );
        let rows = self.all(&sql, params![series], |row| {
            let issue = Issue {
                token: row.get(5)?,
                holder: row.get(6)?,
                owner: 0,
                since: row.get(7)?,
                deadline: row.get(8)?,
            };
            let place = (row.get::<_, LeaseId>(0)?, row.get(1)?, row.get(2)?);
            Ok((
                place,
                [row.get::<_, Vec<u8>>(3)?, row.get(4)?],
                issue,
                (row.get(9)?, row.get(10)?, row.get::<_, Vec<u8>>(11)?),
            ))
        })?;
        let mut blocks = BTreeMap::new();
        for ((lease, first, count), [seat0, seat1], issue, (asked, done, owners)) in rows {
            let place = format!("{place}, lease {lease}");
            let players = [decode::<PlayerRef>(&place, &seat0)?, decode(&place, &seat1)?];
            let (owners, rest) = owners.as_chunks();
            if !rest.is_empty() {
                return Err(damaged(place, "its list of owners has another length"));
            }
            let owners: Vec<TokenId> = owners.iter().map(|&owner| TokenId::from_le_bytes(owner)).collect();
            let issue = Issue { owner: owners.last().copied().unwrap_or(NOBODY), ..issue };
            let block = Block::restore(first, count, players, issue, asked, done, owners);
            blocks
                .insert(lease, block.ok_or_else(|| damaged(place, "its list of games has another length"))?);
        }
        Ok(blocks)
    }
}

fn decode<M: Message + Default>(place: &str, bytes: &[u8]) -> Result<M, Fault> {
    M::decode(bytes).map_err(|error| damaged(place, error))
}
