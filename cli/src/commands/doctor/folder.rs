//! A role's folder: can it be written, is there room.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::finding::{Finding, size};

const CHECK: &str = "folder";
/// Room below which nothing should begin, and below which it is soon used up: the weights that a coordinator keeps take
/// 300 MB with the default networks.
const ROOM: (u64, u64) = (100 << 20, 1 << 30);

/// Everything about it. It need not be there yet.
pub(super) fn check(dir: &Path) -> Vec<Finding> {
    // What would be made is made in the nearest folder that is there.
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let Some(there) = absolute.ancestors().find(|path| path.exists()) else {
        return vec![Finding::problem(
            CHECK,
            format!("{} is nowhere", dir.display()),
            "choose another with --dir",
        )];
    };
    if !there.is_dir() {
        let found = format!("{} is a file", there.display());
        return vec![Finding::problem(CHECK, found, "choose another folder with --dir")];
    }
    let new = if there == absolute { "" } else { " (new)" };
    if let Err(error) = try_to_write(there) {
        let found = format!("{}{new} cannot be written: {error}", dir.display());
        return vec![Finding::problem(
            CHECK,
            found,
            "make it writable for this user, or choose another with --dir",
        )];
    }
    let mut findings = vec![room(&format!("{}{new}", dir.display()), free(there))];
    if is_far(there) {
        findings.push(Finding::warning(
            CHECK,
            format!("{} is on another machine", dir.display()),
            "databases want a disk of this machine: locks and writes of network file systems are not to be relied on",
        ));
    }
    findings
}

/// Writes a little to the disk, and takes it away again.
fn try_to_write(dir: &Path) -> io::Result<()> {
    let path = dir.join(format!(".ludus-doctor-{}", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&path).and_then(|mut file| {
        file.write_all(&[0; 4096])?;
        file.sync_all()
    });
    // Whether or not all of it was written.
    let removed = fs::remove_file(&path);
    written.and(removed)
}

/// Bytes that may still be written there, as far as the system says.
fn free(dir: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(dir)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn room(name: &str, free: io::Result<u64>) -> Finding {
    let free = match free {
        Ok(free) => free,
        Err(error) => {
            let found =
                format!("{name} can be written; how much room there is cannot be found out ({error})");
            return Finding::warning(CHECK, found, "look yourself: a role ends when its disk is full");
        }
    };
    let found = format!("{name} can be written, {} free", size(free));
    let advice =
        format!("make room: {} are used up soon, and what cannot be written stops the run", size(ROOM.1));
    match free {
        _ if free < ROOM.0 => Finding::problem(CHECK, found, advice),
        _ if free < ROOM.1 => Finding::warning(CHECK, found, advice),
        _ => Finding::ok(CHECK, found),
    }
}

/// Whether the folder is on a network file system.
#[cfg(target_os = "linux")]
fn is_far(dir: &Path) -> bool {
    // NFS, SMB, SMB2 and CIFS, by the numbers in Linux' magic.h.
    const FAR: [u32; 4] = [0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42];
    // Some systems have the number with a sign.
    rustix::fs::statfs(dir).is_ok_and(|disk| FAR.contains(&(disk.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_far(_dir: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::super::finding::Health;
    use super::*;

    #[test]
    fn a_folder_is_good_whether_it_is_there_or_can_be_made_and_nothing_stays_in_it() {
        let place = tempfile::tempdir().unwrap();
        for dir in [place.path().to_owned(), place.path().join("new/deep")] {
            let findings = check(&dir);
            assert!(findings.iter().all(|finding| finding.state != Health::Problem), "{findings:?}");
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_is_a_problem() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, "x").unwrap();
        for dir in [file.clone(), file.join("below")] {
            let findings = check(&dir);
            assert!(findings.len() == 1 && findings[0].state == Health::Problem, "{findings:?}");
            assert!(findings[0].found.contains("is a file"), "{findings:?}");
        }
        // The system's own, which nobody may write, whoever runs the tests.
        let findings = check(Path::new("/proc/ludus"));
        assert!(findings[0].state == Health::Problem, "{findings:?}");
    }

    #[test]
    fn little_room_is_a_warning_and_hardly_any_a_problem() {
        let states = [1, 200 << 20, 5 << 30].map(|free| room("d", Ok(free)).state);
        assert_eq!(states, [Health::Problem, Health::Warning, Health::Ok]);
        assert_eq!(room("d", Err(io::ErrorKind::Unsupported.into())).state, Health::Warning);
    }
}
