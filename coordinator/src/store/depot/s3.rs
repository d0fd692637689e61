//! A bucket that is spoken to as S3 is: Amazon's, MinIO, Ceph and others.

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, Error, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use super::{Keeper, Trouble};

/// Longest time for one call with all its attempts: shorter than a trainer waits for its version to be taken.
const PATIENCE: Duration = Duration::from_secs(25);
/// Longest time for attempts, of which there are so many more than one.
const ATTEMPTS: (Duration, usize) = (Duration::from_secs(10), 3);
/// Longest text of a trouble, in characters: stores answer with whole documents.
const LONGEST: usize = 300;

/// The protocol's words for wrong keys or too few rights. What an answer means is not always in the kind of error that
/// becomes of it.
const DENIED: [&str; 5] =
    ["AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"];

pub(super) struct Bucket {
    store: AmazonS3,
    prefix: String,
    /// Of its own, so that calls can be waited for on any thread. Given up in the background: whoever drops the last
    /// coordinator may be a task.
    runtime: Option<Runtime>,
}

impl Bucket {
    pub(super) fn new(bucket: &str, prefix: &str) -> Result<Self, String> {
        // Another part of the program may have done so before; it is the same then.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
        let plain = builder
            .get_config_value(&AmazonS3ConfigKey::Endpoint)
            .is_some_and(|endpoint| endpoint.starts_with("http://"));
        let options = ClientOptions::new()
            .with_timeout(PATIENCE)
            .with_connect_timeout(Duration::from_secs(5))
            .with_allow_http(plain);
        let backoff = BackoffConfig { init_backoff: Duration::from_millis(200), ..BackoffConfig::default() };
        let (retry_timeout, max_retries) = ATTEMPTS;
        let store = builder
            .with_client_options(options)
            // One by one: not every store knows how to delete many at once.
            .with_disable_bulk_delete(true)
            .with_retry(RetryConfig { backoff, max_retries, retry_timeout })
            .build()
            .map_err(|error| one_line(&error.to_string()))?;
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("ludus-store").enable_all().build();
        let runtime = Some(runtime.map_err(|error| error.to_string())?);
        Ok(Bucket { store, prefix: prefix.to_owned(), runtime })
    }

    fn path(&self, name: &str) -> Path {
        Path::from(format!("{}/{name}", self.prefix))
    }

    /// The outcome of a call, waited for here.
    fn wait<T, F>(&self, call: impl FnOnce(AmazonS3) -> F) -> Result<T, Failed>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let (done, outcome) = mpsc::channel();
        let call = tokio::time::timeout(PATIENCE, call(self.store.clone()));
        let Some(runtime) = &self.runtime else { return Err(Failed::Silent) };
        // The timeout wants to be made within the runtime.
        let _within = runtime.enter();
        runtime.spawn(async move { done.send(call.await) });
        match outcome.recv() {
            Ok(Ok(answer)) => answer.map_err(Failed::Said),
            _ => Err(Failed::Silent),
        }
    }
}

/// Why a call has no answer.
enum Failed {
    Silent,
    Said(Error),
}

impl From<Failed> for Trouble {
    fn from(failed: Failed) -> Trouble {
        let error = match failed {
            Failed::Silent => {
                let reason = format!("no answer within {} seconds", PATIENCE.as_secs());
                return Trouble { refused: false, reason };
            }
            Failed::Said(error) => error,
        };
        let text = error.to_string();
        let said = |codes: &[&str]| codes.iter().any(|code| text.contains(&format!("<Code>{code}</Code>")));
        let denied = matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. });
        let (refused, reason) = if denied || said(&DENIED) {
            // The answer may repeat what was sent, so it stays untold.
            (
                true,
                "it does not let us: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their rights".into(),
            )
        } else if said(&["NoSuchBucket"]) {
            (true, "there is no such bucket".into())
        } else {
            (false, one_line(&text))
        };
        Trouble { refused, reason }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect()
}

impl Keeper for Bucket {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Trouble> {
        let (path, bytes) = (self.path(name), bytes.to_vec());
        Ok(self.wait(|store| async move { store.put(&path, bytes.into()).await.map(drop) })?)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Trouble> {
        let path = self.path(name);
        match self.wait(|store| async move { store.get(&path).await?.bytes().await }) {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(Failed::Said(Error::NotFound { .. })) => Ok(None),
            Err(failed) => Err(failed.into()),
        }
    }

    fn names(&self) -> Result<Vec<String>, Trouble> {
        let prefix = Path::from(self.prefix.as_str());
        let listed = self.wait(|store| async move { store.list_with_delimiter(Some(&prefix)).await })?;
        let objects = listed.objects.iter();
        Ok(objects.filter_map(|object| object.location.filename().map(str::to_owned)).collect())
    }

    fn delete(&self, name: &str) -> Result<(), Trouble> {
        let path = self.path(name);
        match self.wait(|store| async move { store.delete(&path).await }) {
            Ok(()) | Err(Failed::Said(Error::NotFound { .. })) => Ok(()),
            Err(failed) => Err(failed.into()),
        }
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
