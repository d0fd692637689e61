//! The stream in Redis: one stream and one consumer group a run.
//!
//! Keys of a run share a hash tag, so that a Redis Cluster keeps them on one node: `games:{RUN}` is the stream,
//! `dead:{RUN}` the stream of dead letters, `lost:{RUN}` counts entries that vanished. Needs Redis 7.0, whose
//! XAUTOCLAIM names vanished entries.
//!
//! The stream is trimmed by MINID below the oldest entry that is not acknowledged, never by length: a length says
//! nothing about what was read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::streams::{StreamInfoGroupsReply, StreamPendingReply};
use redis::{ErrorKind, Pipeline, RedisError, ServerErrorKind, pipe};

use crate::desk::Desk;
use crate::redis_link::{Link, Retries};
use crate::redis_reader::RedisReader;
use crate::{Boxed, CLAIM_AFTER, Depths, Entry, EntryId, GameStream, StreamError, name};

/// The consumer group of a run's trainers.
pub(crate) const GROUP: &str = "trainers";
/// The field of an entry that holds the payload.
pub(crate) const PAYLOAD: &str = "p";
/// Commands sent together: XADD one by one is 20 times slower, and longer pipelines gain nothing.
const PIPELINE: usize = 64;
/// Ids in one XACK.
const ACKNOWLEDGE: usize = 1000;

/// A run's stream in Redis.
pub struct RedisStream {
    redis: Redis,
    desk: Desk<RedisReader>,
    claim_after: Duration,
}

/// What the stream and its readers share.
#[derive(Clone)]
pub(crate) struct Redis {
    pub(crate) link: Link,
    pub(crate) keys: Arc<Keys>,
    /// Entries that were read here and not acknowledged yet, with the consumer that has them. They are never returned
    /// twice by one open stream, and kept from being claimed by others while their consumer reads.
    pub(crate) held: Arc<Mutex<HashMap<EntryId, Arc<str>>>>,
}

/// The keys of a run.
pub(crate) struct Keys {
    pub(crate) games: String,
    pub(crate) dead: String,
    pub(crate) lost: String,
}

impl RedisStream {
    /// Opens the stream of `run` in the Redis at `url` and makes its consumer group when there is none. Does not wait
    /// for a Redis that is not there.
    pub async fn open(url: &str, run: &str) -> Result<Self, StreamError> {
        name::check(run)?;
        let keys = Keys {
            games: format!("games:{{{run}}}"),
            dead: format!("dead:{{{run}}}"),
            lost: format!("lost:{{{run}}}"),
        };
        let redis = Redis { link: Link::new(url)?, keys: Arc::new(keys), held: Arc::default() };
        let mut retries = Retries::new();
        while let Err(error) = redis.make_group().await {
            // A Redis that loads its data is worth waiting for; one that is not there is the user's to start.
            if error.is_io_error() {
                return Err(redis.link.error(error));
            }
            retries.wait_after(error).await.map_err(|error| redis.link.error(error))?;
        }
        Ok(RedisStream { redis, desk: Desk::new(), claim_after: CLAIM_AFTER })
    }

    /// The same stream with another idea of when a consumer is dead.
    pub fn with_claim_after(mut self, claim_after: Duration) -> Self {
        self.claim_after = claim_after;
        self
    }

    async fn append_all(&self, payloads: Vec<Vec<u8>>) -> Result<(), StreamError> {
        for chunk in payloads.chunks(PIPELINE) {
            let mut commands = Pipeline::with_capacity(chunk.len());
            for payload in chunk {
                commands.cmd("XADD").arg(&self.redis.keys.games).arg("*").arg(PAYLOAD).arg(payload).ignore();
            }
            self.redis.ask::<()>(&commands).await?;
        }
        Ok(())
    }

    async fn acknowledge_all(&self, ids: &[EntryId]) -> Result<(), StreamError> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut commands = pipe();
        for chunk in ids.chunks(ACKNOWLEDGE) {
            commands.cmd("XACK").arg(&self.redis.keys.games).arg(GROUP);
            for id in chunk {
                commands.arg(&id.0);
            }
            commands.ignore();
        }
        self.redis.ask::<()>(&commands).await?;
        self.forget(ids);
        self.trim().await
    }

    async fn bury_one(&self, entry: &Entry, reason: &str) -> Result<(), StreamError> {
        let keys = &self.redis.keys;
        let mut commands = pipe();
        commands.atomic();
        commands.cmd("XADD").arg(&keys.dead).arg("*").arg(PAYLOAD).arg(&entry.payload);
        commands.arg("reason").arg(reason).arg("entry").arg(&entry.id.0);
        commands.arg("deliveries").arg(entry.deliveries).ignore();
        commands.cmd("XACK").arg(&keys.games).arg(GROUP).arg(&entry.id.0).ignore();
        self.redis.ask::<()>(&commands).await?;
        self.forget(std::slice::from_ref(&entry.id));
        self.trim().await
    }

    async fn measure(&self) -> Result<Depths, StreamError> {
        let keys = &self.redis.keys;
        let mut commands = pipe();
        commands.cmd("XINFO").arg("GROUPS").arg(&keys.games).cmd("XLEN").arg(&keys.games);
        commands.cmd("XLEN").arg(&keys.dead).cmd("GET").arg(&keys.lost);
        let (groups, length, buried, lost): (StreamInfoGroupsReply, u64, u64, Option<u64>) =
            self.redis.ask(&commands).await?;
        let group = groups.groups.into_iter().find(|group| group.name == GROUP).unwrap_or_default();
        let pending = group.pending as u64;
        // Redis does not know the lag when somebody deleted entries from the middle of the stream; its length is then
        // the nearest bound from above.
        let waiting = group.lag.map_or(length, |lag| lag as u64 + pending);
        Ok(Depths { waiting, pending, buried, lost: lost.unwrap_or(0) })
    }

    /// Lets Redis forget the entries below the oldest that is not acknowledged.
    async fn trim(&self) -> Result<(), StreamError> {
        let games = &self.redis.keys.games;
        let mut commands = pipe();
        // In this order: what is delivered between the two answers is pending in the second, and nothing above the first
        // is trimmed. The other way round it would be in neither.
        commands.cmd("XINFO").arg("GROUPS").arg(games).cmd("XPENDING").arg(games).arg(GROUP);
        let (groups, pending): (StreamInfoGroupsReply, StreamPendingReply) =
            self.redis.ask(&commands).await?;
        let keep_from = match pending {
            StreamPendingReply::Data(pending) => Some(pending.start_id),
            // Nothing is pending: all that was delivered by the first answer is acknowledged by the second.
            _ => groups
                .groups
                .iter()
                .find(|group| group.name == GROUP)
                .and_then(|group| successor(&group.last_delivered_id)),
        };
        let Some(keep_from) = keep_from else { return Ok(()) };
        let mut commands = pipe();
        commands.cmd("XTRIM").arg(games).arg("MINID").arg(keep_from).ignore();
        self.redis.ask(&commands).await
    }

    fn forget(&self, ids: &[EntryId]) {
        let mut held = self.redis.held.lock().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            held.remove(id);
        }
    }
}

impl Redis {
    /// Makes stream and group unless they are there. The group starts at 0: entries that came before it count.
    async fn make_group(&self) -> Result<(), RedisError> {
        let mut commands = pipe();
        commands.cmd("XGROUP").arg("CREATE").arg(&self.keys.games).arg(GROUP).arg("0").arg("MKSTREAM");
        match self.link.query::<()>(commands.ignore()).await {
            Err(error) if error.code() == Some("BUSYGROUP") => Ok(()),
            result => result,
        }
    }

    /// Makes the group again when `error` says that it is gone: Redis came back without its data, or somebody
    /// deleted the key. Gives any other error back.
    pub(crate) async fn mend(&self, error: RedisError) -> Result<(), RedisError> {
        let no_key = error.kind() == ErrorKind::Server(ServerErrorKind::ResponseError)
            && error.detail().is_some_and(|detail| detail.contains("no such key"));
        if !no_key && error.code() != Some("NOGROUP") {
            return Err(error);
        }
        tracing::error!(
            stream = self.keys.games,
            redis = self.link.address(),
            "the stream is gone from Redis; starting it again, and the coordinator appends what was not learnt yet once \
             the trainer misses it (let Redis keep its data: appendonly yes, maxmemory-policy noeviction)"
        );
        self.make_group().await
    }

    /// Asks with patience, and mends the group when it is gone.
    pub(crate) async fn ask<T: redis::FromRedisValue>(&self, commands: &Pipeline) -> Result<T, StreamError> {
        let answer = match self.link.query_patiently(commands).await {
            Err(error) => match self.mend(error).await {
                Ok(()) => self.link.query_patiently(commands).await,
                Err(error) => Err(error),
            },
            answer => answer,
        };
        answer.map_err(|error| self.link.error(error))
    }
}

/// The lowest id above `id` (`MILLISECONDS-SEQUENCE`).
fn successor(id: &str) -> Option<String> {
    let (milliseconds, sequence) = id.split_once('-')?;
    Some(match sequence.parse::<u64>().ok()?.checked_add(1) {
        Some(next) => format!("{milliseconds}-{next}"),
        None => format!("{}-0", milliseconds.parse::<u64>().ok()?.checked_add(1)?),
    })
}

impl GameStream for RedisStream {
    fn append(&self, payloads: Vec<Vec<u8>>) -> Boxed<'_, ()> {
        Box::pin(self.append_all(payloads))
    }

    fn read<'a>(&'a self, consumer: &'a str, max: usize, patience: Duration) -> Boxed<'a, Vec<Entry>> {
        let sit_down = || RedisReader::new(self.redis.clone(), consumer, self.claim_after);
        Box::pin(self.desk.read(consumer, max, patience, sit_down))
    }

    fn acknowledge<'a>(&'a self, ids: &'a [EntryId]) -> Boxed<'a, ()> {
        Box::pin(self.acknowledge_all(ids))
    }

    fn bury<'a>(&'a self, entry: &'a Entry, reason: &'a str) -> Boxed<'a, ()> {
        Box::pin(self.bury_one(entry, reason))
    }

    fn depths(&self) -> Boxed<'_, Depths> {
        Box::pin(self.measure())
    }
}

#[cfg(test)]
mod tests {
    use super::successor;

    #[test]
    fn the_successor_of_an_id_is_the_lowest_above_it() {
        assert_eq!(successor("1700000000000-4").as_deref(), Some("1700000000000-5"));
        assert_eq!(successor("7-18446744073709551615").as_deref(), Some("8-0"));
        assert_eq!(successor("0-0").as_deref(), Some("0-1"));
        assert_eq!(successor("nonsense"), None);
    }
}
