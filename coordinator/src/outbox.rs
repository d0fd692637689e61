//! From the outbox to the stream.
//!
//! Games enter the outbox in the very step that accepts them. From there they go to the stream, in order, and leave the
//! outbox once the trainer has reported them settled: a Redis that dies may forget what it had taken, and then they are
//! appended again when the trainer misses them. When the coordinator dies between appending and writing that down they
//! are appended twice as well. The trainer, which knows what it has had, skips them. While Redis is away they stay, and
//! the backlog limit stops new games before there are too many.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ludus_stream::GameStream;
use rusqlite::{Connection, params};
use tokio_util::sync::CancellationToken;

use crate::CoordinatorError;
use crate::blocking::blocking;
use crate::book::RunId;
use crate::coordinator::Shared;

/// Entries appended at once.
const BATCH: usize = 64;
/// How long to wait after a failure, at first and at most.
const PATIENCE: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(10)];

/// The open streams, by run.
type Streams = HashMap<RunId, Arc<dyn GameStream>>;

/// An entry in the outbox.
struct Entry {
    post: u64,
    run: RunId,
    payload: Vec<u8>,
}

impl Shared {
    /// Opens the streams of all active runs, so that a stream that is not there is found out at the start.
    pub(crate) async fn open_streams(&self) -> Result<Streams, CoordinatorError> {
        let active: Vec<(RunId, String)> = {
            let state = self.lock()?;
            let runs = state.book().runs.values().filter(|run| run.active);
            runs.map(|run| (run.id, run.stream.clone())).collect()
        };
        let mut streams = Streams::new();
        for (id, name) in active {
            streams.insert(id, self.options.stream.open(&name).await?);
        }
        Ok(streams)
    }

    /// Empties the outbox whenever something is in it, until `stop`.
    pub(crate) async fn run_outbox(self: Arc<Self>, mut streams: Streams, stop: CancellationToken) {
        let mut patience = PATIENCE[0];
        loop {
            let pause = match self.empty_outbox(&mut streams).await {
                Ok(()) => {
                    patience = PATIENCE[0];
                    self.note_trouble(None);
                    None
                }
                Err(error) => {
                    let trouble = format!("accepted games wait in the outbox: {error}");
                    tracing::warn!("{trouble}");
                    self.note_trouble(Some(trouble));
                    let pause = patience;
                    patience = (2 * patience).min(PATIENCE[1]);
                    Some(pause)
                }
            };
            if stop.is_cancelled() {
                return;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
                () = self.outbox_bell.notified(), if pause.is_none() => {}
            }
        }
    }

    fn note_trouble(&self, trouble: Option<String>) {
        *self.stream_trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    async fn empty_outbox(self: &Arc<Self>, streams: &mut Streams) -> Result<(), CoordinatorError> {
        loop {
            let shared = self.clone();
            let (from, entries) = blocking(move || shared.to_post()).await?;
            let Some(first) = entries.first() else { return Ok(()) };
            // One run at a time; the others' entries come with the next round.
            let run = first.run;
            let (posts, payloads): (Vec<u64>, Vec<Vec<u8>>) = entries
                .into_iter()
                .take_while(|entry| entry.run == run)
                .map(|entry| (entry.post, entry.payload))
                .unzip();
            self.stream(streams, run).await?.append(payloads).await?;
            let shared = self.clone();
            blocking(move || shared.posted(from, posts.into_iter().max().unwrap_or(from))).await?;
        }
    }

    async fn stream(
        &self,
        streams: &mut Streams,
        run: RunId,
    ) -> Result<Arc<dyn GameStream>, CoordinatorError> {
        if let Some(stream) = streams.get(&run) {
            return Ok(stream.clone());
        }
        let name = self.lock()?.book().runs.get(&run).map(|run| run.stream.clone());
        // An entry is written with its run, and runs are never removed.
        let name =
            name.ok_or_else(|| CoordinatorError::NoRun { name: run.to_string(), known: String::new() })?;
        let stream = self.options.stream.open(&name).await?;
        streams.insert(run, stream.clone());
        Ok(stream)
    }

    /// Up to where the streams have everything, and the oldest entries after that.
    fn to_post(&self) -> Result<(u64, Vec<Entry>), CoordinatorError> {
        let state = self.lock()?;
        let from = state.book().posted;
        let entries = state.query(|connection: &Connection| {
            let sql = "SELECT id, run, payload FROM outbox WHERE id > ? ORDER BY id LIMIT ?";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![from, BATCH], |row| {
                Ok(Entry { post: row.get(0)?, run: row.get(1)?, payload: row.get(2)? })
            })?;
            rows.collect()
        })?;
        Ok((from, entries))
    }

    /// Notes that the streams have what lay between the two, unless something has to be appended again by now.
    fn posted(&self, from: u64, to: u64) -> Result<(), CoordinatorError> {
        self.lock()?.step(|book, writer| {
            if book.posted == from {
                book.posted = to;
                writer.posted(to)?;
            }
            Ok(())
        })
    }
}
