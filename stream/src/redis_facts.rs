//! What a Redis says of itself, for people who want to know whether games are safe in it.

use redis::{InfoDict, Pipeline};

use crate::StreamError;
use crate::redis_link::Link;

/// The oldest version whose streams are good enough: XAUTOCLAIM says since 7.0 which entries are gone.
pub const REDIS_NEEDED: (u64, u64) = (7, 0);

/// A Redis as its INFO describes it. What it does not say is as if all were well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedisFacts {
    /// Its version, such as `7.0.15`.
    pub version: String,
    /// Whether it only copies another, and so takes no games.
    pub replica: bool,
    /// Whether it is still loading its data.
    pub loading: bool,
    /// Bytes of memory in use.
    pub used_memory: u64,
    /// Bytes of memory it may use; 0 for all there is.
    pub most_memory: u64,
    /// What it does when that is used up: `noeviction` refuses, everything else throws data away.
    pub eviction: String,
    /// Whether it writes down each change (`appendonly yes`).
    pub appends: bool,
    /// Whether the last change was written.
    pub append_failed: bool,
    /// Whether the last snapshot could not be written.
    pub snapshot_failed: bool,
}

impl RedisFacts {
    /// Asks the Redis at `url`, once.
    pub async fn ask(url: &str) -> Result<Self, StreamError> {
        let link = Link::new(url)?;
        let mut commands = Pipeline::new();
        commands.cmd("INFO");
        let (info,): (InfoDict,) = link.query(&commands).await.map_err(|error| link.error(error))?;
        let text = |key: &str| info.get::<String>(key).unwrap_or_default();
        let number = |key: &str| text(key).parse().unwrap_or(0);
        Ok(RedisFacts {
            version: text("redis_version"),
            replica: text("role") == "slave",
            loading: number("loading") != 0,
            used_memory: number("used_memory"),
            most_memory: number("maxmemory"),
            eviction: text("maxmemory_policy"),
            appends: number("aof_enabled") != 0,
            append_failed: text("aof_last_write_status") == "err",
            snapshot_failed: text("rdb_last_bgsave_status") == "err",
        })
    }

    /// Whether the version is not older than [`REDIS_NEEDED`]; one that cannot be read counts as new.
    pub fn is_new_enough(&self) -> bool {
        let mut numbers = self.version.split('.').map_while(|number| number.parse::<u64>().ok());
        match (numbers.next(), numbers.next()) {
            (Some(major), minor) => (major, minor.unwrap_or(0)) >= REDIS_NEEDED,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let enough =
            |version: &str| RedisFacts { version: version.into(), ..RedisFacts::default() }.is_new_enough();
        assert_eq!(
            ["7.0.15", "7", "7.2", "10.0.0", "unstable"].map(enough),
            [true; 5],
            "new, or nobody knows"
        );
        assert_eq!(["6.2.14", "6", "5.0.7"].map(enough), [false; 3]);
    }
}
