//! The versions' weight files, by the sha256 of their bytes.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use ludus_players::weight_file::{Digest, save_bytes};

use super::depot::Depot;
use crate::CoordinatorError;

/// The folder of weight files, and the depot behind it, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct WeightFolder {
    path: PathBuf,
    depot: Option<Depot>,
}

impl WeightFolder {
    pub(super) fn new(path: PathBuf) -> Self {
        WeightFolder { path, depot: None }
    }

    /// The same folder as a copy of this depot.
    pub(crate) fn backed_by(self, depot: Option<Depot>) -> Self {
        WeightFolder { depot, ..self }
    }

    /// Where the file with this sum is kept.
    pub(crate) fn file(&self, sha256: Digest) -> PathBuf {
        self.path.join(name_of(sha256))
    }

    /// Keeps these bytes; when it returns they are in the depot, and on the disk under their name, whole.
    pub(crate) fn keep(&self, sha256: Digest, bytes: &[u8]) -> Result<(), CoordinatorError> {
        if let Some(depot) = &self.depot {
            depot.put(&name_of(sha256), bytes)?;
        }
        self.save(sha256, bytes)
    }

    fn save(&self, sha256: Digest, bytes: &[u8]) -> Result<(), CoordinatorError> {
        let failed = |source| CoordinatorError::Folder { path: self.path.clone(), source };
        fs::create_dir_all(&self.path).map_err(failed)?;
        save_bytes(&self.file(sha256), bytes).map_err(|error| failed(std::io::Error::other(error)))
    }

    /// Deletes the files with these sums and gives their number. Files of other names stay.
    pub(crate) fn delete(&self, sums: &BTreeSet<Digest>) -> Result<usize, CoordinatorError> {
        let doomed = |name: &str| {
            let sum = name.strip_suffix(".safetensors").and_then(|sum| sum.parse::<Digest>().ok());
            sum.is_some_and(|sum| sums.contains(&sum))
        };
        let removed = self.remove(doomed)?;
        // What was deleted here while the depot was away is still there.
        let deleted = self.depot.as_ref().map_or(Ok(0), |depot| depot.delete(doomed))?;
        Ok(removed.max(deleted))
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

    /// The bytes with this sum, checked: those on the disk, or else those in the depot.
    pub(crate) fn read(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
        use CoordinatorError::{NoWeights, WeightsDamaged};
        match (&self.depot, self.read_copy(sha256)) {
            (Some(depot), Err(lost @ (NoWeights { .. } | WeightsDamaged { .. }))) => {
                let name = name_of(sha256);
                let bytes = depot.get(&name)?.ok_or(lost)?;
                if Digest::of(&bytes) != sha256 {
                    return Err(WeightsDamaged { path: depot.place(&name) });
                }
                if let Err(error) = self.save(sha256, &bytes) {
                    tracing::warn!("no copy is kept of weights from the store: {error}");
                }
                Ok(bytes)
            }
            (_, read) => read,
        }
    }

    fn read_copy(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
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

/// Under which name the bytes with this sum are kept.
fn name_of(sha256: Digest) -> String {
    format!("{sha256}.safetensors")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_or_damaged_copy_comes_back_from_the_depot_and_what_is_deleted_goes_from_both() {
        let dir = tempfile::tempdir().expect("a folder");
        let depot = Depot::open(&format!("file://{}/depot", dir.path().display())).expect("a depot");
        let folder = WeightFolder::new(dir.path().join("weights")).backed_by(Some(depot));
        let sha256 = Digest::of(b"weights");
        folder.keep(sha256, b"weights").expect("kept");
        fs::write(folder.file(sha256), b"weighty").expect("write");
        assert_eq!(folder.read(sha256).expect("from the depot"), b"weights");
        assert_eq!(fs::read(folder.file(sha256)).expect("a copy again"), b"weights");

        let there = dir.path().join("depot").join(name_of(sha256));
        fs::write(&there, b"wei").expect("write");
        fs::remove_file(folder.file(sha256)).expect("remove");
        let damaged = folder.read(sha256).expect_err("half of it").to_string();
        assert!(damaged.contains("/depot/") && !folder.file(sha256).exists(), "{damaged}");

        folder.keep(sha256, b"weights").expect("whole again");
        fs::remove_dir_all(dir.path().join("weights")).expect("remove");
        assert_eq!(folder.delete(&BTreeSet::from([sha256])).expect("deleted"), 1);
        assert!(!there.exists());
        assert!(matches!(folder.read(sha256), Err(CoordinatorError::NoWeights { .. })));
    }

    #[test]
    fn without_its_depot_nothing_is_kept_and_that_is_said() {
        let dir = tempfile::tempdir().expect("a folder");
        // A file where the depot's folder should be.
        fs::write(dir.path().join("depot"), b"").expect("write");
        let depot = Depot::open(&format!("file://{}/depot", dir.path().display())).expect("a depot");
        let folder = WeightFolder::new(dir.path().join("weights")).backed_by(Some(depot.clone()));
        let sha256 = Digest::of(b"weights");
        let error = folder.keep(sha256, b"weights").expect_err("not kept");
        assert!(matches!(error, CoordinatorError::Depot { refused: false, .. }), "{error}");
        assert!(depot.trouble().is_some() && !folder.file(sha256).exists());
        fs::remove_file(dir.path().join("depot")).expect("remove");
        folder.keep(sha256, b"weights").expect("kept");
        assert_eq!(depot.trouble(), None);
    }

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
