//! The versions' weight files, by the sha256 of their bytes.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use ludus_players::weight_file::{Digest, save_bytes};

use crate::CoordinatorError;

/// The folder of weight files.
#[derive(Clone, Debug)]
pub(crate) struct WeightFolder {
    path: PathBuf,
}

impl WeightFolder {
    pub(super) fn new(path: PathBuf) -> Self {
        WeightFolder { path }
    }

    /// Where the file with this sum is kept.
    pub(crate) fn file(&self, sha256: Digest) -> PathBuf {
        self.path.join(format!("{sha256}.safetensors"))
    }

    /// Keeps these bytes; when it returns they are on the disk under their name, whole.
    pub(crate) fn keep(&self, sha256: Digest, bytes: &[u8]) -> Result<(), CoordinatorError> {
        let failed = |source| CoordinatorError::Folder { path: self.path.clone(), source };
        fs::create_dir_all(&self.path).map_err(failed)?;
        save_bytes(&self.file(sha256), bytes).map_err(|error| failed(std::io::Error::other(error)))
    }

    /// Deletes the files with these sums and gives their number. Files of other names stay.
    pub(crate) fn delete(&self, sums: &BTreeSet<Digest>) -> Result<usize, CoordinatorError> {
        self.remove(|name| {
            let sum = name.strip_suffix(".safetensors").and_then(|sum| sum.parse::<Digest>().ok());
            sum.is_some_and(|sum| sums.contains(&sum))
        })
    }

    /// Deletes what a death has left half-written. Only for who has just opened the folder: later somebody may be writing.
    pub(crate) fn sweep(&self) -> Result<usize, CoordinatorError> {
        self.remove(|name| name.ends_with(".part"))
    }

    fn remove(&self, doomed: impl Fn(&str) -> bool) -> Result<usize, CoordinatorError> {
        let failed = |source| CoordinatorError::Folder { path: self.path.clone(), source };
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            entries => entries.map_err(failed)?,
        };
        let mut removed = 0;
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if doomed(&entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path()).map_err(failed)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// The bytes with this sum, checked.
    pub(crate) fn read(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
        let path = self.file(sha256);
        let bytes = fs::read(&path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => CoordinatorError::NoWeights { sha256: sha256.to_string() },
            _ => CoordinatorError::Folder { path: path.clone(), source },
        })?;
        if Digest::of(&bytes) != sha256 {
            return Err(CoordinatorError::WeightsDamaged { path });
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were_and_damage_is_noticed() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = WeightFolder::new(dir.path().join("weights"));
        let sha256 = Digest::of(b"weights");
        assert!(matches!(folder.read(sha256), Err(CoordinatorError::NoWeights { .. })));
        folder.keep(sha256, b"weights").expect("kept");
        folder.keep(sha256, b"weights").expect("kept again");
        assert_eq!(folder.read(sha256).expect("read"), b"weights");
        fs::write(folder.file(sha256), b"weighty").expect("write");
        assert!(matches!(folder.read(sha256), Err(CoordinatorError::WeightsDamaged { .. })));
    }
}
