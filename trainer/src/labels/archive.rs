//! The archive: the newest labels of a run, in a folder of Parquet files.
//!
//! A shard holds the labels that were learnt between two checkpoints and bears the number of the later one, before which
//! it is written. So a shard whose number is beyond the checkpoint gone on from belongs to games that are to come again:
//! it is deleted, and every label is in the archive once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ludus_players::weight_file::save_bytes;

use super::Label;
use super::shard::{self, Taught};
use crate::checkpoint::CheckpointError;

/// The folder of one run's labels.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    /// Names of the columns of chances.
    chances: Vec<String>,
    /// Bytes that its shards may have together.
    most: u64,
    /// Labels to go into the next shard.
    waiting: Vec<Label>,
}

impl Archive {
    /// The archive in a trainer's folder, as it was at checkpoint `number` (0 for none): what was written later goes, as
    /// does what was not written to its end. `chances` are the names of the game's chances. With more than `most` bytes the
    /// oldest shards go.
    pub fn open(trainer: &Path, number: u64, chances: &[&str], most: u64) -> Result<Self, CheckpointError> {
        let chances = chances.iter().map(|name| name.replace(' ', "_")).collect();
        let archive = Archive { folder: trainer.join("labels"), chances, most, waiting: Vec::new() };
        for entry in archive.entries()? {
            let name = entry.file_name();
            let later = number_of(&name.to_string_lossy()).is_some_and(|shard| shard > number);
            if later || name.to_string_lossy().ends_with(".part") {
                fs::remove_file(entry.path()).map_err(|error| archive.unusable(error))?;
            }
        }
        Ok(archive)
    }

    /// Takes a label in.
    pub fn add(&mut self, label: Label) {
        self.waiting.push(label);
    }

    /// Writes the labels taken in since the last time as the shard of checkpoint `number`, if there are any. When it
    /// returns they are on the disk.
    pub fn save(&mut self, number: u64) -> Result<(), CheckpointError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&self.folder).map_err(|error| self.unusable(error))?;
        let bytes = shard::to_bytes(&self.waiting, &self.chances)
            .map_err(|error| CheckpointError::Labels(error.to_string()))?;
        save_bytes(&self.folder.join(format!("{number:08}.parquet")), &bytes)?;
        self.waiting.clear();
        self.prune()
    }

    /// Deletes the oldest shards while all together are too large. The newest stays, whatever its size.
    fn prune(&self) -> Result<(), CheckpointError> {
        let (mut bytes, mut newest) = (0, true);
        for (_, path) in self.shards()?.iter().rev() {
            bytes += fs::metadata(path).map_err(|error| self.unusable(error))?.len();
            if bytes > self.most && !newest {
                fs::remove_file(path).map_err(|error| self.unusable(error))?;
            }
            newest = false;
        }
        Ok(())
    }

    /// The shards by their numbers, the oldest first.
    fn shards(&self) -> Result<Vec<(u64, PathBuf)>, CheckpointError> {
        let mut shards: Vec<(u64, PathBuf)> = (self.entries()?.iter())
            .filter_map(|entry| Some((number_of(&entry.file_name().to_string_lossy())?, entry.path())))
            .collect();
        shards.sort_unstable();
        Ok(shards)
    }

    /// The newest labels, about `wanted` or somewhat more, the oldest of them first. A shard that cannot be read is
    /// passed over: labels are there to be learnt again, not to be complete.
    pub fn newest(&self, wanted: usize) -> Result<Vec<Taught>, CheckpointError> {
        let (mut shards, mut labels) = (Vec::new(), 0);
        for (_, path) in self.shards()?.iter().rev() {
            if labels >= wanted {
                break;
            }
            match shard::read(path, &self.chances) {
                Ok(taught) => {
                    labels += taught.positions.len();
                    shards.push(taught);
                }
                Err(reason) => {
                    tracing::warn!(path = %path.display(), reason, "passed over damaged labels; delete the file");
                }
            }
        }
        shards.reverse();
        Ok(shards)
    }

    /// What lies in the folder, nothing when there is none.
    fn entries(&self) -> Result<Vec<fs::DirEntry>, CheckpointError> {
        match fs::read_dir(&self.folder) {
            Ok(entries) => entries.collect::<Result<_, _>>().map_err(|error| self.unusable(error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.unusable(error)),
        }
    }

    fn unusable(&self, source: io::Error) -> CheckpointError {
        CheckpointError::Folder { folder: self.folder.clone(), source }
    }
}

/// The number of a shard with this name.
fn number_of(name: &str) -> Option<u64> {
    name.strip_suffix(".parquet")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn label(number: u64) -> Label {
        Label {
            series: u64::MAX - 3,
            game: number * 1_000_003,
            ply: number as u32 % 50,
            play: number as u32 % 3,
            position: format!("4HPwATDgc/ABM{number}"),
            class: if number.is_multiple_of(5) { "race" } else { "contact" }.into(),
            chances: vec![0.5 + number as f32 * 1e-4, 1.0 / (number as f32 + 3.0)],
            error: 0.01,
            trials: 12,
            player: Arc::from("ab".repeat(32)),
        }
    }

    fn archive(folder: &Path, number: u64) -> Archive {
        Archive::open(folder, number, &["win", "win gammon"], u64::MAX).unwrap()
    }

    /// Shards of three labels each, with these numbers.
    fn written(folder: &Path, numbers: &[u64]) {
        let mut archive = archive(folder, u64::MAX);
        for &number in numbers {
            (0..3).for_each(|label_number| archive.add(label(10 * number + label_number)));
            archive.save(number).unwrap();
        }
    }

    fn positions(shards: &[Taught]) -> Vec<String> {
        shards.iter().flat_map(|shard| shard.positions.clone()).collect()
    }

    fn expected(labels: &[u64]) -> Vec<String> {
        labels.iter().map(|&number| label(number).position).collect()
    }

    #[test]
    fn labels_come_back_exactly_the_newest_last() {
        let dir = tempfile::tempdir().unwrap();
        assert!(archive(dir.path(), 0).newest(10).unwrap().is_empty());
        written(dir.path(), &[1, 2, 7, 11]);
        let archive = archive(dir.path(), 11);
        let shards = archive.newest(100).unwrap();
        let all = [10, 11, 12, 20, 21, 22, 70, 71, 72, 110, 111, 112];
        assert_eq!(positions(&shards), expected(&all));
        let chances: Vec<f32> = all.iter().flat_map(|&number| label(number).chances).collect();
        assert_eq!(shards.iter().flat_map(|shard| shard.chances.clone()).collect::<Vec<_>>(), chances);
        assert_eq!(positions(&archive.newest(4).unwrap()), expected(&all[6..]));
    }

    #[test]
    fn what_a_lost_checkpoint_counted_is_deleted_and_can_be_written_again() {
        let dir = tempfile::tempdir().unwrap();
        written(dir.path(), &[1, 2, 3]);
        fs::write(dir.path().join("labels/.00000004.parquet.1.2.part"), b"cut short").unwrap();
        fs::write(dir.path().join("labels/notes.txt"), b"mine").unwrap();
        let mut archive = archive(dir.path(), 2);
        assert_eq!(positions(&archive.newest(100).unwrap()), expected(&[10, 11, 12, 20, 21, 22]));
        archive.add(label(99));
        archive.save(4).unwrap();
        archive.save(5).unwrap();
        assert_eq!(positions(&archive.newest(1).unwrap()), expected(&[99]));
        let mut names: Vec<String> = fs::read_dir(dir.path().join("labels"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["00000001.parquet", "00000002.parquet", "00000004.parquet", "notes.txt"]);
    }

    #[test]
    fn the_oldest_shards_go_when_all_together_are_too_large() {
        let dir = tempfile::tempdir().unwrap();
        written(dir.path(), &[1, 2, 3]);
        let size = |number: u64| {
            fs::metadata(dir.path().join(format!("labels/{number:08}.parquet"))).map_or(0, |file| file.len())
        };
        // Room for two and a half.
        let most = size(2) + size(3) + size(1) / 2;
        let mut archive = Archive::open(dir.path(), 3, &["win", "win gammon"], most).unwrap();
        (40..43).for_each(|number| archive.add(label(number)));
        archive.save(4).unwrap();
        assert_eq!(positions(&archive.newest(100).unwrap()), expected(&[30, 31, 32, 40, 41, 42]));
        let mut small = Archive::open(dir.path(), 4, &["win", "win gammon"], 1).unwrap();
        small.add(label(50));
        small.save(5).unwrap();
        assert_eq!(positions(&small.newest(100).unwrap()), expected(&[50]), "the newest stays");
    }

    #[test]
    fn a_damaged_shard_is_passed_over_whatever_the_damage() {
        let dir = tempfile::tempdir().unwrap();
        written(dir.path(), &[1, 2]);
        let path = dir.path().join("labels/00000002.parquet");
        let bytes = fs::read(&path).unwrap();
        let archive = archive(dir.path(), 2);
        let sound = archive.newest(100).unwrap();
        let mut noticed = 0;
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x04;
            fs::write(&path, damaged).unwrap();
            let found = archive.newest(100).unwrap();
            assert!(found == sound || found == sound[..1], "byte {at} of {}", bytes.len());
            noticed += usize::from(found.len() == 1);
        }
        assert!(noticed > 100, "{noticed} of {} were noticed", bytes.len());
        for length in (0..bytes.len()).step_by(17) {
            fs::write(&path, &bytes[..length]).unwrap();
            assert_eq!(archive.newest(100).unwrap(), sound[..1], "cut at {length}");
        }
        // Chances of another game are no labels of this one.
        fs::write(&path, bytes).unwrap();
        let other = Archive::open(dir.path(), 2, &["win", "draw"], u64::MAX).unwrap();
        assert!(other.newest(100).unwrap().is_empty());
    }
}
