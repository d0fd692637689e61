use super::*;
use crate::backgammon::slow::{self, Side, count, dice, escapes, reached, rolls, runs};

/// The hats of a number that stands at `low + i * step` for the `i`th.
fn hats(low: f64, step: f64, units: usize, number: f64) -> Vec<f64> {
    let number = number.clamp(low, low + step * (units - 1) as f64);
    (0..units).map(|i| (1.0 - (number - (low + step * i as f64)).abs() / step).max(0.0)).collect()
}

fn just(units: usize, n: usize) -> Vec<f64> {
    (1..=units).map(|i| yes(n == i || n > i && i == units)).collect()
}

fn yes(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// Sum over all checkers by their slot.
fn sum(side: &Side, each: impl Fn(i32) -> i32) -> f64 {
    (0..25).map(|slot| f64::from(i32::from(side[slot]) * each(slot as i32))).sum()
}

fn men(side: &Side) -> usize {
    sum(side, |_| 1) as usize
}

fn rear(side: &Side) -> usize {
    side.iter().rposition(|&n| n > 0).unwrap()
}

fn slots(side: &Side) -> Vec<f64> {
    let units = |&n: &u8| [yes(n == 1), yes(n == 2), yes(n >= 3), (f64::from(n) - 3.0).max(0.0) / 2.0];
    side.iter().flat_map(units).collect()
}

fn structure(side: &Side) -> Vec<f64> {
    let off = (15 - men(side)) as f64;
    let made: Vec<usize> = (0..24).filter(|&slot| side[slot] >= 2).collect();
    let anchors: Vec<usize> = made.iter().copied().filter(|&slot| slot >= 18).collect();
    let home = made.iter().filter(|&&slot| slot < 6).count() as f64;
    let mean = sum(side, |slot| slot) / men(side) as f64;
    let squares: f64 = (0..25).map(|i| f64::from(side[i]) * (i as f64 - mean).powi(2)).sum();
    let links: Vec<f64> = made
        .windows(2)
        .map(|pair| {
            f64::from(count(|(a, b)| {
                a != b && [a, b, a + b].contains(&(pair[1] - pair[0]))
                    || a == b && (1..=4).any(|n| n * a == pair[1] - pair[0])
            }))
        })
        .collect();
    vec![
        off.min(5.0) / 5.0,
        (off.min(10.0) - 5.0).max(0.0) / 5.0,
        (off - 10.0).max(0.0) / 5.0,
        sum(side, |slot| slot + 1) / 150.0,
        rear(side) as f64 / 24.0,
        made.last().map_or(0.0, |&slot| (slot + 1) as f64 / 24.0),
        anchors.first().map_or(0.0, |&slot| (24 - slot) as f64 / 6.0),
        home / 6.0,
        home * home / 36.0,
        (squares / men(side) as f64).sqrt() / 12.0,
        links.iter().sum::<f64>() / (36 * links.len().max(1)) as f64,
        side.iter().map(|&n| (f64::from(n) - 3.0).max(0.0).powi(2)).sum::<f64>() / 64.0,
        yes(anchors.len() >= 2),
        (sum(side, |slot| i32::from(slot >= 18)) - 3.0).max(0.0) / 4.0,
    ]
}

/// Pips that a roll has and cannot play because of the bar.
fn lost(bar: usize, other: &Side) -> f64 {
    let shut = |die: usize| other[die - 1] >= 2;
    let lost = |(a, b): (usize, usize)| match (shut(a), shut(b)) {
        (true, true) => dice((a, b)).iter().sum(),
        (true, false) if bar >= 2 => a,
        (false, true) if bar >= 2 => b,
        _ => 0,
    };
    rolls().map(lost).sum::<usize>() as f64 / 294.0
}

fn timing(side: &Side) -> f64 {
    let mut pips = 0;
    for (slot, &n) in side.iter().enumerate() {
        let n = usize::from(n);
        let spare = if n >= 2 { n - 2 } else { n };
        pips += match slot {
            0..6 => spare * slot,
            18..24 => spare * (slot - 5),
            _ => n * (slot - 5),
        };
    }
    pips as f64
}

fn new_point(side: &Side, other: &Side, roll: (usize, usize)) -> bool {
    let spare = |slot: usize| slot < 24 && ![0, 2].contains(&side[slot]);
    (1..=8).filter(|&to| side[to] < 2 && other[23 - to] < 2).any(|to| {
        let (a, b) = roll;
        let covered = side[to] == 1 && (spare(to + a) || spare(to + b));
        covered || if a == b { side[to + a] >= 2 } else { spare(to + a) && spare(to + b) }
    }) && side[24] == 0
}

fn contest(side: &Side, other: &Side) -> Vec<f64> {
    let rolled: Vec<slow::Reached> = rolls().map(|roll| reached(other, side, roll)).collect();
    let share =
        |holds: &dyn Fn(&slow::Reached) -> bool| rolled.iter().filter(|r| holds(r)).count() as f64 / 36.0;
    let hit = share(&|r| r.most >= 1);
    let pips: usize =
        rolled.iter().map(|r| r.slots.iter().rposition(|&hit| hit).map_or(0, |at| at + 1)).sum();
    let closed = other[..6].iter().filter(|&&n| n >= 2).count() as f64 / 6.0;
    let escape = |slot: usize| f64::from(escapes(slot, other)) / 36.0;
    let contained = |to: usize| (12..=to).map(|slot| 1.0 - escape(slot)).fold(0.0, f64::max);
    let (near, far) = (contained(rear(side)), contained(24));
    let line = 23 - rear(other) as i32;
    let held: f64 = (18..25).map(|slot| f64::from(side[slot]) * (1.0 - escape(slot))).sum();
    let mobility: f64 = (6..25).map(|slot| f64::from(side[slot]) * (slot as f64 - 5.0) * escape(slot)).sum();
    let entry = |slot: usize| if other[23 - slot] < 2 { escape(slot) } else { 0.0 };
    // Points that stand before the other's rearmost checker.
    let before: Vec<bool> = (0..24).map(|slot| slot > line && side[slot as usize] >= 2).collect();
    let row = |n: usize| yes(before.windows(n).any(|points| points.iter().all(|&made| made)));
    let of_six =
        |n: usize| yes(before.windows(6).any(|points| points.iter().filter(|&&made| made).count() >= n));
    let attacked = other[24] > 0 || (18..24).any(|slot| other[slot] == 1);
    let mut inputs = vec![
        hit,
        share(&|r| r.most >= 2),
        pips as f64 / 36.0 / 12.0,
        hit * closed,
        escape(rear(side)),
        f64::from(runs(rear(side), other)) / 36.0,
        (18..24).map(entry).sum::<f64>() / 6.0,
        near,
        near * near,
        far,
        far * far,
        held / 4.0,
        mobility / 100.0,
        sum(side, |slot| (slot - line).max(0)) / 100.0,
        sum(side, |slot| i32::from(slot > line)) / 15.0,
        sum(side, |slot| if slot < line { slot + 1 } else { 0 }) / 100.0,
        timing(side) / 100.0,
        near * (50.0 - timing(side)).max(0.0) / 50.0,
        if side[24] > 0 { lost(usize::from(side[24]), other) } else { 0.0 },
        lost(1, other),
        yes(side[24] >= 1) * closed,
        yes(side[24] >= 2) * closed,
        row(3),
        row(4),
        row(5),
        row(6),
        of_six(4),
        of_six(5),
        yes(attacked) * sum(side, |slot| i32::from(slot < 12)) / 10.0,
        f64::from(count(|roll| new_point(side, other, roll))) / 36.0,
    ];
    inputs.extend((18..25).map(|slot| f64::from(side[slot].min(2)) / 2.0 * (1.0 - escape(slot))));
    inputs.extend((0..24).map(|slot| share(&|r| r.slots[23 - slot])));
    inputs
}

fn rolls_off(side: &Side, pips: f64) -> f64 {
    ((pips + 7.0) * 6.0 / 49.0).max(men(side) as f64 * 0.465)
}

/// The lead in pips, and in standard deviations.
fn lead(own: f64, other: f64) -> (f64, f64) {
    let lead = other - own + 4.0;
    (lead, lead / (2.3 * (own + other) + 10.0).sqrt())
}

fn late_for_gammon(side: &Side, other_rolls: f64) -> f64 {
    (sum(side, |slot| (slot - 5).max(0)) + 4.0) * 6.0 / 49.0 - other_rolls
}

fn joint(own: &Side, other: &Side) -> Vec<f64> {
    let [own_pips, other_pips] = [own, other].map(|side| sum(side, |slot| slot + 1));
    let (pips, deviations) = lead(own_pips, other_pips);
    let mut inputs = hats(-2.4, 0.4, 13, deviations);
    inputs.push(pips / 100.0);
    for (side, late) in [
        (own, late_for_gammon(own, rolls_off(other, other_pips))),
        (other, late_for_gammon(other, rolls_off(own, own_pips))),
    ] {
        inputs.extend(hats(-12.0, 2.5, 9, late).iter().map(|value| value * yes(men(side) == 15)));
    }
    inputs
}

fn crunch(side: &Side, other: &Side) -> Vec<f64> {
    let line = 23 - rear(other) as i32;
    let spare = |slot: i32| slot < line && slot >= 2;
    let mut inputs = just(14, 15 - men(side));
    inputs.extend(just(6, sum(side, |slot| i32::from(slot > line)) as usize));
    inputs.extend(just(7, sum(side, |slot| i32::from(spare(slot))) as usize));
    inputs.extend(hats(0.0, 8.0, 7, sum(side, |slot| if spare(slot) { slot } else { 0 })));
    inputs
}

fn race(own: &Side, other: &Side) -> Vec<f64> {
    let mut inputs = Vec::new();
    let (mut pips, mut rolls) = (Vec::new(), Vec::new());
    for side in [own, other] {
        let beyond = |slot: usize, enough: i32| f64::from((i32::from(side[slot]) - enough).max(0));
        let gaps = side[3..6].iter().filter(|&&n| n == 0).count() as f64;
        let wasted = 2.0 * beyond(0, 1) + beyond(1, 1) + beyond(2, 3) + gaps;
        let (own_pips, outside) = (sum(side, |slot| slot + 1), sum(side, |slot| (slot - 5).max(0)));
        pips.push(own_pips + wasted);
        rolls.push(rolls_off(side, own_pips + wasted));
        inputs.extend(slots(side));
        inputs.extend(just(14, 15 - men(side)));
        inputs.extend([own_pips / 100.0, wasted / 10.0, outside / 50.0, yes(outside == 0.0)]);
        inputs.extend(hats(1.0, 1.0, 12, *rolls.last().unwrap()));
    }
    let (in_pips, deviations) = lead(pips[0], pips[1]);
    inputs.extend(hats(-3.0, 0.4, 16, deviations));
    inputs.extend(hats(-4.0, 0.5, 17, rolls[1] - rolls[0]));
    inputs.push(in_pips / 50.0);
    for (side, other_rolls) in [(own, rolls[1]), (other, rolls[0])] {
        let all = men(side) == 15;
        let gammon = hats(-5.0, 0.75, 13, late_for_gammon(side, other_rolls));
        inputs.extend(gammon.iter().map(|value| value * yes(all)));
        let to_leave = sum(side, |slot| (slot - 17).max(0));
        let backgammon = hats(-4.0, 0.75, 8, to_leave * 6.0 / 49.0 - other_rolls);
        inputs.extend(backgammon.iter().map(|value| value * yes(all && to_leave > 0.0)));
    }
    inputs
}

fn slow(class: PositionClass, position: &Position) -> Vec<f64> {
    let (own, other) = (position.own(), position.other());
    if class == PositionClass::Race {
        return race(own, other);
    }
    let mut inputs = [slots(own), structure(own), slots(other), structure(other)].concat();
    inputs.extend([contest(own, other), contest(other, own), joint(own, other)].concat());
    if class == PositionClass::Crashed {
        inputs.extend([crunch(own, other), crunch(other, own)].concat());
    }
    inputs
}

#[test]
fn inputs_are_the_definition_found_slowly() {
    // A side with more than ten checkers off has crashed; in a race nobody stands on slot 23 or the bar.
    let unused = |class| match class {
        PositionClass::Contact => vec![SLOTS + 2, SIDE + SLOTS + 2],
        PositionClass::Crashed => vec![],
        PositionClass::Race => (92..100).chain(222..230).collect(),
    };
    slow::check(&Ludus1, slow, unused);
}

#[test]
fn widths_are_those_of_the_table() {
    assert_eq!([0, 1, 2].map(|class| Ludus1.width(class)), [382, 450, 336]);
}

#[test]
fn every_kernel_judges_the_same() {
    slow::check_kernels(Ludus1);
}

#[test]
fn inputs_are_to_the_bit_those_of_the_first_release() {
    // Weights and records depend on them: what gives others needs another name.
    assert_eq!(slow::digest(&Ludus1), 2632347184732259126);
}
