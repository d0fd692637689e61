//! Where streams live.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::redis_link::{Link, without_credentials};
use crate::{GameStream, LocalStream, RedisStream, StreamError};

/// Where the streams of runs live.
#[derive(Clone, PartialEq, Eq)]
pub enum StreamHome {
    /// In a Redis (7.0 or newer).
    Redis {
        /// Its address, `redis://[user:password@]host:port[/db]`.
        url: String,
    },
    /// In the file `stream.sqlite` of a folder, for the processes of one machine.
    Local {
        /// The folder; it is made when needed.
        folder: PathBuf,
    },
}

impl StreamHome {
    /// Fails, with what to do, when there is no Redis at the address. Makes no stream.
    pub async fn check(&self) -> Result<(), StreamError> {
        match self {
            StreamHome::Redis { url } => Link::new(url)?.check().await,
            StreamHome::Local { .. } => Ok(()),
        }
    }

    /// Opens the stream of this name, which is made when needed. Fails at once, with what to do, when Redis is not there.
    pub async fn open(&self, name: &str) -> Result<Arc<dyn GameStream>, StreamError> {
        Ok(match self {
            StreamHome::Redis { url } => Arc::new(RedisStream::open(url, name).await?),
            StreamHome::Local { folder } => Arc::new(LocalStream::open(folder, name).await?),
        })
    }
}

/// The address without credentials, or the folder: fit for logs.
impl fmt::Display for StreamHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamHome::Redis { url } => f.write_str(&without_credentials(url)),
            StreamHome::Local { folder } => write!(f, "{}", folder.display()),
        }
    }
}

/// Like `Display`, so that no log shows a password.
impl fmt::Debug for StreamHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamHome({self})")
    }
}
