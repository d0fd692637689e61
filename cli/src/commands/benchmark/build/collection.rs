//! Which decisions become the file's.

use std::collections::{BTreeMap, HashSet};

use ludus_players::decisions::RolledDecision;

/// Takes decisions in the order of the games' numbers, whatever order the games arrive in: what is taken is a function
/// of the games alone. Taking them as they arrive would prefer short games, which arrive first.
pub(super) struct Collection {
    wanted: usize,
    /// Decisions wanted of each class; as they come without.
    quotas: Option<BTreeMap<String, usize>>,
    taken: Vec<RolledDecision>,
    /// Position and roll of those taken: openings come up again and again.
    known: HashSet<(String, String)>,
    counts: BTreeMap<&'static str, usize>,
    /// The game whose turn it is.
    next: u64,
    /// Games that arrived before their turn.
    early: BTreeMap<u64, Vec<RolledDecision>>,
}

impl Collection {
    /// Nothing yet of `wanted` decisions; with `classes`, as many of each, the first ones one more where it does not
    /// divide.
    pub(super) fn new(wanted: usize, classes: Option<Vec<String>>) -> Self {
        let quotas = classes.map(|classes| {
            let (each, more) = (wanted / classes.len().max(1), wanted % classes.len().max(1));
            let quota = |(index, class)| (class, each + usize::from(index < more));
            classes.into_iter().enumerate().map(quota).collect()
        });
        Collection {
            wanted,
            quotas,
            taken: Vec::new(),
            known: HashSet::new(),
            counts: BTreeMap::new(),
            next: 0,
            early: BTreeMap::new(),
        }
    }

    /// Takes a game in. One that came before makes no difference.
    pub(super) fn add(&mut self, number: u64, decisions: Vec<RolledDecision>) {
        if number >= self.next {
            self.early.insert(number, decisions);
        }
        while !self.is_full()
            && let Some(decisions) = self.early.remove(&self.next)
        {
            self.next += 1;
            for decision in decisions {
                self.consider(decision);
            }
        }
    }

    fn consider(&mut self, decision: RolledDecision) {
        let count = self.counts.entry(decision.class).or_default();
        let room = self
            .quotas
            .as_ref()
            .is_none_or(|quotas| quotas.get(decision.class).is_some_and(|&quota| *count < quota));
        if self.taken.len() < self.wanted
            && room
            && self.known.insert((decision.position.clone(), decision.roll.clone()))
        {
            *count += 1;
            self.taken.push(decision);
        }
    }

    /// Whether there are decisions enough.
    pub(super) fn is_full(&self) -> bool {
        self.taken.len() >= self.wanted
    }

    /// Decisions taken.
    pub(super) fn len(&self) -> usize {
        self.taken.len()
    }

    /// Games looked at.
    pub(super) fn games(&self) -> u64 {
        self.next
    }

    /// Those taken, in the order of the games.
    pub(super) fn decisions(&self) -> &[RolledDecision] {
        &self.taken
    }

    /// Number of decisions of each class.
    pub(super) fn classes(&self) -> BTreeMap<String, usize> {
        self.counts
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(class, count)| ((*class).into(), *count))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(class: &'static str, position: u64) -> RolledDecision {
        RolledDecision { ply: 0, class, position: position.to_string(), roll: "31".into(), plays: Vec::new() }
    }

    /// Game `number` has one contact decision, and every third one a race, too.
    fn game(number: u64) -> Vec<RolledDecision> {
        let mut decisions = vec![decision("contact", number)];
        decisions.extend((number % 3 == 2).then(|| decision("race", 100 + number)));
        decisions
    }

    fn positions(collection: &Collection) -> Vec<&str> {
        collection.decisions().iter().map(|decision| decision.position.as_str()).collect()
    }

    #[test]
    fn what_is_taken_does_not_depend_on_the_order_of_arrival() {
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 2, 0, 4, 1]] {
            let mut collection = Collection::new(3, None);
            for number in order.into_iter().chain([3]) {
                collection.add(number, game(number));
            }
            assert_eq!(positions(&collection), ["0", "1", "2"], "{order:?}");
            assert!(collection.is_full());
            assert_eq!(collection.games(), 3);
        }
    }

    #[test]
    fn a_gap_is_waited_for() {
        let mut collection = Collection::new(3, None);
        (1..9).for_each(|number| collection.add(number, game(number)));
        assert_eq!((collection.len(), collection.games()), (0, 0));
        collection.add(0, game(0));
        assert!(collection.is_full());
    }

    #[test]
    fn balanced_collections_go_on_until_every_class_has_its_share() {
        let classes = vec!["contact".to_owned(), "race".to_owned()];
        let mut collection = Collection::new(5, Some(classes));
        (0..5).for_each(|number| collection.add(number, game(number)));
        assert_eq!(positions(&collection), ["0", "1", "2", "102"]);
        (5..9).for_each(|number| collection.add(number, game(number)));
        assert_eq!(positions(&collection), ["0", "1", "2", "102", "105"]);
        assert_eq!(collection.classes(), [("contact".to_owned(), 3), ("race".to_owned(), 2)].into());
        assert!(collection.is_full());
    }

    #[test]
    fn a_decision_that_comes_up_again_is_taken_once() {
        let mut collection = Collection::new(2, None);
        collection.add(0, vec![decision("contact", 7)]);
        collection.add(1, vec![decision("contact", 7), decision("contact", 8)]);
        assert_eq!(positions(&collection), ["7", "8"]);
    }
}
