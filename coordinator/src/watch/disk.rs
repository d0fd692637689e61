//! Room on the disk of the coordinator's folder.

use std::path::Path;

use serde::Serialize;

use crate::coordinator::Shared;

/// The disk and what is ours on it, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Disk {
    /// Room left for us.
    pub free: u64,
    /// Its size.
    pub size: u64,
    /// The database with its log.
    pub database: u64,
    /// The weight files.
    pub weights: u64,
}

impl Shared {
    /// The disk as it is now; zeros where the system does not say.
    pub(crate) fn disk(&self) -> Disk {
        let dir = &self.options.dir;
        // In whole mebibytes: the last digits never stand still.
        let (free, size) = room(dir);
        let free = free & !0xf_ffff;
        let length = |name: &str| std::fs::metadata(dir.join(name)).map_or(0, |file| file.len());
        let database = length("coordinator.sqlite") + length("coordinator.sqlite-wal");
        let files = std::fs::read_dir(dir.join("weights")).into_iter().flatten().flatten();
        let weights = files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
        Disk { free, size, database, weights }
    }
}

#[cfg(unix)]
fn room(dir: &Path) -> (u64, u64) {
    rustix::fs::statvfs(dir)
        .map_or((0, 0), |disk| (disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize))
}

#[cfg(not(unix))]
fn room(_: &Path) -> (u64, u64) {
    (0, 0)
}
