//! Looking into a data folder, whether a coordinator is using it or not.

use std::path::Path;

use ludus_players::weight_file::Digest;
use ludus_proto::v1::{RunStatus, VersionInfo, VersionLineage};

use crate::CoordinatorError;
use crate::book::{Book, Run};
use crate::store::{Folder, database_failed, gate_logs, load};
use crate::verdict_check::{self, VerdictCheck};
use crate::{lineage, status};

/// The runs of a data folder as they were when it was opened. Reads only, and needs no lock.
#[derive(Debug)]
pub struct Records {
    book: Book,
    folder: Folder,
}

impl Records {
    /// Reads the folder `dir` of a coordinator.
    pub fn open(dir: &Path) -> Result<Records, CoordinatorError> {
        let folder = Folder::new(dir);
        let book = load::book(&folder.read_database()?, &folder.database())?;
        Ok(Records { book, folder })
    }

    fn find(&self, name: &str) -> Result<&Run, CoordinatorError> {
        if self.book.runs.is_empty() {
            // Which folder was looked into is the first thing to know then.
            return Err(CoordinatorError::NothingHere { dir: self.folder.path().to_owned() });
        }
        status::find(&self.book, name)
    }

    /// Every run, oldest first.
    pub fn runs(&self) -> Vec<RunStatus> {
        self.book.runs.values().map(|run| status::run(run, 0)).collect()
    }

    /// The run of this name; with an empty name the newest.
    pub fn run(&self, name: &str) -> Result<RunStatus, CoordinatorError> {
        Ok(status::run(self.find(name)?, 0))
    }

    /// The versions of a run, oldest first.
    pub fn versions(&self, run: &str) -> Result<Vec<VersionInfo>, CoordinatorError> {
        let run = self.find(run)?;
        Ok(run.versions.iter().map(|version| status::version(run, version)).collect())
    }

    /// Whose games the versions of a run may have learnt from, oldest first.
    pub fn lineage(&self, run: &str) -> Result<Vec<VersionLineage>, CoordinatorError> {
        let run = self.find(run)?;
        let connection = self.folder.read_database()?;
        let lineage = lineage::of_run(&connection, &self.book, run);
        lineage.map_err(|source| database_failed(&self.folder.database(), source))
    }

    /// The bytes of the weight file with this sum, checked.
    pub fn weights(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
        self.folder.weights().read(sha256)
    }

    /// Copies the database as of one moment, and the weights of its versions, into a new folder `to`, which a coordinator can
    /// go on with. The coordinator that uses the folder goes on meanwhile.
    pub fn back_up(&self, to: &Path) -> Result<(), CoordinatorError> {
        let failed = |source| CoordinatorError::Folder { path: to.to_owned(), source };
        if to.exists() {
            return Err(failed(std::io::Error::other("it is there already, and a copy needs a new folder")));
        }
        std::fs::create_dir_all(to).map_err(failed)?;
        let copy = Folder::new(to);
        let connection = self.folder.read_database()?;
        let target = copy.database().to_string_lossy().into_owned();
        connection
            .execute("VACUUM INTO ?", [&target])
            .map_err(|source| database_failed(&self.folder.database(), source))?;
        copy.leave_streams()?;
        std::fs::File::open(copy.database()).and_then(|file| file.sync_all()).map_err(failed)?;
        // After the database, so that the weights of every version in it are there, but for those that were deleted.
        let copied = Records::open(to)?;
        for version in copied.book.runs.values().flat_map(|run| &run.versions) {
            match self.weights(version.sha256) {
                Ok(bytes) => copy.weights().keep(version.sha256, &bytes)?,
                Err(CoordinatorError::NoWeights { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Recomputes the verdict of every gate of a run from its log, oldest first.
    pub fn verify_gates(&self, run: &str) -> Result<Vec<VerdictCheck>, CoordinatorError> {
        let run = self.find(run)?.id;
        let mut checks = Vec::new();
        let connection = self.folder.read_database()?;
        gate_logs::each(&connection, &self.folder.database(), run, |log| {
            checks.push(verdict_check::check(&log));
        })?;
        Ok(checks)
    }
}
