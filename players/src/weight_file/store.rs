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

/// Fails when [`save_bytes`] could not write `path` because of what lies there, or because nothing can: for those who
/// work long for what they save.
pub fn check_target(path: &Path) -> Result<(), WeightFileError> {
    let usable = target(path).and_then(|_| match folder(path).metadata()?.is_dir() {
        true => try_folder(path),
        false => Err(io::Error::new(io::ErrorKind::NotADirectory, "it would lie in what is no folder")),
    });
    usable.map_err(|error| WeightProblem::Unwritable(error.to_string()).at(path.display().to_string()))
}

/// Makes the file that is written first, and removes it: permissions alone do not say whether that works, as on a disk
/// that is mounted to be read only.
fn try_folder(path: &Path) -> io::Result<()> {
    let temporary = temporary_name(path)?;
    File::create_new(&temporary)?;
    fs::remove_file(&temporary)
}

/// The file that `path` names. What is renamed over it takes its place, so it must be a file or nothing yet: a device
/// such as `/dev/stdout` would be gone for everybody.
fn target(path: &Path) -> io::Result<&std::ffi::OsStr> {
    let problem = |problem| io::Error::new(io::ErrorKind::InvalidInput, problem);
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(problem("it is a folder")),
        Ok(there) if !there.is_file() => return Err(problem("it is a device or the like, not a file")),
        _ => {}
    }
    let ends_in_a_name = !path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    path.file_name().filter(|_| ends_in_a_name).ok_or_else(|| problem("the path names no file"))
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
    let name = target(path)?.to_string_lossy();
    let unique = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(folder(path).join(format!(".{name}.{}.{unique}.part", std::process::id())))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
