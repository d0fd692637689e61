//! What can go wrong with a stream.

use redis::{ErrorKind, RedisError};

/// A stream that cannot be opened, or does not answer as it should.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The run's name cannot be part of a stream's name.
    #[error("{name:?} cannot name a stream: a name has 1 to 96 letters, digits, '-', '_' or '.'")]
    Name {
        /// The name.
        name: String,
    },
    /// Not an address of a Redis.
    #[error(
        "{address:?} is not a Redis address ({reason}): write redis://HOST:PORT or redis://USER:PASSWORD@HOST:PORT/DB"
    )]
    Address {
        /// What was given, without credentials.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing answers at the address.
    #[error(
        "Redis at {address} does not answer ({cause}): start it there (`redis-server --appendonly yes`) or correct the \
         address; on one machine `ludus train` needs no Redis"
    )]
    Unreachable {
        /// The address, without credentials.
        address: String,
        /// What happened to the connection.
        cause: RedisError,
    },
    /// Redis answers, but with a refusal.
    #[error("Redis at {address} refuses ({cause}){advice}")]
    Refused {
        /// The address, without credentials.
        address: String,
        /// What Redis said.
        cause: RedisError,
        /// What to do about it, when that is known.
        advice: &'static str,
    },
    /// The local stream's folder cannot be made.
    #[error(
        "cannot make the folder {path} for the stream ({cause}): choose another with --dir or make it writable"
    )]
    Folder {
        /// The folder.
        path: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The local stream's file cannot be used.
    #[error(
        "cannot use the stream's file {path} ({cause}): check that the disk has room and the file is writable"
    )]
    Local {
        /// The file.
        path: String,
        /// What SQLite said.
        cause: rusqlite::Error,
    },
    /// The local stream's file was written by a program that knows more than this one.
    #[error(
        "the stream's file {path} has format {found}, this program reads {known}: use the newer ludus that wrote it"
    )]
    LocalFormat {
        /// The file.
        path: String,
        /// The file's format.
        found: i64,
        /// The format of this program.
        known: i64,
    },
}

impl StreamError {
    /// What a Redis at `address` did wrong.
    pub(crate) fn from_redis(address: &str, cause: RedisError) -> Self {
        let address = address.to_owned();
        if cause.is_io_error() {
            return StreamError::Unreachable { address, cause };
        }
        let advice = match (cause.kind(), cause.code()) {
            (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => {
                ": put the right user and password into the address"
            }
            (_, Some("NOPERM")) => ": let this user use all stream commands on games:*, dead:* and lost:*",
            (_, Some("OOM")) => ": it is full; give it more memory (maxmemory), and never an eviction policy",
            (_, Some("MISCONF")) => ": it cannot write to its disk; see its log",
            (_, Some("WRONGTYPE")) => ": the key belongs to another program; use another database number",
            _ => "",
        };
        StreamError::Refused { address, cause, advice }
    }
}
