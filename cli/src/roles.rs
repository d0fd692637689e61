//! What the commands that stay running have in common.

use std::time::Duration;

use anyhow::Result;
use tokio::runtime::Runtime;

/// Time between two lines about the work of a role.
pub const NEWS: Duration = Duration::from_secs(10);

/// A runtime that moves data; what computes has threads of its own.
pub fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Threads this machine can run at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A name for a worker: that of the machine, and the process.
pub fn worker_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "worker",
        host => host,
    };
    format!("{host}-{}", std::process::id())
}
