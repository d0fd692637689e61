//! The open leases of a run.

use ludus_proto::v1::SeriesKind;
use serde::Serialize;

use crate::coordinator::Shared;
use crate::leases::Millis;
use crate::{CoordinatorError, status};

/// A block of games that is out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OpenLease {
    /// Its number.
    pub lease: u64,
    /// What the games are for: `self-play`, `rollout` or `gate`.
    pub kind: &'static str,
    /// Its series.
    pub series: u64,
    /// Number of its first game.
    pub first: u64,
    /// Games of the block.
    pub games: u32,
    /// Of these, the ones that have not come in.
    pub missing: u32,
    /// Who has it.
    pub worker: String,
    /// Seconds since it was issued.
    pub age: u64,
    /// Seconds until it goes to somebody else; 0: it does so as soon as anybody asks.
    pub left: u64,
}

/// A word for what games are for, as metrics and the API have it.
pub(crate) fn kind_word(kind: SeriesKind) -> &'static str {
    match kind {
        SeriesKind::Rollout => "rollout",
        SeriesKind::Gate => "gate",
        _ => "self-play",
    }
}

impl Shared {
    /// The open leases of a run, those that end first in front.
    pub(crate) fn open_leases(&self, run: &str, now: Millis) -> Result<Vec<OpenLease>, CoordinatorError> {
        let state = self.lock()?;
        let run = status::find(state.book(), run)?;
        let mut leases: Vec<OpenLease> = Vec::new();
        for series in run.series().filter(|series| !series.book.ended()) {
            leases.extend(series.book.blocks().iter().map(|(&lease, block)| OpenLease {
                lease,
                kind: kind_word(series.settings.kind()),
                series: series.settings.id,
                first: block.first,
                games: block.count,
                missing: block.undone(),
                worker: block.issue.holder.clone(),
                age: now.saturating_sub(block.issue.since) / 1000,
                left: block.issue.deadline.saturating_sub(now) / 1000,
            }));
        }
        leases.sort_by_key(|lease| (lease.left, lease.lease));
        Ok(leases)
    }
}
