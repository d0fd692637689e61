//! Writing a configuration with the meaning of every key.

use std::fmt::Write;

use toml::{Table, Value};

use crate::RunConfig;
use crate::parse::SECTIONS;
use crate::section::{Key, Section};

impl RunConfig {
    /// The whole configuration as TOML, every key with its documentation. Reads back as the same configuration.
    pub fn to_toml(&self) -> String {
        let table = Table::try_from(self).expect("a configuration is a table of plain values");
        let mut text = String::new();
        for key in RunConfig::KEYS {
            match (&table[key.name], section_keys(key.name)) {
                (Value::Table(section), Some(keys)) => {
                    text.push('\n');
                    comment(&mut text, key);
                    let _ = writeln!(text, "[{}]", key.name);
                    for key in keys {
                        entry(&mut text, key, &section[key.name]);
                    }
                }
                (value, _) => entry(&mut text, key, value),
            }
        }
        text
    }
}

fn section_keys(name: &str) -> Option<&'static [Key]> {
    SECTIONS.iter().find(|(section, _)| *section == name).and_then(|(_, keys)| *keys)
}

fn entry(text: &mut String, key: &Key, value: &Value) {
    comment(text, key);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{} = {value}", key.name);
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
        for config in [config, RunConfig::default()] {
            assert_eq!(RunConfig::parse(&config.to_toml()).expect("reads back"), config);
        }
    }

    #[test]
    fn every_key_is_written_once_with_its_documentation() {
        let text = RunConfig::default().to_toml();
        let table = Table::try_from(RunConfig::default()).expect("a table");
        for (name, value) in &table {
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
        assert_eq!(table.len(), SECTIONS.len());
    }
}
