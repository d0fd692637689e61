//! The configuration of a run: from a file, variables of the environment and flags.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ludus_config::{ConfigError, ConfigFile, Effective, RunConfig, Setting, VARIABLES};
use ludus_players::arena::Registry;

use crate::exit::BadConfiguration;
use crate::game::no_game;

/// Far more than all keys with long comments.
const MOST_BYTES: u64 = 1 << 20;

/// How a command is told the configuration of a run. A flag goes before a variable, that before the file, that before the
/// default of the game, and that before the default of all games.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConfigArgs {
    /// The run's configuration [default: that of the game, see `ludus config show`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One key of it, such as learn.lambda=0.9, over what FILE says; may be given again. LUDUS_RUN__LEARN__LAMBDA in the
    /// environment does the same for all commands
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    set: Vec<(String, String)>,
}

impl ConfigArgs {
    /// The file, if one was named.
    pub fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The configuration, checked.
    pub fn read(&self) -> Result<Effective> {
        self.read_between(&[], &[])
    }

    /// The same with what holds below variables and flags where there is no file, and with more flags.
    pub fn read_between(&self, beneath: &[Setting], flags: &[Setting]) -> Result<Effective> {
        let settings = self.settings()?;
        let registry = Registry::standard();
        let of_game = |game: &str| registry.training(game);
        let read = match &self.config {
            None => Effective::read(None, &[beneath, &settings, flags].concat(), of_game)
                .map_err(|error| bad("the defaults", &error))?,
            Some(path) => {
                let text = text_of(path)
                    .with_context(|| format!("cannot read the configuration {}", path.display()))?;
                let name = path.display().to_string();
                let file = ConfigFile { name: &name, text: &text };
                Effective::read(Some(file), &[&settings, flags].concat(), of_game)
                    .map_err(|error| bad(&name, &error))?
            }
        };
        let game = &read.config.game;
        if registry.find(game).is_none() {
            return Err(BadConfiguration(no_game(game, &registry)).into());
        }
        Ok(read)
    }

    /// What a run with the configuration `its` would have: the file's, or `its` itself, with variables and flags over it.
    pub fn over(&self, its: &RunConfig) -> Result<RunConfig> {
        if self.config.is_some() {
            return Ok(self.read()?.config);
        }
        let name = "the configuration of the run";
        let file = ConfigFile { name, text: &its.to_toml() };
        let over = Effective::read(Some(file), &self.settings()?, |_| "");
        Ok(over.map_err(|error| bad(name, &error))?.config)
    }

    /// Whatever says something of the configuration, as people would take it away.
    pub fn sources(&self) -> Result<Vec<String>> {
        let file = self.config.iter().map(|_| "--config".to_owned());
        let settings = self.settings()?;
        let settings = settings.iter().map(|setting| setting.origin().to_string());
        Ok(file.chain(settings).collect())
    }

    /// Variables, then flags.
    fn settings(&self) -> Result<Vec<Setting>> {
        let mut variables = Vec::new();
        for (name, text) in std::env::vars_os() {
            let Some(name) = name.to_str().filter(|name| name.starts_with(VARIABLES)) else { continue };
            let text = text.into_string();
            let text = text.map_err(|_| BadConfiguration(format!("{name} does not hold text in UTF-8")))?;
            variables.extend(Setting::by_variable(name, text));
        }
        variables.sort_by(|one, other| one.key().cmp(other.key()));
        let flags = self.set.iter().map(|(key, text)| Setting::by_flag(format!("--set {key}"), key, text));
        Ok(variables.into_iter().chain(flags).collect())
    }

    /// The arguments `--config PATH`.
    #[cfg(test)]
    pub fn of_file(path: PathBuf) -> Self {
        ConfigArgs { config: Some(path), set: Vec::new() }
    }

    /// The argument `--set KEY=VALUE`.
    #[cfg(test)]
    pub fn of_setting(key: &str, text: &str) -> Self {
        ConfigArgs { config: None, set: vec![(key.to_owned(), text.to_owned())] }
    }
}

/// What is in a file. A device without an end is none.
fn text_of(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let most = File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if most as u64 > MOST_BYTES {
        return Err(std::io::Error::other("it is longer than a configuration can be"));
    }
    Ok(text)
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, such as learn.lambda=0.9")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

/// The error with its place: a file's has a line, a setting's names the setting.
fn bad(name: &str, error: &ConfigError) -> anyhow::Error {
    let text = match error {
        ConfigError::Setting { .. } => error.to_string(),
        _ => format!("{name}, {error}"),
    };
    BadConfiguration(text).into()
}

/// The configuration of a run that learns `game` and is told nothing else.
pub fn default_of(game: &str) -> Result<RunConfig> {
    let registry = Registry::standard();
    let game_named = Setting::by_flag("the game", "game", game);
    let config = Effective::read(None, &[game_named], |game| registry.training(game));
    Ok(config.with_context(|| format!("the configuration that comes with {game}"))?.config)
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
