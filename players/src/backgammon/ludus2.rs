//! The inputs of `ludus-1` for networks that have small ones to look first.

use ludus_games::Backgammon;
use ludus_games::backgammon::{BackgammonChances, Position};

use super::classes::PositionClass;
use super::{Ludus1, Tesauro198};
use crate::input_set::{InputSet, Inputs};

/// [`Ludus1`], with a second, small network for each class that reads [`Tesauro198`] and says which plays of a roll are
/// worth the judgement of the first, as GNU Backgammon's pruning networks do. They learn from the same games.
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
