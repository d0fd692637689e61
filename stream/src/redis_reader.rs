//! One consumer's place in a Redis stream.
//!
//! A reader goes through three stages, and through the second again from time to time: what the consumer itself left
//! unacknowledged (XREADGROUP from an id, until nothing is left), what dead consumers left (XAUTOCLAIM with its cursor,
//! until 0-0), and new entries (XREADGROUP with `>`, blocking, on a connection of its own).

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use redis::{Pipeline, RedisError, pipe};

use crate::desk::Reader;
use crate::redis_link::{Link, Retries};
use crate::redis_stream::{GROUP, PAYLOAD, Redis};
use crate::{Entry, EntryId, StreamError};

/// Longest time Redis is asked to block; short enough to look for dead consumers in between, and below the time an
/// answer may take.
const LONGEST_BLOCK: Duration = Duration::from_secs(2);
/// Shortest time between two searches for dead consumers.
const SHORTEST_SEARCH: Duration = Duration::from_millis(100);
/// Ids in one XCLAIM.
const CLAIM: usize = 500;

/// Entries as Redis sends them: id and fields; no fields when the entry itself is gone.
type Rows = Vec<(String, Option<Vec<(String, Vec<u8>)>>)>;

/// Reads as one consumer.
pub(crate) struct RedisReader {
    redis: Redis,
    /// For commands that block; all others go over the stream's own.
    blocking: Link,
    consumer: Arc<str>,
    claim_after: Duration,
    stage: Stage,
    /// Last entry that came as new: what was delivered and lost on the way is above it.
    last_new: String,
    /// When dead consumers were looked for last.
    searched: Option<Instant>,
}

/// What is read next.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// The consumer's own unacknowledged entries above this id.
    Own(String),
    /// Entries of dead consumers, from this cursor on.
    Claim(String),
    /// New entries.
    New,
}

impl Reader for RedisReader {
    async fn take(&mut self, max: usize, patience: Duration) -> Result<Vec<Entry>, StreamError> {
        let until = Instant::now() + patience;
        let mut retries = Retries::new();
        loop {
            if self.stage == Stage::New && self.search_is_due() {
                self.stage = Stage::Claim("0-0".to_owned());
            }
            let stage = self.stage.clone();
            let result = match &stage {
                Stage::Own(after) => self.read_own(after, max).await,
                Stage::Claim(cursor) => self.claim(cursor, max).await,
                Stage::New => self.read_new(max, until).await,
            };
            match result {
                Ok(entries) if !entries.is_empty() => {
                    self.hold(&entries);
                    return Ok(entries);
                }
                Ok(_) if stage == Stage::New && Instant::now() >= until => return Ok(Vec::new()),
                Ok(_) => {}
                Err(error) => {
                    // Redis may have given us entries whose names never arrived here: look for them among our own.
                    self.stage = match stage {
                        Stage::Own(after) => Stage::Own(after),
                        Stage::Claim(_) => Stage::Own("0".to_owned()),
                        Stage::New => Stage::Own(self.last_new.clone()),
                    };
                    let outcome = match self.redis.mend(error).await {
                        Ok(()) => Ok(()),
                        Err(error) => retries.wait_after(error).await,
                    };
                    outcome.map_err(|error| self.redis.link.error(error))?;
                }
            }
        }
    }
}

impl RedisReader {
    pub(crate) fn new(redis: Redis, consumer: &str, claim_after: Duration) -> Self {
        RedisReader {
            blocking: redis.link.another(),
            redis,
            consumer: consumer.into(),
            claim_after,
            stage: Stage::Own("0".to_owned()),
            last_new: "0".to_owned(),
            searched: None,
        }
    }

    /// Whether it is time to look for dead consumers: at first, and then four times as often as needed, which also
    /// keeps our own entries well away from the others' claims.
    fn search_is_due(&self) -> bool {
        let interval = (self.claim_after / 4).max(SHORTEST_SEARCH);
        self.searched.is_none_or(|at| at.elapsed() >= interval)
    }

    async fn read_own(&mut self, after: &str, max: usize) -> Result<Vec<Entry>, RedisError> {
        let rows = self.read_group(&self.redis.link, after, max, None).await?;
        self.stage = match rows.last() {
            Some((last, _)) => Stage::Own(last.clone()),
            None => Stage::New,
        };
        let gone: Vec<_> = rows.iter().filter(|(_, fields)| fields.is_none()).map(|(id, _)| id).collect();
        if !gone.is_empty() {
            let mut commands = pipe();
            commands.cmd("XACK").arg(&self.redis.keys.games).arg(GROUP).arg(&gone).ignore();
            self.redis.link.query::<()>(&commands).await?;
            self.count_lost(&gone).await?;
        }
        let entries = self.entries(rows);
        self.with_deliveries(entries).await
    }

    async fn claim(&mut self, cursor: &str, max: usize) -> Result<Vec<Entry>, RedisError> {
        if cursor == "0-0" {
            self.show_life().await?;
        }
        let mut commands = pipe();
        commands.cmd("XAUTOCLAIM").arg(&self.redis.keys.games).arg(GROUP).arg(&*self.consumer);
        commands.arg(milliseconds(self.claim_after)).arg(cursor).arg("COUNT").arg(max);
        let ((next, rows, gone),): ((String, Rows, Vec<String>),) = self.redis.link.query(&commands).await?;
        if next == "0-0" {
            self.searched = Some(Instant::now());
            self.stage = Stage::New;
        } else {
            self.stage = Stage::Claim(next);
        }
        if !gone.is_empty() {
            self.count_lost(&gone.iter().collect::<Vec<_>>()).await?;
        }
        let entries = self.entries(rows);
        self.with_deliveries(entries).await
    }

    async fn read_new(&mut self, max: usize, until: Instant) -> Result<Vec<Entry>, RedisError> {
        let block = until.saturating_duration_since(Instant::now()).min(LONGEST_BLOCK);
        let rows = self.read_group(&self.blocking, ">", max, Some(block)).await?;
        if let Some((last, _)) = rows.last() {
            self.last_new = last.clone();
        }
        Ok(self.entries(rows))
    }

    /// XREADGROUP from `from` on, which is `>` for new entries.
    async fn read_group(
        &self,
        link: &Link,
        from: &str,
        max: usize,
        block: Option<Duration>,
    ) -> Result<Rows, RedisError> {
        let mut commands = pipe();
        commands.cmd("XREADGROUP").arg("GROUP").arg(GROUP).arg(&*self.consumer).arg("COUNT").arg(max);
        // BLOCK 0 would block for ever.
        if let Some(block) = block.map(milliseconds).filter(|&ms| ms > 0) {
            commands.arg("BLOCK").arg(block);
        }
        commands.arg("STREAMS").arg(&self.redis.keys.games).arg(from);
        let (streams,): (Option<Vec<(String, Rows)>>,) = link.query(&commands).await?;
        Ok(streams.into_iter().flatten().flat_map(|(_key, rows)| rows).collect())
    }

    /// The rows as entries, without those that are held already.
    fn entries(&self, rows: Rows) -> Vec<Entry> {
        let held = self.redis.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = Vec::with_capacity(rows.len());
        for (id, fields) in rows {
            let payload = fields.into_iter().flatten().find(|(name, _)| name == PAYLOAD);
            let id = EntryId(id);
            if let Some((_, payload)) = payload
                && !held.contains_key(&id)
            {
                entries.push(Entry { id, payload, deliveries: 1 });
            }
        }
        entries
    }

    /// Notes that these entries are on their way to the caller: the last step of a read, after which nothing fails.
    fn hold(&self, entries: &[Entry]) {
        let mut held = self.redis.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.extend(entries.iter().map(|entry| (entry.id.clone(), Arc::clone(&self.consumer))));
    }

    /// The entries with the number of times they were delivered, as the group counts it.
    async fn with_deliveries(&self, mut entries: Vec<Entry>) -> Result<Vec<Entry>, RedisError> {
        if entries.is_empty() {
            return Ok(entries);
        }
        let mut commands = Pipeline::with_capacity(entries.len());
        for entry in &entries {
            commands.cmd("XPENDING").arg(&self.redis.keys.games).arg(GROUP);
            commands.arg(&entry.id.0).arg(&entry.id.0).arg(1);
        }
        // For each entry one line of id, consumer, idle time and count; none when it was acknowledged meanwhile.
        let counts: Vec<Vec<(String, String, u64, u32)>> = self.redis.link.query(&commands).await?;
        for (entry, lines) in entries.iter_mut().zip(counts) {
            if let Some((_, _, _, count)) = lines.first() {
                entry.deliveries = *count;
            }
        }
        Ok(entries)
    }

    /// Resets the idle time of what this consumer holds, without counting it as a delivery: whoever reads is alive,
    /// however long it keeps its entries.
    async fn show_life(&self) -> Result<(), RedisError> {
        let own: Vec<String> = {
            let held = self.redis.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.iter().filter(|(_, owner)| **owner == self.consumer).map(|(id, _)| id.0.clone()).collect()
        };
        for ids in own.chunks(CLAIM) {
            let mut commands = pipe();
            commands.cmd("XCLAIM").arg(&self.redis.keys.games).arg(GROUP).arg(&*self.consumer).arg(0);
            commands.arg(ids).arg("JUSTID").ignore();
            self.redis.link.query::<()>(&commands).await?;
        }
        Ok(())
    }

    /// Entries that are gone although nobody acknowledged them are games that nobody will learn from: say so.
    async fn count_lost(&self, ids: &[&String]) -> Result<(), RedisError> {
        tracing::error!(
            stream = self.redis.keys.games,
            entries = ids.len(),
            first = ids[0].as_str(),
            "entries vanished from the stream before they were acknowledged: their games are lost (something trims or \
             evicts games:* in Redis; only ludus may)"
        );
        let mut commands = pipe();
        commands.cmd("INCRBY").arg(&self.redis.keys.lost).arg(ids.len()).ignore();
        self.redis.link.query(&commands).await
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
