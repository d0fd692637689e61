//! The token that a command shows to its coordinator. It comes from a file or the environment, never from an argument:
//! every user of a machine can read those.

use std::path::PathBuf;

use anyhow::{Context, Result};
use ludus_proto::Bearer;

use crate::exit::BadConfiguration;

/// The variable that holds a token.
const VARIABLE: &str = "LUDUS_TOKEN";

/// Where the token is.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TokenArgs {
    /// File with the token to show to the coordinator; LUDUS_TOKEN may hold the token itself
    #[arg(long, value_name = "FILE", env = "LUDUS_TOKEN_FILE")]
    token_file: Option<PathBuf>,
}

impl TokenArgs {
    /// Whether one was given.
    pub fn is_given(&self) -> bool {
        self.token_file.is_some() || std::env::var_os(VARIABLE).is_some()
    }

    /// The token, or none where none was given.
    pub fn bearer(&self) -> Result<Bearer> {
        let (place, text) = match &self.token_file {
            Some(path) => {
                let place = format!("the token file {}", path.display());
                let text = std::fs::read_to_string(path).with_context(|| place.clone())?;
                (place, text)
            }
            None => match std::env::var(VARIABLE) {
                Ok(text) => (VARIABLE.to_owned(), text),
                Err(std::env::VarError::NotPresent) => return Ok(Bearer::none()),
                Err(std::env::VarError::NotUnicode(_)) => (VARIABLE.to_owned(), String::new()),
            },
        };
        read(&place, &text)
    }
}

/// A token out of the text found at `place`. What is wrong with it is said without showing it.
pub fn read(place: &str, text: &str) -> Result<Bearer> {
    let token = text.trim();
    if token.is_empty() || token.contains(|c: char| !c.is_ascii_graphic()) {
        let wrong =
            format!("{place} does not hold a token: it is one word, as printed by `ludus token create`");
        return Err(BadConfiguration(wrong).into());
    }
    Ok(Bearer::new(token)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word_and_no_message_shows_it() {
        read("x", " ludus_0123\n").expect("a token");
        for wrong in ["", " \n", "two words", "wörd"] {
            let error = read("the file f", wrong).expect_err("no token").to_string();
            assert!(
                error.contains("the file f") && (wrong.trim().is_empty() || !error.contains(wrong)),
                "{error}"
            );
        }
        let args = TokenArgs { token_file: Some("/nowhere/token".into()) };
        assert!(format!("{:#}", args.bearer().expect_err("no file")).contains("/nowhere/token"));
    }
}
