//! Tokens in the coordinator's hands: who comes in, who is made, revoked, suspended, let in again.

use ludus_proto::v1::TokenInfo;
use rusqlite::Result as SqlResult;

use crate::book::{Book, Run};
use crate::coordinator::Shared;
use crate::store::write::Writer;
use crate::tokens::{self, Caller, Need, Role, Standing, Token, TokenId};
use crate::{Coordinator, CoordinatorError, clock};

impl Coordinator {
    /// Makes a token and gives its secret, which is stored nowhere: this is the only time that it is known. From the first
    /// token on everybody must show one.
    pub fn create_token(&self, name: &str, role: Role) -> Result<String, CoordinatorError> {
        check_name(name)?;
        let secret = tokens::new_secret();
        let mut state = self.shared.lock()?;
        let known = &state.book().tokens.0;
        if known.values().any(|token| token.name == name) {
            return Err(CoordinatorError::TokenExists { name: name.into() });
        }
        let token = Token {
            id: known.keys().next_back().map_or(1, |last| last + 1),
            name: name.into(),
            role,
            hash: tokens::hash(&secret),
            created_at: clock::now() / 1000,
            standing: Standing::Active,
            reason: String::new(),
            accepted: 0,
            faults: 0,
        };
        state.step(|book, writer| {
            writer.new_token(&token)?;
            book.tokens.0.insert(token.id, token);
            Ok(())
        })?;
        Ok(secret)
    }

    /// Every token there ever was, oldest first.
    pub fn tokens(&self) -> Result<Vec<TokenInfo>, CoordinatorError> {
        Ok(self.shared.lock()?.book().tokens.0.values().map(info).collect())
    }

    /// Ends a token for good. What its holder has in hand is handed out again at once.
    pub fn revoke_token(&self, name: &str) -> Result<(), CoordinatorError> {
        self.shared.change_token(name, |token| {
            token.standing = Standing::Revoked;
            token.reason.clear();
            Ok(())
        })
    }

    /// Lets a suspended or quarantined token in again, with a clean sheet. What was marked stays marked.
    pub fn lift_token(&self, name: &str) -> Result<(), CoordinatorError> {
        self.shared.change_token(name, |token| match token.standing {
            Standing::Revoked => Err(CoordinatorError::Request(format!(
                "the token {} was revoked, which is for good: create another",
                token.name
            ))),
            _ => {
                token.standing = Standing::Active;
                token.reason.clear();
                token.faults = 0;
                Ok(())
            }
        })
    }

    /// A secret that opens every door of this coordinator as long as it lives, for programs of its own process and for
    /// those who may read its folder.
    pub fn house_token(&self) -> &str {
        &self.shared.house
    }
}

impl Shared {
    /// Who has shown `secret`, if that is enough for `need`.
    pub(crate) fn admit(&self, secret: Option<&str>, need: Need) -> Result<Caller, CoordinatorError> {
        // Compared by their hashes, so that the time it takes says nothing.
        if secret.is_some_and(|secret| tokens::hash(secret) == tokens::hash(&self.house)) {
            return Ok(Caller::House);
        }
        Ok(self.lock()?.book().tokens.admit(secret, need)?)
    }

    /// Whether somebody who was let in may still be here.
    pub(crate) fn still_stands(&self, caller: Caller) -> Result<(), CoordinatorError> {
        Ok(self.lock()?.book().tokens.still_stands(caller)?)
    }

    /// Counts a refused request against a token.
    pub(crate) fn fault(&self, token: TokenId, reason: &str) -> Result<(), CoordinatorError> {
        self.lock()?.step(|book, writer| fault(book, writer, token, 1, reason))
    }

    /// Counts a request that got no answer.
    pub(crate) fn refused_request(&self, reason: &'static str) {
        let mut refused = self.refused_requests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *refused.entry(reason).or_default() += 1;
    }

    fn change_token(
        &self,
        name: &str,
        change: impl FnOnce(&mut Token) -> Result<(), CoordinatorError>,
    ) -> Result<(), CoordinatorError> {
        let mut state = self.lock()?;
        let mut token = state.book().tokens.named(name)?.clone();
        change(&mut token)?;
        state.step(|book, writer| put(book, writer, token))
    }
}

/// Counts refusals against a token, and shuts it out when they are too many.
pub(crate) fn fault(
    book: &mut Book,
    writer: &Writer<'_>,
    token: TokenId,
    faults: u64,
    reason: &str,
) -> SqlResult<()> {
    let Some(mut token) = book.tokens.0.get(&token).cloned() else { return Ok(()) };
    if token.fault(faults, reason) {
        tracing::warn!(token = token.name, "a token is suspended: {}", token.reason);
    }
    put(book, writer, token)
}

/// Counts games accepted under a token.
pub(crate) fn credit(book: &mut Book, writer: &Writer<'_>, token: TokenId, games: u32) -> SqlResult<()> {
    let Some(token) = book.tokens.0.get_mut(&token) else { return Ok(()) };
    token.accepted += u64::from(games);
    writer.token(token)
}

/// Shuts a token out because an audit found that it forges games.
pub(crate) fn quarantine(
    book: &mut Book,
    writer: &Writer<'_>,
    token: TokenId,
    reason: &str,
) -> SqlResult<()> {
    let Some(mut token) = book.tokens.0.get(&token).cloned() else { return Ok(()) };
    if token.standing != Standing::Revoked {
        token.standing = Standing::Quarantined;
        token.reason = reason.into();
    }
    put(book, writer, token)
}

/// Writes down what has changed of a token. One that is shut out holds nothing any more.
fn put(book: &mut Book, writer: &Writer<'_>, token: Token) -> SqlResult<()> {
    writer.token(&token)?;
    if token.standing != Standing::Active {
        for series in book.runs.values_mut().flat_map(Run::series_mut) {
            for lease in series.book.dispossess(token.id) {
                writer.series(series, lease)?;
            }
        }
    }
    book.tokens.0.insert(token.id, token);
    Ok(())
}

fn info(token: &Token) -> TokenInfo {
    TokenInfo {
        name: token.name.clone(),
        role: token.role.to_string(),
        state: token.standing.to_string(),
        reason: token.reason.clone(),
        created_at: token.created_at,
        accepted: token.accepted,
        faults: token.faults,
    }
}

fn check_name(name: &str) -> Result<(), CoordinatorError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    if (1..=64).contains(&name.len()) && name.chars().all(fits) {
        return Ok(());
    }
    Err(CoordinatorError::Request(format!(
        "{name:?} cannot name a token: use 1 to 64 letters, digits, '-', '_', '.' or '@'"
    )))
}
