//! The game stream: what carries accepted games from the coordinator to the trainer.
//!
//! A [`GameStream`] is an append-only list of opaque entries with one writer and one group of consumers. Delivery is
//! **at least once**: an entry that was read and not acknowledged is read again, by the same consumer after a restart
//! or by another one that claims it, and an append whose answer got lost is made again. Readers therefore recognise
//! what they have had (games are numbered). Nothing is forgotten before it is acknowledged.
//!
//! Two streams keep these promises and pass one test suite: [`RedisStream`], for processes on many machines, and
//! [`LocalStream`], a file for one machine without a Redis. A [`StreamHome`] says which, and opens it.
//!
//! Read in this order: this file, [`home`](StreamHome), `desk` (what the readers of both have in common), `local` (the
//! rules in plain SQL), `redis_stream`, `redis_reader`, `redis_link` (the same rules in Redis, and a connection that
//! comes back), [`RedisFacts`] (whether games are safe in one).

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

mod desk;
mod error;
mod home;
mod local;
mod name;
mod redis_facts;
mod redis_link;
mod redis_reader;
mod redis_stream;

pub use error::StreamError;
pub use home::StreamHome;
pub use local::LocalStream;
pub use name::{new_stream, original_stream, stream_of_copy};
pub use redis_facts::{REDIS_NEEDED, RedisFacts};
pub use redis_stream::RedisStream;

/// A consumer that has not read for this long is dead: its entries go to the next consumer that reads.
///
/// Reading is the sign of life, so this must exceed the longest time a living trainer spends between two reads.
pub const CLAIM_AFTER: Duration = Duration::from_secs(60);

/// Identifies an entry within its stream; only the stream that gave it understands it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryId(pub String);

/// An entry as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its id, to acknowledge it by.
    pub id: EntryId,
    /// What was appended.
    pub payload: Vec<u8>,
    /// How often it has been delivered, this time included. One that comes back again and again kills its reader
    /// before it is acknowledged: [bury](GameStream::bury) it.
    pub deliveries: u32,
}

/// A boxed future, so that streams can be chosen at run time.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, StreamError>> + Send + 'a>>;

/// The stream of one run's games: one writer (the coordinator), one consumer group (its trainers).
///
/// An error means that the stream stayed away although the call waited for it with patience; every call may simply be
/// made again later.
pub trait GameStream: Send + Sync {
    /// Appends entries in order. When it resolves, they are as durable as the stream makes them (the local one: on
    /// disk; Redis: as its `appendonly` and `appendfsync` say). After an error some of them may have been appended.
    fn append(&self, payloads: Vec<Vec<u8>>) -> Boxed<'_, ()>;

    /// Reads up to `max` entries as `consumer`, oldest first. The first reads after opening return what this consumer
    /// read earlier and never acknowledged; then come entries of dead consumers, then new ones. Empty after `patience`
    /// without any.
    ///
    /// May be dropped before it resolves: what was on its way is returned by the next read.
    fn read<'a>(&'a self, consumer: &'a str, max: usize, patience: Duration) -> Boxed<'a, Vec<Entry>>;

    /// Acknowledges entries: they are never delivered again, and the stream forgets them when no older one is
    /// waiting. Ids that the stream does not know are ignored.
    fn acknowledge<'a>(&'a self, ids: &'a [EntryId]) -> Boxed<'a, ()>;

    /// Moves an entry to the dead letters, where it is kept with the reason and delivered to nobody.
    fn bury<'a>(&'a self, entry: &'a Entry, reason: &'a str) -> Boxed<'a, ()>;

    /// How full the stream is.
    fn depths(&self) -> Boxed<'_, Depths>;
}

/// How full a stream is, in entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depths {
    /// Appended and not yet acknowledged.
    pub waiting: u64,
    /// Of those, delivered to a consumer.
    pub pending: u64,
    /// In the dead letters.
    pub buried: u64,
    /// Found gone although they were never acknowledged: somebody trimmed or deleted from the stream. Always 0 unless
    /// data was lost.
    pub lost: u64,
}
