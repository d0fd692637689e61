//! The audit: a share of the accepted games is played again and compared bit for bit.
//!
//! Game i of a series is a pure function of the series, i and the players, so whoever holds the weights can say what its
//! record must be. Workers cannot foresee which games are taken: the gaps between them are drawn at random, and none is
//! longer than twice their mean.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ludus_players::arena::{Arena, PlayError, Seating, Source, Table};
use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{GameRecord, PlayerRef, Series as SeriesSettings};
use prost::Message;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::aside::{self, Wait};
use crate::coordinator::Shared;
use crate::store::tokens::{Sample, next_sample};
use crate::tokens::TokenId;
use crate::{CoordinatorError, people};

/// How long to wait when the database fails, before the next try.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which games are taken: for each token, how many go by until the next.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    gaps: HashMap<TokenId, u64>,
}

impl Sampler {
    /// Whether the next game of `token` is taken, when this share of all is.
    pub(crate) fn takes(&mut self, token: TokenId, share: f64) -> bool {
        if share <= 0.0 {
            return false;
        }
        let gap = self.gaps.entry(token).or_insert_with(|| draw_gap(share));
        if *gap > 0 {
            *gap -= 1;
            return false;
        }
        *gap = draw_gap(share);
        true
    }
}

/// Games that go by before one is taken, from none to twice the mean, each number equally likely.
fn draw_gap(share: f64) -> u64 {
    let most = (2.0 * (1.0 / share - 1.0)).round() as u64;
    rand::random_range(0..=most)
}

/// What came of playing a game again.
enum Finding {
    /// The same, to the last bit.
    Agreed,
    /// Something else; what.
    Differed(String),
    /// It could not be played here; why.
    Impossible(String),
}

impl Finding {
    fn label(&self) -> &'static str {
        match self {
            Finding::Agreed => "agreed",
            Finding::Differed(_) => "differed",
            Finding::Impossible(_) => "impossible",
        }
    }
}

/// A table that is set: its series, who sits at it, itself.
type SetTable = (u64, [Vec<u8>; 2], Box<dyn Table>);

/// The table at which the last game was played: the next one is often of the same series and players.
#[derive(Default)]
pub(crate) struct Auditor {
    table: Option<SetTable>,
}

impl Shared {
    /// Starts the thread that plays games again until `stop`. What is given back resolves when it has ended.
    pub(crate) fn start_audits(self: Arc<Self>, stop: CancellationToken) -> oneshot::Receiver<()> {
        let mut auditor = Auditor::default();
        aside::start(self, stop, "ludus-audit", "no game is audited", move |shared| {
            match shared.audit_next(&mut auditor) {
                Ok(true) => Wait::Not,
                Ok(false) => Wait::Bell(&shared.audit_bell),
                Err(error) => {
                    tracing::warn!("audits wait: {error}");
                    Wait::BellOrFor(&shared.audit_bell, PATIENCE)
                }
            }
        })
    }

    /// Plays the game that has waited longest. `false` when none waits.
    pub(crate) fn audit_next(&self, auditor: &mut Auditor) -> Result<bool, CoordinatorError> {
        let (next, arena) = {
            let state = self.lock()?;
            let Some(next) = state.query(next_sample)? else { return Ok(false) };
            let arena = state.book().runs.get(&next.2.run).map(|run| self.arena(run).cloned());
            (next, arena)
        };
        let (id, settings, sample) = next;
        let finding = match arena {
            Some(Ok(arena)) => self.replay(auditor, &*arena, &settings, &sample),
            Some(Err(error)) => Finding::Impossible(error.to_string()),
            None => Finding::Impossible("its run is gone".into()),
        };
        let place = format!("game {} of series {}", sample.number, sample.series);
        if let Finding::Impossible(why) = &finding {
            tracing::warn!("{place} cannot be audited: {why}");
        }
        self.lock()?.step(|book, writer| {
            writer.audited(id)?;
            writer.audit_result(sample.run, finding.label())?;
            if let Some(run) = book.runs.get_mut(&sample.run) {
                *run.audits.entry(finding.label().into()).or_default() += 1;
            }
            if let Finding::Differed(what) = &finding {
                let reason = format!("{place} was forged: {what}");
                tracing::error!(token = sample.token, lease = sample.lease, "{reason}");
                writer.mark(sample.token, sample.lease)?;
                people::quarantine(book, writer, sample.token, &reason)?;
            }
            Ok(())
        })?;
        Ok(true)
    }

    fn replay(&self, auditor: &mut Auditor, arena: &dyn Arena, settings: &[u8], sample: &Sample) -> Finding {
        let played = self.table(auditor, arena, settings, sample).map(|table| table.play(sample.number));
        match (played, &sample.record) {
            (Err(why), _) => Finding::Impossible(why),
            (Ok(Err(PlayError::Outside { .. })), _) => {
                Finding::Impossible("it needs a program outside".into())
            }
            (Ok(Err(_)), None) => Finding::Agreed,
            (Ok(Err(error)), Some(_)) => Finding::Differed(error.to_string()),
            (Ok(Ok(_)), None) => Finding::Differed("it was called unplayable, and can be played".into()),
            (Ok(Ok(record)), Some(bytes)) => compare(&record, bytes),
        }
    }

    fn table<'a>(
        &self,
        auditor: &'a mut Auditor,
        arena: &dyn Arena,
        settings: &[u8],
        sample: &Sample,
    ) -> Result<&'a mut Box<dyn Table>, String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let fits = |table: &SetTable| table.0 == sample.series && table.1 == sample.seats;
        if !auditor.table.as_ref().is_some_and(fits) {
            let series = SeriesSettings::decode(settings).map_err(|error| told(&error))?;
            let [first, second] = [self.seat(&sample.seats[0])?, self.seat(&sample.seats[1])?];
            let table = arena.table(&series, [&first, &second]).map_err(|error| told(&error))?;
            auditor.table = Some((sample.series, sample.seats.clone(), table));
        }
        auditor.table.as_mut().map(|(_, _, table)| table).ok_or_else(|| "it has no table".into())
    }

    fn seat(&self, player: &[u8]) -> Result<Seating, String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let player = PlayerRef::decode(player).map_err(|error| told(&error))?;
        let source = match player.who {
            Some(Who::Baseline(name)) => Source::Baseline(name),
            Some(Who::Weights(sha256)) => {
                let digest =
                    Digest(sha256[..].try_into().map_err(|_| "a sha256 sum has 32 bytes".to_owned())?);
                let bytes = self.weights.read(digest).map_err(|error| told(&error))?;
                let file =
                    WeightFile::from_bytes(&bytes, &digest.to_string()).map_err(|error| told(&error))?;
                Source::Weights { digest, file: Arc::new(file) }
            }
            None => return Err("it has no player".into()),
        };
        Ok(Seating { source, plies: player.plies })
    }
}

/// The first thing, in the order of the game, in which a record is not what it should be.
fn compare(right: &GameRecord, bytes: &[u8]) -> Finding {
    let Ok(sent) = GameRecord::decode(bytes) else {
        return Finding::Impossible("its stored record cannot be read".into());
    };
    if right.encode_to_vec() == sent.encode_to_vec() {
        return Finding::Agreed;
    }
    // After another play the game ends at another time, with more dice or fewer: as far as both go.
    let other_dice = right.rolls.iter().zip(&sent.rolls).any(|(right, sent)| right != sent);
    let what = [
        ("its dice", other_dice),
        ("its plays", right.plays != sent.plays),
        ("its result", right.payoff != sent.payoff),
        ("which plays were explored", right.explored != sent.explored),
        ("its luck", right.luck != sent.luck || right.total_luck.to_bits() != sent.total_luck.to_bits()),
        ("its labels", right.labels != sent.labels),
    ];
    let what = what.iter().find(|(_, differs)| *differs).map_or("its digest", |(what, _)| what);
    Finding::Differed(format!("{what} not what the players give"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_kept_and_no_gap_is_longer_than_twice_the_mean() {
        let mut sampler = Sampler::default();
        for share in [0.1, 0.5, 1.0] {
            let (mut taken, mut since, mut longest) = (0, 0, 0);
            for _ in 0..20_000 {
                since += 1;
                if sampler.takes(1, share) {
                    taken += 1;
                    longest = longest.max(since);
                    since = 0;
                }
            }
            let found = f64::from(taken) / 20_000.0;
            assert!((found / share - 1.0).abs() < 0.1, "{found} for {share}");
            assert!(f64::from(longest) <= 2.0 / share, "{longest} games without one, for {share}");
            sampler = Sampler::default();
        }
        assert!(!(0..1000).any(|_| sampler.takes(1, 0.0)));
    }
}
