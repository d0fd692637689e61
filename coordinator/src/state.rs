//! The one lock, and the only way to change anything under it.

use std::path::PathBuf;

use rusqlite::{Connection, TransactionBehavior};

use crate::audit::Sampler;
use crate::book::{Book, Run};
use crate::leases::Millis;
use crate::roster::Roster;
use crate::store::load;
use crate::store::write::Writer;
use crate::store::{Folder, database_failed};
use crate::turns::Turns;
use crate::{CoordinatorError, clock};

/// How long leases of workers that nobody has heard of since the start are left alone. Workers hand games in every
/// second or so.
const SIGN_OF_LIFE: Millis = 10_000;

/// What the lock protects.
pub(crate) struct State {
    connection: Connection,
    path: PathBuf,
    book: Book,
    /// Whether the book may differ from the database, because a step broke off in the middle.
    stale: bool,
    /// Whose turn it is.
    pub turns: Turns,
    /// The workers.
    pub roster: Roster,
    /// Which games are audited.
    pub sampler: Sampler,
}

impl State {
    pub(crate) fn open(folder: &Folder) -> Result<State, CoordinatorError> {
        let path = folder.database();
        let connection = folder.open_database()?;
        let mut book = load::book(&connection, &path)?;
        // Workers that outlived the last coordinator hand something in soon; what the others held is free then.
        for series in book.runs.values_mut().flat_map(Run::series_mut) {
            series.book.hurry(clock::now() + SIGN_OF_LIFE);
        }
        let (turns, roster, sampler) = (Turns::default(), Roster::default(), Sampler::default());
        Ok(State { connection, path, book, stale: false, turns, roster, sampler })
    }

    /// Everything that is known for good.
    pub(crate) fn book(&self) -> &Book {
        &self.book
    }

    /// One step: `change` writes every change to the book and to the database, and both keep it or neither does.
    pub(crate) fn step<T>(
        &mut self,
        change: impl FnOnce(&mut Book, &Writer<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CoordinatorError> {
        self.refresh()?;
        // Set until the step is complete, so that a panic in between leaves it set.
        self.stale = true;
        let done = self.try_step(change);
        match done {
            Ok(value) => {
                self.stale = false;
                Ok(value)
            }
            Err(error) => {
                // When this fails as well, the next step tries again.
                let _ = self.refresh();
                Err(database_failed(&self.path, error))
            }
        }
    }

    fn try_step<T>(
        &mut self,
        change: impl FnOnce(&mut Book, &Writer<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = change(&mut self.book, &Writer::new(&transaction))?;
        transaction.commit()?;
        Ok(value)
    }

    /// Reads the book again when it may differ from the database.
    pub(crate) fn refresh(&mut self) -> Result<(), CoordinatorError> {
        if self.stale {
            self.book = load::book(&self.connection, &self.path)?;
            self.stale = false;
        }
        Ok(())
    }

    /// A look into the database at what the book does not hold.
    pub(crate) fn query<T>(
        &self,
        look: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, CoordinatorError> {
        look(&self.connection).map_err(|source| database_failed(&self.path, source))
    }
}
