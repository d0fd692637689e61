//! A shard of the archive: labels as a Parquet file.
//!
//! Every label is a row; `docs/labels.md` describes the columns for those who read them elsewhere. The trainer itself
//! reads back what it learns from, positions and chances, and holds it against the sum in the file's metadata.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use ludus_players::weight_file::Digest;
use parquet::basic::{Compression, Encoding};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArrayType, DataType, FloatType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use sha2::{Digest as _, Sha256};

use super::Label;

/// Columns whose values repeat: a dictionary makes them small.
const REPEATING: [&str; 6] = ["series", "ply", "play", "class", "trials", "player"];
/// Metadata key of the sum over positions and chances.
const SUM: &str = "ludus.sha256";

/// What the trainer learns from.
#[derive(Debug, Default, PartialEq)]
pub struct Taught {
    /// Positions in the game's notation, seen by the side to act.
    pub positions: Vec<String>,
    /// Their chances, `[positions, chances]` row-major.
    pub chances: Vec<f32>,
}

impl Taught {
    fn of(labels: &[Label]) -> Self {
        Taught {
            positions: labels.iter().map(|label| label.position.clone()).collect(),
            chances: labels.iter().flat_map(|label| &label.chances).copied().collect(),
        }
    }

    /// sha256 over all of it, in hex.
    fn sum(&self) -> String {
        let mut sum = Sha256::new();
        for position in &self.positions {
            sum.update(position);
            sum.update([0]);
        }
        for chance in &self.chances {
            sum.update(chance.to_le_bytes());
        }
        Digest(sum.finalize().into()).to_string()
    }
}

/// The bytes of a shard. `chances` names the columns of the chances, of which every label has so many.
pub fn to_bytes(labels: &[Label], chances: &[String]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let sum = KeyValue::new(SUM.to_owned(), Taught::of(labels).sum());
    let mut properties = WriterProperties::builder()
        .set_created_by("ludus".into())
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_column_encoding(ColumnPath::from("game"), Encoding::DELTA_BINARY_PACKED)
        .set_key_value_metadata(Some(vec![sum]));
    for column in REPEATING {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), true);
    }
    let schema = Arc::new(parse_message_type(&schema(chances))?);
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build()))?;
    let mut rows = file.next_row_group()?;
    // In the order of the schema.
    column::<Int64Type, _>(&mut rows, labels.iter().map(|label| label.series.cast_signed()))?;
    column::<Int64Type, _>(&mut rows, labels.iter().map(|label| label.game.cast_signed()))?;
    column::<Int32Type, _>(&mut rows, labels.iter().map(|label| label.ply.cast_signed()))?;
    column::<Int32Type, _>(&mut rows, labels.iter().map(|label| label.play.cast_signed()))?;
    column::<ByteArrayType, _>(&mut rows, labels.iter().map(|label| label.position.as_str().into()))?;
    column::<ByteArrayType, _>(&mut rows, labels.iter().map(|label| label.class.as_str().into()))?;
    for chance in 0..chances.len() {
        column::<FloatType, _>(&mut rows, labels.iter().map(|label| label.chances[chance]))?;
    }
    column::<FloatType, _>(&mut rows, labels.iter().map(|label| label.error))?;
    column::<Int32Type, _>(&mut rows, labels.iter().map(|label| label.trials.cast_signed()))?;
    column::<ByteArrayType, _>(&mut rows, labels.iter().map(|label| (*label.player).into()))?;
    rows.close()?;
    file.close()?;
    Ok(bytes)
}

/// The schema of a shard, as text.
fn schema(chances: &[String]) -> String {
    let chances: String = chances.iter().map(|name| format!("required float {name};")).collect();
    format!(
        "message label {{
            required int64 series (INTEGER(64,false));
            required int64 game (INTEGER(64,false));
            required int32 ply (INTEGER(32,false));
            required int32 play (INTEGER(32,false));
            required binary position (STRING);
            required binary class (STRING);
            {chances}
            required float error;
            required int32 trials (INTEGER(32,false));
            required binary player (STRING);
        }}"
    )
}

/// Writes the next column.
fn column<T: DataType, W: Write + Send>(
    rows: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = T::T>,
) -> Result<()> {
    let column = rows.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("the schema has too few columns".into()))?;
    let values: Vec<T::T> = values.collect();
    column.typed::<T>().write_batch(&values, None, None)?;
    column.close()
}

/// Reads a shard's positions and chances; the error says what is wrong with it.
pub fn read(path: &Path, chances: &[String]) -> std::result::Result<Taught, String> {
    // The reader is not made for files that someone has tampered with: some damage makes it panic.
    let read = catch_unwind(AssertUnwindSafe(|| read_columns(path, chances)));
    let (taught, sum) = match read {
        Ok(read) => read.map_err(|error| error.to_string())?,
        Err(_) => return Err("it cannot be decoded".into()),
    };
    if sum.as_ref() != Some(&taught.sum()) {
        return Err("its content does not have its sha256 sum".into());
    }
    Ok(taught)
}

/// Positions and chances of a file, and the sum they should have.
fn read_columns(path: &Path, chances: &[String]) -> Result<(Taught, Option<String>)> {
    let file = SerializedFileReader::new(File::open(path)?)?;
    let metadata = file.metadata();
    let mut taught = Taught::default();
    for number in 0..metadata.num_row_groups() {
        let rows = file.get_row_group(number)?;
        let ColumnReader::ByteArrayColumnReader(positions) =
            rows.get_column_reader(place(metadata, "position")?)?
        else {
            return Err(ParquetError::General("its positions are no texts".into()));
        };
        for position in all(positions, rows.as_ref())? {
            taught.positions.push(position.as_utf8()?.to_owned());
        }
        let start = taught.chances.len();
        for (chance, name) in chances.iter().enumerate() {
            let ColumnReader::FloatColumnReader(values) = rows.get_column_reader(place(metadata, name)?)?
            else {
                return Err(ParquetError::General(format!("its column {name} has no numbers")));
            };
            let values = all(values, rows.as_ref())?;
            taught.chances.resize(start + values.len() * chances.len(), 0.0);
            for (row, value) in taught.chances[start..].chunks_exact_mut(chances.len()).zip(values) {
                row[chance] = value;
            }
        }
    }
    let sum = metadata.file_metadata().key_value_metadata().and_then(|entries| {
        entries.iter().find(|entry| entry.key == SUM).and_then(|entry| entry.value.clone())
    });
    Ok((taught, sum))
}

/// Where the column of this name is.
fn place(metadata: &ParquetMetaData, name: &str) -> Result<usize> {
    let columns = metadata.file_metadata().schema_descr().columns();
    let place = columns.iter().position(|column| column.name() == name);
    place.ok_or_else(|| ParquetError::General(format!("it has no column {name}")))
}

/// All values of a column of these rows.
fn all<T: DataType>(mut column: ColumnReaderImpl<T>, rows: &dyn RowGroupReader) -> Result<Vec<T::T>> {
    let mut values = Vec::new();
    let count = usize::try_from(rows.metadata().num_rows()).unwrap_or_default();
    column.read_records(count, None, None, &mut values)?;
    if values.len() != count {
        return Err(ParquetError::General(format!("a column has {} of {count} values", values.len())));
    }
    Ok(values)
}
