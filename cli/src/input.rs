//! What comes from files and standard input, line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

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

/// The whole text of a file.
pub fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| cannot_read(path))
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}
