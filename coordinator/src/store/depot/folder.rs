//! A folder, as a rule on another disk, as a depot.

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;

use ludus_players::weight_file::save_bytes;

use super::{Keeper, Trouble};

pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Folder { path }
    }

    /// It is not made here: a disk that is not mounted would be taken for an empty folder.
    fn there(&self) -> Result<(), Trouble> {
        match self.path.is_dir() {
            true => Ok(()),
            false => Err(Trouble {
                refused: true,
                reason: "there is no such folder: make it, or mount its disk".into(),
            }),
        }
    }
}

fn trouble(error: Error) -> Trouble {
    Trouble { refused: error.kind() == ErrorKind::PermissionDenied, reason: error.to_string() }
}

impl Keeper for Folder {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Trouble> {
        self.there()?;
        save_bytes(&self.path.join(name), bytes).map_err(|error| trouble(Error::other(error)))
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Trouble> {
        match fs::read(self.path.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(trouble),
        }
    }

    fn names(&self) -> Result<Vec<String>, Trouble> {
        self.there()?;
        let entries = fs::read_dir(&self.path).map_err(trouble)?;
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.map(|entry| entry.map(name).map_err(trouble)).collect()
    }

    fn delete(&self, name: &str) -> Result<(), Trouble> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(trouble(error)),
            _ => Ok(()),
        }
    }
}
