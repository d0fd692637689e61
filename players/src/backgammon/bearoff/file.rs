//! The database as a file, for people and other programs; players need none.
//!
//! It is a safetensors file, which NumPy reads with `safetensors.numpy.load_file(path)`:
//!
//! | tensor | type, shape | what |
//! |---|---|---|
//! | `points` | u8 `[54264, 6]` | checkers on points 1 to 6 of every home; the rows of all other tensors are in this order, which goes by the number of checkers first |
//! | `mean_rolls` | f64 `[54264]` | mean number of rolls to bear all off |
//! | `longer` | f32 `[54264, 24]` | column n: the chance that this takes more than n rolls |
//! | `first_off_longer` | f32 `[15504, 24]` | the same to the first checker off, for the homes of 15, which are the last rows of `points` |
//! | `few_waiting` | f32 `[924, 924]` | the chance to win of the side not on roll (row) against the side on roll (column), for homes of up to 6 checkers, which are the first rows of `points` |
//!
//! The metadata has one entry, `ludus_bearoff`, with a JSON object: `version` ([`VERSION`]) and `sha256`, that of all bytes
//! behind the header. Equal databases have equal bytes.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, TensorView};

use super::{Bearoff, FULL, HOMES, Home, ROLLS, SMALL_HOMES};
use crate::weight_file::Digest;

/// Version of the format.
pub const VERSION: u32 = 1;
/// Key of the only entry of the metadata.
pub const MARK: &str = "ludus_bearoff";

/// The bytes of the file.
pub fn to_bytes(bearoff: &Bearoff) -> Vec<u8> {
    let rows = |rows: &[[f32; ROLLS]]| -> Vec<u8> {
        rows.as_flattened().iter().flat_map(|chance| chance.to_le_bytes()).collect()
    };
    let points: Vec<u8> = Home::all().flat_map(Home::points).collect();
    let means: Vec<u8> = bearoff.rolls.means().iter().flat_map(|mean| mean.to_le_bytes()).collect();
    // No checkers take no rolls.
    let longer = [rows(&[[0.0; ROLLS]]), rows(bearoff.rolls.all_longer())].concat();
    let first_off_longer = rows(bearoff.first_off.all_longer());
    let few: Vec<u8> = bearoff.few.waiting().iter().flat_map(|chance| chance.to_le_bytes()).collect();
    let tensors: [(&str, Dtype, Vec<usize>, &[u8]); 5] = [
        ("points", Dtype::U8, vec![HOMES, 6], &points),
        ("mean_rolls", Dtype::F64, vec![HOMES], &means),
        ("longer", Dtype::F32, vec![HOMES, ROLLS], &longer),
        ("first_off_longer", Dtype::F32, vec![HOMES - FULL, ROLLS], &first_off_longer),
        ("few_waiting", Dtype::F32, vec![SMALL_HOMES, SMALL_HOMES], &few),
    ];
    let bytes = |metadata: Option<HashMap<String, String>>| {
        let views = tensors.iter().map(|(name, dtype, shape, data)| {
            let view =
                TensorView::new(*dtype, shape.clone(), data).expect("as many numbers as its shape says");
            (*name, view)
        });
        safetensors::serialize(views, metadata).expect("names and shapes have a JSON form")
    };
    let plain = bytes(None);
    let digest = Digest::of(data(&plain));
    // With a second entry the order would be up to a hash map.
    let mark = format!("{{\"version\":{VERSION},\"sha256\":\"{digest}\"}}");
    bytes(Some(HashMap::from([(MARK.to_owned(), mark)])))
}

/// What is behind the header of a safetensors file.
pub(super) fn data(file: &[u8]) -> &[u8] {
    let (length, rest) =
        file.split_first_chunk().expect("a safetensors file begins with its header's length");
    &rest[u64::from_le_bytes(*length) as usize..]
}
