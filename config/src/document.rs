//! Writing a configuration with the meaning of every key.

use std::fmt::Write;

use toml::{Table, Value};

use crate::parse::{PHASES, SECTIONS, header, one_line};
use crate::section::{Key, Section};
use crate::{Phase, RunConfig};

/// Of a configuration without phases: a file that says nothing has those of its game.
const NO_PHASES: &str = "# No phases. Take this line away to write some at the end; a file without either has its game's.\nphases = []\n";

impl RunConfig {
    /// The whole configuration as TOML, every key with its documentation. Reads back as the same configuration.
    pub fn to_toml(&self) -> String {
        self.to_toml_with(|_| None)
    }

    /// The same with remarks: what `remark` says of a key, such as `learn.lambda` or `phases.1.lambda`, stands behind its
    /// value.
    pub(crate) fn to_toml_with(&self, remark: impl Fn(&str) -> Option<String>) -> String {
        let table = table(self);
        // A comment of TOML has no control characters, and a file's name may.
        let plain = |remark: String| format!(" # {}", one_line(&remark.replace(char::is_control, " ")));
        let behind = |key: &str| remark(key).map_or_else(String::new, plain);
        let mut text = String::new();
        let mut none = self.phases.is_empty().then_some(NO_PHASES);
        for top in RunConfig::KEYS {
            match (&table[top.name], section_keys(top.name)) {
                (Value::Table(section), Some(keys)) => {
                    // No key of the whole file may stand behind a section.
                    text.push_str(none.take().unwrap_or_default());
                    text.push('\n');
                    comment(&mut text, top);
                    let _ = writeln!(text, "{}", header(top.name));
                    for key in keys {
                        let path = format!("{}.{}", top.name, key.name);
                        entry(&mut text, key, &section[key.name], &behind(&path));
                    }
                }
                (value, _) if top.name != PHASES => {
                    entry(&mut text, top, value, &behind(top.name));
                }
                _ => {
                    text.push('\n');
                    comment(&mut text, top);
                    phases(&mut text, &self.phases, behind);
                }
            }
        }
        text
    }
}

/// The phases; the first, or an example in comments when there is none, with the documentation of every key.
fn phases(text: &mut String, phases: &[Phase], behind: impl Fn(&str) -> String) {
    let header = header(PHASES);
    let example = table(&Phase::example());
    let first = phases.first().map(table);
    let _ = writeln!(text, "{}{header}", if first.is_some() { "" } else { "#" });
    for key in Phase::KEYS {
        match first.as_ref().and_then(|phase| phase.get(key.name)) {
            Some(value) => entry(text, key, value, &behind(&phase_key(0, key.name))),
            None => {
                comment(text, key);
                let _ = writeln!(text, "#{} = {}", key.name, example[key.name]);
            }
        }
    }
    for (index, phase) in phases.iter().map(table).enumerate().skip(1) {
        let _ = writeln!(text, "\n{header}");
        for (key, value) in Phase::KEYS.iter().filter_map(|key| Some((key, phase.get(key.name)?))) {
            let _ = writeln!(text, "{} = {value}{}", key.name, behind(&phase_key(index, key.name)));
        }
    }
}

/// How a key of a phase is named; `index` is from 0, names count from 1.
pub(crate) fn phase_key(index: usize, key: &str) -> String {
    format!("{PHASES}.{}.{key}", index + 1)
}

pub(crate) fn table(section: &impl serde::Serialize) -> Table {
    Table::try_from(section).expect("a configuration is a table of plain values")
}

pub(crate) fn section_keys(name: &str) -> Option<&'static [Key]> {
    SECTIONS.iter().find(|(section, _)| *section == name).and_then(|(_, keys)| *keys)
}

fn entry(text: &mut String, key: &Key, value: &Value, behind: &str) {
    comment(text, key);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{} = {value}{behind}", key.name);
}

fn comment(text: &mut String, key: &Key) {
    for line in key.doc {
        let _ = writeln!(text, "#{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_as_the_same_configuration() {
        let mut config = RunConfig { seed: i64::MAX as u64, ..RunConfig::default() };
        config.self_play.explore = 0.125;
        config.gate.benchmark = "data/a \"strange\" name.bm".into();
        let phased = |phases: Vec<Phase>| RunConfig { phases, ..RunConfig::default() };
        let short = Phase { from_games: 5, lambda: Some(1.0), ..Phase::default() };
        let one = phased(vec![short.clone()]);
        let many = phased(vec![short, Phase { from_games: 7, ..Phase::default() }, Phase::example()]);
        for config in [config, RunConfig::default(), phased(vec![]), one, many] {
            assert_eq!(RunConfig::parse(&config.to_toml()).expect("reads back"), config);
        }
    }

    #[test]
    fn every_key_is_written_once_with_its_documentation() {
        let text = RunConfig::default().to_toml();
        let table = Table::try_from(RunConfig::default()).expect("a table");
        assert_eq!(table.len(), SECTIONS.len());
        for (name, value) in table.iter().filter(|(name, _)| *name != PHASES) {
            let inside = value.as_table().map(|section| section.keys().map(String::as_str).collect());
            assert_eq!(
                section_keys(name).is_some(),
                inside.is_some(),
                "{name} is a section in one place only"
            );
            for key in inside.unwrap_or_else(|| vec![name.as_str()]) {
                let lines: Vec<&str> = text.lines().collect();
                let at = lines.iter().position(|line| line.starts_with(&format!("{key} = ")));
                let at = at.unwrap_or_else(|| panic!("{name}.{key} is not written"));
                assert!(lines[at - 1].starts_with("# "), "{name}.{key} has no documentation");
            }
        }
    }

    #[test]
    fn a_configuration_without_phases_shows_how_one_is_written() {
        let text = RunConfig::default().to_toml();
        assert_eq!(text.matches(NO_PHASES).count(), 1);
        let text = text.replace(NO_PHASES, "");
        let (before, example) = text.split_once("\n#[[phases]]\n").expect("the example");
        // Documentation is commented out with a space behind it, the example without.
        let lines = example.lines().map(|line| line.strip_prefix('#').expect("a comment"));
        let keys: Vec<&str> = lines.filter(|line| !line.starts_with(' ')).collect();
        let read = RunConfig::parse(&format!("{before}\n[[phases]]\n{}", keys.join("\n")));
        assert_eq!(read.expect("reads").phases, [Phase::example()]);
    }
}
