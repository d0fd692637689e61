//! The configuration that holds, put together of several places, and which place each value came from.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use toml::de::DeTable;
use toml::{Table, Value};

use crate::document::{phase_key, table};
use crate::parse::{
    PHASES, SECTIONS, document, find, lay_over, line_of, one_line, read, refuse_unknown_keys,
};
use crate::ranges::Fault;
use crate::{ConfigError, RunConfig, Setting};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The default of every game.
    Default,
    /// The default of this game.
    Game(String),
    /// A line of a file.
    File {
        /// Its name.
        name: String,
        /// Line, from 1.
        line: usize,
    },
    /// This variable of the environment.
    Variable(String),
    /// This flag.
    Flag(String),
}

/// A file with a configuration.
#[derive(Clone, Copy, Debug)]
pub struct ConfigFile<'a> {
    /// What people call it.
    pub name: &'a str,
    /// What is in it.
    pub text: &'a str,
}

/// A configuration with the origin of each value.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The configuration.
    pub config: RunConfig,
    /// By key; those that are not here are defaults.
    origins: BTreeMap<String, Origin>,
}

impl Effective {
    /// Puts a configuration together: of the settings the last of a key holds, then comes the file, then what `of_game` says
    /// for the game's name, then the default.
    pub fn read<'a>(
        file: Option<ConfigFile<'_>>,
        settings: &[Setting],
        of_game: impl Fn(&str) -> &'a str,
    ) -> Result<Self, ConfigError> {
        let mut origins = BTreeMap::new();
        let lines = file.map(|file| lines(file, &mut origins)).transpose()?;
        let (config, whose) = lay(lines.as_ref(), settings, &of_game)?;
        for setting in settings {
            origins.insert(setting.key().to_owned(), setting.origin().clone());
        }
        for key in whose {
            origins.entry(key).or_insert_with(|| Origin::Game(config.game.clone()));
        }
        let Err(fault) = config.check_ranges() else { return Ok(Effective { config, origins }) };

        let of_key = |setting: &&Setting| fault.phase.is_none() && setting.key() == fault.key;
        // A rule between keys is broken by the one without which it would hold.
        let breaks = |setting: &&Setting| {
            let others = settings.iter().filter(|other| other.key() != setting.key()).cloned();
            let without = lay(lines.as_ref(), &others.collect::<Vec<_>>(), &of_game);
            without.is_ok_and(|(config, _)| config.check_ranges().is_ok())
        };
        let culprit = settings.iter().rev().find(of_key).or_else(|| settings.iter().find(breaks));
        Err(match culprit {
            Some(setting) => setting.error(format!("`{}` is {}, but {}", fault.key, fault.value, fault.rule)),
            None => range_error(file, fault),
        })
    }

    /// Where the value of a key came from; keys of phases are named as in `phases.1.lambda`.
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::Default)
    }

    /// As [`RunConfig::to_toml`], with the origin of each value that is not the default as a comment.
    pub fn to_toml(&self) -> String {
        self.config.to_toml_with(|key| match self.origin(key) {
            Origin::Default => None,
            origin @ Origin::Game(_) => Some(origin.to_string()),
            origin => Some(format!("from {origin}")),
        })
    }

    /// Every key with its value and origin, in the order of the file.
    pub fn entries(&self) -> Vec<(String, Value, &Origin)> {
        let entry = |(key, value): (String, Value)| {
            let origin = self.origin(&key);
            (key, value, origin)
        };
        leaves(&table(&self.config)).into_iter().map(entry).collect()
    }
}

/// What is in a file, checked by itself: its errors have lines, and settings must not hide what is wrong in it. Notes the
/// line of each key.
fn lines(file: ConfigFile<'_>, origins: &mut BTreeMap<String, Origin>) -> Result<Table, ConfigError> {
    let document = document(file.text)?;
    refuse_unknown_keys(file.text, document.get_ref())?;
    read::<RunConfig>(file.text)?;
    let table = read(file.text)?;
    for (key, _) in leaves(&table) {
        let line = line_of(file.text, span(document.get_ref(), &key));
        origins.insert(key, Origin::File { name: file.name.to_owned(), line });
    }
    Ok(table)
}

/// Lays the layers over one another. Gives the configuration, its ranges unchecked, and the keys that its game sets.
fn lay<'a>(
    lines: Option<&Table>,
    settings: &[Setting],
    of_game: impl Fn(&str) -> &'a str,
) -> Result<(RunConfig, Vec<String>), ConfigError> {
    let mut upper = lines.cloned().unwrap_or_default();
    for setting in settings {
        lay_over(&mut upper, setting.table()?);
    }
    let game =
        upper.get("game").and_then(Value::as_str).map_or_else(|| RunConfig::default().game, str::to_owned);
    let beneath: Table = read(of_game(&game))?;
    // The phases of a game are replaced as a whole.
    let phased = upper.contains_key(PHASES);
    let whose = leaves(&beneath).into_iter().map(|(key, _)| key);
    let whose = whose.filter(|key| !(phased && key.starts_with(PHASES))).collect();
    let mut whole = beneath;
    lay_over(&mut whole, upper);
    let config = whole.try_into().map_err(|error: toml::de::Error| ConfigError::Value {
        line: 1,
        reason: one_line(error.message()),
    })?;
    Ok((config, whose))
}

/// The keys of a configuration with their values, in the order of the documentation.
fn leaves(table: &Table) -> Vec<(String, Value)> {
    let mut leaves = Vec::new();
    for (name, keys) in SECTIONS {
        match (table.get(*name), keys) {
            (Some(Value::Table(section)), Some(keys)) => {
                let inside = keys.iter().filter_map(|key| Some((key.name, section.get(key.name)?)));
                leaves.extend(inside.map(|(key, value)| (format!("{name}.{key}"), value.clone())));
            }
            (Some(Value::Array(phases)), Some(keys)) => {
                for (index, phase) in phases.iter().enumerate() {
                    let inside = keys.iter().filter_map(|key| Some((key.name, phase.get(key.name)?)));
                    leaves.extend(inside.map(|(key, value)| (phase_key(index, key), value.clone())));
                }
            }
            (Some(value), _) => leaves.push(((*name).to_owned(), value.clone())),
            (None, _) => {}
        }
    }
    leaves
}

/// Where the value of a key that [`leaves`] names stands.
fn span(document: &DeTable<'_>, key: &str) -> Option<Range<usize>> {
    let in_phase = key.strip_prefix(PHASES).and_then(|rest| rest.strip_prefix('.')?.split_once('.'));
    match in_phase {
        Some((number, name)) => {
            let index = number.parse::<usize>().ok()?.checked_sub(1)?;
            find(document, Some(index), &format!("{PHASES}.{name}"))
        }
        None => find(document, None, key),
    }
}

/// The error of a value out of its range that stands in the file, or is a default.
fn range_error(file: Option<ConfigFile<'_>>, fault: Fault) -> ConfigError {
    let place = file.and_then(|ConfigFile { text, .. }| {
        let document = document(text).ok()?;
        let span = find(document.get_ref(), fault.phase, fault.key)?;
        Some(format!("line {}: ", line_of(text, Some(span))))
    });
    ConfigError::Range {
        place: place.unwrap_or_default(),
        key: fault.key,
        value: fault.value,
        rule: fault.rule,
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("the default"),
            Origin::Game(game) => write!(f, "the default of {game}"),
            Origin::File { name, line } => write!(f, "{name}, line {line}"),
            Origin::Variable(name) | Origin::Flag(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_game(game: &str) -> &'static str {
        match game {
            "marbles" => "seed = 3\n[learn]\nlambda = 0.25\nbatch = 7\n[[phases]]\nfrom_games = 5",
            _ => "",
        }
    }

    fn flag(key: &str, text: &str) -> Setting {
        Setting::by_flag(format!("--set {key}"), key, text)
    }

    fn variable(name: &str, text: &str) -> Setting {
        Setting::by_variable(name, text).expect("one that sets a key")
    }

    fn file(text: &str) -> Option<ConfigFile<'_>> {
        Some(ConfigFile { name: "run.toml", text })
    }

    fn refusal(file: Option<ConfigFile<'_>>, settings: &[Setting]) -> String {
        Effective::read(file, settings, of_game).expect_err("refused").to_string()
    }

    #[test]
    fn a_flag_beats_a_variable_that_beats_the_file_that_beats_the_game_that_beats_the_default() {
        let text = "game = \"marbles\"\n[learn]\nlambda = 0.5\nreplay = 2\npublish_games = 9\n";
        let settings = [
            variable("LUDUS_RUN__LEARN__REPLAY", "3"),
            variable("LUDUS_RUN__LEARN__PUBLISH_GAMES", "10"),
            flag("learn.publish_games", "11"),
        ];
        let effective = Effective::read(file(text), &settings, of_game).expect("good");
        let learn = &effective.config.learn;
        assert_eq!((learn.publish_games, learn.replay, learn.lambda, learn.batch), (11, 3, 0.5, 7));
        assert_eq!(learn.average, crate::Learn::default().average);
        let origins = ["publish_games", "replay", "lambda", "batch", "average"];
        assert_eq!(
            origins.map(|key| effective.origin(&format!("learn.{key}")).to_string()),
            [
                "--set learn.publish_games",
                "LUDUS_RUN__LEARN__REPLAY",
                "run.toml, line 3",
                "the default of marbles",
                "the default"
            ]
        );
        assert_eq!(effective.origin("phases.1.from_games"), &Origin::Game("marbles".into()));
    }

    #[test]
    fn without_a_file_all_defaults_hold_and_a_setting_may_choose_the_game() {
        let plain = Effective::read(None, &[], of_game).expect("good");
        assert_eq!(plain.config, RunConfig::default());
        assert_eq!(plain.to_toml(), RunConfig::default().to_toml());
        let one = Effective::read(None, &[flag("learn.lambda", "0.9")], of_game).expect("good");
        assert_eq!((one.config.learn.lambda, &one.config.phases), (0.9, &RunConfig::default().phases));
        let marbles = Effective::read(None, &[flag("game", "marbles")], of_game).expect("good").config;
        assert_eq!((marbles.seed, marbles.phases.len()), (3, 1));
    }

    #[test]
    fn what_is_shown_reads_back_as_the_same_configuration_with_origins_as_comments() {
        let text = "seed = 2\n\n[[phases]]\nfrom_games = 7\n[[phases]]\nfrom_games = 9\nlambda = 0.5\n";
        let settings = [flag("gate.benchmark", "a # \"name\".bm"), variable("LUDUS_RUN__LEARN__BATCH", "3")];
        let awkward = ConfigFile { name: "a\u{1b}\nb.toml", text };
        let effective = Effective::read(Some(awkward), &settings, of_game).expect("good");
        let shown = effective.to_toml();
        assert_eq!(RunConfig::parse(&shown).expect("reads back"), effective.config);
        for line in [
            "seed = 2 # from a b.toml, line 1",
            "batch = 3 # from LUDUS_RUN__LEARN__BATCH",
            "from_games = 9 # from a b.toml, line 6",
            "lambda = 0.5 # from a b.toml, line 7",
            "beta = 0.05",
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line} is not in {shown}");
        }
        let entries = effective.entries();
        let keys: Vec<&str> = entries.iter().map(|(key, ..)| key.as_str()).collect();
        assert_eq!(keys[..3], ["game", "seed", "self_play.variance"]);
        assert_eq!(keys[keys.len() - 2..], ["phases.2.from_games", "phases.2.lambda"]);
    }

    #[test]
    fn a_value_out_of_range_names_who_set_it_and_a_broken_rule_who_broke_it() {
        let high = variable("LUDUS_RUN__LEARN__LAMBDA", "1.5");
        assert_eq!(
            refusal(file("[learn]\nlambda = 0.5"), &[flag("seed", "3"), high]),
            "LUDUS_RUN__LEARN__LAMBDA: `learn.lambda` is 1.5, but it must lie between 0 and 1"
        );
        let rule = refusal(None, &[flag("seed", "3"), flag("learn.step_size", "0.0001")]);
        assert!(rule.starts_with("--set learn.step_size: `learn.final_step_size` is 0.0003, but"), "{rule}");
        // A setting does not heal what is wrong in the file's words, and is not blamed for it.
        let theirs = refusal(file("[gate]\nalpha = 2.0"), &[flag("seed", "3")]);
        assert!(theirs.starts_with("line 2: `gate.alpha` is 2"), "{theirs}");
        assert!(
            refusal(file("[gate]\nalfa = 2.0"), &[flag("gate.alpha", "0.1")])
                .starts_with("line 2: unknown key")
        );
    }
}
