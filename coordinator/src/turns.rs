//! Whose turn it is: which of the waiting kinds of work the next worker gets.
//!
//! Start-time fair queueing (Goyal, Vin, Cheng 1996): every kind of work has a clock that runs when it is served, slower
//! the larger its share; the one that is furthest behind is served next. Whoever had nothing to do gets no credit for
//! it. So with shares 0.25 and 0.75 a gate gets a quarter of the workers' time while it runs, whatever the sizes of the
//! leases, and nobody starves.

use std::collections::BTreeMap;

use ludus_proto::v1::SeriesKind;

use crate::book::RunId;

/// Something that workers can be asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Work {
    /// Games to learn from.
    SelfPlay(RunId),
    /// Games to learn the labels of.
    Rollout(RunId),
    /// Games of the gate in progress.
    Gate(RunId),
}

impl Work {
    /// The games of a series of this run.
    pub(crate) fn of(run: RunId, kind: SeriesKind) -> Work {
        match kind {
            SeriesKind::Gate => Work::Gate(run),
            SeriesKind::Rollout => Work::Rollout(run),
            SeriesKind::SelfPlay | SeriesKind::Unspecified => Work::SelfPlay(run),
        }
    }

    /// Whose work it is.
    pub(crate) fn run(self) -> RunId {
        match self {
            Work::SelfPlay(run) | Work::Rollout(run) | Work::Gate(run) => run,
        }
    }

    /// The kind of its series.
    pub(crate) fn kind(self) -> SeriesKind {
        match self {
            Work::SelfPlay(_) => SeriesKind::SelfPlay,
            Work::Rollout(_) => SeriesKind::Rollout,
            Work::Gate(_) => SeriesKind::Gate,
        }
    }
}

/// Work that waits, with its share of the workers' time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Offer {
    pub work: Work,
    /// Above 0; only the ratio to the other shares counts.
    pub share: f64,
}

/// The clocks.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// When each kind of work may be served next, on its own clock.
    finish: BTreeMap<Work, f64>,
    /// Start of the service given last.
    now: f64,
}

impl Turns {
    /// The offers, the one whose turn it is first.
    pub(crate) fn order(&self, mut offers: Vec<Offer>) -> Vec<Offer> {
        offers.sort_by(|a, b| self.start(a.work).total_cmp(&self.start(b.work)).then(a.work.cmp(&b.work)));
        offers
    }

    /// Notes that `offer` was served with `seconds` of a worker's time.
    pub(crate) fn served(&mut self, offer: Offer, seconds: f64) {
        self.now = self.start(offer.work);
        self.finish.insert(offer.work, self.now + seconds / offer.share);
    }

    fn start(&self, work: Work) -> f64 {
        self.finish.get(&work).copied().unwrap_or(0.0).max(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAY: Offer = Offer { work: Work::SelfPlay(1), share: 0.75 };
    const GATE: Offer = Offer { work: Work::Gate(1), share: 0.25 };

    /// Seconds given to self-play and to the gate when `offers` are served `rounds` times.
    fn serve(
        turns: &mut Turns,
        offers: &[Offer],
        rounds: usize,
        seconds: impl Fn(Work) -> f64,
    ) -> (f64, f64) {
        let mut given = (0.0, 0.0);
        for _ in 0..rounds {
            let next = turns.order(offers.to_vec())[0];
            let seconds = seconds(next.work);
            turns.served(next, seconds);
            *(if next.work == PLAY.work { &mut given.0 } else { &mut given.1 }) += seconds;
        }
        given
    }

    #[test]
    fn time_is_shared_as_promised_whatever_the_sizes_of_the_leases() {
        for (play, gate) in [(4.0, 4.0), (1.0, 9.0), (7.0, 0.5)] {
            let size = |work| if work == PLAY.work { play } else { gate };
            let (play, gate) = serve(&mut Turns::default(), &[GATE, PLAY], 4000, size);
            let share = gate / (play + gate);
            assert!((share - 0.25).abs() < 0.01, "{share}");
        }
    }

    #[test]
    fn whoever_comes_late_gets_its_share_from_then_on_and_no_more() {
        let mut turns = Turns::default();
        serve(&mut turns, &[PLAY], 1000, |_| 1.0);
        let (play, gate) = serve(&mut turns, &[PLAY, GATE], 400, |_| 1.0);
        assert_eq!((play, gate), (300.0, 100.0));
        serve(&mut turns, &[GATE], 1000, |_| 1.0);
        let (play, gate) = serve(&mut turns, &[PLAY, GATE], 400, |_| 1.0);
        assert!((play - 300.0).abs() <= 4.0, "self-play neither starves nor catches up: {play}, {gate}");
    }

    #[test]
    fn alone_everybody_gets_everything() {
        assert_eq!(serve(&mut Turns::default(), &[GATE], 10, |_| 1.0), (0.0, 10.0));
        assert!(Turns::default().order(vec![]).is_empty());
    }
}
