//! The bytes of a weight file: a safetensors file whose header is always written in the same order.
//!
//! The header is written here and not by the safetensors crate, which keeps the metadata in a hash map: the same
//! weights would then get other bytes, and another sha256, every time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::str::FromStr;

use half::f16;
use safetensors::tensor::Dtype;
use safetensors::{SafeTensorError, SafeTensors};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Card, ClassWeights, MAX_BYTES, Shape, WeightFile, WeightProblem};

/// The format that is written and read.
const FORMAT: u32 = 1;
/// The architecture with one hidden layer of sigmoid units and a layer of sigmoid outputs.
const LAYERED: &str = "sigmoid-sigmoid";
/// The architecture of sigmoid outputs alone, which no network of the file has more than.
const FLAT: &str = "sigmoid";

/// The `architecture` entry of the metadata.
#[derive(Serialize, Deserialize)]
struct Architecture {
    /// [`LAYERED`] or [`FLAT`].
    kind: String,
    /// The networks, in the order of the input set's classes.
    networks: Vec<Shape>,
}

/// A tensor's entry in the header.
#[derive(Serialize)]
struct TensorInfo {
    dtype: &'static str,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// How a file holds its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// As they are.
    F32,
    /// Rounded to 11 significant bits, which takes half the room.
    F16,
}

/// The bytes of weights that were checked.
pub(super) fn write(file: &WeightFile, numbers: Numbers) -> Vec<u8> {
    let mut data = Vec::new();
    let mut entries = vec![format!("\"__metadata__\":{}", json(&metadata(file)))];
    for network in &file.networks {
        for (name, shape, values) in network.tensors() {
            let start = data.len();
            let dtype = match numbers {
                Numbers::F32 => {
                    data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                    "F32"
                }
                Numbers::F16 => {
                    data.extend(values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()));
                    "F16"
                }
            };
            let info = TensorInfo { dtype, shape, data_offsets: [start, data.len()] };
            entries.push(format!("{}:{}", json(&name), json(&info)));
        }
    }
    let mut header = format!("{{{}}}", entries.join(",")).into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');

    let mut bytes = Vec::with_capacity(8 + header.len() + data.len());
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend(header);
    bytes.extend(data);
    bytes
}

fn metadata(file: &WeightFile) -> BTreeMap<&'static str, String> {
    let card = &file.card;
    let networks = file.shapes();
    let architecture = Architecture { kind: kind(&networks).to_owned(), networks };
    BTreeMap::from([
        ("format_version", FORMAT.to_string()),
        ("game", card.game.clone()),
        ("revision", card.revision.to_string()),
        ("architecture", json(&architecture)),
        ("inputs", card.inputs.clone()),
        ("run", card.run.clone()),
        ("version", card.version.to_string()),
        ("parent", card.parent.clone()),
        ("created_at", card.created_at.to_string()),
        ("counters", json(&card.counters)),
    ])
}

/// The architecture of networks of these sizes.
fn kind(networks: &[Shape]) -> &'static str {
    let flat = !networks.is_empty() && networks.iter().all(|network| network.hidden == 0);
    if flat { FLAT } else { LAYERED }
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("numbers and texts under text keys have a JSON form")
}

/// Reads the bytes of a weight file. The result is complete, but its numbers are not yet checked.
pub(super) fn read(bytes: &[u8]) -> Result<WeightFile, WeightProblem> {
    if bytes.len() as u64 > MAX_BYTES {
        let what = "its length in bytes".to_owned();
        return Err(WeightProblem::TooBig { what, found: bytes.len() as u64, limit: MAX_BYTES });
    }
    let broken = |error: SafeTensorError| WeightProblem::NotSafetensors(error.to_string());
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
    let entries = Entries(header.metadata().clone().unwrap_or_default());
    // Before anything else: a newer format may differ in all the rest.
    let format = entries.text("format_version")?;
    if *format != FORMAT.to_string() {
        return Err(WeightProblem::FormatVersion { found: format.clone(), known: FORMAT });
    }
    let architecture: Architecture = entries.json("architecture", "a JSON description of the networks")?;
    if architecture.kind != kind(&architecture.networks) {
        let expected = format!("{:?}, the kind of its networks", kind(&architecture.networks));
        return Err(WeightProblem::BadMetadata { key: "architecture", value: architecture.kind, expected });
    }
    let card = Card {
        game: entries.text("game")?.clone(),
        revision: entries.number("revision")?,
        inputs: entries.text("inputs")?.clone(),
        run: entries.text("run")?.clone(),
        version: entries.number("version")?,
        parent: entries.text("parent")?.clone(),
        created_at: entries.number("created_at")?,
        counters: entries.json("counters", "a JSON map of counters")?,
    };

    let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
    super::check_shapes(&architecture.networks)?;
    let mut networks = Vec::new();
    let mut unused: BTreeSet<String> = tensors.names().into_iter().map(str::to_owned).collect();
    for shape in architecture.networks {
        let mut take = |(name, expected): (String, Vec<usize>)| {
            unused.remove(&name);
            values(&tensors, name, expected)
        };
        // From the last, as a network without a hidden layer lacks the first.
        let mut wanted = shape.tensors();
        let mut next = || wanted.pop().map_or_else(|| Ok(Vec::new()), &mut take);
        networks.push(ClassWeights {
            output_bias: next()?,
            output_weight: next()?,
            hidden_bias: next()?,
            hidden_weight: next()?,
            class: shape.class,
            inputs: shape.inputs,
            hidden: shape.hidden,
            outputs: shape.outputs,
        });
    }
    match unused.pop_first() {
        Some(extra) => Err(WeightProblem::ExtraTensor(extra)),
        None => Ok(WeightFile { card, networks }),
    }
}

/// The numbers of the tensor `name`, which must have the expected shape.
fn values(tensors: &SafeTensors, tensor: String, expected: Vec<usize>) -> Result<Vec<f32>, WeightProblem> {
    let Ok(view) = tensors.tensor(&tensor) else {
        return Err(WeightProblem::MissingTensor(tensor));
    };
    if view.shape() != expected {
        return Err(WeightProblem::Shape { tensor, found: view.shape().to_vec(), expected });
    }
    match view.dtype() {
        Dtype::F32 => Ok(view.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()),
        Dtype::F16 => {
            let numbers = view.data().as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32());
            Ok(numbers.collect())
        }
        other => Err(WeightProblem::NumberType { tensor, found: other.to_string() }),
    }
}

/// The metadata of a file.
struct Entries(HashMap<String, String>);

impl Entries {
    fn text(&self, key: &'static str) -> Result<&String, WeightProblem> {
        self.0.get(key).ok_or(WeightProblem::NoMetadata(key))
    }

    fn number<T: FromStr>(&self, key: &'static str) -> Result<T, WeightProblem> {
        let text = self.text(key)?;
        text.parse().map_err(|_| bad(key, text, "a whole number in range"))
    }

    fn json<T: DeserializeOwned>(&self, key: &'static str, expected: &str) -> Result<T, WeightProblem> {
        let text = self.text(key)?;
        serde_json::from_str(text).map_err(|_| bad(key, text, expected))
    }
}

/// Metadata that makes no sense. A long text is cut: the message is one line.
fn bad(key: &'static str, text: &str, expected: &str) -> WeightProblem {
    WeightProblem::BadMetadata { key, value: text.chars().take(60).collect(), expected: expected.to_owned() }
}
