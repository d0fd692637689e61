//! The versions' weight files, by the sha256 of their bytes.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ludus_players::weight_file::{Digest, save_bytes};

use super::depot::Depot;
use crate::CoordinatorError;

/// The folder of weight files, and the depot behind it, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct WeightFolder {
    path: PathBuf,
    depot: Option<Depot>,
    /// Held while something is fetched from the depot.
    fetching: Arc<Mutex<()>>,
}

impl WeightFolder {
    pub(super) fn new(path: PathBuf) -> Self {
        WeightFolder { path, depot: None, fetching: Arc::default() }
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

    /// Puts into the depot what only the folder has, as all is where there was no depot before, and gives the number.
    pub(crate) fn hand_on(&self) -> Result<usize, CoordinatorError> {
        let Some(depot) = &self.depot else { return Ok(0) };
        let there = depot.names()?;
        let here = self.names()?;
        let missing = here.iter().filter(|name| !there.contains(*name)).filter_map(|name| sum_of(name));
        let mut handed_on = 0;
        for sha256 in missing {
            match self.read_copy(sha256) {
                Ok(bytes) => depot.put(&name_of(sha256), &bytes)?,
                // Whoever wants it is told.
                Err(CoordinatorError::WeightsDamaged { .. }) => continue,
                Err(error) => return Err(error),
            }
            handed_on += 1;
        }
        Ok(handed_on)
    }

    /// Deletes the files with these sums and gives their number. Files of other names stay.
    pub(crate) fn delete(&self, sums: &BTreeSet<Digest>) -> Result<usize, CoordinatorError> {
        let doomed = |name: &str| sum_of(name).is_some_and(|sum| sums.contains(&sum));
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
        let mut removed = 0;
        for name in self.names()?.iter().filter(|name| doomed(name)) {
            match fs::remove_file(self.path.join(name)) {
                Ok(()) => removed += 1,
                // Another run's version came at the same time, and what is old was deleted for both.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(CoordinatorError::Folder { path: self.path.clone(), source }),
            }
        }
        Ok(removed)
    }

    /// Every name in the folder.
    fn names(&self) -> Result<Vec<String>, CoordinatorError> {
        let failed = |source| CoordinatorError::Folder { path: self.path.clone(), source };
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.map(|entry| entry.map(name).map_err(failed)).collect()
    }

    /// The bytes with this sum, checked: those on the disk, or else those in the depot.
    pub(crate) fn read(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
        use CoordinatorError::{NoWeights, WeightsDamaged};
        match (&self.depot, self.read_copy(sha256)) {
            (Some(depot), Err(NoWeights { .. } | WeightsDamaged { .. })) => self.fetch(depot, sha256),
            (_, read) => read,
        }
    }

    fn fetch(&self, depot: &Depot, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
        // All workers want the champion at once: the first fetches it, or finds out that the depot is away.
        let _turn = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = match self.read_copy(sha256) {
            Ok(bytes) => return Ok(bytes),
            Err(lost) => lost,
        };
        let name = name_of(sha256);
        let bytes = depot.get(&name)?.ok_or(lost)?;
        if Digest::of(&bytes) != sha256 {
            return Err(CoordinatorError::WeightsDamaged { path: depot.place(&name) });
        }
        if let Err(error) = self.save(sha256, &bytes) {
            tracing::warn!("no copy is kept of weights from the store: {error}");
        }
        Ok(bytes)
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

/// The sum of the bytes that are kept under this name; `None` when it is none of ours.
fn sum_of(name: &str) -> Option<Digest> {
    name.strip_suffix(".safetensors")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_or_damaged_copy_comes_back_from_the_depot_and_what_is_deleted_goes_from_both() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("depot")).expect("a folder");
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
    fn what_was_there_before_the_depot_is_handed_on_and_what_is_damaged_or_none_of_ours_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let alone = WeightFolder::new(dir.path().join("weights"));
        assert_eq!(alone.hand_on().expect("nowhere to put it"), 0);
        let sums = [&b"one"[..], b"two", b"three"].map(|bytes| {
            alone.keep(Digest::of(bytes), bytes).expect("kept");
            Digest::of(bytes)
        });
        fs::write(alone.file(sums[2]), b"thr").expect("write");
        fs::write(dir.path().join("weights/note.txt"), b"").expect("write");
        fs::create_dir(dir.path().join("depot")).expect("a folder");
        let depot = Depot::open(&format!("file://{}/depot", dir.path().display())).expect("a depot");
        let folder = alone.backed_by(Some(depot));
        assert_eq!(folder.hand_on().expect("handed on"), 2);
        assert_eq!(folder.hand_on().expect("nothing is left to do"), 0);
        fs::remove_dir_all(dir.path().join("weights")).expect("remove");
        assert_eq!(folder.read(sums[0]).expect("from the depot"), b"one");
        assert_eq!(fs::read_dir(dir.path().join("depot")).expect("it").count(), 2);
    }

    #[test]
    fn without_its_depot_nothing_is_kept_and_that_is_said() {
        let dir = tempfile::tempdir().expect("a folder");
        // Its folder is not there, as when a disk is not mounted.
        let depot = Depot::open(&format!("file://{}/depot", dir.path().display())).expect("a depot");
        let folder = WeightFolder::new(dir.path().join("weights")).backed_by(Some(depot.clone()));
        let sha256 = Digest::of(b"weights");
        let error = folder.keep(sha256, b"weights").expect_err("not kept");
        assert!(matches!(error, CoordinatorError::Depot { refused: true, .. }), "{error}");
        assert!(depot.trouble().is_some() && !folder.file(sha256).exists());
        fs::create_dir(dir.path().join("depot")).expect("mounted");
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
