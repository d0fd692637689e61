//! The game stream: what carries accepted games from the coordinator to the trainer.
//!
//! Entries are opaque bytes. Delivery is at least once: an entry that was read and not acknowledged is read again, by
//! this consumer after a restart or by another after a claim, so readers recognise what they have seen.

use std::future::Future;
use std::pin::Pin;

/// Identifies an entry within its stream; ids grow in the order of appending.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryId(pub String);

/// An entry as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its id, to acknowledge it by.
    pub id: EntryId,
    /// What was appended.
    pub payload: Vec<u8>,
    /// How often it has been delivered, this time included.
    pub deliveries: u32,
}

/// A boxed future, so that streams can be chosen at run time.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, StreamError>> + Send + 'a>>;

/// The stream of one run's games: one writer (the coordinator), one consumer group (its trainers).
pub trait GameStream: Send + Sync {
    /// Appends entries in order; when it resolves they are as durable as the stream makes them.
    fn append(&self, payloads: Vec<Vec<u8>>) -> Boxed<'_, ()>;
    /// Reads up to `max` entries as `consumer`. The first reads after `open` return what this consumer read earlier
    /// and never acknowledged, then what dead consumers left behind, then new entries. Empty after `patience` without
    /// any.
    fn read<'a>(
        &'a self,
        consumer: &'a str,
        max: usize,
        patience: std::time::Duration,
    ) -> Boxed<'a, Vec<Entry>>;
    /// Acknowledges entries: they are never delivered again, and the stream may forget them.
    fn acknowledge<'a>(&'a self, ids: &'a [EntryId]) -> Boxed<'a, ()>;
    /// Moves an entry that keeps failing to the dead-letter stream.
    fn bury<'a>(&'a self, entry: &'a Entry, reason: &'a str) -> Boxed<'a, ()>;
    /// Depths: entries not yet acknowledged, and entries buried.
    fn depths(&self) -> Boxed<'_, Depths>;
}

/// How full a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depths {
    /// Entries appended and not yet acknowledged.
    pub waiting: u64,
    /// Of those, entries delivered to a consumer.
    pub pending: u64,
    /// Entries in the dead-letter stream.
    pub buried: u64,
}

/// A stream that does not answer as it should.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// Redis cannot be reached or refuses.
    #[error("Redis at {url}: {source}")]
    Redis {
        /// The address, without credentials.
        url: String,
        /// What Redis said.
        source: redis::RedisError,
    },
    /// The local stream's file cannot be used.
    #[error("local stream {path}: {source}")]
    Local {
        /// The file.
        path: String,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}
