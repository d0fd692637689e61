//! What goes to standard output: aligned columns for people, JSON for scripts.
//!
//! Every write may fail, because whoever reads may go away (`ludus moves ... | head`); `exit` makes nothing of that.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use serde::Serialize;

/// Writes a value as one line of JSON.
pub fn json_line(out: &mut impl Write, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Writes a line of news to standard error, for whoever still reads it: work does not end because nobody does.
pub fn news(text: &str) {
    crate::log::say(text);
}

/// Colours and weights of text, if standard output is a terminal and nobody asked for none (`NO_COLOR`).
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// For standard output.
    pub fn stdout() -> Self {
        Paint { on: io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    /// None, for tests.
    #[cfg(test)]
    pub fn plain() -> Self {
        Paint { on: false }
    }

    /// What matters most.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What matters least.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Above nothing green, below it red.
    pub fn sign(self, value: f64, text: &str) -> String {
        match value {
            v if v > 0.0 => self.with("32", text),
            v if v < 0.0 => self.with("31", text),
            _ => text.to_owned(),
        }
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Rows with aligned columns under a dim heading.
pub struct Table {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns. One whose heading ends in `>` is aligned to the right.
    pub fn new(heading: &[impl AsRef<str>]) -> Self {
        Table { heading: heading.iter().map(|name| name.as_ref().to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row, one text a column.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.heading.len());
        self.rows.push(cells);
    }

    /// Writes heading and rows, columns two blanks apart.
    pub fn write(&self, out: &mut impl Write, paint: Paint) -> Result<()> {
        let names: Vec<&str> = self.heading.iter().map(|name| name.trim_end_matches('>')).collect();
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].as_str());
            cells.chain([names[column]]).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..names.len()).map(width).collect();
        let line = |cells: &[&str]| {
            let padded = cells.iter().zip(&widths).zip(&self.heading).map(|((cell, width), name)| {
                if name.ends_with('>') { format!("{cell:>width$}") } else { format!("{cell:width$}") }
            });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        writeln!(out, "{}", paint.dim(&line(&names)))?;
        for row in &self.rows {
            writeln!(out, "{}", line(&row.iter().map(String::as_str).collect::<Vec<_>>()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_numbers_stand_to_the_right() {
        let mut table = Table::new(&["NAME", "COUNT>", "NOTE"]);
        table.row(vec!["a".into(), "5".into(), "x".into()]);
        table.row(vec!["longer".into(), "123456".into(), String::new()]);
        let mut text = Vec::new();
        table.write(&mut text, Paint { on: false }).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "NAME     COUNT  NOTE\na            5  x\nlonger  123456\n"
        );
    }

    #[test]
    fn paint_that_is_off_leaves_text_alone() {
        let off = Paint { on: false };
        assert_eq!(off.bold("a") + &off.dim("b") + &off.sign(1.0, "c"), "abc");
        assert_eq!(Paint { on: true }.sign(-1.0, "x"), "\x1b[31mx\x1b[0m");
    }
}
