//! Checking the labels of a record, as far as that goes without rolling out again.

use ludus_games::{Chances, Game};
use ludus_proto::v1::{GameRecord, Label, Rollout, Series, SeriesKind};

use super::{Ply, refuse};
use crate::arena::Violation;
use crate::rollout::LABEL_RANGE;

/// Checks labels ply by ply, while the game is replayed.
pub(super) struct LabelCheck<'a> {
    settings: Rollout,
    /// The labels not checked yet.
    left: &'a [Label],
    /// Plies with labels so far.
    plies: u32,
}

impl<'a> LabelCheck<'a> {
    /// Begins with the labels of `record`; refuses labels that the series does not ask for.
    pub(super) fn new(series: &Series, record: &'a GameRecord) -> Result<Self, Violation> {
        let labels = &record.labels[..];
        let settings = match series.rollout {
            Some(settings) if series.kind() == SeriesKind::Rollout => settings,
            _ if labels.is_empty() => Rollout::default(),
            _ => return refuse("labels-unasked", || format!("{} labels", labels.len())),
        };
        Ok(LabelCheck { settings, left: labels, plies: 0 })
    }

    /// Checks the labels of the next ply of the game, which come next if there are any.
    pub(super) fn check_ply<G: Game>(&mut self, game: G, ply: &Ply<'_, G>) -> Result<(), Violation> {
        let count = self.left.iter().take_while(|label| label.ply as usize == ply.ply).count();
        if count == 0 {
            return Ok(());
        }
        let (labels, left) = self.left.split_at(count);
        self.left = left;
        self.plies += 1;
        let Rollout { positions, margin, plays, decisions, .. } = self.settings;
        if self.plies > positions {
            return refuse("too-many-labels", || {
                format!("ply {}: labels of more than {positions} plies", ply.ply)
            });
        }
        let rivals = margin > 0.0;
        let most = if rivals { plays as usize } else { 1 };
        if count > most {
            return refuse("too-many-labels", || format!("ply {}: {count} labels, at most {most}", ply.ply));
        }
        let bad = |what: &str| refuse("bad-label", || format!("ply {}: {what}", ply.ply));
        if !labels.windows(2).all(|pair| pair[0].play < pair[1].play) {
            return bad("plays are not in ascending order");
        }
        if !labels.iter().any(|label| label.play as usize == ply.play) {
            return bad("no label of the play made");
        }
        if rivals && decisions && count < 2 {
            return bad("a label without a rival");
        }
        for label in labels {
            match ply.plays.after.get(label.play as usize) {
                None => return bad("a label of no legal play"),
                Some(after) if game.payoff(after).is_some() => return bad("a label of a finished position"),
                Some(_) => {}
            }
            if let Some(what) = self.problem::<G::Chances>(label) {
                return bad(what);
            }
        }
        Ok(())
    }

    /// What is wrong with the numbers of a label, if anything.
    fn problem<C: Chances>(&self, label: &Label) -> Option<&'static str> {
        if label.trials != self.settings.trials {
            return Some("not as many trials as the series asks for");
        }
        if label.chances.len() != C::LEN {
            return Some("not as many chances as the game has");
        }
        if !label.chances.iter().all(|chance| LABEL_RANGE.contains(chance)) {
            return Some("chances beyond all measure");
        }
        if !label.error.is_finite() || label.error < 0.0 {
            return Some("an error that is not a number of 0 or more");
        }
        None
    }

    /// Refuses labels that belong to no ply of the game or are out of order.
    pub(super) fn finish(self) -> Result<(), Violation> {
        match self.left.first() {
            Some(label) => refuse("bad-label", || format!("a label of ply {} out of place", label.ply)),
            None => Ok(()),
        }
    }
}
