//! The inputs of `ludus-1` for networks that have small ones to look first.

use ludus_games::Backgammon;
use ludus_games::backgammon::{BackgammonChances, Position};

use super::classes::PositionClass;
use super::{Ludus1, Tesauro198};
use crate::input_set::{InputSet, Inputs};

/// [`Ludus1`], with a second, small network for each class that reads [`Tesauro198`] and says which plays of a roll are
/// worth the judgement of the first, as GNU Backgammon's pruning networks do: luck is measured with a few plays of each roll
/// instead of all, and self-play can choose among a few (`self_play.shortlist`). The small networks learn from the same
/// games, not from labels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ludus2;

/// Position classes with a network.
const CLASSES: usize = PositionClass::ALL.len();
/// Hidden units of a small network: one vector of the processor.
const SMALL: usize = 16;

impl InputSet<Backgammon> for Ludus2 {
    fn name(&self) -> &'static str {
        "ludus-2"
    }

    fn classes(&self) -> &'static [&'static str] {
        &["contact", "crashed", "race", "contact-pruning", "crashed-pruning", "race-pruning"]
    }

    fn width(&self, class: usize) -> usize {
        if class < CLASSES { Ludus1.width(class) } else { Tesauro198.width(class - CLASSES) }
    }

    fn class(&self, position: &Position) -> Option<usize> {
        Ludus1.class(position)
    }

    fn write(&self, class: usize, position: &Position, inputs: &mut Inputs) {
        if class < CLASSES {
            Ludus1.write(class, position, inputs);
        } else {
            Tesauro198.write(class - CLASSES, position, inputs);
        }
    }

    fn shared(&self, class: usize) -> usize {
        if class < CLASSES { Ludus1.shared(class) } else { Tesauro198.shared(class - CLASSES) }
    }

    fn begins_alike(&self, class: usize, one: &Position, other: &Position) -> bool {
        if class < CLASSES {
            Ludus1.begins_alike(class, one, other)
        } else {
            Tesauro198.begins_alike(class - CLASSES, one, other)
        }
    }

    fn write_rest(&self, class: usize, position: &Position, inputs: &mut Inputs) {
        if class < CLASSES {
            Ludus1.write_rest(class, position, inputs);
        } else {
            Tesauro198.write_rest(class - CLASSES, position, inputs);
        }
    }

    fn pruning(&self, class: usize) -> Option<usize> {
        (class < CLASSES).then_some(class + CLASSES)
    }

    fn hidden(&self, class: usize) -> Option<usize> {
        (class >= CLASSES).then_some(SMALL)
    }

    fn known(&self, position: &Position) -> Option<BackgammonChances> {
        Ludus1.known(position)
    }

    fn possible(&self, class: usize, position: &Position, chances: BackgammonChances) -> BackgammonChances {
        Ludus1.possible(class % CLASSES, position, chances)
    }
}

#[cfg(test)]
mod tests {
    use ludus_games::{Backgammon, Chances, Game, Plays};
    use ludus_proto::v1::{LuckMode, Series};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::arena::Table;
    use crate::backgammon::{input_sets, tests::positions};
    use crate::lessons::shapes;
    use crate::net_evaluator::NetEvaluator;
    use crate::player::Evaluator;
    use crate::search::ValuePlayer;
    use crate::shortlist::Listed;
    use crate::table::{Seated, SeriesTable};
    use crate::toys::{named, self_play};
    use crate::weight_file::{Card, WeightFile};

    fn weights(inputs: &dyn InputSet<Backgammon>, seed: u64) -> WeightFile {
        let card = Card {
            game: Backgammon::NAME.to_owned(),
            revision: Backgammon::REVISION,
            inputs: inputs.name().to_owned(),
            ..Card::default()
        };
        WeightFile::fresh(card, &shapes(inputs, 12), seed).unwrap()
    }

    fn evaluator(weights: &WeightFile) -> NetEvaluator<Backgammon> {
        NetEvaluator::new(Backgammon, weights, &input_sets()).unwrap()
    }

    fn judged(evaluator: &mut NetEvaluator<Backgammon>, positions: &[Position]) -> Vec<BackgammonChances> {
        let mut chances = Vec::new();
        evaluator.judge(positions, &mut chances);
        chances
    }

    #[test]
    fn judgements_are_those_of_the_large_networks() {
        let both = weights(&Ludus2, 3);
        let mut large = weights(&Ludus1, 3);
        large.networks = both.networks[..3].to_vec();
        let positions = positions();
        assert_eq!(judged(&mut evaluator(&both), &positions), judged(&mut evaluator(&large), &positions));
    }

    #[test]
    fn on_a_shortlist_are_the_plays_that_the_small_networks_like_best() {
        let both = weights(&Ludus2, 5);
        let mut small = weights(&Tesauro198, 5);
        for (class, network) in small
            .networks
            .iter_mut()
            .zip(&both.networks[3..])
            .map(|(to, from)| (to.class.clone(), (to, from)))
        {
            let (to, from) = network;
            *to = from.clone();
            to.class = class;
        }
        let (mut both, mut small) = (evaluator(&both), evaluator(&small));
        let (mut plays, mut list, mut shorter) = (Plays::new(), Vec::new(), 0);
        for state in positions().into_iter().filter(|state| state.payoff().is_none()).step_by(7) {
            for (roll, _) in Backgammon.rolls(&state, 1) {
                Backgammon.plays(&state, *roll, &mut plays);
                // The bear-off is known to the one and not to the other.
                if plays.after.iter().any(|after| Ludus2.known(after).is_some()) {
                    continue;
                }
                let most = 3 + usize::from(shorter % 2 == 0);
                both.shortlist(&plays.after, most, &mut list);
                let mut order: Vec<usize> = (0..plays.len()).collect();
                let points: Vec<f32> = judged(&mut small, &plays.after).iter().map(Chances::points).collect();
                order.sort_by(|&a, &b| points[a].total_cmp(&points[b]));
                order.truncate(most);
                order.sort_unstable();
                assert_eq!(list, order, "{state:?} {roll:?}");
                shorter += usize::from(list.len() < plays.len());
            }
        }
        assert!(shorter > 1000, "{shorter}");
    }

    #[test]
    fn in_a_series_with_a_shortlist_the_best_play_on_it_is_made() {
        let weights = weights(&Ludus2, 9);
        let mut evaluator = evaluator(&weights);
        let mut player = ValuePlayer::new(Backgammon, Box::new(evaluator.clone()), 0);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut plays, mut list, mut listed) = (Plays::new(), Vec::new(), Listed::default());
        let (mut long, mut other) = (0, 0);
        for state in positions().into_iter().filter(|state| state.payoff().is_none()).step_by(11) {
            for (roll, _) in Backgammon.rolls(&state, 1) {
                Backgammon.plays(&state, *roll, &mut plays);
                let points: Vec<f32> =
                    judged(&mut evaluator, &plays.after).iter().map(Chances::points).collect();
                evaluator.shortlist(&plays.after, 6, &mut list);
                let best = |among: &[usize]| {
                    among.iter().copied().min_by(|&a, &b| points[a].total_cmp(&points[b])).expect("a play")
                };
                let made = listed.choose(6, &mut player, (&state, *roll, &plays), &mut rng);
                assert_eq!(made, best(&list), "{state:?} {roll:?}");
                let all: Vec<usize> = (0..plays.len()).collect();
                long += usize::from(plays.len() > 6);
                other += usize::from(made != best(&all));
            }
        }
        // Random networks agree on nothing, so the best of all is often not on the list.
        assert!(long > 1000 && other > long / 4, "{long} {other}");
    }

    #[test]
    fn the_same_plays_are_made_whether_luck_is_measured_or_not() {
        let weights = weights(&Ludus2, 7);
        let play = |luck, shortlist| {
            let player = ValuePlayer::new(Backgammon, Box::new(evaluator(&weights)), 0);
            let series = Series { explore_margin: 0.3, shortlist, ..self_play(4, luck, 0.2) };
            let names = [named("one"), named("one")];
            let mut table =
                SeriesTable::new(Backgammon, &series, names, Seated::alone(Box::new(player))).unwrap();
            let record = table.play(2).unwrap();
            (record.rolls, record.plays, record.explored, record.payoff)
        };
        for shortlist in [0, 4] {
            assert_eq!(play(LuckMode::LuckNone, shortlist), play(LuckMode::LuckPositions, shortlist));
        }
        assert_ne!(play(LuckMode::LuckNone, 0), play(LuckMode::LuckNone, 4));
        assert_eq!(play(LuckMode::LuckNone, 0), play(LuckMode::LuckTotal, 0));
    }
}
