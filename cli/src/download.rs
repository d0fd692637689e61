//! Files from the Web, whose downloads go on where they broke off.
//!
//! Plain HTTP: whoever downloads something holds it against a sum that is known beforehand, so nobody on the way can
//! change it unnoticed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};

/// Longest waits: for a connection, for the first answer, and for the rest of it. A download that is not over when the
/// last has passed is asked for again from there on, so that is only how long a silent server is believed in.
const CONNECT: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_secs(60);
const BODY: Duration = Duration::from_secs(300);
/// Nothing that is downloaded here is near this size; a server that sends more sends something else.
const MOST_BYTES: u64 = 1 << 30;

/// A download that failed.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// Nobody answered.
    #[error("cannot reach {url}: {reason}")]
    Unreachable {
        /// What was asked for.
        url: String,
        /// Why not.
        reason: String,
    },
    /// The server has not got it.
    #[error("{url}: the server answers {status}")]
    Refused {
        /// What was asked for.
        url: String,
        /// The answer.
        status: StatusCode,
    },
    /// The server's answer makes no sense.
    #[error("{url}: {problem}")]
    Nonsense {
        /// What was asked for.
        url: String,
        /// What is wrong.
        problem: String,
    },
    /// The connection broke again and again at the same place.
    #[error("{url}: the connection broke after {have} bytes ({reason}); they are kept in {}, and the same command goes on from there", part.display())]
    Broken {
        /// What was asked for.
        url: String,
        /// Bytes that have arrived.
        have: u64,
        /// How it broke.
        reason: String,
        /// Where they are.
        part: PathBuf,
    },
    /// Another process is downloading the same.
    #[error("{}: another process is downloading this; wait for it", part.display())]
    Busy {
        /// The file that both would write.
        part: PathBuf,
    },
    /// What arrives cannot be stored.
    #[error("cannot write {}: {error}", part.display())]
    File {
        /// The file.
        part: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// How one request ended that brought something.
enum End {
    Complete,
    /// After so many bytes of the whole.
    Broken {
        have: u64,
        reason: String,
    },
}

/// Downloads `url` to `part`, from where an earlier try left off. When it returns, the file is complete and on the disk.
///
/// A connection that breaks is made anew as long as each brings the end nearer. A server that serves no ranges is asked
/// for everything again.
pub fn download(url: &str, part: &Path, bar: &ProgressBar) -> Result<(), DownloadError> {
    let failed = |error| DownloadError::File { part: part.into(), error };
    let mut file = OpenOptions::new().create(true).append(true).open(part).map_err(failed)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Err(DownloadError::Busy { part: part.into() }),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
        Ok(()) => {}
    }
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(ANSWER))
        .timeout_recv_body(Some(BODY))
        .user_agent(concat!("ludus/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();

    let mut farthest = file.metadata().map_err(failed)?.len();
    loop {
        match (Request { agent: &agent, url, part }).run(&mut file, bar)? {
            End::Complete => return file.sync_all().map_err(failed),
            End::Broken { have, .. } if have > farthest => farthest = have,
            End::Broken { have, reason } => {
                return Err(DownloadError::Broken { url: url.into(), have, reason, part: part.into() });
            }
        }
    }
}

struct Request<'a> {
    agent: &'a Agent,
    url: &'a str,
    part: &'a Path,
}

impl Request<'_> {
    /// Asks for what `file` lacks, and appends it.
    fn run(&self, file: &mut File, bar: &ProgressBar) -> Result<End, DownloadError> {
        let have = file.metadata().map_err(|error| self.file(error))?.len();
        let mut request = self.agent.get(self.url);
        if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| DownloadError::Unreachable {
            url: self.url.into(),
            reason: error.to_string(),
        })?;
        let total = match response.status() {
            StatusCode::PARTIAL_CONTENT => match content_range(&response) {
                Some((Some(start), total)) if start == have => total,
                _ => {
                    return Err(
                        self.nonsense(format!("asked for bytes from {have} on, the server sends others"))
                    );
                }
            },
            StatusCode::OK => {
                file.set_len(0).map_err(|error| self.file(error))?;
                response.body().content_length()
            }
            StatusCode::RANGE_NOT_SATISFIABLE if have > 0 => {
                // There is nothing after what we have: either that is all, or it is something else.
                if matches!(content_range(&response), Some((_, Some(total))) if total == have) {
                    return Ok(End::Complete);
                }
                file.set_len(0).map_err(|error| self.file(error))?;
                return self.run(file, bar);
            }
            status => return Err(DownloadError::Refused { url: self.url.into(), status }),
        };
        if total.is_some_and(|total| total > MOST_BYTES) {
            return Err(self.nonsense("the file is far too large to be the one that is wanted".into()));
        }
        if let Some(total) = total {
            bar.set_length(total);
        }
        self.append(response, total, file, bar)
    }

    fn append(
        &self,
        response: Response<Body>,
        total: Option<u64>,
        file: &mut File,
        bar: &ProgressBar,
    ) -> Result<End, DownloadError> {
        let mut have = file.metadata().map_err(|error| self.file(error))?.len();
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            bar.set_position(have);
            let reason = match body.read(&mut buffer) {
                Ok(0) if total.is_none_or(|total| total == have) => return Ok(End::Complete),
                Ok(0) => "it ended early".to_owned(),
                Ok(count) => {
                    file.write_all(&buffer[..count]).map_err(|error| self.file(error))?;
                    have += count as u64;
                    if have > total.unwrap_or(MOST_BYTES) {
                        return Err(self.nonsense("the server sends more than there should be".into()));
                    }
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error.to_string(),
            };
            return Ok(End::Broken { have, reason });
        }
    }

    fn nonsense(&self, problem: String) -> DownloadError {
        DownloadError::Nonsense { url: self.url.into(), problem }
    }

    fn file(&self, error: io::Error) -> DownloadError {
        DownloadError::File { part: self.part.into(), error }
    }
}

/// The first byte and the total of `Content-Range: bytes 100-199/200` or `bytes */200`, as far as they are said.
fn content_range(response: &Response<Body>) -> Option<(Option<u64>, Option<u64>)> {
    let value = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = value.trim().strip_prefix("bytes")?.trim().split_once('/')?;
    let start = range.split_once('-').and_then(|(start, _)| start.parse().ok());
    Some((start, total.parse().ok()))
}

#[cfg(test)]
mod tests;
