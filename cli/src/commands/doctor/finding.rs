//! What a check says.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use crate::output::Paint;

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Health {
    /// As it should be.
    Ok,
    /// It works, and could be better or safer.
    Warning,
    /// It does not work, or loses what was played.
    Problem,
}

/// What one check found, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub check: &'static str,
    pub state: Health,
    pub found: String,
    pub advice: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Finding { check, state: Health::Ok, found: found.into(), advice: None }
    }

    pub(super) fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { check, state: Health::Warning, found: found.into(), advice: Some(advice.into()) }
    }

    pub(super) fn problem(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { check, state: Health::Problem, found: found.into(), advice: Some(advice.into()) }
    }
}

/// Writes a line for each, with what to do on a line of its own below it.
pub(super) fn write(out: &mut impl Write, findings: &[Finding], paint: Paint) -> Result<()> {
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    for Finding { check, state, found, advice } in findings {
        let state = match state {
            Health::Ok => paint.dim("ok     "),
            Health::Warning => paint.bold("warning"),
            Health::Problem => paint.sign(-1.0, "problem"),
        };
        writeln!(out, "{state}  {check:width$}  {found}")?;
        if let Some(advice) = advice {
            writeln!(out, "{:9}{:width$}  -> {advice}", "", "")?;
        }
    }
    Ok(())
}

/// Bytes as people say them.
pub(super) fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut size = bytes as f64;
    while size >= 1024.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 || size >= 100.0 {
        format!("{size:.0} {}", units[unit])
    } else {
        format!("{size:.1} {}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_stand_in_columns_with_the_advice_below() {
        let findings = [Finding::ok("clock", "well"), Finding::warning("processor", "slow", "get another")];
        let mut text = Vec::new();
        write(&mut text, &findings, Paint::plain()).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "ok       clock      well\nwarning  processor  slow\n                    -> get another\n"
        );
    }

    #[test]
    fn sizes_have_the_unit_that_people_would_use() {
        assert_eq!(
            [0, 1023, 1024, 150 << 20, 3 << 40].map(size),
            ["0 bytes", "1023 bytes", "1.0 KiB", "150 MiB", "3.0 TiB"]
        );
    }
}
