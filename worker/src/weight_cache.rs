//! Weight files by the sha256 of their bytes, fetched once.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ludus_players::weight_file::{Digest, WeightFile, WeightFileError, save_bytes};
use ludus_proto::status::describe;
use tokio::sync::Mutex;
use tonic::Status;

use crate::WorkerError;
use crate::link::Link;

/// Weight files kept in memory: a self-play version, a candidate and its opponent, for a few runs at once.
const HELD: usize = 8;
/// Weight files kept in the folder.
const KEPT: usize = 32;
/// Age at which a file that is not complete will never be.
const ABANDONED: Duration = Duration::from_secs(3600);
const SUFFIX: &str = ".safetensors";

/// The weight files this worker has. Nothing enters it whose sha256 is not the one asked for.
pub(crate) struct WeightCache {
    folder: Option<PathBuf>,
    /// Newest use last. The lock is held while a file is fetched, so that threads that need the same file fetch it once.
    held: Mutex<Vec<(Digest, Arc<WeightFile>)>>,
}

/// Weights that cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("weights not fetched: {sha256}: {}", describe(.status))]
    Call { sha256: Digest, status: Status },
    #[error("weights damaged: {sha256} arrived as {got}")]
    Damaged { sha256: Digest, got: Digest },
    #[error("weights unusable: {0}")]
    Unusable(#[from] WeightFileError),
}

impl WeightCache {
    pub(crate) fn new(folder: Option<PathBuf>) -> Result<Self, WorkerError> {
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder)
                .and_then(|()| sweep(folder))
                .map_err(|source| WorkerError::Cache { folder: folder.clone(), source })?;
        }
        Ok(WeightCache { folder, held: Mutex::new(Vec::new()) })
    }

    /// The weights with this sha256: from memory, from the folder, or from the coordinator.
    pub(crate) async fn get(&self, sha256: Digest, link: &Link) -> Result<Arc<WeightFile>, FetchError> {
        let mut held = self.held.lock().await;
        if let Some(place) = held.iter().position(|(digest, _)| *digest == sha256) {
            let found = held.remove(place);
            let weights = found.1.clone();
            held.push(found);
            return Ok(weights);
        }
        let bytes = match self.kept(sha256) {
            Some(bytes) => bytes,
            None => self.fetch(sha256, link).await?,
        };
        let weights = Arc::new(WeightFile::from_bytes(&bytes, &format!("weights {sha256}"))?);
        if held.len() == HELD {
            held.remove(0);
        }
        held.push((sha256, weights.clone()));
        Ok(weights)
    }

    /// The bytes in the folder. A file damaged there is as good as none: it is fetched and written anew.
    fn kept(&self, sha256: Digest) -> Option<Vec<u8>> {
        let bytes = std::fs::read(self.folder.as_ref()?.join(format!("{sha256}{SUFFIX}"))).ok()?;
        (Digest::of(&bytes) == sha256).then_some(bytes)
    }

    async fn fetch(&self, sha256: Digest, link: &Link) -> Result<Vec<u8>, FetchError> {
        let bytes =
            link.fetch_weights(&sha256.0).await.map_err(|status| FetchError::Call { sha256, status })?;
        let got = Digest::of(&bytes);
        if got != sha256 {
            return Err(FetchError::Damaged { sha256, got });
        }
        if let Some(folder) = &self.folder
            && let Err(error) = keep(folder, sha256, &bytes)
        {
            // The folder only saves downloads, so failing to write there costs nothing else.
            tracing::warn!(%error, "weights are not kept for the next start");
        }
        Ok(bytes)
    }
}

fn keep(folder: &Path, sha256: Digest, bytes: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    save_bytes(&folder.join(format!("{sha256}{SUFFIX}")), bytes)?;
    Ok(drop_oldest(folder)?)
}

/// Removes what workers that were killed have left half-written. Others may be writing just now, so only what is old goes.
fn sweep(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let abandoned = || Some(entry.metadata().ok()?.modified().ok()?.elapsed().ok()? > ABANDONED);
        if entry.file_name().to_string_lossy().ends_with(".part") && abandoned().unwrap_or(false) {
            // Another worker may have swept it away in this moment.
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}

fn drop_oldest(folder: &Path) -> std::io::Result<()> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(SUFFIX) {
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    files.sort();
    for (_, path) in files.iter().rev().skip(KEPT) {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_new_worker_sweeps_away_what_killed_ones_left_half_written_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let [old, young, whole] = ["old.part", "young.part", "whole.safetensors"].map(|name| {
            let path = folder.path().join(name);
            std::fs::write(&path, b"x").expect("written");
            path
        });
        for path in [&old, &whole] {
            let file = std::fs::File::options().write(true).open(path).expect("opened");
            file.set_modified(SystemTime::now() - 2 * ABANDONED).expect("made older");
        }
        WeightCache::new(Some(folder.path().to_owned())).expect("a cache");
        assert_eq!([&old, &young, &whole].map(|path| path.exists()), [false, true, true]);
    }
}
