//! One key set outside a file: by a flag, or by a variable of the environment.

use toml::{Table, Value};

use crate::document::{section_keys, table};
use crate::effective::Origin;
use crate::parse::{PHASES, SECTIONS, nearest, one_line};
use crate::{ConfigError, RunConfig};

/// What the names of variables that set a key begin with: `LUDUS_RUN__LEARN__LAMBDA` sets `learn.lambda`. Two underscores
/// stand for the dot, because keys have single ones in their names; no other variable of Ludus has two.
pub const VARIABLES: &str = "LUDUS_RUN__";

/// A key with its value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    origin: Origin,
    key: String,
    text: String,
}

impl Setting {
    /// Set by a flag; `flag` is what people call it, such as `--set learn.lambda`.
    pub fn by_flag(flag: impl Into<String>, key: impl Into<String>, text: impl Into<String>) -> Self {
        Setting { origin: Origin::Flag(flag.into()), key: key.into(), text: text.into() }
    }

    /// Set by the variable `name`, if it is one that sets a key.
    pub fn by_variable(name: &str, text: impl Into<String>) -> Option<Self> {
        let key = name.strip_prefix(VARIABLES)?.to_lowercase().replace("__", ".");
        Some(Setting { origin: Origin::Variable(name.to_owned()), key, text: text.into() })
    }

    /// The key with its section.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The flag or the variable.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The setting as a table that holds this key alone.
    pub(crate) fn table(&self) -> Result<Table, ConfigError> {
        self.checked().map_err(|reason| self.error(reason))
    }

    pub(crate) fn error(&self, reason: String) -> ConfigError {
        ConfigError::Setting { place: self.origin.to_string(), reason }
    }

    fn checked(&self) -> Result<Table, String> {
        let key = &self.key;
        let (section, name) = key.split_once('.').unwrap_or(("", key));
        if section == PHASES || key == PHASES {
            return Err(format!(
                "phases are set in a file: `ludus config show > run.toml`, edit [[{PHASES}]] and give it with --config"
            ));
        }
        if let Some(keys) = section_keys(key) {
            let first = keys.first().map_or("", |key| key.name);
            return Err(format!(
                "`{key}` is a section: name a key in it, such as {}",
                self.spelt(key, first)
            ));
        }
        let defaults = table(&RunConfig::default());
        let default = match section {
            "" => defaults.get(name),
            section => defaults.get(section).and_then(|section| section.get(name)),
        };
        let default = default.ok_or_else(|| format!("unknown key `{key}`{}", self.hint(section, name)))?;

        let value = value(&self.text, default)?;
        let mut table = Table::from_iter([(name.to_owned(), value)]);
        if !section.is_empty() {
            table = Table::from_iter([(section.to_owned(), Value::Table(table))]);
        }
        // Whether it is of the right type can be said of each alone, and so of the one that is wrong.
        match table.clone().try_into::<RunConfig>() {
            Ok(_) => Ok(table),
            Err(error) => Err(format!("`{key}`: {}", one_line(error.message()))),
        }
    }

    /// What the writer of an unknown key may have meant.
    fn hint(&self, section: &str, name: &str) -> String {
        let known = SECTIONS.iter().any(|(known, keys)| *known == section && keys.is_some());
        let meant = match nearest(name, section) {
            // A section that is misspelt has keys that are not.
            _ if !known && !section.is_empty() => match nearest(section, "") {
                Some(("", section)) if section_keys(section).is_some() => Some((section, name)),
                _ => None,
            },
            meant => meant,
        };
        match meant {
            Some((PHASES, _)) | None => "; `ludus config show` lists every key".into(),
            Some((section, name)) => format!("; did you mean {}?", self.spelt(section, name)),
        }
    }

    /// How a key is written where this one was.
    fn spelt(&self, section: &str, name: &str) -> String {
        let key = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        match self.origin {
            Origin::Variable(_) => format!("{VARIABLES}{}", key.replace('.', "__").to_uppercase()),
            _ => format!("`{key}`"),
        }
    }
}

/// Reads a value as what `default` is: words need no quotes.
fn value(text: &str, default: &Value) -> Result<Value, String> {
    // One line, so that it cannot bring keys of its own along.
    let line = text.trim();
    let read = toml::from_str::<Table>(&format!("value = {line}")).ok().filter(|_| !line.contains('\n'));
    let value = read.and_then(|mut table| table.remove("value"));
    match (default, value) {
        (Value::String(_), Some(Value::String(word))) => Ok(Value::String(word)),
        (Value::String(_), _) => Ok(Value::String(text.to_owned())),
        (_, Some(value)) => Ok(value),
        (default, None) => {
            let wanted = match default {
                Value::Integer(_) => "a whole number",
                Value::Float(_) => "a number",
                _ => "true or false",
            };
            Err(format!("{line:?} is not {wanted}, such as {default}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_flag(key: &str, text: &str) -> Result<Table, String> {
        Setting::by_flag(format!("--set {key}"), key, text).table().map_err(|error| error.to_string())
    }

    fn refusal(key: &str, text: &str) -> String {
        by_flag(key, text).expect_err("refused")
    }

    #[test]
    fn values_are_read_as_what_their_key_is_and_words_need_no_quotes() {
        let toml = |key, text| by_flag(key, text).expect("good").to_string().trim_end().to_owned();
        assert_eq!(toml("learn.lambda", "0.9"), "[learn]\nlambda = 0.9");
        assert_eq!(toml("seed", " 7 "), "seed = 7");
        assert_eq!(toml("gate.luck", "true"), "[gate]\nluck = true");
        assert_eq!(toml("self_play.variance", "luck"), "[self_play]\nvariance = \"luck\"");
        assert_eq!(toml("network.inputs", "\"ludus-2\""), "[network]\ninputs = \"ludus-2\"");
        assert_eq!(toml("gate.benchmark", ""), "[gate]\nbenchmark = \"\"");
        // A number that is a name, and a whole one where a fraction may stand.
        assert_eq!(toml("gate.benchmark", "7"), "[gate]\nbenchmark = \"7\"");
        let whole: RunConfig =
            by_flag("learn.lambda", "1").expect("good").try_into().expect("a configuration");
        assert_eq!(whole.learn.lambda, 1.0);
    }

    #[test]
    fn what_is_wrong_is_said_with_the_flag_and_what_would_be_right() {
        assert_eq!(
            refusal("learn.lamda", "0.5"),
            "--set learn.lamda: unknown key `learn.lamda`; did you mean `learn.lambda`?"
        );
        assert!(refusal("lambda", "0.5").ends_with("did you mean `learn.lambda`?"));
        assert!(refusal("gate.seed", "0.5").ends_with("did you mean `seed`?"));
        assert!(refusal("lern.lambda", "0.5").ends_with("did you mean `learn.lambda`?"));
        assert!(refusal("gate.xyzzy", "0.5").ends_with("`ludus config show` lists every key"));
        assert!(refusal("", "").ends_with("`ludus config show` lists every key"));
        assert!(refusal("learn", "3").contains("name a key in it, such as `learn.optimizer`"));
        for phases in ["phases", "phases.1.lambda", "phases.lambda"] {
            assert!(refusal(phases, "0.5").contains("phases are set in a file"));
        }
        assert!(refusal("learn.lambda", "much").ends_with("\"much\" is not a number, such as 0.7"));
        assert!(refusal("learn.batch", "0.5").contains("`learn.batch`: invalid type: floating point"));
        assert!(refusal("self_play.variance", "lucky").contains("mirrored"));
        assert!(refusal("learn.lambda", "0.5\nbatch = 3").contains("is not a number"));
    }

    #[test]
    fn variables_are_named_after_their_keys_with_two_underscores_for_the_dot() {
        let set = |name, text| Setting::by_variable(name, text).expect("one that sets a key").table();
        let table = set("LUDUS_RUN__SELF_PLAY__EXPLORE_MARGIN", "0.5").expect("good");
        assert_eq!(table["self_play"]["explore_margin"].as_float(), Some(0.5));
        assert_eq!(set("LUDUS_RUN__SEED", "3").expect("good")["seed"].as_integer(), Some(3));
        assert_eq!(
            set("LUDUS_RUN__LEARN__LAMDA", "1").expect_err("refused").to_string(),
            "LUDUS_RUN__LEARN__LAMDA: unknown key `learn.lamda`; did you mean LUDUS_RUN__LEARN__LAMBDA?"
        );
        for other in ["LUDUS_COORDINATOR", "LUDUS_RUN", "LUDUS_TLS_CA"] {
            assert_eq!(Setting::by_variable(other, "x"), None);
        }
    }
}
