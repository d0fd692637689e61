//! Where weights are kept beyond the coordinator's own disk: a bucket of an object store, or a folder on another disk.
//!
//! The coordinator's folder stays the place where weights are read: it is a copy that may be lost. A version is put into
//! the depot before anybody hears of it, so whoever knows of a version finds its bytes.

mod folder;
#[cfg(feature = "s3")]
mod s3;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::CoordinatorError;

/// How long nobody reads after a call that failed.
const REST: Duration = Duration::from_secs(5);

/// Keeps whole files under names that say what is in them, so a name never changes its bytes.
///
/// Implementors owe: a name is there only with all its bytes; putting a name again, and deleting one that is not there, is
/// no error; no call takes longer than half a minute. Calls wait for network or disk, so none is made where tasks run.
trait Keeper: Send + Sync {
    /// Keeps the bytes under this name; they are safe when it returns.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Trouble>;
    /// The bytes under this name, if there are any.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Trouble>;
    /// Every name.
    fn names(&self) -> Result<Vec<String>, Trouble>;
    /// Forgets this name.
    fn delete(&self, name: &str) -> Result<(), Trouble>;
}

/// Why a keeper did not do as it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trouble {
    /// It answered, and the same call will get the same answer: wrong credentials, no such bucket.
    refused: bool,
    /// In one line, without secrets.
    reason: String,
}

/// A depot of weights. Clones are the same depot.
#[derive(Clone)]
pub struct Depot {
    url: Arc<str>,
    keeper: Arc<dyn Keeper>,
    outage: Arc<Mutex<Option<Outage>>>,
}

/// Since calls fail.
#[derive(Clone, Debug)]
struct Outage {
    /// Why the last one did.
    trouble: Trouble,
    /// When that was.
    at: Instant,
    /// Whether the log tells of it.
    told: bool,
}

impl Depot {
    /// The depot at `s3://BUCKET/PREFIX` or `file:///FOLDER`. Goes nowhere yet.
    ///
    /// What a bucket needs besides is in the environment, as everywhere: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
    /// `AWS_REGION`, and `AWS_ENDPOINT_URL` for those that are not Amazon's.
    pub fn open(url: &str) -> Result<Depot, CoordinatorError> {
        let wrong = |reason: &str| {
            // Whoever puts a secret there need not find it in a log.
            let shown = url.rsplit_once('@').map_or(url.to_owned(), |(_, rest)| format!("...@{rest}"));
            CoordinatorError::DepotUrl { url: shown, reason: reason.to_owned() }
        };
        let keeper: Arc<dyn Keeper> = match url.split_once("://") {
            Some(("file", path)) if path.starts_with('/') => {
                Arc::new(folder::Folder::new(PathBuf::from(path)))
            }
            Some(("s3", place)) => {
                let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
                if bucket.is_empty() || bucket.contains(['@', ':', '?']) {
                    return Err(wrong("it names no bucket, or more than a bucket"));
                }
                bucket_keeper(bucket, prefix.trim_matches('/')).map_err(|reason| wrong(&reason))?
            }
            _ => return Err(wrong("it is neither s3:// nor file:///")),
        };
        Ok(Depot { url: url.into(), keeper, outage: Arc::default() })
    }

    /// What keeps it from being used, since the last call; `None`: nothing.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.outage().as_ref().map(|outage| outage.trouble.reason.clone())
    }

    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> Result<(), CoordinatorError> {
        self.noted(self.keeper.put(name, bytes), true)
    }

    /// The bytes under this name, if there are any. Right after a failed call it fails as well: many may ask at once, and
    /// should not wait one after the other for what does not answer.
    pub(super) fn get(&self, name: &str) -> Result<Option<Vec<u8>>, CoordinatorError> {
        let lately = self.outage().as_ref().filter(|outage| outage.at.elapsed() < REST).cloned();
        match lately {
            Some(outage) => Err(self.error(outage.trouble)),
            None => self.noted(self.keeper.get(name), true),
        }
    }

    /// Every name. Whoever asks tells of a failure.
    pub(super) fn names(&self) -> Result<Vec<String>, CoordinatorError> {
        self.noted(self.keeper.names(), false)
    }

    /// Deletes the names that are `doomed` and gives their number.
    pub(super) fn delete(&self, doomed: impl Fn(&str) -> bool) -> Result<usize, CoordinatorError> {
        let mut names = self.names()?;
        names.retain(|name| doomed(name));
        for name in &names {
            self.keeper.delete(name).map_err(|trouble| self.error(trouble))?;
        }
        Ok(names.len())
    }

    /// Where a name is, for people.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("{}/{name}", self.url.trim_end_matches('/')))
    }

    fn outage(&self) -> MutexGuard<'_, Option<Outage>> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, Trouble { refused, reason }: Trouble) -> CoordinatorError {
        CoordinatorError::Depot { url: self.url.to_string(), refused, reason }
    }

    /// Notes how a call ended, and whether to `tell` of it, which is done once an outage.
    fn noted<T>(&self, outcome: Result<T, Trouble>, tell: bool) -> Result<T, CoordinatorError> {
        let mut outage = self.outage();
        let told = outage.as_ref().is_some_and(|outage| outage.told);
        *outage = outcome.as_ref().err().map(|trouble| {
            if tell && !told {
                let reason = &trouble.reason;
                tracing::error!(store = %self.url, "weights cannot be kept, and new versions wait: {reason}");
            }
            Outage { trouble: trouble.clone(), at: Instant::now(), told: told || tell }
        });
        if told && outage.is_none() {
            tracing::warn!(store = %self.url, "weights can be kept again");
        }
        drop(outage);
        outcome.map_err(|trouble| self.error(trouble))
    }
}

#[cfg(feature = "s3")]
fn bucket_keeper(bucket: &str, prefix: &str) -> Result<Arc<dyn Keeper>, String> {
    Ok(Arc::new(s3::Bucket::new(bucket, prefix)?))
}

#[cfg(not(feature = "s3"))]
fn bucket_keeper(_: &str, _: &str) -> Result<Arc<dyn Keeper>, String> {
    Err("this program was built without object stores: cargo build --features s3, or the image".into())
}

impl fmt::Debug for Depot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Depot({})", self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_depot_is_refused_with_an_example() {
        for url in
            ["", "/data", "s3://", "s3:///x", "s3://key:secret@bucket", "file://relative", "ftp://host/x"]
        {
            let error = Depot::open(url).expect_err("no depot").to_string();
            assert!(error.contains("s3://BUCKET/PREFIX") && !error.contains("secret"), "{url}: {error}");
        }
        assert_eq!(format!("{:?}", Depot::open("file:///x").expect("a folder")), "Depot(file:///x)");
    }

    #[cfg(not(feature = "s3"))]
    #[test]
    fn a_program_without_object_stores_says_how_to_get_one() {
        let error = Depot::open("s3://bucket/prefix").expect_err("not built in").to_string();
        assert!(error.contains("--features s3"), "{error}");
    }
}
