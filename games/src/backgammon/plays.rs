//! All legal plays of a roll.

use super::dice::Dice;
use super::position::{BAR, Position};
use crate::{Backgammon, Plays};

/// Where a borne-off checker goes.
pub const OFF: u8 = 25;

/// A play: up to four steps of one checker each, in the order they are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Play {
    steps: [Step; 4],
    len: u8,
}

/// One checker moved by one die.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// Slot it leaves, [`BAR`] for the bar.
    pub from: u8,
    /// Slot it reaches, or [`OFF`].
    pub to: u8,
    /// Whether it hits a blot there.
    pub hits: bool,
}

impl Play {
    /// The steps in the order they are made; empty when the roll cannot be played.
    pub fn steps(&self) -> &[Step] {
        &self.steps[..self.len as usize]
    }

    fn then(mut self, step: Step) -> Play {
        self.steps[self.len as usize] = step;
        self.len += 1;
        self
    }
}

/// Fills `plays` with every legal play of `dice`: both dice when possible, the larger if either could be played but
/// not both, as many steps of a double as possible. Plays that reach the same position are merged.
///
/// Order: the larger die first, then the smaller die first; within each, the rearmost checker first, step by step.
pub(super) fn generate(position: &Position, dice: Dice, plays: &mut Plays<Backgammon>) {
    let start = Node { position: *position, play: Play::default(), key: 0 };
    let mut found = Found { plays, keys: [0; KEYS] };
    found.plays.clear();
    if dice.is_double() {
        let mut longest = 0;
        found.doubles(&start, dice.high(), BAR, &mut longest);
    } else {
        let (high, low) = (dice.high(), dice.low());
        let high_first = found.both(&start, high, low);
        let low_first = found.both(&start, low, high);
        if !high_first && !low_first && !found.one(&start, high) {
            found.one(&start, low);
        }
    }
    if found.plays.is_empty() {
        found.keep(&start);
    }
}

/// Keys kept for finding duplicates quickly; a longer list of plays is searched position by position.
const KEYS: usize = 128;

/// A position on the way, with the steps that led to it.
struct Node {
    position: Position,
    play: Play,
    /// Sum of per-slot constants over the checkers moved: equal positions have equal keys.
    key: u64,
}

impl Node {
    /// Moves one checker from slot `from` by `die`, when that is legal; the caller sees to the bar.
    fn step(&self, from: usize, die: u8) -> Option<Node> {
        let die = die as usize;
        let Position { mut own, mut other } = self.position;
        let mut key = self.key.wrapping_sub(OWN_KEYS[from]);
        let mut hits = false;
        let to = if from >= die {
            let to = from - die;
            match other[23 - to] {
                0 => {}
                1 => {
                    hits = true;
                    other[23 - to] = 0;
                    other[BAR] += 1;
                    key = key.wrapping_add(OTHER_KEYS[BAR]).wrapping_sub(OTHER_KEYS[23 - to]);
                }
                _ => return None,
            }
            own[to] += 1;
            key = key.wrapping_add(OWN_KEYS[to]);
            to as u8
        } else {
            let behind = if from + 1 == die { 6 } else { from + 1 };
            if own[behind..].iter().any(|&n| n > 0) {
                return None;
            }
            OFF
        };
        own[from] -= 1;
        let play = self.play.then(Step { from: from as u8, to, hits });
        Some(Node { position: Position { own, other }, play, key })
    }

    /// Every legal step of `die` from slot `rearmost` downwards, the rearmost checker first.
    fn steps(&self, die: u8, rearmost: usize) -> impl Iterator<Item = (usize, Node)> {
        let own = &self.position.own;
        // A checker on the bar must enter before anything else moves.
        let slots = if own[BAR] > 0 { BAR..=BAR } else { 0..=rearmost };
        slots.rev().filter(|&from| own[from] > 0).filter_map(move |from| Some((from, self.step(from, die)?)))
    }
}

/// The plays found so far.
struct Found<'a> {
    plays: &'a mut Plays<Backgammon>,
    keys: [u64; KEYS],
}

impl Found<'_> {
    fn keep(&mut self, node: &Node) {
        let after = node.position.flipped();
        let count = self.plays.len();
        let known = &self.keys[..count.min(KEYS)];
        let repeated =
            known.iter().enumerate().any(|(i, &key)| key == node.key && self.plays.after[i] == after)
                || self.plays.after[known.len()..].contains(&after);
        if repeated {
            return;
        }
        if count < KEYS {
            self.keys[count] = node.key;
        }
        self.plays.moves.push(node.play);
        self.plays.after.push(after);
    }

    /// Plays both dice in this order; whether that was possible at all.
    fn both(&mut self, start: &Node, first: u8, second: u8) -> bool {
        let mut possible = false;
        for (_, middle) in start.steps(first, BAR) {
            for (_, end) in middle.steps(second, BAR) {
                self.keep(&end);
                possible = true;
            }
        }
        possible
    }

    /// Plays one die alone; whether that was possible.
    fn one(&mut self, start: &Node, die: u8) -> bool {
        let mut possible = false;
        for (_, end) in start.steps(die, BAR) {
            self.keep(&end);
            possible = true;
        }
        possible
    }

    /// Plays a double. Any set of steps can be made rearmost first, so only that order is tried, which leaves no
    /// duplicates; a sequence shorter than the `longest` is dropped.
    fn doubles(&mut self, node: &Node, die: u8, rearmost: usize, longest: &mut usize) {
        let depth = node.play.steps().len();
        let mut stuck = true;
        if depth < 4 {
            for (from, next) in node.steps(die, rearmost) {
                stuck = false;
                self.doubles(&next, die, from, longest);
            }
        }
        if stuck && depth > 0 && depth >= *longest {
            if depth > *longest {
                *longest = depth;
                self.plays.clear();
            }
            self.keep(node);
        }
    }
}

/// Constants whose sums tell positions apart: odd multiples of the golden ratio's bits, mixed (splitmix64).
const fn keys(mut seed: u64) -> [u64; 25] {
    let mut keys = [0; 25];
    let mut slot = 0;
    while slot < 25 {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        keys[slot] = z ^ (z >> 31);
        slot += 1;
    }
    keys
}

static OWN_KEYS: [u64; 25] = keys(1);
static OTHER_KEYS: [u64; 25] = keys(2);
