//! The stream of one machine: a SQLite file with the rules of a Redis stream and one consumer group.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::desk::{Desk, Reader};
use crate::{Boxed, CLAIM_AFTER, Depths, Entry, EntryId, GameStream, StreamError, name};

/// How often a waiting reader looks for new entries: they may come from another process, which cannot wake it.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a statement waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Format of the file, kept in its `user_version`.
const FORMAT: i64 = 1;

/// `entries` holds what is not acknowledged, `deliveries` says who has what, `groups` how far delivery has come (an
/// entry of a run is new when its id is above `delivered`). Ids are never used twice, also after a delete.
const SCHEMA: &str = "
    CREATE TABLE entries (id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, payload BLOB NOT NULL);
    CREATE INDEX entries_of_run ON entries (run, id);
    CREATE TABLE deliveries (
        id INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
        run TEXT NOT NULL, consumer TEXT NOT NULL, count INTEGER NOT NULL, at_ms INTEGER NOT NULL);
    CREATE INDEX deliveries_of_run ON deliveries (run, id);
    CREATE TABLE groups (run TEXT PRIMARY KEY, delivered INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE dead (
        id INTEGER PRIMARY KEY, run TEXT NOT NULL, payload BLOB NOT NULL, reason TEXT NOT NULL,
        deliveries INTEGER NOT NULL, at_ms INTEGER NOT NULL);
    CREATE INDEX dead_of_run ON dead (run);
";

/// A run's stream in a file, for the processes of one machine. Appended entries are on disk (WAL, synced).
pub struct LocalStream {
    file: File,
    desk: Desk<LocalReader>,
    claim_after: Duration,
}

/// The file as one run sees it.
#[derive(Clone)]
struct File {
    connection: Arc<Mutex<Connection>>,
    path: Arc<Path>,
    run: Arc<str>,
}

/// What a transaction must survive.
#[derive(Clone, Copy)]
enum Durability {
    /// Loss of power: the caller forgets what it gave us.
    Disk,
    /// The death of the process. After a loss of power entries are at worst delivered again, which readers expect.
    Process,
}

impl LocalStream {
    /// Opens `stream.sqlite` in `folder`, which is made when needed.
    pub async fn open(folder: &Path, run: &str) -> Result<Self, StreamError> {
        name::check(run)?;
        let run: Arc<str> = run.into();
        let path: PathBuf = folder.join("stream.sqlite");
        let task = tokio::task::spawn_blocking(move || File::open(&path, run));
        let file = task.await.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))?;
        Ok(LocalStream { file, desk: Desk::new(), claim_after: CLAIM_AFTER })
    }

    /// The same stream with another idea of when a consumer is dead.
    pub fn with_claim_after(mut self, claim_after: Duration) -> Self {
        self.claim_after = claim_after;
        self
    }
}

impl GameStream for LocalStream {
    fn append(&self, payloads: Vec<Vec<u8>>) -> Boxed<'_, ()> {
        Box::pin(self.file.transaction(Durability::Disk, move |transaction, run| {
            let mut insert =
                transaction.prepare_cached("INSERT INTO entries (run, payload) VALUES (?, ?)")?;
            for payload in &payloads {
                insert.execute(params![run, payload])?;
            }
            Ok(())
        }))
    }

    fn read<'a>(&'a self, consumer: &'a str, max: usize, patience: Duration) -> Boxed<'a, Vec<Entry>> {
        Box::pin(self.desk.read(consumer, max, patience, || LocalReader {
            file: self.file.clone(),
            consumer: consumer.into(),
            claim_after: self.claim_after,
            own_after: Some(0),
        }))
    }

    fn acknowledge<'a>(&'a self, ids: &'a [EntryId]) -> Boxed<'a, ()> {
        let ids: Vec<i64> = ids.iter().filter_map(|id| id.0.parse().ok()).collect();
        Box::pin(self.file.transaction(Durability::Process, move |transaction, run| {
            // Only what was delivered can be acknowledged, as in Redis.
            let mut delete = transaction.prepare_cached(
                "DELETE FROM entries WHERE id = ? AND run = ?
                 AND EXISTS (SELECT 1 FROM deliveries WHERE deliveries.id = entries.id)",
            )?;
            for id in &ids {
                delete.execute(params![id, run])?;
            }
            Ok(())
        }))
    }

    fn bury<'a>(&'a self, entry: &'a Entry, reason: &'a str) -> Boxed<'a, ()> {
        let (id, payload) = (entry.id.0.parse::<i64>().ok(), entry.payload.clone());
        let (reason, deliveries) = (reason.to_owned(), entry.deliveries);
        Box::pin(self.file.transaction(Durability::Disk, move |transaction, run| {
            transaction.execute(
                "INSERT INTO dead (run, payload, reason, deliveries, at_ms) VALUES (?, ?, ?, ?, ?)",
                params![run, payload, reason, deliveries, now_ms()],
            )?;
            transaction.execute("DELETE FROM entries WHERE id = ? AND run = ?", params![id, run])?;
            Ok(())
        }))
    }

    fn depths(&self) -> Boxed<'_, Depths> {
        Box::pin(self.file.transaction(Durability::Process, |transaction, run| {
            let count = |table: &str| -> rusqlite::Result<u64> {
                let query = format!("SELECT count(*) FROM {table} WHERE run = ?");
                transaction.prepare_cached(&query)?.query_row([run], |row| row.get(0))
            };
            // Entries leave the file by an acknowledgement or to the dead letters alone, so none is ever lost.
            Ok(Depths {
                waiting: count("entries")?,
                pending: count("deliveries")?,
                buried: count("dead")?,
                lost: 0,
            })
        }))
    }
}

/// One consumer's place in the file.
struct LocalReader {
    file: File,
    consumer: Arc<str>,
    claim_after: Duration,
    /// Id up to which this consumer's own unacknowledged entries were read again; `None` when all were.
    own_after: Option<i64>,
}

impl Reader for LocalReader {
    async fn take(&mut self, max: usize, patience: Duration) -> Result<Vec<Entry>, StreamError> {
        let until = Instant::now() + patience;
        loop {
            let entries = self.look(max).await?;
            let now = Instant::now();
            if !entries.is_empty() || now >= until {
                return Ok(entries);
            }
            tokio::time::sleep(LOOK_EVERY.min(until - now)).await;
        }
    }
}

impl LocalReader {
    /// Takes what is there, without waiting.
    async fn look(&mut self, max: usize) -> Result<Vec<Entry>, StreamError> {
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        if let Some(after) = self.own_after {
            let consumer = Arc::clone(&self.consumer);
            let own = self.file.transaction(Durability::Process, move |transaction, run| {
                take_own(transaction, run, &consumer, after, max)
            });
            let own = own.await?;
            self.own_after = own.last().and_then(|entry| entry.id.0.parse().ok());
            if !own.is_empty() {
                return Ok(own);
            }
        }
        let consumer = Arc::clone(&self.consumer);
        let dead_before = now_ms() - i64::try_from(self.claim_after.as_millis()).unwrap_or(i64::MAX);
        let taken = self.file.transaction(Durability::Process, move |transaction, run| {
            show_life(transaction, run, &consumer)?;
            let claimed = claim_from_the_dead(transaction, run, &consumer, dead_before, max)?;
            if claimed.is_empty() { take_new(transaction, run, &consumer, max) } else { Ok(claimed) }
        });
        taken.await
    }
}

/// Entries of `consumer` above `after`, delivered once more.
fn take_own(
    transaction: &Transaction<'_>,
    run: &str,
    consumer: &str,
    after: i64,
    max: i64,
) -> rusqlite::Result<Vec<Entry>> {
    let mut select = transaction.prepare_cached(
        "SELECT id, payload, count + 1 FROM deliveries JOIN entries USING (id)
         WHERE deliveries.run = ? AND consumer = ? AND id > ? ORDER BY id LIMIT ?",
    )?;
    let entries: Vec<_> =
        select.query_map(params![run, consumer, after, max], entry)?.collect::<rusqlite::Result<_>>()?;
    deliver(transaction, run, consumer, &entries)?;
    Ok(entries)
}

/// Tells the other consumers that this one lives, about once a second: its entries stay its own.
fn show_life(transaction: &Transaction<'_>, run: &str, consumer: &str) -> rusqlite::Result<()> {
    let now = now_ms();
    transaction
        .prepare_cached("UPDATE deliveries SET at_ms = ? WHERE run = ? AND consumer = ? AND at_ms < ?")?
        .execute(params![now, run, consumer, now - 1000])?;
    Ok(())
}

/// Entries that other consumers were given before `dead_before` and let lie.
fn claim_from_the_dead(
    transaction: &Transaction<'_>,
    run: &str,
    consumer: &str,
    dead_before: i64,
    max: i64,
) -> rusqlite::Result<Vec<Entry>> {
    let mut select = transaction.prepare_cached(
        "SELECT id, payload, count + 1 FROM deliveries JOIN entries USING (id)
         WHERE deliveries.run = ? AND consumer <> ? AND at_ms <= ? ORDER BY id LIMIT ?",
    )?;
    let entries: Vec<_> = select
        .query_map(params![run, consumer, dead_before, max], entry)?
        .collect::<rusqlite::Result<_>>()?;
    deliver(transaction, run, consumer, &entries)?;
    Ok(entries)
}

/// Entries that nobody was given yet.
fn take_new(
    transaction: &Transaction<'_>,
    run: &str,
    consumer: &str,
    max: i64,
) -> rusqlite::Result<Vec<Entry>> {
    let delivered: i64 = transaction
        .prepare_cached("SELECT delivered FROM groups WHERE run = ?")?
        .query_row([run], |row| row.get(0))
        .optional()?
        .unwrap_or(0);
    let mut select = transaction
        .prepare_cached("SELECT id, payload, 1 FROM entries WHERE run = ? AND id > ? ORDER BY id LIMIT ?")?;
    let entries: Vec<_> =
        select.query_map(params![run, delivered, max], entry)?.collect::<rusqlite::Result<_>>()?;
    deliver(transaction, run, consumer, &entries)?;
    if let Some(last) = entries.last() {
        transaction
            .prepare_cached("INSERT OR REPLACE INTO groups (run, delivered) VALUES (?, CAST(? AS INTEGER))")?
            .execute(params![run, last.id.0])?;
    }
    Ok(entries)
}

/// Notes that `consumer` has these entries now.
fn deliver(
    transaction: &Transaction<'_>,
    run: &str,
    consumer: &str,
    entries: &[Entry],
) -> rusqlite::Result<()> {
    let now = now_ms();
    let mut replace = transaction.prepare_cached(
        "INSERT OR REPLACE INTO deliveries (id, run, consumer, count, at_ms) VALUES (CAST(? AS INTEGER), ?, ?, ?, ?)",
    )?;
    for entry in entries {
        replace.execute(params![entry.id.0, run, consumer, entry.deliveries, now])?;
    }
    Ok(())
}

fn entry(row: &rusqlite::Row<'_>) -> rusqlite::Result<Entry> {
    let id: i64 = row.get(0)?;
    Ok(Entry { id: EntryId(id.to_string()), payload: row.get(1)?, deliveries: row.get(2)? })
}

/// Milliseconds since 1970, the clock of dead consumers.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl File {
    fn open(path: &Path, run: Arc<str>) -> Result<Self, StreamError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|cause| StreamError::Folder { path: folder.display().to_string(), cause })?;
        }
        let connection = prepare(path).map_err(|cause| local_error(path, cause))?;
        let found: i64 = connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|cause| local_error(path, cause))?;
        if found != FORMAT {
            return Err(StreamError::LocalFormat { path: path.display().to_string(), found, known: FORMAT });
        }
        Ok(File { connection: Arc::new(Mutex::new(connection)), path: path.into(), run })
    }

    /// Runs `work` in a transaction of its own, where it may block.
    async fn transaction<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>, &str) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StreamError> {
        let file = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let mut connection = file.connection.lock().unwrap_or_else(PoisonError::into_inner);
            let synchronous = match durability {
                Durability::Disk => "FULL",
                Durability::Process => "NORMAL",
            };
            connection.pragma_update(None, "synchronous", synchronous)?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction, &file.run)?;
            transaction.commit()?;
            Ok(result)
        });
        let result = task.await.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()));
        result.map_err(|cause| local_error(&self.path, cause))
    }
}

/// Opens the file and makes its tables when it is new.
fn prepare(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found == 0 {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()?;
    Ok(connection)
}

fn local_error(path: &Path, cause: rusqlite::Error) -> StreamError {
    StreamError::Local { path: path.display().to_string(), cause }
}
