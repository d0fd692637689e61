//! Who may do what: tokens, their roles, and what becomes of the ones that misbehave.
//!
//! A pure core: the secrets themselves are nowhere in it, only their hashes, and it reads no clock. Without any token the
//! folder is open to whoever reaches the port; with the first one, revoked or not, everybody must show one.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::CoordinatorError;

/// Identifies a token in this folder; people use its name.
pub(crate) type TokenId = i64;

/// In place of a token's id: nobody had to show one.
pub(crate) const NOBODY: TokenId = 0;

/// Refusals that are forgiven to anybody, and one more for so many accepted games: a broken machine or a hostile worker is
/// far beyond, an honest one has none.
const FORGIVEN: u64 = 20;
const GAMES_A_FAULT: u64 = 1000;

/// What the holder of a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// May do everything.
    Admin,
    /// Learns from games and publishes versions.
    Trainer,
    /// Plays games.
    Worker,
    /// Looks at runs and downloads weights, as everybody with a token may.
    Read,
}

/// Whether a token opens the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Active,
    /// For good.
    Revoked,
    /// Too much of it was refused.
    Suspended,
    /// An audit found that it forges games.
    Quarantined,
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub id: TokenId,
    pub name: String,
    pub role: Role,
    pub hash: [u8; 32],
    /// Seconds since 1970.
    pub created_at: u64,
    pub standing: Standing,
    /// Why it does not stand as it did.
    pub reason: String,
    /// Games accepted under it.
    pub accepted: u64,
    /// Refusals since it was made or last let in again.
    pub faults: u64,
}

/// All tokens there ever were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens(pub BTreeMap<TokenId, Token>);

/// Who is at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A part of the coordinator's own process.
    House,
    /// There are no tokens, so it may be anybody.
    Anyone,
    /// The holder of this token.
    Holder(TokenId),
}

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing.
    Nothing,
    /// Any token.
    Token,
    /// A token of this role, or an admin's.
    Role(Role),
}

/// Why somebody stays outside.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unadmitted {
    /// No token was shown.
    #[error("this coordinator asks for a token: give one by --token-file or in LUDUS_TOKEN")]
    NoToken,
    /// Nobody made this token.
    #[error("the coordinator does not know this token: ask its owner for one made by `ludus token create`")]
    Unknown,
    /// It counts no more.
    #[error("the token {name} was revoked: ask the coordinator's owner for another")]
    Revoked {
        /// The token.
        name: String,
    },
    /// It is shut out until somebody has looked.
    #[error(
        "the token {name} is {state} ({reason}): its owner can let it in again by `ludus token lift {name}`"
    )]
    Barred {
        /// The token.
        name: String,
        /// Suspended or quarantined.
        state: String,
        /// Why.
        reason: String,
    },
    /// It is good, and not for this.
    #[error("the token {name} is for the role {has}, and this needs the role {needs}: use another token")]
    Role {
        /// The token.
        name: String,
        /// Its role.
        has: Role,
        /// What is needed.
        needs: Role,
    },
}

impl Unadmitted {
    /// The label of the metric.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Unadmitted::NoToken => "no-token",
            Unadmitted::Unknown => "unknown-token",
            Unadmitted::Revoked { .. } => "revoked-token",
            Unadmitted::Barred { .. } => "suspended-token",
            Unadmitted::Role { .. } => "wrong-role",
        }
    }
}

impl Caller {
    /// The token that answers for what the caller does; [`NOBODY`] without one.
    pub(crate) fn token(self) -> TokenId {
        match self {
            Caller::House | Caller::Anyone => NOBODY,
            Caller::Holder(token) => token,
        }
    }
}

impl Tokens {
    /// Whether everybody has to show a token.
    pub(crate) fn required(&self) -> bool {
        !self.0.is_empty()
    }

    /// Who has shown `secret`, if that is enough for `need`.
    pub(crate) fn admit(&self, secret: Option<&str>, need: Need) -> Result<Caller, Unadmitted> {
        if need == Need::Nothing || !self.required() {
            return Ok(Caller::Anyone);
        }
        let hash = hash(secret.ok_or(Unadmitted::NoToken)?);
        // What can be learnt from how long this takes is about hashes, and of no use.
        let token = self.0.values().find(|token| token.hash == hash).ok_or(Unadmitted::Unknown)?;
        token.stands()?;
        match need {
            Need::Role(needs) if token.role != needs && token.role != Role::Admin => {
                Err(Unadmitted::Role { name: token.name.clone(), has: token.role, needs })
            }
            _ => Ok(Caller::Holder(token.id)),
        }
    }

    /// Whether somebody who was let in may still be here.
    pub(crate) fn still_stands(&self, caller: Caller) -> Result<(), Unadmitted> {
        match caller {
            Caller::House => Ok(()),
            Caller::Anyone if self.required() => Err(Unadmitted::NoToken),
            Caller::Anyone => Ok(()),
            Caller::Holder(id) => self.0.get(&id).ok_or(Unadmitted::Unknown)?.stands(),
        }
    }

    pub(crate) fn named(&self, name: &str) -> Result<&Token, CoordinatorError> {
        self.0.values().find(|token| token.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.0.values().map(|token| token.name.as_str()).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            CoordinatorError::NoToken { name: name.into(), known }
        })
    }
}

impl Token {
    fn stands(&self) -> Result<(), Unadmitted> {
        let name = self.name.clone();
        match self.standing {
            Standing::Active => Ok(()),
            Standing::Revoked => Err(Unadmitted::Revoked { name }),
            Standing::Suspended | Standing::Quarantined => {
                let state = self.standing.to_string();
                Err(Unadmitted::Barred { name, state, reason: self.reason.clone() })
            }
        }
    }

    /// Counts refusals against it. `true` when that suspends it.
    pub(crate) fn fault(&mut self, faults: u64, reason: &str) -> bool {
        self.faults += faults;
        let too_many = self.faults > FORGIVEN + self.accepted / GAMES_A_FAULT;
        if !too_many || self.role != Role::Worker || self.standing != Standing::Active {
            return false;
        }
        self.standing = Standing::Suspended;
        self.reason = format!("{} refusals, the last for {reason}", self.faults);
        true
    }
}

/// What is stored of a secret.
pub(crate) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// A new secret of 256 random bits.
pub(crate) fn new_secret() -> String {
    let bits: [u8; 32] = rand::random();
    bits.iter().fold(String::from("ludus_"), |text, byte| format!("{text}{byte:02x}"))
}

/// The words of an enum of which each variant has one.
macro_rules! words {
    ($kind:ident, $what:literal, $($variant:ident = $word:literal),+) => {
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $($kind::$variant => $word),+ })
            }
        }

        impl FromStr for $kind {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok($kind::$variant),)+
                    _ => Err(format!(concat!("{:?} is no ", $what, "; they are {}"), text, [$($word),+].join(", "))),
                }
            }
        }
    };
}

words!(Role, "role", Admin = "admin", Trainer = "trainer", Worker = "worker", Read = "read");
words!(
    Standing,
    "state of a token",
    Active = "active",
    Revoked = "revoked",
    Suspended = "suspended",
    Quarantined = "quarantined"
);

#[cfg(test)]
mod tests {
    use super::*;

    fn token(id: TokenId, role: Role) -> Token {
        Token {
            id,
            name: format!("{role}-{id}"),
            role,
            hash: hash(&format!("secret-{id}")),
            created_at: 1,
            standing: Standing::Active,
            reason: String::new(),
            accepted: 0,
            faults: 0,
        }
    }

    fn tokens(roles: &[Role]) -> Tokens {
        Tokens((1..).zip(roles).map(|(id, &role)| (id, token(id, role))).collect())
    }

    #[test]
    fn without_tokens_everybody_may_do_everything_and_with_a_revoked_one_nobody() {
        let mut tokens = Tokens::default();
        assert_eq!(tokens.admit(None, Need::Role(Role::Admin)), Ok(Caller::Anyone));
        tokens = self::tokens(&[Role::Worker]);
        tokens.0.get_mut(&1).expect("there").standing = Standing::Revoked;
        assert_eq!(tokens.admit(None, Need::Token), Err(Unadmitted::NoToken));
        assert!(matches!(tokens.admit(Some("secret-1"), Need::Token), Err(Unadmitted::Revoked { .. })));
        assert_eq!(tokens.admit(None, Need::Nothing), Ok(Caller::Anyone));
        assert_eq!(tokens.still_stands(Caller::Anyone), Err(Unadmitted::NoToken));
        assert_eq!(tokens.still_stands(Caller::House), Ok(()));
    }

    #[test]
    fn a_role_opens_its_own_doors_and_admins_all() {
        let roles = [Role::Admin, Role::Trainer, Role::Worker, Role::Read];
        let tokens = tokens(&roles);
        for (at, has) in roles.into_iter().enumerate() {
            let secret = format!("secret-{}", at + 1);
            assert!(tokens.admit(Some(&secret), Need::Token).is_ok());
            for needs in roles {
                let admitted = tokens.admit(Some(&secret), Need::Role(needs)).is_ok();
                assert_eq!(admitted, has == needs || has == Role::Admin, "{has} at the door of {needs}");
            }
        }
        assert_eq!(tokens.admit(Some("secret-9"), Need::Token), Err(Unadmitted::Unknown));
    }

    #[test]
    fn a_worker_is_suspended_for_its_refusals_and_the_more_it_has_done_the_more_it_is_forgiven() {
        let mut worker = token(1, Role::Worker);
        assert!(!worker.fault(FORGIVEN, "bad-digest"));
        assert!(worker.fault(1, "bad-digest"));
        assert!(worker.reason.contains("bad-digest"));
        assert!(!worker.fault(1, "bad-digest"), "told once");
        let mut old = Token { accepted: 100 * GAMES_A_FAULT, ..token(2, Role::Worker) };
        assert!(!old.fault(FORGIVEN + 100, "bad-digest"));
        assert!(old.fault(1, "bad-digest"));
        assert!(!token(3, Role::Admin).fault(1_000_000, "malformed"), "a typing mistake shuts no owner out");
    }

    #[test]
    fn secrets_are_long_and_never_the_same() {
        let (one, two) = (new_secret(), new_secret());
        assert!(one != two && one.len() == "ludus_".len() + 64);
    }
}
