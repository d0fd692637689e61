//! A connection to Redis that is made again when it is lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ErrorKind, FromRedisValue, Pipeline, RedisError, ServerErrorKind,
};
use tokio::sync::Mutex;

use crate::StreamError;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an answer may take; above the longest time a read blocks.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a call waits for a Redis that went away before it gives up.
const PATIENCE: Duration = Duration::from_secs(15);
/// First and longest wait between two tries.
const WAITS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// One connection, shared by all clones. Requests of clones do not wait for each other, so what blocks needs a link
/// of its own: see [`Link::another`].
#[derive(Clone)]
pub(crate) struct Link {
    client: Client,
    address: Arc<str>,
    connection: Arc<Mutex<Option<MultiplexedConnection>>>,
}

impl Link {
    /// A link to `url`; nothing is connected before the first query.
    pub(crate) fn new(url: &str) -> Result<Self, StreamError> {
        let address = without_credentials(url);
        let client = Client::open(url).map_err(|cause| StreamError::Address {
            address: address.clone(),
            // The description alone: a detail could quote the password.
            reason: cause.category().to_owned(),
        })?;
        Ok(Link { client, address: address.into(), connection: Arc::default() })
    }

    /// A link to the same Redis over a connection of its own.
    pub(crate) fn another(&self) -> Self {
        Link { connection: Arc::default(), ..self.clone() }
    }

    /// Sends the commands together, once, connecting first when there is no connection.
    pub(crate) async fn query<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, RedisError> {
        let mut connection = self.connect().await?;
        let result = commands.query_async(&mut connection).await.map_err(first_refusal);
        if let Err(error) = &result
            && (error.is_io_error() || error.is_unrecoverable_error())
        {
            // Its answers may come late or never: the next query starts afresh.
            *self.connection.lock().await = None;
        }
        result
    }

    /// The same, again and again while Redis is away or not ready, within [`PATIENCE`].
    pub(crate) async fn query_patiently<T: FromRedisValue>(
        &self,
        commands: &Pipeline,
    ) -> Result<T, RedisError> {
        let mut retries = Retries::new();
        loop {
            match self.query(commands).await {
                Ok(answer) => return Ok(answer),
                Err(error) => retries.wait_after(error).await?,
            }
        }
    }

    /// Whether a Redis answers there that will take commands, now or when it has loaded its data.
    pub(crate) async fn check(&self) -> Result<(), StreamError> {
        let mut ping = Pipeline::new();
        ping.cmd("PING").ignore();
        match self.query::<()>(&ping).await {
            Err(error) if error.is_io_error() || !is_passing(&error) => Err(self.error(error)),
            _ => Ok(()),
        }
    }

    /// What a failure means to the caller of the stream.
    pub(crate) fn error(&self, cause: RedisError) -> StreamError {
        StreamError::from_redis(&self.address, cause)
    }

    /// The address without credentials.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    async fn connect(&self) -> Result<MultiplexedConnection, RedisError> {
        let mut slot = self.connection.lock().await;
        if let Some(connection) = &*slot {
            return Ok(connection.clone());
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(RESPONSE_TIMEOUT));
        let connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        Ok(slot.insert(connection).clone())
    }
}

/// Waits between tries, each twice as long as the one before.
pub(crate) struct Retries {
    since: Instant,
    next: Duration,
}

impl Retries {
    pub(crate) fn new() -> Self {
        Retries { since: Instant::now(), next: WAITS.0 }
    }

    /// Waits before the next try after `error`, or gives it back when trying again is of no use or was tried enough.
    pub(crate) async fn wait_after(&mut self, error: RedisError) -> Result<(), RedisError> {
        if !is_passing(&error) || self.since.elapsed() >= PATIENCE {
            return Err(error);
        }
        if self.next == WAITS.0 {
            tracing::warn!(%error, "Redis is away or not ready; trying again");
        }
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(WAITS.1);
        Ok(())
    }
}

/// Of all that a server refused in commands sent together, the first: one reason is enough, and it has a code.
fn first_refusal(error: RedisError) -> RedisError {
    let refusals = error.clone().into_server_errors();
    refusals.and_then(|refusals| refusals.first().map(|(_, first)| first.clone().into())).unwrap_or(error)
}

/// Whether an error goes away by itself: the connection broke, or Redis is loading its data or changing its master.
fn is_passing(error: &RedisError) -> bool {
    error.is_io_error()
        || matches!(
            error.kind(),
            ErrorKind::Server(
                ServerErrorKind::BusyLoading
                    | ServerErrorKind::MasterDown
                    | ServerErrorKind::ClusterDown
                    | ServerErrorKind::TryAgain
                    | ServerErrorKind::ReadOnly
            )
        )
}

/// An address as it may be shown: without user, password and query.
pub(crate) fn without_credentials(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    // The last '@', wherever it stands: a password may hold unescaped '/', '?' and '@'.
    let rest = rest.rsplit_once('@').map_or(rest, |(_credentials, rest)| rest);
    let rest = rest.split('?').next().unwrap_or(rest);
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn an_address_is_shown_without_user_password_and_query() {
        for (url, shown) in [
            ("redis://127.0.0.1:6379/2", "redis://127.0.0.1:6379/2"),
            ("redis://ludus:secret@example.org:6379", "redis://example.org:6379"),
            ("rediss://:a/b@c?d@example.org", "rediss://example.org"),
            ("redis+unix:///run/redis.sock?pass=secret", "redis+unix:///run/redis.sock"),
            ("ludus:secret@example.org", "example.org"),
            ("localhost:6379", "localhost:6379"),
        ] {
            assert_eq!(without_credentials(url), shown);
        }
    }
}
