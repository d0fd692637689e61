//! Random events against a naive model that keeps every number of the series in a map.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Accounting, Block, Issue, LeaseId, Millis, Outcome, SeriesBook};

/// Something that happens. Leases and numbers are picked by position, so that most events mean something.
#[derive(Clone, Debug)]
enum Event {
    Issue {
        count: u32,
        ttl: Millis,
    },
    Reissue {
        ttl: Millis,
    },
    Accept {
        lease: usize,
        offset: u64,
    },
    AcceptAll {
        lease: usize,
    },
    GiveUp {
        lease: usize,
        offset: u64,
    },
    Extend {
        lease: usize,
        stale: bool,
        ttl: Millis,
    },
    Release {
        lease: usize,
        stale: bool,
    },
    Hurry {
        grace: Millis,
    },
    /// The clock goes on, or is set back.
    Clock {
        by: i64,
    },
    Forget,
    End,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let ttl = 1..60u64;
    let event = prop_oneof![
        6 => (0..9u32, ttl.clone()).prop_map(|(count, ttl)| Event::Issue { count, ttl }),
        4 => ttl.clone().prop_map(|ttl| Event::Reissue { ttl }),
        12 => (0..20usize, 0..10u64).prop_map(|(lease, offset)| Event::Accept { lease, offset }),
        3 => (0..20usize).prop_map(|lease| Event::AcceptAll { lease }),
        1 => (0..20usize, 0..10u64).prop_map(|(lease, offset)| Event::GiveUp { lease, offset }),
        3 => (0..20usize, any::<bool>(), ttl).prop_map(|(lease, stale, ttl)| Event::Extend { lease, stale, ttl }),
        2 => (0..20usize, any::<bool>()).prop_map(|(lease, stale)| Event::Release { lease, stale }),
        4 => (-15..40i64).prop_map(|by| Event::Clock { by }),
        1 => (0..30u64).prop_map(|grace| Event::Hurry { grace }),
        1 => Just(Event::Forget),
    ];
    // The end comes somewhere, or not at all.
    (prop::collection::vec(event, 0..120), prop::option::of(0..120usize)).prop_map(|(mut events, end)| {
        if let Some(end) = end.filter(|&end| end < events.len()) {
            events.insert(end, Event::End);
        }
        events
    })
}

/// Where a number is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Leased,
    Accepted,
    Void,
    Unplayable,
}

/// What the model knows of a lease, open or not.
#[derive(Clone, Copy, Debug)]
struct Issued {
    first: u64,
    count: u64,
    token: u64,
    since: Millis,
    deadline: Millis,
}

#[derive(Default)]
struct Model {
    numbers: BTreeMap<u64, Place>,
    /// Numbers that were handed in, in time or late.
    back: std::collections::BTreeSet<u64>,
    leases: BTreeMap<LeaseId, Issued>,
    forgotten: Vec<LeaseId>,
    ended: bool,
}

impl Model {
    fn count(&self, place: Place) -> u64 {
        self.numbers.values().filter(|&&found| found == place).count() as u64
    }

    fn accounting(&self) -> Accounting {
        let unplayable = self.count(Place::Unplayable);
        Accounting {
            issued: self.numbers.len() as u64,
            accepted: self.count(Place::Accepted),
            leased: self.count(Place::Leased),
            void: self.count(Place::Void) + unplayable,
            unplayable,
        }
    }

    /// Whether some number of the lease was never handed in.
    fn open(&self, id: LeaseId) -> bool {
        let Issued { first, count, .. } = self.leases[&id];
        !self.forgotten.contains(&id) && (first..first + count).any(|number| !self.back.contains(&number))
    }

    fn hand_in(&mut self, id: LeaseId, number: u64, place: Place) -> Outcome {
        let Issued { first, count, .. } = self.leases[&id];
        // A complete lease knows its numbers no more; whoever asks finds out that it was issued once.
        if !self.open(id) || !(first..first + count).contains(&number) {
            return Outcome::NotIssued;
        }
        if !self.back.insert(number) {
            return Outcome::Repeated;
        }
        if self.ended {
            return Outcome::Late;
        }
        self.numbers.insert(number, place);
        Outcome::New
    }

    fn pick(&self, lease: usize) -> Option<LeaseId> {
        let ids: Vec<LeaseId> = self.leases.keys().copied().collect();
        // Counted from the newest, so that the pick hits open leases most of the time.
        ids.len().checked_sub(1 + lease % ids.len().max(1)).map(|at| ids[at])
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_game_is_where_the_naive_model_says(events in events()) {
        let mut book = SeriesBook::<u64>::default();
        let mut model = Model::default();
        let (mut now, mut token) = (1000, 0);
        for event in events {
            token += 1;
            let issue = |ttl| Issue { token, holder: "w".into(), owner: 0, since: now, deadline: now + ttl };
            match event {
                Event::Issue { count, ttl } => {
                    let id = model.leases.len() as u64 + 1;
                    let first = model.numbers.len() as u64;
                    let issued = book.issue(id, count, id, issue(ttl));
                    prop_assert_eq!(issued, !model.ended && count > 0);
                    if issued {
                        let count = u64::from(count);
                        model.numbers.extend((first..first + count).map(|number| (number, Place::Leased)));
                        model.leases.insert(id, Issued { first, count, token, since: now, deadline: now + ttl });
                    }
                }
                Event::Reissue { ttl } => {
                    let free = model.leases.iter().filter(|(id, lease)| (lease.deadline <= now || lease.since > now) && model.open(**id));
                    let oldest = free.map(|(&id, _)| id).next().filter(|_| !model.ended);
                    prop_assert_eq!(book.reissue(issue(ttl)), oldest);
                    if let Some(lease) = oldest.and_then(|id| model.leases.get_mut(&id)) {
                        (lease.token, lease.since, lease.deadline) = (token, now, now + ttl);
                    }
                }
                Event::Accept { lease, offset } => {
                    if let Some(id) = model.pick(lease) {
                        let number = model.leases[&id].first + offset;
                        prop_assert_eq!(book.accept(id, number), model.hand_in(id, number, Place::Accepted));
                    }
                }
                Event::AcceptAll { lease } => {
                    if let Some(id) = model.pick(lease) {
                        let Issued { first, count, .. } = model.leases[&id];
                        for number in first..first + count {
                            prop_assert_eq!(book.accept(id, number), model.hand_in(id, number, Place::Accepted));
                        }
                        prop_assert!(!book.blocks().contains_key(&id));
                    }
                }
                Event::GiveUp { lease, offset } => {
                    if let Some(id) = model.pick(lease) {
                        let number = model.leases[&id].first + offset;
                        prop_assert_eq!(book.give_up(id, number), model.hand_in(id, number, Place::Unplayable));
                    }
                }
                Event::Extend { lease, stale, ttl } => {
                    if let Some(id) = model.pick(lease) {
                        let lease = model.leases.get_mut(&id).expect("picked");
                        book.extend(id, if stale { lease.token + 1000 } else { lease.token }, now + ttl);
                        if !stale && lease.deadline > 0 {
                            lease.deadline = lease.deadline.max(now + ttl);
                        }
                    }
                }
                Event::Release { lease, stale } => {
                    if let Some(id) = model.pick(lease) {
                        let open = model.open(id);
                        let lease = model.leases.get_mut(&id).expect("picked");
                        let released = book.release(id, if stale { lease.token + 1000 } else { lease.token });
                        prop_assert_eq!(released, open && !stale);
                        if released {
                            lease.deadline = 0;
                        }
                    }
                }
                Event::Hurry { grace } => {
                    book.hurry(now + grace);
                    for lease in model.leases.values_mut() {
                        lease.deadline = lease.deadline.min(now + grace);
                    }
                }
                Event::Clock { by } => now = now.saturating_add_signed(by),
                Event::Forget => {
                    let old = model.leases.iter().filter(|(id, lease)| lease.deadline < now && model.open(**id));
                    let old: Vec<LeaseId> = old.map(|(&id, _)| id).filter(|_| model.ended).collect();
                    prop_assert_eq!(book.forget(now), old.clone());
                    model.forgotten.extend(old);
                }
                Event::End => {
                    book.end();
                    model.ended = true;
                    for place in model.numbers.values_mut().filter(|place| **place == Place::Leased) {
                        *place = Place::Void;
                    }
                }
            }

            let numbers = book.accounting();
            prop_assert_eq!(numbers, model.accounting());
            prop_assert!(numbers.balances());
            prop_assert_eq!(book.next(), numbers.issued);
            for (&id, block) in book.blocks() {
                prop_assert!(model.open(id));
                let Issued { first, count, token, deadline, .. } = model.leases[&id];
                prop_assert_eq!((block.first, u64::from(block.count), block.players), (first, count, id));
                prop_assert_eq!((block.issue.token, block.issue.deadline), (token, deadline));
                let back: Vec<u64> = model.back.range(first..first + count).copied().collect();
                prop_assert_eq!(block.done(), back);
            }
            prop_assert_eq!(&restored(&book), &book);
        }
    }
}

/// The book after it was written down and read back.
fn restored(book: &SeriesBook<u64>) -> SeriesBook<u64> {
    let blocks = book.blocks().iter().map(|(&id, block)| {
        let Block { first, count, players, issue, asked, .. } = block.clone();
        let block = Block::restore(
            first,
            count,
            players,
            issue,
            asked,
            block.done_bits().to_vec(),
            block.owners().to_vec(),
        );
        (id, block.expect("the bitmap fits"))
    });
    SeriesBook::restore(book.accounting(), book.ended(), blocks.collect())
}
