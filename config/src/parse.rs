//! Reading a configuration, with errors that name the line and what would be right.

use std::ops::Range;

use strsim::osa_distance;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use crate::section::{Key, Section};
use crate::{ConfigFile, Effective, RunConfig};

/// A configuration that cannot be used. Every message fits on one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML.
    #[error("line {line}: not valid TOML: {reason}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// What the reader stumbled over.
        reason: String,
    },
    /// A key that does not exist.
    #[error("line {line}: unknown key `{key}`{hint}")]
    UnknownKey {
        /// Line, from 1.
        line: usize,
        /// The key with its section, such as `learn.lamda`.
        key: String,
        /// The nearest known key, as the end of the sentence.
        hint: String,
    },
    /// A value of the wrong type, or a word that is not one of the known ones.
    #[error("line {line}: {reason}")]
    Value {
        /// Line, from 1.
        line: usize,
        /// What is wrong with the value.
        reason: String,
    },
    /// A value outside its range.
    #[error("{place}`{key}` is {value}, but {rule}")]
    Range {
        /// `line N: `, or nothing when the value is a default.
        place: String,
        /// The key with its section.
        key: &'static str,
        /// The value given.
        value: String,
        /// What is allowed.
        rule: String,
    },
    /// A key set outside the file, by a flag or a variable.
    #[error("{place}: {reason}")]
    Setting {
        /// The flag or variable.
        place: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
}

impl RunConfig {
    /// Reads a configuration; keys that are left out take their defaults.
    pub fn parse(text: &str) -> Result<RunConfig, ConfigError> {
        RunConfig::parse_over(text, |_| "")
    }

    /// Reads a configuration over that of its game: keys that are left out are as `of_game`, given the game's name, says, also
    /// in TOML, and where that leaves them out, too, they take their defaults.
    pub fn parse_over<'a>(text: &str, of_game: impl Fn(&str) -> &'a str) -> Result<RunConfig, ConfigError> {
        let file = ConfigFile { name: "", text };
        Ok(Effective::read(Some(file), &[], of_game)?.config)
    }
}

pub(crate) fn document(text: &str) -> Result<toml::Spanned<DeTable<'_>>, ConfigError> {
    DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        line: line_of(text, error.span()),
        reason: one_line(error.message()),
    })
}

pub(crate) fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| ConfigError::Value {
        line: line_of(text, error.span()),
        reason: one_line(error.message()),
    })
}

/// Replaces what is in `table` by what `upper` says, section by section.
pub(crate) fn lay_over(table: &mut Table, upper: Table) {
    for (key, value) in upper {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(section)), Value::Table(upper)) => lay_over(section, upper),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

pub(crate) fn refuse_unknown_keys(text: &str, document: &DeTable<'_>) -> Result<(), ConfigError> {
    for (key, value) in document {
        let unknown = |key: &toml::Spanned<_>, path: String, hint| ConfigError::UnknownKey {
            line: line_of(text, Some(key.span())),
            key: path,
            hint,
        };
        let Some(section) = SECTIONS.iter().find(|(name, _)| name == key.get_ref()) else {
            return Err(unknown(key, key.get_ref().to_string(), hint(key.get_ref(), "")));
        };
        let (name, Some(known)) = section else { continue };
        // A plain value where a section belongs, and the reverse, are reported as wrong types later.
        let tables: Vec<&DeTable<'_>> = match value.get_ref() {
            DeValue::Table(table) => vec![table],
            DeValue::Array(array) => array.iter().filter_map(|item| item.get_ref().as_table()).collect(),
            _ => Vec::new(),
        };
        for key in tables.into_iter().flat_map(|table| table.keys()) {
            if !known.iter().any(|known| known.name == key.get_ref()) {
                return Err(unknown(key, format!("{name}.{}", key.get_ref()), hint(key.get_ref(), name)));
            }
        }
    }
    Ok(())
}

/// The section of which there may be many.
pub(crate) const PHASES: &str = "phases";

/// The keys of the top level; those that are sections with the keys inside.
pub(crate) const SECTIONS: &[(&str, Option<&[Key]>)] = &[
    ("game", None),
    ("seed", None),
    ("self_play", Some(crate::SelfPlay::KEYS)),
    ("network", Some(crate::Network::KEYS)),
    ("rollout", Some(crate::Rollout::KEYS)),
    ("learn", Some(crate::Learn::KEYS)),
    ("gate", Some(crate::Gate::KEYS)),
    ("leases", Some(crate::Leases::KEYS)),
    ("audit", Some(crate::Audit::KEYS)),
    (PHASES, Some(crate::Phase::KEYS)),
];

/// What the writer of `wrong` in `section` (empty for the top level) may have meant.
fn hint(wrong: &str, section: &str) -> String {
    match nearest(wrong, section) {
        Some((place, name)) if place == section => format!("; did you mean `{name}`?"),
        Some(("", name)) => format!("; did you mean `{name}` at the top of the file?"),
        Some((place, name)) => format!("; did you mean `{name}` in the section {}?", header(place)),
        None if section.is_empty() => "; `ludus config show` lists every key".into(),
        None => format!("; `ludus config show` lists the keys of {}", header(section)),
    }
}

/// The section (empty for the top level) and the name of the key most like `wrong`, if one is like it.
pub(crate) fn nearest(wrong: &str, section: &str) -> Option<(&'static str, &'static str)> {
    let keys = SECTIONS.iter().flat_map(|(name, keys)| {
        let inside = keys.unwrap_or_default().iter().map(move |key| (*name, key.name));
        std::iter::once(("", *name)).chain(inside)
    });
    // Among equals the first, which is why phases, with their keys of other sections, come last.
    keys.min_by_key(|(place, name)| (osa_distance(wrong, name), *place != section))
        .filter(|(_, name)| osa_distance(wrong, name) <= name.len().max(wrong.len()) / 3)
}

/// How a section begins.
pub(crate) fn header(section: &str) -> String {
    if section == PHASES { format!("[[{section}]]") } else { format!("[{section}]") }
}

/// Where the value of `section.key` or `key` stands, or that phase when it does not have the key.
pub(crate) fn find(document: &DeTable<'_>, phase: Option<usize>, path: &str) -> Option<Range<usize>> {
    let (section, key) = path.split_once('.').map_or((None, path), |(section, key)| (Some(section), key));
    let Some(section) = section else { return document.get(key).map(|value| value.span()) };
    let mut section = document.get(section)?;
    if let Some(phase) = phase {
        section = section.get_ref().as_array()?.get(phase)?;
    }
    match section.get_ref().as_table()?.get(key) {
        Some(value) => Some(value.span()),
        None => phase.map(|_| section.span()),
    }
}

pub(crate) fn line_of(text: &str, span: Option<Range<usize>>) -> usize {
    let end = span.map_or(0, |span| span.start).min(text.len());
    1 + text.as_bytes()[..end].iter().filter(|&&byte| byte == b'\n').count()
}

pub(crate) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        RunConfig::parse(text).expect_err("should be refused").to_string()
    }

    #[test]
    fn an_empty_file_is_the_default_run() {
        assert_eq!(RunConfig::parse("").expect("defaults are good"), RunConfig::default());
    }

    #[test]
    fn keys_that_are_given_replace_their_defaults_and_no_others() {
        let config = RunConfig::parse("seed = 7\n[self_play]\nvariance = \"luck\"\n").expect("good");
        assert_eq!((config.seed, config.self_play.variance), (7, crate::Variance::Luck));
        assert_eq!(config.learn, crate::Learn::default());
    }

    #[test]
    fn what_is_left_out_is_as_the_game_has_it() {
        let of_game = |game: &str| match game {
            "marbles" => "seed = 3\n[learn]\nlambda = 0.25\nbatch = 7\n[[phases]]\nfrom_games = 5",
            _ => "",
        };
        let read = |text: &str| RunConfig::parse_over(text, of_game);
        let config = read("game = \"marbles\"\n[learn]\nbatch = 9\n[gate]\nalpha = 0.1").expect("good");
        assert_eq!((config.seed, config.learn.lambda, config.learn.batch), (3, 0.25, 9));
        assert_eq!((config.gate.alpha, config.gate.beta), (0.1, crate::Gate::default().beta));
        assert_eq!(config.phases.len(), 1);
        assert_eq!(read("").expect("no game's"), RunConfig::parse("").expect("defaults"));
        // What is written down says everything, also that there are no phases.
        let none = read("game = \"marbles\"\nphases = []").expect("good");
        assert_eq!((none.phases.len(), read(&none.to_toml()).expect("reads back")), (0, none));
        // The lines of errors are those of the text itself.
        let fault = read("game = \"marbles\"\n\n[learn]\nlambda = 2.0").expect_err("refused").to_string();
        assert!(fault.starts_with("line 4: `learn.lambda` is 2"), "{fault}");
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_line_and_the_nearest_key() {
        assert_eq!(
            refusal("seed = 1\n\n[learn]\nlamda = 0.5\n"),
            "line 4: unknown key `learn.lamda`; did you mean `lambda`?"
        );
        assert_eq!(refusal("gmae = 1"), "line 1: unknown key `gmae`; did you mean `game`?");
        assert_eq!(refusal("sed = 1"), "line 1: unknown key `sed`; did you mean `seed`?");
        assert_eq!(refusal("[lern]\n"), "line 1: unknown key `lern`; did you mean `learn`?");
    }

    #[test]
    fn a_key_in_the_wrong_section_is_sent_to_the_right_one() {
        assert_eq!(
            refusal("lambda = 0.5"),
            "line 1: unknown key `lambda`; did you mean `lambda` in the section [learn]?"
        );
        assert_eq!(
            refusal("[gate]\nseed = 3"),
            "line 2: unknown key `gate.seed`; did you mean `seed` at the top of the file?"
        );
    }

    #[test]
    fn a_key_like_no_other_gets_no_wild_guess() {
        assert!(refusal("[gate]\nxyzzy = 3").contains("`ludus config show` lists the keys of [gate]"));
    }

    #[test]
    fn a_misspelt_key_of_a_phase_is_named_with_its_line_and_the_nearest_key_of_phases() {
        let phases = "[[phases]]\nfrom_games = 5\n[[phases]]\nfrom_games = 9\nlamda = 0.5";
        assert_eq!(refusal(phases), "line 5: unknown key `phases.lamda`; did you mean `lambda`?");
        let elsewhere = refusal("[[phases]]\nfrom_games = 5\nreplay = 1");
        assert!(elsewhere.ends_with("did you mean `replay` in the section [learn]?"), "{elsewhere}");
        assert!(refusal("from_games = 5").ends_with("did you mean `from_games` in the section [[phases]]?"));
        assert!(refusal("[[phases]]\nxyzzy = 3").ends_with("lists the keys of [[phases]]"));
        let no_list = refusal("[phases]\nfrom_games = 5");
        assert!(no_list.starts_with("line 1: ") && no_list.contains("expected a sequence"), "{no_list}");
    }

    #[test]
    fn a_value_out_of_range_in_a_phase_is_named_with_its_line() {
        let fault = "phases = [{ from_games = 5 }, { from_games = 9,\n lambda = 1.5 }]";
        assert_eq!(refusal(fault), "line 2: `phases.lambda` is 1.5, but it must lie between 0 and 1");
        let fault = refusal("[[phases]]\nfrom_games = 5\n\n[[phases]]\nlambda = 0.5");
        assert_eq!(
            fault,
            "line 4: `phases.from_games` is 0, but it must be above that of the phase before, which is 5"
        );
    }

    #[test]
    fn wrong_types_and_unknown_words_are_named_with_their_line() {
        assert!(refusal("[self_play]\nplies = \"one\"").starts_with("line 2: "));
        let words = refusal("[self_play]\n\nvariance = \"lucky\"");
        assert!(words.starts_with("line 3: ") && words.contains("mirrored"), "{words}");
        assert!(refusal("learn = 3").starts_with("line 1: "));
        assert!(refusal("[seed]\nx = 1").starts_with("line 1: "));
        assert!(refusal("seed = -4").starts_with("line 1: "));
    }

    #[test]
    fn text_that_is_not_toml_is_refused_with_its_line() {
        assert!(refusal("seed = 1\n[learn\n").starts_with("line 2: not valid TOML"));
        assert!(refusal("seed = 1\nseed = 2").starts_with("line 2: "));
    }

    #[test]
    fn a_value_out_of_range_is_named_with_its_line_and_the_range() {
        assert_eq!(
            refusal("[learn]\nlambda = 1.5"),
            "line 2: `learn.lambda` is 1.5, but it must lie between 0 and 1"
        );
        assert!(refusal("[learn]\nstep_size = nan").contains("`learn.step_size` is NaN"));
    }
}
