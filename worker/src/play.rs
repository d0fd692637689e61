//! The player thread: plays the games of one lease after another, and never waits for the network while it has any.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludus_players::arena::Table;
use ludus_proto::v1::{GameRecord, PlayerRef, Series, SeriesKind};
use tokio::sync::mpsc;

use crate::hand::{Desk, Finished, HeldLease, Rest};

/// Games are handed in when there are this many, or ...
const BATCH_GAMES: usize = 64;
/// ... when the first of them is this old: what is handed in survives the worker.
const BATCH_AGE: Duration = Duration::from_secs(1);
/// The next lease is asked for when the current one lasts this much longer.
const AHEAD: Duration = Duration::from_millis(300);

/// Plays every lease that is dealt until there are no more. Each wish carries this thread's rate in self-play games a
/// second, 0 while unknown.
pub(crate) fn play(
    desk: &Desk,
    mut dealt: mpsc::Receiver<Arc<HeldLease>>,
    want: mpsc::Sender<f64>,
    finish: mpsc::Sender<Finished>,
) {
    let mut seat = Seat { desk, want, finish, self_play_rate: 0.0 };
    let mut laid: Option<LaidTable> = None;
    seat.wish();
    while let Some(lease) = dealt.blocking_recv() {
        let kept = laid.take().filter(|laid| laid.serves(&lease));
        laid = kept.or_else(|| LaidTable::lay(desk, &lease));
        match &mut laid {
            Some(laid) => seat.play(laid.table.as_mut(), lease),
            None => {
                seat.hand_in(lease, Batch::default(), Rest::GivenBack);
                // Not at once again: the coordinator may well deal the same lease.
                std::thread::sleep(BATCH_AGE);
                seat.wish();
            }
        }
    }
}

/// A player thread's place in the flow of leases and games.
struct Seat<'a> {
    desk: &'a Desk,
    want: mpsc::Sender<f64>,
    finish: mpsc::Sender<Finished>,
    self_play_rate: f64,
}

/// What has been played since the last batch.
struct Batch {
    games: Vec<GameRecord>,
    unplayable: Vec<u64>,
    started: Instant,
}

impl Default for Batch {
    fn default() -> Self {
        Batch { games: Vec::new(), unplayable: Vec::new(), started: Instant::now() }
    }
}

impl Batch {
    fn is_due(&self) -> bool {
        self.games.len() >= BATCH_GAMES || self.started.elapsed() >= BATCH_AGE
    }
}

impl Seat<'_> {
    fn play(&mut self, table: &mut dyn Table, lease: Arc<HeldLease>) {
        let numbers = numbers_to_play(&lease);
        let span = tracing::info_span!(parent: &lease.span, "play", games = numbers.len()).entered();
        let is_self_play =
            lease.lease.series.as_ref().is_some_and(|series| series.kind() == SeriesKind::SelfPlay);
        let started = Instant::now();
        let mut batch = Batch::default();
        let mut wished = false;
        let mut played = 0;
        for &number in &numbers {
            if self.desk.stop.is_cancelled() || lease.is_over() {
                break;
            }
            played += 1;
            match table.play(number) {
                Ok(record) => {
                    self.desk.stats.played(record.plays.len());
                    batch.games.push(record);
                }
                Err(error) => {
                    self.desk.warn_once("game not playable", &error.to_string());
                    batch.unplayable.push(number);
                }
            }
            self.desk.stats.evaluated(table.evaluated());
            let rate = played as f64 / started.elapsed().as_secs_f64().max(1e-6);
            if is_self_play {
                self.self_play_rate = rate;
            }
            let left = numbers.len() - played;
            if !wished && left as f64 <= rate * AHEAD.as_secs_f64() {
                wished = true;
                self.wish();
            }
            if batch.is_due() {
                self.hand_in(lease.clone(), std::mem::take(&mut batch), Rest::Coming);
            }
        }
        drop(span);
        let all = played == numbers.len() || lease.is_over();
        self.hand_in(lease, batch, if all { Rest::Nothing } else { Rest::GivenBack });
        if !wished {
            self.wish();
        }
    }

    /// Asks for another lease. At most one wish is open at a time, so there is always room for it; a closed channel
    /// means that there are no more leases.
    fn wish(&self) {
        let _ = self.want.try_send(self.self_play_rate);
    }

    /// Passes games on. Waits while the spool is full; its other end outlives this thread.
    fn hand_in(&self, lease: Arc<HeldLease>, batch: Batch, rest: Rest) {
        let Batch { games, unplayable, .. } = batch;
        let _ = self.finish.blocking_send(Finished { lease, games, unplayable, rest });
    }
}

/// The numbers of a lease that nobody has played yet.
fn numbers_to_play(held: &HeldLease) -> Vec<u64> {
    let lease = &held.lease;
    let end = lease.first.saturating_add(u64::from(lease.count));
    (lease.first..end).filter(|number| lease.done.binary_search(number).is_err()).collect()
}

/// A table and what it was set up for. Laying one unpacks weights, so it is kept as long as the same players go on with
/// the same series.
struct LaidTable {
    game: String,
    series: Series,
    players: Vec<PlayerRef>,
    table: Box<dyn Table>,
}

impl LaidTable {
    fn lay(desk: &Desk, held: &HeldLease) -> Option<Self> {
        let lease = &held.lease;
        let series = lease.series.as_ref()?;
        match held.arena.table(series, [&held.seats[0], &held.seats[1]]) {
            Ok(table) => Some(LaidTable {
                game: lease.game.clone(),
                series: *series,
                players: lease.players.clone(),
                table,
            }),
            Err(error) => {
                desk.warn_once("lease without a table", &error.to_string());
                desk.stats.waits_for(error.to_string());
                None
            }
        }
    }

    fn serves(&self, held: &HeldLease) -> bool {
        let lease = &held.lease;
        self.game == lease.game
            && lease.series.as_ref() == Some(&self.series)
            && self.players == lease.players
    }
}
