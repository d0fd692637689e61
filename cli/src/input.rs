//! What comes from files and standard input, line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Text that is read line by line, with the place of each line for messages.
pub struct Lines {
    place: String,
    lines: Box<dyn Iterator<Item = std::io::Result<String>>>,
    number: usize,
}

impl Lines {
    /// The lines of a file, or of standard input when there is no file or it is `-`.
    pub fn open(file: Option<&PathBuf>) -> Result<Self> {
        let (place, lines): (_, Box<dyn Iterator<Item = _>>) = match file {
            Some(path) if path.as_os_str() != "-" => {
                let file = File::open(path).with_context(|| cannot_read(path))?;
                (path.display().to_string(), Box::new(BufReader::new(file).lines()))
            }
            _ => ("standard input".to_owned(), Box::new(stdin().lock().lines())),
        };
        Ok(Lines { place, lines, number: 0 })
    }

    /// The next line that is neither empty nor a remark (`# ...`), without blanks around it, and its place, such as
    /// `positions.txt:12`.
    pub fn next_line(&mut self) -> Result<Option<(String, String)>> {
        for line in self.lines.by_ref() {
            self.number += 1;
            let place = format!("{}:{}", self.place, self.number);
            let line = line.with_context(|| format!("cannot read {place}"))?;
            let text = line.trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(Some((place, text.to_owned())));
            }
        }
        Ok(None)
    }
}

/// Most bytes of a text that is read whole; the largest published benchmark has a hundredth of it.
const MOST_BYTES: u64 = 1 << 30;

/// The whole text of a file. One without an end, such as a device, is refused.
pub fn read_text(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    if read.with_context(|| cannot_read(path))? as u64 > MOST_BYTES {
        bail!("{}: it has more than {MOST_BYTES} bytes", cannot_read(path));
    }
    Ok(text)
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}
