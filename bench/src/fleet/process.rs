//! What Linux says about a process.

use std::fs;

use anyhow::{Context, Result};

/// Clock ticks a second in /proc, the same on every Linux.
const TICKS: f64 = 100.0;

/// A process that is looked at.
pub struct Process {
    folder: String,
}

impl Process {
    /// The process of this number.
    pub fn of(number: u32) -> Process {
        Process { folder: format!("/proc/{number}") }
    }

    /// Seconds of processor time of all its threads so far.
    pub fn cpu(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("{}/stat", self.folder)).context("the process is gone")?;
        // The name, in brackets, may have blanks in it.
        let numbers = stat.rsplit(')').next().unwrap_or_default();
        let ticks = numbers.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>().context("no times in stat")? / TICKS)
    }

    /// Its resident memory in MiB.
    pub fn memory_mib(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("{}/status", self.folder)).context("the process is gone")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kib: f64 = line.trim().trim_end_matches(" kB").parse().context("no number in VmRSS")?;
        Ok(kib / 1024.0)
    }
}
