//! Learning curves: what trainers reported, thinned out to what a picture can show.

use std::collections::BTreeMap;

use ludus_proto::v1::Progress;
use prost::Message;
use rusqlite::{Connection, Result, params};
use serde::Serialize;

use crate::book::RunId;
use crate::coordinator::Shared;
use crate::store::row_number;
use crate::{CoordinatorError, status};

/// Most points of a curve: more than a screen has room for.
pub(crate) const MOST_POINTS: u64 = 1000;

/// A report of the trainer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Point {
    /// Number of the report; later ones have larger numbers.
    pub id: u64,
    /// Seconds since 1970.
    pub at: u64,
    /// Games accepted by then.
    pub accepted: u64,
    /// Games trained on by then.
    pub games: u64,
    /// Positions trained on by then.
    pub positions: u64,
    /// Accepted games that waited to be trained on.
    pub backlog: u64,
    /// Mean loss since the report before, by position class.
    pub losses: BTreeMap<String, f64>,
}

impl Shared {
    /// The reports of a run that came after report `after`, oldest first: all of them, or as many as `most`, evenly
    /// chosen and the last one always among them.
    pub(crate) fn curve(
        &self,
        run: &str,
        after: u64,
        most: u64,
    ) -> std::result::Result<Vec<Point>, CoordinatorError> {
        let state = self.lock()?;
        let run = status::find(state.book(), run)?.id;
        state.query(|connection| points(connection, run, row_number(after), most.max(1)))
    }
}

fn points(connection: &Connection, run: RunId, after: i64, most: u64) -> Result<Vec<Point>> {
    let sql = "SELECT count(*) FROM reports WHERE run = ? AND id > ?";
    let count: u64 = connection.prepare_cached(sql)?.query_row(params![run, after], |row| row.get(0))?;
    let step = count.div_ceil(most).max(1);
    // Counted from the newest, which is always wanted.
    let sql = "SELECT id, at, accepted, progress FROM
                   (SELECT *, row_number() OVER (ORDER BY id DESC) - 1 AS place FROM reports WHERE run = ? AND id > ?)
               WHERE place % ? = 0 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![run, after, step], |row| {
        let progress: Vec<u8> = row.get(3)?;
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, progress))
    })?;
    rows.map(|row| {
        let (id, at, accepted, progress): (u64, u64, u64, Vec<u8>) = row?;
        // A report that cannot be read is a point without numbers; it decides nothing.
        let progress = Progress::decode(&progress[..]).unwrap_or_default();
        Ok(Point {
            id,
            at,
            accepted,
            games: progress.games,
            positions: progress.positions,
            backlog: accepted.saturating_sub(progress.games + progress.expired),
            losses: progress.losses.into_iter().map(|loss| (loss.class, loss.loss)).collect(),
        })
    })
    .collect()
}
