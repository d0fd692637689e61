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
}

fn trouble(error: Error) -> Trouble {
    Trouble { refused: error.kind() == ErrorKind::PermissionDenied, reason: error.to_string() }
}

impl Keeper for Folder {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Trouble> {
        fs::create_dir_all(&self.path).map_err(trouble)?;
        save_bytes(&self.path.join(name), bytes).map_err(|error| trouble(Error::other(error)))
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Trouble> {
        match fs::read(self.path.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(trouble),
        }
    }

    fn names(&self) -> Result<Vec<String>, Trouble> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(trouble)?,
        };
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
