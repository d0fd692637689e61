//! Reading a run's configuration file.

use std::path::Path;

use anyhow::{Context, Result};
use ludus_config::RunConfig;
use ludus_players::arena::Registry;

use crate::exit::BadConfiguration;

/// The configuration in `path`, checked.
pub fn read(path: &Path) -> Result<RunConfig> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the configuration {}", path.display()))?;
    let registry = Registry::standard();
    let config = RunConfig::parse_over(&text, |game| registry.training(game))
        .map_err(|error| BadConfiguration(format!("{}, {error}", path.display())))?;
    Ok(config)
}

/// The configuration of a run that learns `game` and is told nothing else.
pub fn default_of(game: &str) -> Result<RunConfig> {
    let registry = Registry::standard();
    if registry.training(game).is_empty() {
        return Ok(RunConfig { game: game.to_owned(), ..RunConfig::default() });
    }
    let config = RunConfig::parse_over(&format!("game = {game:?}"), |game| registry.training(game));
    config.with_context(|| format!("the configuration that comes with {game}"))
}

/// What two configurations say differently, as `learn.lambda is 0.3 there and 0.5 here`; empty when they agree.
pub fn differences(there: &RunConfig, here: &RunConfig) -> String {
    let (there, here) = (keys(there), keys(here));
    let value = |keys: &[(String, String)], wanted: &String| {
        keys.iter().find(|(key, _)| key == wanted).map_or("not set".into(), |(_, value)| value.clone())
    };
    // Phases and their keys may be missing in one of the two.
    let only_here = here.iter().filter(|(key, _)| there.iter().all(|(other, _)| other != key));
    let all = there.iter().chain(only_here).map(|(key, _)| (key, value(&there, key), value(&here, key)));
    let different = all.filter(|(_, there, here)| there != here);
    let texts: Vec<String> =
        different.map(|(key, there, here)| format!("{key} is {there} there and {here} here")).collect();
    texts.join(", ")
}

/// Every key with its value, those of the phases with the phase's index: `phases 1.lambda`.
fn keys(config: &RunConfig) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut phases = 0;
    let mut keys = Vec::new();
    for line in config.to_toml().lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("[[").and_then(|line| line.strip_suffix("]]")) {
            phases += 1;
            section = format!("{name} {phases}.");
        } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = format!("{name}.");
        } else if let Some((key, value)) = line.split_once(" = ") {
            keys.push((format!("{section}{key}"), value.to_owned()));
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use ludus_config::Phase;

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

    #[test]
    fn phases_differ_by_their_keys_also_where_one_is_missing() {
        let phase = |from_games, lambda| Phase { from_games, lambda, ..Phase::default() };
        let with = |phases| RunConfig { phases, ..RunConfig::default() };
        let there = with(vec![phase(5, Some(0.5)), phase(9, None)]);
        let here = with(vec![phase(5, None), phase(8, Some(1.0))]);
        assert_eq!(
            differences(&there, &here),
            "phases 1.lambda is 0.5 there and not set here, phases 2.from_games is 9 there and 8 here, \
             phases 2.lambda is not set there and 1.0 here"
        );
        assert_eq!(differences(&with(vec![]), &there).matches("not set there").count(), 3);
    }
}
