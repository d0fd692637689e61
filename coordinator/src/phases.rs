//! When a phase of a run begins: in the very step that accepts the game it was waiting for.

use ludus_proto::v1::SeriesKind;
use rusqlite::Result;

use crate::book::{Run, Series};
use crate::leases::SeriesBook;
use crate::series;
use crate::store::write::Writer;

/// The kinds of games to learn from.
pub(crate) const LEARNING: [SeriesKind; 2] = [SeriesKind::SelfPlay, SeriesKind::Rollout];

/// Share of the learning games' time that a kind has in the phase that holds.
pub(crate) fn share(run: &Run, kind: SeriesKind) -> f64 {
    share_in(run, kind, run.phase())
}

fn share_in(run: &Run, kind: SeriesKind, phase: u32) -> f64 {
    let rollouts = run.config.phase(phase).rollout_share;
    if kind == SeriesKind::Rollout { rollouts } else { 1.0 - rollouts }
}

/// Begins `phase` with a series of each kind that it has games of. `next_series` is the folder's next id.
pub(crate) fn begin(run: &mut Run, writer: &Writer<'_>, next_series: &mut u64, phase: u32) -> Result<()> {
    for kind in LEARNING {
        if share_in(run, kind, phase) == 0.0 {
            continue;
        }
        let id = *next_series;
        let settings = match kind {
            SeriesKind::Rollout => series::rollouts(&run.config, id, phase),
            _ => series::self_play(&run.config, id, phase),
        };
        let series = Series { settings, book: SeriesBook::default() };
        writer.new_series(run.id, &series)?;
        run.learning.push(series);
        *next_series += 1;
    }
    writer.next_series(*next_series)
}

/// Begins the phase that is due by the games accepted, if it is another than the one that holds. What is out of the
/// series before stays out: it may come in and counts, and what gets lost is handed out again, but nothing new is.
pub(crate) fn advance(run: &mut Run, writer: &Writer<'_>, next_series: &mut u64) -> Result<()> {
    let due = run.config.phase_at(run.accepted());
    if due <= run.phase() {
        return Ok(());
    }
    begin(run, writer, next_series, due)
}
