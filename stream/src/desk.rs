//! What the readers of all streams have in common: a read that has begun is finished, whoever stops waiting for it.
//!
//! A stream marks entries as delivered before the caller has them. Were the read simply dropped with the future that
//! asked for it (a `select!` that went another way), these entries would be stuck until the next start. So each read
//! runs as a task of its own, and the next caller finds its result.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::{Entry, StreamError};

/// One consumer's place in a stream.
pub(crate) trait Reader: Send + 'static {
    /// Takes up to `max` entries as [`GameStream::read`](crate::GameStream::read) promises.
    fn take(
        &mut self,
        max: usize,
        patience: Duration,
    ) -> impl Future<Output = Result<Vec<Entry>, StreamError>> + Send;
}

/// The readers of one open stream, by consumer name.
pub(crate) struct Desk<R> {
    seats: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Seat<R>>>>>,
}

/// What a read's task ends with: the reader, back again, and what it took.
type Taken<R> = (R, Result<Vec<Entry>, StreamError>);

/// One consumer's reader, or the task that has it.
struct Seat<R> {
    /// The reader, while no task has it.
    reader: Option<R>,
    /// The read under way.
    task: Option<JoinHandle<Taken<R>>>,
    /// Entries taken and not yet returned (a later caller wanted fewer).
    ready: VecDeque<Entry>,
}

impl<R> Drop for Seat<R> {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl<R: Reader> Desk<R> {
    pub(crate) fn new() -> Self {
        Desk { seats: Mutex::new(HashMap::new()) }
    }

    /// Reads as `consumer`, whose reader is made by `sit_down` when it has none yet.
    pub(crate) async fn read(
        &self,
        consumer: &str,
        max: usize,
        patience: Duration,
        sit_down: impl FnOnce() -> R,
    ) -> Result<Vec<Entry>, StreamError> {
        let seat = {
            let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
            let empty = || {
                Arc::new(tokio::sync::Mutex::new(Seat { reader: None, task: None, ready: VecDeque::new() }))
            };
            Arc::clone(seats.entry(consumer.to_owned()).or_insert_with(empty))
        };
        let mut seat = seat.lock().await;
        if seat.ready.is_empty() {
            let mut reader = seat.reader.take();
            let task = seat.task.get_or_insert_with(|| {
                let mut reader = reader.take().unwrap_or_else(sit_down);
                tokio::spawn(async move {
                    let result = reader.take(max, patience).await;
                    (reader, result)
                })
            });
            let finished = task.await;
            seat.task = None;
            match finished {
                Ok((reader, result)) => {
                    seat.reader = Some(reader);
                    seat.ready.extend(result?);
                }
                Err(failed) => match failed.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The runtime is going down: there is nobody left to read for.
                    Err(_cancelled) => {}
                },
            }
        }
        let count = seat.ready.len().min(max);
        Ok(seat.ready.drain(..count).collect())
    }
}
