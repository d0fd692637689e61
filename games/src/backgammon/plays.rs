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
}

/// Fills `plays` with every legal play of `dice`: both dice when possible, the larger if either could be played but
/// not both, as many steps of a double as possible. Plays that reach the same position are merged.
///
/// Order: the larger die first, then the smaller die first; within each, the rearmost checker first, step by step.
pub(super) fn generate(position: &Position, dice: Dice, plays: &mut Plays<Backgammon>) {
    plays.clear();
    let mut search = Search::new(position, plays);
    let (high, low) = (dice.high(), dice.low());
    if dice.is_double() {
        search.double(high, u32::MAX, 0, &mut 0);
    } else {
        search.both(high, low);
        search.both(low, high);
        if search.plays.is_empty() {
            search.one(high);
        }
        if search.plays.is_empty() {
            search.one(low);
        }
    }
    if search.plays.is_empty() {
        search.keep();
    }
}

/// The board while steps are made on it and taken back, and the plays found so far.
struct Search<'a> {
    plays: &'a mut Plays<Backgammon>,
    /// The checkers, already seen by the other side: the mover's are `other`.
    after: Position,
    play: Play,
    /// Bit `i`: the mover has a checker in its slot `i`.
    men: u32,
    /// Bit `i`: the mover's slot `i` is a point of the other side, which no step can reach. A play never changes that.
    blocked: u32,
    /// Sum of per-slot constants over the checkers moved: equal positions have equal keys.
    key: u32,
    /// Keys of the first plays found, parallel to `plays`.
    keys: [u32; KEYS],
}

/// Keys kept for finding duplicates quickly; a longer list of plays is searched position by position.
const KEYS: usize = 96;

impl<'a> Search<'a> {
    fn new(position: &Position, plays: &'a mut Plays<Backgammon>) -> Self {
        let (mut men, mut blocked) = (0, 0);
        for slot in 0..=BAR {
            men |= u32::from(position.own[slot] > 0) << slot;
        }
        for slot in 0..BAR {
            blocked |= u32::from(position.other[slot] > 1) << (23 - slot);
        }
        let after = position.flipped();
        Search { plays, after, play: Play::default(), men, blocked, key: 0, keys: [0; KEYS] }
    }

    /// The slots from which a checker can move by `die`, as bits.
    #[inline]
    fn sources(&self, die: u8) -> u32 {
        const BAR_BIT: u32 = 1 << BAR;
        let open = self.men & !(self.blocked << die) & (u32::MAX << die);
        if self.men & BAR_BIT > 0 {
            // A checker on the bar must enter before anything else moves.
            return open & BAR_BIT;
        }
        if self.men >> 6 > 0 || self.men == 0 {
            return open;
        }
        // All checkers are home: the die bears off from its own point, or from the rearmost below it.
        let rearmost = self.men.ilog2();
        let exact = self.men & 1 << (die - 1);
        let lower = if rearmost < u32::from(die) { 1 << rearmost } else { 0 };
        open | exact | lower
    }

    /// Makes a legal step; [`Search::undo`] takes the last one back.
    #[inline]
    fn make(&mut self, from: usize, die: u8) {
        let mut step = Step { from: from as u8, to: OFF, hits: false };
        if let Some(to) = from.checked_sub(usize::from(die)) {
            step.to = to as u8;
            let facing = &mut self.after.own[23 - to];
            step.hits = *facing == 1;
            if step.hits {
                *facing = 0;
                self.after.own[BAR] += 1;
                self.key = self.key.wrapping_add(HIT_KEYS[to]);
            }
            self.after.other[to] += 1;
            self.men |= 1 << to;
            self.key = self.key.wrapping_add(KEYS_OF_SLOTS[to]);
        }
        let left = &mut self.after.other[from];
        *left -= 1;
        if *left == 0 {
            self.men &= !(1 << from);
        }
        self.key = self.key.wrapping_sub(KEYS_OF_SLOTS[from]);
        self.play.steps[usize::from(self.play.len)] = step;
        self.play.len += 1;
    }

    #[inline]
    fn undo(&mut self) {
        self.play.len -= 1;
        // Unused steps are kept at their default, so that equal plays are equal.
        let step = std::mem::take(&mut self.play.steps[usize::from(self.play.len)]);
        let from = usize::from(step.from);
        self.after.other[from] += 1;
        self.men |= 1 << from;
        self.key = self.key.wrapping_add(KEYS_OF_SLOTS[from]);
        if step.to == OFF {
            return;
        }
        let to = usize::from(step.to);
        let left = &mut self.after.other[to];
        *left -= 1;
        if *left == 0 {
            self.men &= !(1 << to);
        }
        self.key = self.key.wrapping_sub(KEYS_OF_SLOTS[to]);
        if step.hits {
            self.after.own[23 - to] = 1;
            self.after.own[BAR] -= 1;
            self.key = self.key.wrapping_sub(HIT_KEYS[to]);
        }
    }

    fn keep(&mut self) {
        self.plays.moves.push(self.play);
        self.plays.after.push(self.after);
    }

    /// Keeps the play unless one that was kept leads to the same position.
    fn keep_new(&mut self) {
        let count = self.plays.len();
        let known = &self.keys[..count.min(KEYS)];
        // First without a branch for each key, which the compiler turns into few wide comparisons.
        if known.iter().fold(false, |found, &key| found | (key == self.key)) {
            let same = |(i, &key)| key == self.key && self.plays.after[i] == self.after;
            if known.iter().enumerate().any(same) {
                return;
            }
        }
        if count >= KEYS && self.plays.after[KEYS..].contains(&self.after) {
            return;
        }
        if let Some(key) = self.keys.get_mut(count) {
            *key = self.key;
        }
        self.keep();
    }

    /// Plays both dice in this order.
    fn both(&mut self, first: u8, second: u8) {
        for from in rearmost_first(self.sources(first)) {
            self.make(from, first);
            for from in rearmost_first(self.sources(second)) {
                self.make(from, second);
                self.keep_new();
                self.undo();
            }
            self.undo();
        }
    }

    /// Plays one die alone.
    fn one(&mut self, die: u8) {
        for from in rearmost_first(self.sources(die)) {
            self.make(from, die);
            self.keep();
            self.undo();
        }
    }

    /// Plays a double. Any set of steps can be made rearmost first, so only that order is tried, which leaves no
    /// duplicates; a sequence shorter than the `longest` is dropped.
    fn double(&mut self, die: u8, allowed: u32, depth: usize, longest: &mut usize) {
        let sources = if depth < 4 { self.sources(die) & allowed } else { 0 };
        for from in rearmost_first(sources) {
            self.make(from, die);
            self.double(die, u32::MAX >> (31 - from), depth + 1, longest);
            self.undo();
        }
        if sources == 0 && depth > 0 && depth >= *longest {
            if depth > *longest {
                *longest = depth;
                self.plays.clear();
            }
            self.keep();
        }
    }
}

/// The slots of these bits, the highest first.
fn rearmost_first(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let highest = bits.checked_ilog2()?;
        bits ^= 1 << highest;
        Some(highest as usize)
    })
}

/// Constants whose sums tell positions apart: a counter mixed well (splitmix64).
const fn keys(mut seed: u64) -> [u32; 25] {
    let mut keys = [0; 25];
    let mut slot = 0;
    while slot < 25 {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        keys[slot] = (z ^ (z >> 31)) as u32;
        slot += 1;
    }
    keys
}

/// A checker of the mover in a slot.
static KEYS_OF_SLOTS: [u32; 25] = keys(1);
/// A blot hit in a slot of the mover.
static HIT_KEYS: [u32; 25] = keys(2);
