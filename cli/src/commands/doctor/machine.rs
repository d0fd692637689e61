//! This machine: processor, memory, open files, clock.

use std::time::{Duration, SystemTime};

use ludus_players::network::Kernel;
use rustix::process::{Resource, getrlimit};

use super::finding::{Finding, size};
use crate::roles;

/// Memory below which a trainer with its labels, or a worker with many threads, may be killed.
const LITTLE_MEMORY: u64 = 512 << 20;
/// Connections that a coordinator holds at once, with room for its files.
const MANY_FILES: u64 = 4096 + 256;
/// Clocks that show less have never been set: seconds from 1970 to 2025.
const THE_PAST: u64 = 1_735_689_600;

/// Everything about it.
pub(super) fn check() -> Vec<Finding> {
    let memory = memory_of(
        &std::fs::read_to_string("/proc/meminfo").unwrap_or_default(),
        &std::fs::read_to_string("/sys/fs/cgroup/memory.max").unwrap_or_default(),
    );
    let mut findings = vec![processor(Kernel::best().name(), roles::cores())];
    findings.extend(memory.map(|(free, all)| judge_memory(free, all)));
    findings.push(files(getrlimit(Resource::Nofile).maximum));
    findings.push(clock(SystemTime::now()));
    findings
}

fn processor(kernel: &str, cores: usize) -> Finding {
    let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    let found = format!("{cores}, networks are computed with {}", in_words(kernel));
    if kernel == "scalar" {
        let advice = "a processor with AVX2 and FMA (or AVX-512, or NEON) is several times faster; a virtual machine may \
                      hide them: let it show the processor of its host";
        return Finding::warning("processor", found, advice);
    }
    Finding::ok("processor", found)
}

fn in_words(kernel: &str) -> &str {
    match kernel {
        "avx512" => "AVX-512",
        "avx2" => "AVX2",
        "neon" => "NEON",
        "scalar" => "plain instructions",
        other => other,
    }
}

/// Free memory and all of it, from /proc/meminfo and the limit of the container; `None` where the system has no such file.
fn memory_of(meminfo: &str, limit: &str) -> Option<(u64, u64)> {
    let field = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    let (free, all) = (field("MemAvailable:")?, field("MemTotal:")?);
    let limit = limit.trim().parse().unwrap_or(u64::MAX);
    Some((free.min(limit), all.min(limit)))
}

fn judge_memory(free: u64, all: u64) -> Finding {
    let found = format!("{} free of {}", size(free), size(all));
    if free < LITTLE_MEMORY {
        let advice =
            "a worker wants 256 MiB, a trainer 1 GiB: end other programs, or lower learn.label_memory";
        return Finding::warning("memory", found, advice);
    }
    Finding::ok("memory", found)
}

/// `most` is what the process may ask for, as a coordinator does when it starts.
fn files(most: Option<u64>) -> Finding {
    match most {
        Some(most) if most < MANY_FILES => Finding::warning(
            "files",
            format!("{most} may be open at once"),
            format!(
                "a coordinator of many workers wants {MANY_FILES}: raise the hard limit (`ulimit -Hn`, LimitNOFILE=)"
            ),
        ),
        Some(most) => Finding::ok("files", format!("{most} may be open at once")),
        None => Finding::ok("files", "as many as wanted may be open at once"),
    }
}

fn clock(now: SystemTime) -> Finding {
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(THE_PAST);
    if now < past {
        let advice =
            "set it, best by NTP (timedatectl set-ntp true): certificates are not valid at such a time";
        return Finding::problem("clock", format!("it says {}", shown(now)), advice);
    }
    let found = format!("{}; compared with a coordinator's by --coordinator", shown(now));
    Finding::ok("clock", found)
}

/// A time to the second, in UTC.
pub(super) fn shown(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time.max(SystemTime::UNIX_EPOCH)).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::finding::Health;
    use super::*;

    #[test]
    fn only_plain_instructions_are_worth_a_warning() {
        assert_eq!(processor("avx2", 2).found, "2 cores, networks are computed with AVX2");
        assert_eq!(processor("avx512", 1).state, Health::Ok);
        assert_eq!(processor("scalar", 1).state, Health::Warning);
    }

    #[test]
    fn memory_is_what_the_system_and_the_container_leave() {
        let meminfo = "MemTotal:  4194304 kB\nMemFree:  1 kB\nMemAvailable:  2097152 kB\n";
        assert_eq!(memory_of(meminfo, "max\n"), Some((2 << 30, 4 << 30)));
        assert_eq!(memory_of(meminfo, "268435456\n"), Some((256 << 20, 256 << 20)));
        assert_eq!(memory_of("", ""), None);
        assert_eq!(judge_memory(2 << 30, 4 << 30).state, Health::Ok);
        assert_eq!(judge_memory(256 << 20, 4 << 30).state, Health::Warning);
    }

    #[test]
    fn few_open_files_are_worth_a_warning_and_a_clock_that_was_never_set_is_a_problem() {
        assert_eq!(
            [Some(1024), Some(1 << 20), None].map(|most| files(most).state),
            [Health::Warning, Health::Ok, Health::Ok]
        );
        assert_eq!(clock(SystemTime::UNIX_EPOCH).state, Health::Problem);
        assert_eq!(clock(SystemTime::UNIX_EPOCH + Duration::from_secs(THE_PAST)).state, Health::Ok);
        assert_eq!(shown(SystemTime::UNIX_EPOCH + Duration::from_secs(THE_PAST)), "2025-01-01T00:00:00Z");
    }
}
