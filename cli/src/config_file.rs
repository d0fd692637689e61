//! Reading a run's configuration file.

use std::path::Path;

use anyhow::{Context, Result};
use ludus_config::RunConfig;

use crate::exit::BadConfiguration;

/// The configuration in `path`, checked.
pub fn read(path: &Path) -> Result<RunConfig> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the configuration {}", path.display()))?;
    let config =
        RunConfig::parse(&text).map_err(|error| BadConfiguration(format!("{}, {error}", path.display())))?;
    Ok(config)
}

/// What two configurations say differently, as `learn.lambda is 0.3 there and 0.5 here`; empty when they agree.
pub fn differences(there: &RunConfig, here: &RunConfig) -> String {
    let (there, here) = (keys(there), keys(here));
    let different = there.iter().zip(&here).filter(|(there, here)| there != here);
    let texts: Vec<String> = different
        .map(|((key, there), (_, here))| format!("{key} is {there} there and {here} here"))
        .collect();
    texts.join(", ")
}

/// Every key with its value. The keys of all configurations are the same, in the same order.
fn keys(config: &RunConfig) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut keys = Vec::new();
    for line in config.to_toml().lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = format!("{name}.");
        } else if let Some((key, value)) = line.split_once(" = ") {
            keys.push((format!("{section}{key}"), value.to_owned()));
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_name_each_key_with_both_values() {
        let there = RunConfig::default();
        assert_eq!(differences(&there, &there), "");
        let mut here = RunConfig { seed: 9, ..RunConfig::default() };
        here.learn.lambda = 0.75;
        assert_eq!(
            differences(&there, &here),
            format!(
                "seed is {} there and 9 here, learn.lambda is {} there and 0.75 here",
                there.seed, there.learn.lambda
            )
        );
    }
}
