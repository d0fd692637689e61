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

    fn push(&mut self, step: Step) {
        self.steps[usize::from(self.len)] = step;
        self.len += 1;
    }

    fn pop(&mut self) {
        self.len -= 1;
        // Unused steps are kept at their default, so that equal plays are equal.
        self.steps[usize::from(self.len)] = Step::default();
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
        search.double(high, u32::MAX);
    } else {
        let high_at_once = search.sources(high) & (u32::MAX << high);
        search.both(high, low, 0);
        search.both(low, high, high_at_once);
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
    /// Steps of the longest plays found, for doubles.
    longest: u8,
    /// Hashes of the [`Change`]s of the first plays found, parallel to `plays`.
    hashes: [u32; HASHES],
}

/// Plays whose hashes are kept; a longer list is searched play by play from there on.
const HASHES: usize = 96;

impl<'a> Search<'a> {
    fn new(position: &Position, plays: &'a mut Plays<Backgammon>) -> Self {
        let (mut men, mut blocked) = (0, 0);
        for slot in 0..=BAR {
            men |= u32::from(position.own[slot] > 0) << slot;
        }
        for slot in 0..BAR {
            blocked |= u32::from(position.other[slot] > 1) << (23 - slot);
        }
        let (after, play) = (position.flipped(), Play::default());
        Search { plays, after, play, men, blocked, longest: 0, hashes: [0; HASHES] }
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

    /// The legal step from one of the [`Search::sources`].
    #[inline]
    fn step(&self, from: usize, die: u8) -> Step {
        match from.checked_sub(usize::from(die)) {
            Some(to) => Step { from: from as u8, to: to as u8, hits: self.after.own[23 - to] == 1 },
            None => Step { from: from as u8, to: OFF, hits: false },
        }
    }

    /// Makes a step; [`Search::undo`] takes it back.
    #[inline]
    fn make(&mut self, step: Step) {
        self.play.push(step);
        make(&mut self.after, step);
        let Step { from, to, .. } = step;
        self.men |= if to < OFF { 1 << to } else { 0 };
        self.men ^= u32::from(self.after.other[usize::from(from)] == 0) << from;
    }

    #[inline]
    fn undo(&mut self, step: Step) {
        self.play.pop();
        let Step { from, to, hits } = step;
        self.after.other[usize::from(from)] += 1;
        self.men |= 1 << from;
        if let Some(left) = self.after.other.get_mut(usize::from(to)) {
            *left -= 1;
            self.men ^= u32::from(*left == 0) << to;
            if hits {
                self.after.own[23 - usize::from(to)] = 1;
                self.after.own[BAR] -= 1;
            }
        }
    }

    /// Keeps the steps made so far.
    fn keep(&mut self) {
        self.plays.moves.push(self.play);
        self.plays.after.push(self.after);
    }

    /// Keeps the steps made so far with `step` after them.
    #[inline]
    fn keep_with(&mut self, step: Step) {
        let (mut play, mut after) = (self.play, self.after);
        play.push(step);
        make(&mut after, step);
        self.plays.moves.push(play);
        self.plays.after.push(after);
    }

    /// Whether no play kept so far makes this change; remembers it for the play that is kept next.
    #[inline]
    fn is_new(&mut self, change: Change) -> bool {
        let hash = change.hash();
        let count = self.plays.len();
        let same = |play: &Play| Change::of(play.steps()) == change;
        let known = &self.hashes[..count.min(HASHES)];
        // First without a branch for each hash, which the compiler turns into few wide comparisons.
        if known.iter().fold(false, |found, &known| found | (known == hash)) {
            let mut hashed = known.iter().zip(&self.plays.moves);
            if hashed.any(|(&known, play)| known == hash && same(play)) {
                return false;
            }
        }
        if count >= HASHES && self.plays.moves[HASHES..].iter().any(same) {
            return false;
        }
        if let Some(next) = self.hashes.get_mut(count) {
            *next = hash;
        }
        true
    }

    /// Plays both dice in this order. From the slots `known` a checker could move by `second` at once, so after a step of
    /// `first` (unless that bears off) it only repeats a play of the other order, which came before.
    fn both(&mut self, first: u8, second: u8, known: u32) {
        for from in rearmost_first(self.sources(first)) {
            let first = self.step(from, first);
            self.make(first);
            let known = if first.to < OFF { known } else { 0 };
            for from in rearmost_first(self.sources(second) & !known) {
                let second = self.step(from, second);
                if self.is_new(Change::of(&[first, second])) {
                    self.keep_with(second);
                }
            }
            self.undo(first);
        }
    }

    /// Plays one die alone.
    fn one(&mut self, die: u8) {
        for from in rearmost_first(self.sources(die)) {
            self.keep_with(self.step(from, die));
        }
    }

    /// Plays a double. Any set of steps can be made rearmost first, so only that order is tried, which leaves no
    /// duplicates; a sequence shorter than the longest is dropped.
    fn double(&mut self, die: u8, allowed: u32) {
        let made = self.play.len;
        let sources = self.sources(die) & allowed;
        if sources == 0 && made > 0 && self.is_longest(made) {
            self.keep();
        }
        for from in rearmost_first(sources) {
            let step = self.step(from, die);
            if made < 3 {
                self.make(step);
                self.double(die, u32::MAX >> (31 - from));
                self.undo(step);
            } else if self.is_longest(4) {
                self.keep_with(step);
            }
        }
    }

    /// Whether a play of so many steps is as long as any found so far; forgets the shorter ones.
    fn is_longest(&mut self, steps: u8) -> bool {
        if steps > self.longest {
            self.longest = steps;
            self.plays.clear();
        }
        steps == self.longest
    }
}

/// Makes a step on a board that is seen by the other side.
#[inline]
fn make(after: &mut Position, step: Step) {
    after.other[usize::from(step.from)] -= 1;
    if let Some(checkers) = after.other.get_mut(usize::from(step.to)) {
        *checkers += 1;
        if step.hits {
            after.own[23 - usize::from(step.to)] = 0;
            after.own[BAR] += 1;
        }
    }
}

/// What steps change on the board: four bits a slot for the number of the mover's checkers there (of which there are at
/// most 15, so that differences are unique) and from bit 100 on one for each slot where they hit. Two plays of one roll lead
/// to the same position exactly when their changes are equal.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Change(u128);

impl Change {
    #[inline]
    fn of(steps: &[Step]) -> Change {
        steps.iter().fold(Change(0), |Change(sum), step| {
            let hit = if step.hits { HIT[usize::from(step.to)] } else { 0 };
            let arrived = CHECKER[usize::from(step.to)].wrapping_add(hit);
            Change(sum.wrapping_add(arrived).wrapping_sub(CHECKER[usize::from(step.from)]))
        })
    }

    /// Multiplied by odd numbers without a pattern, of which the upper half depends on every bit.
    #[inline]
    fn hash(self) -> u32 {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let mixed = low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 32) as u32
    }
}

/// A checker more in a slot; borne off it is in none.
static CHECKER: [u128; 26] = {
    let mut table = [0; 26];
    let mut slot = 0;
    while slot < 25 {
        table[slot] = 1 << (4 * slot);
        slot += 1;
    }
    table
};

/// A hit in a slot.
static HIT: [u128; 24] = {
    let mut table = [0; 24];
    let mut slot = 0;
    while slot < 24 {
        table[slot] = 1 << (100 + slot);
        slot += 1;
    }
    table
};

/// The slots of these bits, the highest first.
fn rearmost_first(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let highest = bits.checked_ilog2()?;
        bits ^= 1 << highest;
        Some(highest as usize)
    })
}
