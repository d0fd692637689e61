//! Weight files on disk.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Digest, MAX_BYTES, WeightFile, WeightFileError, WeightProblem};

impl WeightFile {
    /// Reads and checks a weight file; also gives the digest of its bytes.
    pub fn read(path: &Path) -> Result<(WeightFile, Digest), WeightFileError> {
        let place = path.display().to_string();
        let bytes = read_bounded(path)
            .map_err(|error| WeightProblem::Unreadable(error.to_string()).at(place.as_str()))?;
        let file = WeightFile::from_bytes(&bytes, &place)?;
        Ok((file, Digest::of(&bytes)))
    }

    /// Writes the file so that `path` holds the old content or the whole new one, whatever happens: under another name
    /// in the same folder, to the disk, then renamed. Gives the digest of its bytes.
    pub fn save(&self, path: &Path) -> Result<Digest, WeightFileError> {
        let bytes = self.to_bytes()?;
        save_bytes(path, &bytes)?;
        Ok(Digest::of(&bytes))
    }
}

/// Like [`WeightFile::save`], for bytes that are a weight file already.
pub fn save_bytes(path: &Path, bytes: &[u8]) -> Result<(), WeightFileError> {
    write_whole(path, bytes)
        .map_err(|error| WeightProblem::Unwritable(error.to_string()).at(path.display().to_string()))
}

/// Reads a file, but no more of it than one byte past the limit: the rest would be refused anyway.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary_name(path)?;
    let written = File::create_new(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        // The first error is the one to report; a left-over temporary file does no harm.
        let _ = fs::remove_file(&temporary);
    }
    renamed?;
    // The new name itself must reach the disk too.
    File::open(folder(path))?.sync_all()
}

/// A name beside `path` that no other writer uses.
fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?
        .to_string_lossy();
    let unique = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(folder(path).join(format!(".{name}.{}.{unique}.part", std::process::id())))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
