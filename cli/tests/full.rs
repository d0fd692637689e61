//! A Redis that is full, that forgets, that is empty; disks that are full.

#[path = "support/cluster.rs"]
mod cluster;
#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use cluster::{Cluster, PARTS, Part, files_below};
use support::{TINY, answer, arg, until};

fn cluster() -> Cluster {
    let mut cluster = Cluster::start(TINY);
    PARTS[2..].iter().for_each(|&part| cluster.raise(part));
    cluster.until_more(1500, 1);
    cluster
}

#[test]
fn a_full_redis_is_said_and_costs_no_game() {
    let mut cluster = cluster();
    // Less than it needs for itself: it takes nothing any more.
    assert!(cluster.redis.ask(&["CONFIG", "SET", "maxmemory", "1"]).starts_with("+OK"));
    let ready = until("the coordinator says so", || {
        let ready = answer(&cluster.url, "/readyz", "");
        ready.contains("it is full").then_some(ready)
    });
    assert!(ready.starts_with("HTTP/1.1 503"), "{ready}");
    let (before, trained) = (cluster.accounts().accepted, cluster.accounts().trained);
    until("games are accepted all the same", || (cluster.accounts().accepted >= before + 500).then_some(()));
    assert!(cluster.redis.ask(&["CONFIG", "SET", "maxmemory", "0"]).starts_with("+OK"));
    until("it is well again", || {
        answer(&cluster.url, "/readyz", "").starts_with("HTTP/1.1 200").then_some(())
    });
    cluster.until_more(before.saturating_sub(trained) + 500, 0);
    cluster.end();
    assert!(cluster.fallen.is_empty(), "{:?} gave up", cluster.fallen);
}

#[test]
fn a_redis_that_comes_back_with_an_older_file_or_with_none_is_told_again_what_it_forgot() {
    let mut cluster = cluster();
    // Its file of now, which is put back when more has happened.
    cluster.kill(Part::Redis);
    let old: Vec<(PathBuf, Vec<u8>)> = files_below(cluster.redis.folder())
        .into_iter()
        .map(|file| (file.clone(), std::fs::read(&file).expect("read")))
        .collect();
    assert!(old.iter().any(|(file, _)| file.to_string_lossy().contains(".aof")), "{old:?}");
    cluster.raise(Part::Redis);
    cluster.until_more(1500, 0);
    cluster.kill(Part::Trainer);
    let before = cluster.accounts().accepted;
    until("games wait for the trainer", || (cluster.accounts().accepted >= before + 500).then_some(()));
    cluster.kill(Part::Redis);
    for file in files_below(cluster.redis.folder()) {
        std::fs::remove_file(file).expect("removed");
    }
    for (file, bytes) in &old {
        std::fs::write(file, bytes).expect("written");
    }
    cluster.raise(Part::Redis);
    cluster.raise(Part::Trainer);
    cluster.until_more(1000, 0);

    cluster.kill(Part::Redis);
    for file in files_below(cluster.redis.folder()) {
        std::fs::remove_file(file).expect("removed");
    }
    cluster.raise(Part::Redis);
    until("the alarm is given", || {
        let log = cluster.place.log("trainer") + &cluster.place.log("coordinator");
        log.contains("the stream is gone from Redis").then_some(())
    });
    cluster.until_more(1000, 0);
    // What was accepted and never arrived came again: nothing is missing at the end.
    cluster.end();
    assert!(cluster.fallen.is_empty(), "{:?} gave up", cluster.fallen);
    assert!(!cluster.place.log("trainer").contains("ends without some games"));
}

/// A small disk of its own; gone when it is dropped.
struct Disk {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Disk {
    /// So many MiB; `None` where this user may not mount.
    fn new(size: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let size = format!("size={size}m");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Disk { path: folder.path().to_owned(), _folder: folder })
    }

    /// Leaves no room on it.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.path.join("ballast")).expect("a file");
        for size in [1 << 16, 1 << 10, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    fn make_room(&self) {
        std::fs::remove_file(self.path.join("ballast")).expect("removed");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Whoever still writes there is killed already; a failure only leaves a folder behind.
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}

#[test]
fn a_full_disk_is_said_and_nothing_that_was_there_is_damaged() {
    let (Some(data), Some(checkpoints)) = (Disk::new(48), Disk::new(16)) else {
        eprintln!("skipped: only root may mount small disks");
        return;
    };
    // Dropped first, so that nobody uses the disks any more.
    let mut cluster = Cluster::prepare();
    cluster.data = data.path.join("data");
    cluster.trainer = checkpoints.path.join("trainer");
    cluster.begin(TINY);
    PARTS[2..].iter().for_each(|&part| cluster.raise(part));
    cluster.until_more(1500, 1);

    // The database and the weights.
    data.fill();
    until("the worker and the trainer are told", || {
        let told = "check that the disk has room";
        let weights = "the room on its disk";
        let logs = [cluster.place.log("one"), cluster.place.log("trainer")];
        (logs[0].contains(told) && (logs[1].contains(told) || logs[1].contains(weights))).then_some(())
    });
    cluster.accounts().assert_balanced();
    data.make_room();
    cluster.until_more(1500, 1);
    assert!(cluster.fallen.is_empty(), "{:?} gave up", cluster.fallen);

    // The checkpoints.
    let kept = || {
        let mut files = files_below(&checkpoints.path.join("trainer"));
        files.retain(|file| file.to_string_lossy().contains("checkpoint-"));
        files
    };
    checkpoints.fill();
    until("the trainer ends", || cluster.process(Part::Trainer).has_ended().then_some(()));
    let log = cluster.place.log("trainer");
    let last = log.lines().last().expect("a last word");
    assert!(last.starts_with("error: ") && last.contains("room on the disk"), "{last}");
    assert_eq!(kept().len(), 2, "{:?}", kept());
    checkpoints.make_room();
    cluster.until_more(1500, 1);
    assert_eq!(cluster.fallen, [Part::Trainer], "started again once");
    cluster.end();
    assert!(!cluster.place.log("trainer").contains("damaged"));
    assert_eq!(parts_of_files(&data.path), Vec::<PathBuf>::new());
    assert!(cluster.place.ok(&["gate", "verify", "--dir", arg(&cluster.data)]).contains("agree"));
}

fn parts_of_files(folder: &Path) -> Vec<PathBuf> {
    files_below(folder).into_iter().filter(|file| file.to_string_lossy().ends_with(".part")).collect()
}
