//! Checkpoints: all that must survive the trainer's death, in one file.
//!
//! A checkpoint is a safetensors file. For each position class it holds `CLASS.parameters` and, with AdamW,
//! `CLASS.mean` and `CLASS.square`, and `CLASS.average`, all in the order of a weight file; its metadata holds the `state` (JSON) and the sha256 over state and tensors. The
//! folder keeps the last two: when the newest is damaged, the one before serves.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use ludus_players::weight_file::{Digest, Shape, WeightFileError, save_bytes};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::average::Average;
use crate::learner::Student;
use crate::ledger::Ledger;
use crate::network::{Network, from_file_order, to_file_order};
use crate::optimizer::{AdamW, Optimizer};

/// The format that is written. The one before, without averages, is read, too: they begin with what is there.
const FORMAT: u32 = 2;
/// Checkpoints kept.
const KEPT: usize = 2;

/// What a checkpoint holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What it belongs to.
    pub origin: Origin,
    /// Counters, games, entries, versions.
    pub ledger: Ledger,
    /// Networks and optimisers.
    pub students: Vec<Student>,
}

/// A checkpoint on the disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What it holds.
    pub checkpoint: Checkpoint,
    /// Its number.
    pub number: u64,
    /// Whether it is not the last that was written, because that is damaged.
    pub passed_over: bool,
}

/// The run that a checkpoint belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The run.
    pub run: String,
    /// Its first stream, which tells it from a run of the same name elsewhere.
    pub stream: String,
    /// Its game.
    pub game: String,
    /// Revision of the game's rules.
    pub revision: u32,
    /// Input set.
    pub inputs: String,
    /// Sizes of the networks, in the order of the input set's classes.
    pub networks: Vec<Shape>,
}

/// The `state` entry of the metadata.
#[derive(Serialize, Deserialize)]
struct State {
    format: u32,
    origin: Origin,
    ledger: Ledger,
    /// For each network its optimiser: AdamW's numbers, or nothing for plain gradient descent.
    optimizers: Vec<Option<AdamWState>>,
    /// For each network the steps behind its average; empty in format 1.
    #[serde(default)]
    averaged: Vec<u64>,
    /// For each network the games at which the average's schedule of the step size began; empty where nobody wrote it down.
    #[serde(default)]
    averaged_since: Vec<Option<u64>>,
}

#[derive(Serialize, Deserialize)]
struct AdamWState {
    steps: u64,
    weight_decay: f32,
}

/// A folder of checkpoints that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// Another trainer has the folder.
    #[error("another trainer is using {}: stop it, or choose another folder with --dir", .folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder cannot be read or written.
    #[error("cannot use the folder {} ({source}): check its permissions and the room on its disk", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A checkpoint cannot be written.
    #[error("checkpoint {0}; check the room on the disk")]
    Unwritable(#[from] WeightFileError),
    /// Labels cannot be written.
    #[error("the labels have no form as a Parquet file: {0}")]
    Labels(String),
    /// There are checkpoints, but none can be read.
    #[error("no checkpoint in {} can be read ({reason}): restore the folder from a copy, or start a new run", .folder.display())]
    AllDamaged {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with the newest.
        reason: String,
    },
    /// The checkpoints belong to something else.
    #[error("the checkpoints in {} are of {found}, not of {wanted}: choose another folder with --dir", .folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// What they belong to.
        found: String,
        /// What was asked for.
        wanted: String,
    },
}

/// The folder in which one run's checkpoints lie, held by one trainer.
#[derive(Debug)]
pub struct CheckpointFolder {
    folder: PathBuf,
    /// Number of the next checkpoint; they only grow.
    next: u64,
    /// Held as long as the folder is.
    _lock: File,
}

impl CheckpointFolder {
    /// Takes hold of the folder, which is made when needed.
    pub fn open(folder: &Path) -> Result<Self, CheckpointError> {
        let unusable = |source| CheckpointError::Folder { folder: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(unusable)?;
        let lock = File::create(folder.join("lock")).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(CheckpointError::InUse { folder: folder.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        for entry in fs::read_dir(folder).map_err(unusable)?.flatten() {
            // A write that was cut short: nobody else writes here.
            if entry.file_name().to_string_lossy().ends_with(".part") {
                fs::remove_file(entry.path()).map_err(unusable)?;
            }
        }
        let mut folder = CheckpointFolder { folder: folder.to_owned(), next: 1, _lock: lock };
        folder.next = folder.numbers()?.first().map_or(1, |newest| newest + 1);
        Ok(folder)
    }

    /// The newest checkpoint that can be read, `None` when there has never been one. Damaged ones are logged and passed over.
    pub fn newest(&self, origin: &Origin) -> Result<Option<Found>, CheckpointError> {
        let mut damage = None;
        for number in self.numbers()? {
            let path = self.file(number);
            match fs::read(&path).map_err(|e| e.to_string()).and_then(|bytes| Checkpoint::from_bytes(&bytes))
            {
                Ok(checkpoint) if checkpoint.origin == *origin => {
                    return Ok(Some(Found { checkpoint, number, passed_over: damage.is_some() }));
                }
                Ok(checkpoint) => {
                    let (found, wanted) = (checkpoint.origin.to_string(), origin.to_string());
                    return Err(CheckpointError::Foreign { folder: self.folder.clone(), found, wanted });
                }
                Err(reason) => {
                    tracing::warn!(path = %path.display(), reason, "passed over a damaged checkpoint");
                    damage.get_or_insert(format!("{}: {reason}", path.display()));
                }
            }
        }
        match damage {
            Some(reason) => Err(CheckpointError::AllDamaged { folder: self.folder.clone(), reason }),
            None => Ok(None),
        }
    }

    /// Writes a checkpoint; when it returns, the checkpoint is on the disk under its name. Forgets older ones but one.
    pub fn save(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        save_bytes(&self.file(self.next), &checkpoint.to_bytes())?;
        self.next += 1;
        for number in self.numbers()?.into_iter().skip(KEPT) {
            let path = self.file(number);
            fs::remove_file(path)
                .map_err(|source| CheckpointError::Folder { folder: self.folder.clone(), source })?;
        }
        Ok(())
    }

    /// Numbers of the checkpoints there are, newest first.
    fn numbers(&self) -> Result<Vec<u64>, CheckpointError> {
        let entries = fs::read_dir(&self.folder)
            .map_err(|source| CheckpointError::Folder { folder: self.folder.clone(), source })?;
        let number =
            |name: &str| name.strip_prefix("checkpoint-")?.strip_suffix(".safetensors")?.parse().ok();
        let mut numbers: Vec<u64> =
            entries.flatten().filter_map(|entry| number(&entry.file_name().to_string_lossy())).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        Ok(numbers)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// How many checkpoints have been written into it, those of earlier trainers included.
    pub fn written(&self) -> u64 {
        self.next - 1
    }

    /// Number of the checkpoint that is written next.
    pub fn next(&self) -> u64 {
        self.next
    }

    fn file(&self, number: u64) -> PathBuf {
        self.folder.join(format!("checkpoint-{number:010}.safetensors"))
    }
}

impl Checkpoint {
    /// The file's bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let state = State {
            format: FORMAT,
            origin: self.origin.clone(),
            ledger: self.ledger.clone(),
            optimizers: self.students.iter().map(|student| AdamWState::of(&student.optimizer)).collect(),
            averaged: self.students.iter().map(|student| student.average.steps).collect(),
            averaged_since: self.students.iter().map(|student| student.averaged_since).collect(),
        };
        let state = serde_json::to_string(&state).expect("numbers and texts have a JSON form");
        let tensors: Vec<(String, Vec<u8>)> = (self.students.iter().flat_map(tensors))
            .map(|(name, values)| (name, values.iter().flat_map(|value| value.to_le_bytes()).collect()))
            .collect();
        let sum = sum(&state, tensors.iter().map(|(_, bytes)| bytes.as_slice()));
        let metadata = HashMap::from([("state".to_owned(), state), ("sha256".to_owned(), sum)]);
        let views = tensors.iter().map(|(name, bytes)| {
            let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            (name, view.expect("the shape is made from the bytes"))
        });
        safetensors::serialize(views, Some(metadata)).expect("vectors of numbers fit the format")
    }

    /// Reads a file's bytes; the error says what is wrong with them.
    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let broken = |error: safetensors::SafeTensorError| error.to_string();
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let metadata = header.metadata().as_ref().ok_or("it has no metadata")?;
        let text = metadata.get("state").ok_or("it has no state")?;
        let file = SafeTensors::deserialize(bytes).map_err(broken)?;
        let state: State = serde_json::from_str(text).map_err(|error| format!("its state: {error}"))?;
        if !(1..=FORMAT).contains(&state.format) {
            return Err(format!("it has format {}; this program reads 1 to {FORMAT}", state.format));
        }
        let mut data = Vec::new();
        let mut values = |name: String| {
            let bytes = file.tensor(&name).map_err(broken)?.data();
            data.push(bytes);
            Ok::<_, String>(
                bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect::<Vec<_>>(),
            )
        };
        let mut students = Vec::new();
        if state.optimizers.len() != state.origin.networks.len() {
            return Err("it has not one optimiser for each network".into());
        }
        if state.format > 1 && state.averaged.len() != state.origin.networks.len() {
            return Err("it has not one average for each network".into());
        }
        let averaged = state.averaged.iter().map(|steps| Some(*steps)).chain(std::iter::repeat(None));
        for ((shape, adamw), averaged) in state.origin.networks.iter().zip(state.optimizers).zip(averaged) {
            let class = &shape.class;
            let parameters = values(format!("{class}.parameters"))?;
            let count = parameters.len();
            let network = Network::from_parameters(shape.clone(), &parameters);
            let network =
                network.ok_or_else(|| format!("{count} parameters do not make the {class} network"))?;
            let optimizer = match adamw {
                None => Optimizer::Sgd,
                Some(AdamWState { steps, weight_decay }) => {
                    let (mean, square) =
                        (values(format!("{class}.mean"))?, values(format!("{class}.square"))?);
                    if mean.len() != count || square.len() != count {
                        return Err(format!("the {class} optimiser's state does not fit its network"));
                    }
                    let [mean, square] = [mean, square].map(|values| from_file_order(shape, &values));
                    Optimizer::AdamW(AdamW { steps, mean, square, weight_decay })
                }
            };
            let average = match averaged {
                None => Average::new(network.parameters()),
                Some(steps) => {
                    let parameters = values(format!("{class}.average"))?;
                    if parameters.len() != count {
                        return Err(format!("the {class} average does not fit its network"));
                    }
                    Average { steps, parameters: from_file_order(shape, &parameters) }
                }
            };
            let averaged_since = state.averaged_since.get(students.len()).copied().flatten();
            students.push(Student { network, optimizer, average, averaged_since });
        }
        if metadata.get("sha256") != Some(&sum(text, data.into_iter())) {
            return Err("its content does not have its sha256 sum".into());
        }
        Ok(Checkpoint { origin: state.origin, ledger: state.ledger, students })
    }
}

impl AdamWState {
    fn of(optimizer: &Optimizer) -> Option<Self> {
        match optimizer {
            Optimizer::Sgd => None,
            Optimizer::AdamW(adam) => Some(AdamWState { steps: adam.steps, weight_decay: adam.weight_decay }),
        }
    }
}

/// Names and values of a student's tensors, in the order of the sum.
fn tensors(student: &Student) -> Vec<(String, Vec<f32>)> {
    let shape = student.network.shape();
    let class = &shape.class;
    let mut tensors = vec![(format!("{class}.parameters"), student.network.parameters())];
    if let Optimizer::AdamW(adam) = &student.optimizer {
        tensors.push((format!("{class}.mean"), &adam.mean));
        tensors.push((format!("{class}.square"), &adam.square));
    }
    tensors.push((format!("{class}.average"), &student.average.parameters));
    tensors.into_iter().map(|(name, values)| (name, to_file_order(shape, values))).collect()
}

/// sha256 over the state and all tensors, in hex. The state fixes how long each tensor is.
fn sum<'a>(state: &str, tensors: impl Iterator<Item = &'a [u8]>) -> String {
    let sum = tensors.fold(Sha256::new_with_prefix(state), |sum, bytes| sum.chain_update(bytes));
    Digest(sum.finalize().into()).to_string()
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Origin { run, stream, game, revision, inputs, networks } = self;
        let sizes: Vec<String> = networks.iter().map(|shape| format!("{} {shape}", shape.class)).collect();
        let sizes = sizes.join(", ");
        write!(f, "run {run} ({stream}: {game} revision {revision}, inputs {inputs}, networks {sizes})")
    }
}

#[cfg(test)]
mod tests;
