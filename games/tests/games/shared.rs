//! Reference data that lies beside the project and is not part of it.

use std::path::PathBuf;

/// Reads `data/NAME` of the shared folder: `$LUDUS_SHARED`, or `shared` beside the workspace. Absent, it says so and gives
/// `None`: the test that asked is an extra and passes.
pub fn read_bytes(name: &str) -> Option<Vec<u8>> {
    let folder = match std::env::var_os("LUDUS_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    };
    let path = folder.join("data").join(name);
    match std::fs::read(&path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            eprintln!("skipped: {}: {error}", path.display());
            None
        }
    }
}

/// The same for a text.
pub fn read(name: &str) -> Option<String> {
    read_bytes(name).map(|bytes| String::from_utf8(bytes).expect("a text in UTF-8"))
}
