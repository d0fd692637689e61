//! What the input sets measure, once more: by loops over all rolls and all steps, slow and plain, to test them against.

use std::sync::Arc;

use ludus_games::backgammon::Position;
use ludus_games::{Backgammon, Game};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::PositionClass;
use super::tests::positions;
use crate::input_set::{InputSet, Inputs};
use crate::net_evaluator::NetEvaluator;
use crate::network::Kernel;
use crate::player::Evaluator;
use crate::weight_file::{Card, Shape, WeightFile};

/// A side's checkers by slot.
pub(super) type Side = [u8; 25];

/// All 36 rolls.
pub(super) fn rolls() -> impl Iterator<Item = (usize, usize)> {
    (1..=6).flat_map(|a| (1..=6).map(move |b| (a, b)))
}

/// The dice of a roll, a double four times.
pub(super) fn dice((a, b): (usize, usize)) -> Vec<usize> {
    if a == b { vec![a; 4] } else { vec![a, b] }
}

/// Positions of every class, in which games go on: some from games of random plays, with checkers on the bar, and some
/// with checkers put down at random, crashed and borne off ones among them.
pub(super) fn varied() -> Vec<Position> {
    let mut varied: Vec<Position> = positions().into_iter().step_by(13).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut below = |n: usize| rng.next_u32() as usize % n;
    while varied.len() < 4000 {
        // The checkers of a side stand within a window of their own, which may be anywhere and of any size, one by one or
        // two by two, some on the ace and the deuce point; in a race the other side's window ends before them.
        let mut sides = [[0; 25]; 2];
        let racing = below(2) == 0;
        let mut limit = if racing { 23 } else { 25 };
        for side in &mut sides {
            let low = below(limit);
            let size = 1 + below(limit - low);
            let (together, heap) = (1 + below(3), below(4));
            for _ in 0..[15, 15, 1 + below(15)][below(3)] / together {
                side[if below(12) < heap { below(2) } else { low + below(size) }] += together as u8;
            }
            limit = if racing { 23 - side.iter().rposition(|&n| n > 0).unwrap_or(0) } else { 25 };
        }
        if racing {
            sides.swap(0, below(2));
        }
        // And some primes.
        if !racing && below(4) == 0 {
            let low = below(16);
            sides[0] = std::array::from_fn(|slot| if (low..low + 6).contains(&slot) { 2 } else { 0 });
            sides[0][below(20) + 5] += 3;
            sides.swap(0, below(2));
        }
        let [own, mut other] = sides;
        (0..24).filter(|&slot| own[slot] > 0).for_each(|slot| other[23 - slot] = 0);
        varied.extend(Position::new(own, other).ok().filter(|position| position.payoff().is_none()));
    }
    varied.retain(|position| position.payoff().is_none());
    varied
}

/// What the plays of a roll can hit.
#[derive(Default)]
pub(super) struct Reached {
    /// Slots of the hitter where a play hits.
    pub slots: [bool; 24],
    /// The most blots that one play hits.
    pub most: u32,
}

/// Plays a roll in every way and any number of its dice.
pub(super) fn reached(hitter: &Side, target: &Side, roll: (usize, usize)) -> Reached {
    let mut reached = Reached::default();
    play(*hitter, *target, &dice(roll), &mut Vec::new(), &mut reached);
    reached
}

fn play(hitter: Side, target: Side, dice: &[usize], hit: &mut Vec<usize>, reached: &mut Reached) {
    reached.most = reached.most.max(hit.len() as u32);
    hit.iter().for_each(|&slot| reached.slots[slot] = true);
    for (i, &die) in dice.iter().enumerate() {
        if i > 0 && dice[i - 1] == die {
            continue;
        }
        for from in die..25 {
            let must_enter = hitter[24] > 0 && from != 24;
            if hitter[from] == 0 || must_enter || target[23 - (from - die)] > 1 {
                continue;
            }
            let (to, mut hitter, mut target) = (from - die, hitter, target);
            hitter[from] -= 1;
            hitter[to] += 1;
            let hits = target[23 - to] == 1;
            if hits {
                target[23 - to] = 0;
                hit.push(to);
            }
            let mut rest = dice.to_vec();
            rest.remove(i);
            play(hitter, target, &rest, hit, reached);
            if hits {
                hit.pop();
            }
        }
    }
}

/// Whether a square ahead of a checker on `slot` is made by `other`.
fn made(slot: usize, distance: usize, other: &Side) -> bool {
    distance <= 12 && distance <= slot && slot - distance < 24 && other[23 - (slot - distance)] >= 2
}

/// Rolls that take a checker on `slot` past the furthest point ahead.
pub(super) fn escapes(slot: usize, other: &Side) -> u32 {
    let Some(furthest) = (1..=12).rev().find(|&distance| made(slot, distance, other)) else { return 36 };
    count(|roll| {
        let dice = dice(roll);
        [dice.clone(), dice.into_iter().rev().collect()]
            .iter()
            .any(|dice| walk(slot, dice, other).0 > furthest)
    })
}

/// Rolls that a checker on `slot` can play two dice of.
pub(super) fn runs(slot: usize, other: &Side) -> u32 {
    count(|(a, b)| [[a, b], [b, a]].iter().any(|dice| walk(slot, dice, other).1 == 2))
}

/// How far a checker on `slot` gets with dice in this order, and with how many of them.
fn walk(slot: usize, dice: &[usize], other: &Side) -> (usize, usize) {
    let (mut distance, mut played) = (0, 0);
    for die in dice {
        if made(slot, distance + die, other) {
            break;
        }
        distance += die;
        played += 1;
    }
    (distance, played)
}

/// The rolls of 36 with which something is so.
pub(super) fn count(holds: impl Fn((usize, usize)) -> bool) -> u32 {
    rolls().filter(|&roll| holds(roll)).count() as u32
}

/// Checks an input set against its slow version on varied positions: ascending and within the width, without zeros, the
/// same whatever was written before, and of the expected values. Every input of every class must come up, except those
/// that `unused` tells.
pub(super) fn check(
    set: &impl InputSet<Backgammon>,
    slow: impl Fn(PositionClass, &Position) -> Vec<f64>,
    unused: impl Fn(PositionClass) -> Vec<usize>,
) {
    let mut used: Vec<Vec<usize>> = (0..3).map(|class| vec![0; set.width(class)]).collect();
    let mut inputs = Inputs::default();
    for position in varied() {
        let class = set.class(&position).unwrap();
        set.write(class, &position, &mut inputs);
        let mut again = Inputs::default();
        set.write(class, &position, &mut again);
        assert_eq!(inputs, again);
        assert!(inputs.indices.is_sorted_by(|a, b| a < b), "{:?}", inputs.indices);
        assert!(inputs.values.iter().all(|value| *value != 0.0 && value.is_finite()));
        let mut dense = vec![0.0; set.width(class)];
        for (&index, &value) in inputs.indices.iter().zip(&inputs.values) {
            dense[usize::from(index)] = f64::from(value);
            used[class][usize::from(index)] += 1;
        }
        let expected = slow(PositionClass::ALL[class], &position);
        assert_eq!(dense.len(), expected.len());
        for (index, (found, expected)) in dense.iter().zip(&expected).enumerate() {
            let place = format!("input {index} of {} in {position:?}", set.classes()[class]);
            assert!((found - expected).abs() < 2e-5, "{place} is {found}, not {expected}");
        }
    }
    for (class, used) in used.into_iter().enumerate() {
        let never: Vec<usize> = (0..used.len()).filter(|&index| used[index] == 0).collect();
        assert_eq!(never, unused(PositionClass::ALL[class]), "inputs of {} never used", set.classes()[class]);
    }
}

/// A digest (FNV-1a) of an input set's inputs for varied positions, to the bit.
pub(super) fn digest(set: &impl InputSet<Backgammon>) -> u64 {
    let mut inputs = Inputs::default();
    let mut digest = 0xcbf2_9ce4_8422_2325;
    let mut add = |word: u32| digest = (digest ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3);
    for position in varied() {
        let class = set.class(&position).unwrap();
        set.write(class, &position, &mut inputs);
        for (&index, &value) in inputs.indices.iter().zip(&inputs.values) {
            add(u32::from(index));
            add(value.to_bits());
        }
    }
    digest
}

/// Checks that networks on an input set judge the same, to the bit, on every kernel and in every batch, and that the
/// inputs that several positions may share tell of the side on roll alone.
pub(super) fn check_kernels(set: impl InputSet<Backgammon> + 'static) {
    let card = Card {
        game: Backgammon::NAME.to_owned(),
        revision: Backgammon::REVISION,
        inputs: set.name().to_owned(),
        ..Card::default()
    };
    let shape = |(class, name): (usize, &&str)| Shape {
        class: (*name).to_owned(),
        inputs: set.width(class),
        hidden: 50,
        outputs: 5,
    };
    let shapes: Vec<Shape> = set.classes().iter().enumerate().map(shape).collect();
    let weights = WeightFile::fresh(card, &shapes, 3).unwrap();
    let known: [Arc<dyn InputSet<Backgammon>>; 1] = [Arc::new(set)];
    // Neighbours often have a side in common, as after the plays of one roll, and then are of the same class or are not.
    let varied = varied();
    let mut positions: Vec<Position> = varied.iter().copied().step_by(5).collect();
    for (position, another) in varied.iter().zip(varied.iter().skip(7)).step_by(6) {
        let joined = Position::new(*position.own(), *another.other());
        positions.push(*position);
        positions.extend(joined.ok().filter(|joined| joined.payoff().is_none()));
    }
    let mut shared = 0;
    for pair in positions.windows(2).filter(|pair| pair[0].own() == pair[1].own()) {
        let set = &known[0];
        let inputs = [&pair[0], &pair[1]].map(|position| {
            let mut inputs = Inputs::default();
            let class = set.class(position).unwrap();
            set.write(class, position, &mut inputs);
            (class, inputs)
        });
        let [(class, one), (other_class, other)] = &inputs;
        if class == other_class {
            let end = set.shared(*class);
            assert_eq!(one.below(end), other.below(end), "{pair:?}");
            assert!(set.begins_alike(*class, &pair[0], &pair[1]));
            let mut rest = one.clone();
            rest.truncate(one.below(end).indices.len());
            set.write_rest(*class, &pair[1], &mut rest);
            assert_eq!(rest, *other, "{pair:?}");
            shared += 1;
        }
    }
    assert!(shared > 100, "only {shared} pairs share their inputs");
    let judged = Kernel::available().into_iter().map(|kernel| {
        let mut evaluator = NetEvaluator::new(Backgammon, &weights, &known).unwrap().with_kernel(kernel);
        let mut chances = Vec::new();
        evaluator.judge(&positions, &mut chances);
        chances.iter().map(|chances| chances.0.map(f32::to_bits)).collect::<Vec<_>>()
    });
    let judged: Vec<_> = judged.collect();
    assert!(judged.iter().all(|bits| *bits == judged[0]));
    // Each by an evaluator that has seen nothing before it.
    let fresh = NetEvaluator::new(Backgammon, &weights, &known).unwrap();
    for (position, judged) in positions.iter().zip(&judged[0]) {
        let mut chances = Vec::new();
        fresh.clone().judge(std::slice::from_ref(position), &mut chances);
        assert_eq!(chances[0].0.map(f32::to_bits), *judged, "{position:?}");
    }
}
