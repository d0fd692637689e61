//! What the coordinator keeps on disk.
//!
//! ```text
//! DIR/lock                           held by the coordinator that uses the folder
//! DIR/coordinator.sqlite             everything but weights
//! DIR/weights/SHA256.safetensors     the versions; with a depot a copy of what is there
//! ```
//!
//! The database is the truth; [`Book`](crate::book::Book) is its image in memory. Every step of the coordinator writes
//! both: [`write::Writer`] has one method for each thing that can change, [`load`] reads all of it back.
//!
//! Write-ahead log with `synchronous = FULL`: an answer to a worker or trainer means that what it handed in survives a
//! power cut.

pub(crate) mod depot;
pub(crate) mod gate_logs;
pub(crate) mod load;
pub(crate) mod old;
mod schema;
pub(crate) mod tokens;
mod weights;
pub(crate) mod write;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use ludus_stream::stream_of_copy;
use rusqlite::{Connection, OpenFlags};

pub(crate) use weights::WeightFolder;

use crate::CoordinatorError;

/// A data folder, locked or not.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    dir: PathBuf,
}

impl Folder {
    pub(crate) fn new(dir: &Path) -> Self {
        Folder { dir: dir.to_owned() }
    }

    /// Makes the folder when needed and takes it for this process, for as long as the file is held.
    pub(crate) fn lock(&self) -> Result<File, CoordinatorError> {
        fs::create_dir_all(&self.dir).map_err(|source| failed(&self.dir, source))?;
        let path = self.dir.join("lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|source| failed(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(CoordinatorError::InUse { dir: self.dir.clone() }),
            Err(TryLockError::Error(source)) => Err(failed(&path, source)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.dir.join("coordinator.sqlite")
    }

    pub(crate) fn weights(&self) -> WeightFolder {
        WeightFolder::new(self.dir.join("weights"))
    }

    /// The database for the coordinator that holds the lock: made or brought up to date when needed.
    pub(crate) fn open_database(&self) -> Result<Connection, CoordinatorError> {
        let path = self.database();
        let sqlite = |source| database_failed(&path, source);
        let mut connection = Connection::open(&path).map_err(sqlite)?;
        check_ours(&connection, &path)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(sqlite)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(sqlite)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(sqlite)?;
        // The folder may be the only place that can be written, as in a container; SQLite would look for another.
        connection.pragma_update(None, "temp_store", "MEMORY").map_err(sqlite)?;
        schema::migrate(&mut connection).map_err(sqlite)?;
        Ok(connection)
    }

    /// Gives the runs of a copy streams of their own, to which all goes that is not settled. The old ones hold games that
    /// were accepted after the copy was made: of these it knows nothing, and hands out their numbers again.
    pub(crate) fn leave_streams(&self) -> Result<(), CoordinatorError> {
        let path = self.database();
        let sqlite = |source| database_failed(&path, source);
        let mut connection = Connection::open(&path).map_err(sqlite)?;
        let step = connection.transaction().map_err(sqlite)?;
        let runs = step.prepare("SELECT id, stream FROM runs").and_then(|mut runs| {
            let rows = runs.query_map([], |row| Ok((row.get::<_, u64>(0)?, row.get::<_, String>(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        });
        for (id, stream) in runs.map_err(sqlite)? {
            let values = rusqlite::params![stream_of_copy(&stream), id];
            step.execute("UPDATE runs SET stream = ? WHERE id = ?", values).map_err(sqlite)?;
        }
        step.execute("DELETE FROM counters WHERE name = 'posted'", []).map_err(sqlite)?;
        step.commit().map_err(sqlite)
    }

    /// The database for looking at, while a coordinator uses it or not.
    pub(crate) fn read_database(&self) -> Result<Connection, CoordinatorError> {
        let path = self.database();
        if !path.exists() {
            return Err(CoordinatorError::NothingHere { dir: self.dir.clone() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(&path, flags).map_err(|source| database_failed(&path, source))?;
        match check_ours(&connection, &path)? {
            0 => Err(CoordinatorError::NothingHere { dir: self.dir.clone() }),
            // An older format is brought up to date by the coordinator alone; `load` reads it as it is.
            1..=schema::FORMAT => Ok(connection),
            found => Err(CoordinatorError::Damaged { path, what: format!("format {found}") }),
        }
    }
}

/// Whether a database of ours knows of tokens and whose games are whose: one of format 1 does not.
pub(crate) fn knows_tokens(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(schema::format_of(connection)? >= 2)
}

/// Whether it knows of gates whose games are gone.
fn knows_gone_games(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(schema::format_of(connection)? >= 4)
}

/// A number that a stranger named, for looking up a row: beyond what SQLite can hold there is none.
pub(crate) fn row_number(named: u64) -> i64 {
    i64::try_from(named).unwrap_or(i64::MAX)
}

/// The format of the file, when it is a database of ours that this program can read; 0 when it is empty.
fn check_ours(connection: &Connection, path: &Path) -> Result<i64, CoordinatorError> {
    let not_ours = |reason: String| CoordinatorError::NotOurs { path: path.to_owned(), reason };
    let read = || -> rusqlite::Result<(i64, i64, i64)> {
        let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((application, schema::format_of(connection)?, tables))
    };
    let (application, format, tables) = read().map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => not_ours("it is no SQLite database".into()),
        _ => database_failed(path, error),
    })?;
    if tables == 0 && application == 0 {
        return Ok(0);
    }
    if application != schema::APPLICATION_ID {
        return Err(not_ours("another program made it".into()));
    }
    if format > schema::FORMAT {
        return Err(CoordinatorError::NewerFormat {
            path: path.to_owned(),
            found: format,
            known: schema::FORMAT,
        });
    }
    Ok(format)
}

pub(crate) fn database_failed(path: &Path, source: rusqlite::Error) -> CoordinatorError {
    CoordinatorError::Database { path: path.to_owned(), source }
}

fn failed(path: &Path, source: std::io::Error) -> CoordinatorError {
    CoordinatorError::Folder { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_taken_by_one_coordinator_at_a_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(dir.path());
        let held = folder.lock().expect("free");
        assert!(matches!(folder.lock(), Err(CoordinatorError::InUse { .. })));
        drop(held);
        folder.lock().expect("free again");
    }

    #[test]
    fn files_of_other_programs_and_newer_ones_are_refused_and_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(dir.path());
        let path = folder.database();

        let text =
            "This is a text that is long enough to be mistaken for a database header, but is none of it.\n";
        fs::write(&path, text.repeat(2)).expect("write");
        assert!(matches!(folder.open_database(), Err(CoordinatorError::NotOurs { .. })));
        assert_eq!(fs::read_to_string(&path).expect("read"), text.repeat(2));
        fs::remove_file(&path).expect("remove");

        let other = Connection::open(&path).expect("open");
        other.execute_batch("CREATE TABLE recipes (name TEXT)").expect("create");
        drop(other);
        assert!(matches!(folder.open_database(), Err(CoordinatorError::NotOurs { .. })));
        assert!(matches!(folder.read_database(), Err(CoordinatorError::NotOurs { .. })));
        fs::remove_file(&path).expect("remove");

        let newer = folder.open_database().expect("a new database");
        newer.pragma_update(None, "user_version", schema::FORMAT + 1).expect("update");
        drop(newer);
        assert!(matches!(folder.open_database(), Err(CoordinatorError::NewerFormat { .. })));
        assert!(matches!(folder.read_database(), Err(CoordinatorError::NewerFormat { .. })));
    }

    #[test]
    fn an_empty_folder_can_be_filled_and_then_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(dir.path());
        assert!(matches!(folder.read_database(), Err(CoordinatorError::NothingHere { .. })));
        drop(folder.open_database().expect("new"));
        folder.read_database().expect("closed");
        let _running = folder.open_database().expect("old");
        folder.read_database().expect("open elsewhere");
    }
}
