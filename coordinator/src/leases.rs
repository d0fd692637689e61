//! The book of a series: which games were handed out, which came back, which never will.
//!
//! A pure state machine. Time is passed in, and so are lease ids and tokens; nothing here reads a clock or writes a
//! file. Its state stays small whatever the length of the series: a number below `next` that is in no open block was
//! accepted, or is void. At every step
//!
//! ```text
//! issued = accepted + leased + void
//! ```

use std::collections::BTreeMap;

/// A moment, in milliseconds since 1970.
pub type Millis = u64;

/// The id of a lease: of a block of games, through all its issues.
pub type LeaseId = u64;

/// The issues, acceptances and losses of one series. `P` is what a block's games are played with, fixed when the block
/// is first issued, so that the answers of an earlier and a later issue are the same games.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesBook<P> {
    next: u64,
    accepted: u64,
    void: u64,
    unplayable: u64,
    ended: bool,
    blocks: BTreeMap<LeaseId, Block<P>>,
}

/// A contiguous block of games that is not yet complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<P> {
    /// Number of its first game.
    pub first: u64,
    /// Number of its games.
    pub count: u32,
    /// What they are played with.
    pub players: P,
    /// The latest issue.
    pub issue: Issue,
    /// How many games were missing when it was issued last.
    pub asked: u32,
    /// Who it was issued to, each once, the latest last.
    owners: Vec<i64>,
    done: Bitmap,
}

/// A block in the hands of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Identifies this issue; the next one has another.
    pub token: u64,
    /// Name of the worker.
    pub holder: String,
    /// Who answers for it; 0 when nobody had to say who he is.
    pub owner: i64,
    /// When it was issued.
    pub since: Millis,
    /// From then on the block may be issued again; 0 when the worker gave it back.
    pub deadline: Millis,
}

/// What became of a game that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Counted now.
    New,
    /// Counted earlier: fine for the sender, nothing to the count.
    Repeated,
    /// Not a number of this block.
    NotIssued,
    /// The series had ended before it came; said once a game.
    Late,
}

/// The numbers of a series, as exported and asserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Games handed out, each counted once however often it was issued.
    pub issued: u64,
    /// Games taken.
    pub accepted: u64,
    /// Games handed out and neither taken nor void, whether or not a worker holds them now.
    pub leased: u64,
    /// Games that will never count, because their series ended first or because nobody can play them.
    pub void: u64,
    /// Of the void games, those that nobody can play.
    pub unplayable: u64,
}

impl Accounting {
    /// Whether every issued game is accounted for.
    pub fn balances(&self) -> bool {
        self.issued == self.accepted + self.leased + self.void
    }
}

impl std::iter::Sum for Accounting {
    fn sum<I: Iterator<Item = Accounting>>(all: I) -> Accounting {
        all.fold(Accounting::default(), |sum, numbers| Accounting {
            issued: sum.issued + numbers.issued,
            accepted: sum.accepted + numbers.accepted,
            leased: sum.leased + numbers.leased,
            void: sum.void + numbers.void,
            unplayable: sum.unplayable + numbers.unplayable,
        })
    }
}

impl<P> Default for SeriesBook<P> {
    fn default() -> Self {
        SeriesBook { next: 0, accepted: 0, void: 0, unplayable: 0, ended: false, blocks: BTreeMap::new() }
    }
}

impl<P> SeriesBook<P> {
    /// The book as it was written down: its numbers, without `leased`, which is counted from the blocks.
    pub fn restore(numbers: Accounting, ended: bool, blocks: BTreeMap<LeaseId, Block<P>>) -> Self {
        let Accounting { issued: next, accepted, void, unplayable, .. } = numbers;
        SeriesBook { next, accepted, void, unplayable, ended, blocks }
    }

    /// The first number that was never issued.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether the series hands out nothing any more.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The blocks that are not complete, by lease.
    pub fn blocks(&self) -> &BTreeMap<LeaseId, Block<P>> {
        &self.blocks
    }

    /// The numbers; `leased` is counted from the blocks, so that [`Accounting::balances`] can fail.
    pub fn accounting(&self) -> Accounting {
        let open = self.blocks.values().filter(|_| !self.ended);
        let leased = open.map(|block| u64::from(block.undone())).sum();
        let SeriesBook { next: issued, accepted, void, unplayable, .. } = *self;
        Accounting { issued, accepted, leased, void, unplayable }
    }

    /// Issues again the oldest block that is free, if there is one.
    pub fn reissue(&mut self, issue: Issue) -> Option<LeaseId> {
        if self.ended {
            return None;
        }
        let now = issue.since;
        let (&id, block) = self.blocks.iter_mut().find(|(_, block)| block.is_free(now))?;
        block.owners.retain(|&owner| owner != issue.owner);
        block.owners.push(issue.owner);
        block.issue = issue;
        block.asked = block.undone();
        Some(id)
    }

    /// Issues a new block of `count` games as lease `id`, which no series has used yet. `false` when the series ended.
    pub fn issue(&mut self, id: LeaseId, count: u32, players: P, issue: Issue) -> bool {
        if self.ended || count == 0 {
            return false;
        }
        let owners = vec![issue.owner];
        let block =
            Block { first: self.next, count, players, issue, asked: count, owners, done: Bitmap::new(count) };
        self.next += u64::from(count);
        let previous = self.blocks.insert(id, block);
        debug_assert!(previous.is_none(), "lease ids are used once");
        true
    }

    /// Takes game `number`, handed in under lease `id`, under whichever of its issues.
    pub fn accept(&mut self, id: LeaseId, number: u64) -> Outcome {
        let Some(block) = self.blocks.get_mut(&id) else { return Outcome::NotIssued };
        let Some(index) = block.index(number) else { return Outcome::NotIssued };
        if !block.done.set(index) {
            return Outcome::Repeated;
        }
        if block.undone() == 0 {
            self.blocks.remove(&id);
        }
        if self.ended {
            return Outcome::Late;
        }
        self.accepted += 1;
        Outcome::New
    }

    /// Gives up game `number` of lease `id`, which nobody can play to its end: it is void.
    pub fn give_up(&mut self, id: LeaseId, number: u64) -> Outcome {
        let outcome = self.accept(id, number);
        if outcome == Outcome::New {
            self.accepted -= 1;
            self.void += 1;
            self.unplayable += 1;
        }
        outcome
    }

    /// Moves the deadline of the issue with this token to `deadline`; an older issue moves nothing, nor does one that
    /// was given back.
    pub fn extend(&mut self, id: LeaseId, token: u64, deadline: Millis) {
        if let Some(block) = self.blocks.get_mut(&id)
            && block.issue.token == token
            && block.issue.deadline > 0
        {
            block.issue.deadline = block.issue.deadline.max(deadline);
        }
    }

    /// Asks every holder for a sign of life: no block is held longer than until `deadline`, unless games of it come in
    /// before.
    pub fn hurry(&mut self, deadline: Millis) {
        for block in self.blocks.values_mut() {
            block.issue.deadline = block.issue.deadline.min(deadline);
        }
    }

    /// Takes a block back from the issue with this token, to be issued again at once. `false` for an older issue.
    pub fn release(&mut self, id: LeaseId, token: u64) -> bool {
        match self.blocks.get_mut(&id) {
            Some(block) if block.issue.token == token => {
                block.issue.deadline = 0;
                true
            }
            _ => false,
        }
    }

    /// Takes every block back that `owner` holds now. Gives their leases.
    pub fn dispossess(&mut self, owner: i64) -> Vec<LeaseId> {
        let held = self.blocks.iter_mut().filter(|(_, block)| block.issue.owner == owner);
        let taken = held.map(|(&id, block)| {
            block.issue.deadline = 0;
            id
        });
        taken.collect()
    }

    /// Ends the series: what was issued and not taken is void. The blocks stay, so that late games are recognised.
    pub fn end(&mut self) {
        self.void += self.accounting().leased;
        self.ended = true;
    }

    /// After the end: forgets the blocks whose deadline passed before `moment`, and returns their leases.
    pub fn forget(&mut self, moment: Millis) -> Vec<LeaseId> {
        if !self.ended {
            return Vec::new();
        }
        let old = self.blocks.iter().filter(|(_, block)| block.issue.deadline < moment);
        let old: Vec<LeaseId> = old.map(|(&id, _)| id).collect();
        for id in &old {
            self.blocks.remove(id);
        }
        old
    }
}

impl<P> Block<P> {
    /// The block as it was written down; `None` when the bitmap does not fit the count.
    pub fn restore(
        first: u64,
        count: u32,
        players: P,
        issue: Issue,
        asked: u32,
        done: Vec<u8>,
        owners: Vec<i64>,
    ) -> Option<Self> {
        let fits = done.len() == (count as usize).div_ceil(8);
        fits.then_some(Block { first, count, players, issue, asked, owners, done: Bitmap(done) })
    }

    /// Who it was issued to, each once, the latest last.
    pub fn owners(&self) -> &[i64] {
        &self.owners
    }

    /// Whether `owner` may hand in games of this block: it was issued to it at some time, or to somebody who did not have
    /// to say who he is.
    pub fn is_open_to(&self, owner: i64) -> bool {
        self.owners.is_empty() || self.owners.contains(&0) || self.owners.contains(&owner)
    }

    /// Numbers that were handed in, ascending.
    pub fn done(&self) -> Vec<u64> {
        (0..self.count)
            .filter(|&index| self.done.get(index))
            .map(|index| self.first + u64::from(index))
            .collect()
    }

    /// The bitmap of `done`, bit `i % 8` of byte `i / 8` for the block's game `i`.
    pub fn done_bits(&self) -> &[u8] {
        &self.done.0
    }

    /// Whether the block may be issued again: its deadline has passed, or it was issued in the future, because the
    /// clock has been set back since.
    pub fn is_free(&self, now: Millis) -> bool {
        self.issue.deadline <= now || self.issue.since > now
    }

    /// How many games of the block are missing.
    pub fn undone(&self) -> u32 {
        self.count - self.done.ones()
    }

    /// Whether `number` belongs to this block and has not been handed in.
    pub fn wants(&self, number: u64) -> bool {
        self.index(number).is_some_and(|index| !self.done.get(index))
    }

    /// Whether `number` belongs to this block.
    pub fn contains(&self, number: u64) -> bool {
        self.index(number).is_some()
    }

    fn index(&self, number: u64) -> Option<u32> {
        let index = u32::try_from(number.checked_sub(self.first)?).ok()?;
        (index < self.count).then_some(index)
    }
}

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq)]
struct Bitmap(Vec<u8>);

impl Bitmap {
    fn new(count: u32) -> Self {
        Bitmap(vec![0; (count as usize).div_ceil(8)])
    }

    fn get(&self, index: u32) -> bool {
        self.0[index as usize / 8] & (1 << (index % 8)) != 0
    }

    /// Adds a number; `false` when it was there.
    fn set(&mut self, index: u32) -> bool {
        let new = !self.get(index);
        self.0[index as usize / 8] |= 1 << (index % 8);
        new
    }

    fn ones(&self) -> u32 {
        self.0.iter().map(|byte| byte.count_ones()).sum()
    }
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(token: u64, since: Millis, deadline: Millis) -> Issue {
        Issue { token, holder: "w".into(), owner: 0, since, deadline }
    }

    #[test]
    fn a_block_is_issued_accepted_and_forgotten() {
        let mut book = SeriesBook::default();
        assert!(book.issue(1, 3, (), issue(10, 0, 100)));
        assert_eq!(book.accept(1, 2), Outcome::New);
        assert_eq!(book.accept(1, 2), Outcome::Repeated);
        assert_eq!(book.accept(1, 3), Outcome::NotIssued);
        assert_eq!(
            book.accounting(),
            Accounting { issued: 3, accepted: 1, leased: 2, void: 0, unplayable: 0 }
        );
        assert_eq!(book.blocks()[&1].done(), vec![2]);
        assert_eq!((book.accept(1, 0), book.accept(1, 1)), (Outcome::New, Outcome::New));
        assert!(book.blocks().is_empty());
    }

    #[test]
    fn an_expired_block_comes_back_with_its_numbers_and_players_under_a_new_token() {
        let mut book = SeriesBook::default();
        book.issue(1, 4, "v1", issue(10, 0, 100));
        book.accept(1, 1);
        assert_eq!(book.reissue(issue(11, 99, 200)), None, "the deadline has not passed");
        assert_eq!(book.reissue(issue(11, 100, 200)), Some(1));
        assert_eq!(book.reissue(issue(12, 50, 150)), Some(1), "the clock was set back, so nobody knows");
        assert_eq!(book.reissue(issue(11, 150, 200)), Some(1));
        let block = &book.blocks()[&1];
        assert_eq!((block.first, block.count, block.players, block.issue.token), (0, 4, "v1", 11));
        assert_eq!(block.done(), vec![1]);
    }

    #[test]
    fn the_oldest_block_is_issued_again_first() {
        let mut book = SeriesBook::default();
        book.issue(1, 1, (), issue(10, 0, 100));
        book.issue(2, 1, (), issue(11, 0, 50));
        assert_eq!(book.reissue(issue(12, 100, 200)), Some(1));
        assert_eq!(book.reissue(issue(13, 100, 200)), Some(2));
        assert_eq!(book.reissue(issue(14, 100, 200)), None);
    }

    #[test]
    fn a_late_game_of_an_older_issue_counts_once_and_extends_nothing() {
        let mut book = SeriesBook::default();
        book.issue(1, 2, (), issue(10, 0, 100));
        book.reissue(issue(11, 100, 200));
        assert_eq!(book.accept(1, 0), Outcome::New, "the first worker was only slow");
        book.extend(1, 10, 900);
        assert_eq!(book.blocks()[&1].issue.deadline, 200);
        book.extend(1, 11, 300);
        assert_eq!(book.blocks()[&1].issue.deadline, 300);
        assert_eq!(book.accept(1, 0), Outcome::Repeated, "the second worker played it too");
    }

    #[test]
    fn after_a_sign_of_life_a_block_is_held_as_before() {
        let mut book = SeriesBook::default();
        book.issue(1, 2, (), issue(10, 0, 100));
        book.issue(2, 2, (), issue(11, 0, 20));
        book.hurry(30);
        book.accept(1, 0);
        book.extend(1, 10, 130);
        let deadlines: Vec<Millis> = book.blocks().values().map(|block| block.issue.deadline).collect();
        assert_eq!(deadlines, vec![130, 20]);
    }

    #[test]
    fn a_block_is_open_to_all_it_was_issued_to_and_to_nobody_else() {
        let of = |owner, since| Issue { owner, ..issue(10 + since, since, since + 100) };
        let mut book = SeriesBook::default();
        book.issue(1, 2, (), of(5, 0));
        assert!(book.blocks()[&1].is_open_to(5) && !book.blocks()[&1].is_open_to(6));
        assert!(book.dispossess(6).is_empty());
        assert_eq!(book.dispossess(5), vec![1]);
        assert_eq!(book.reissue(of(6, 1)), Some(1), "free at once");
        assert_eq!(book.reissue(of(5, 200)), Some(1));
        assert_eq!(book.blocks()[&1].owners(), [6, 5]);
        assert!(book.blocks()[&1].is_open_to(6) && !book.blocks()[&1].is_open_to(7));
        assert!(book.dispossess(6).is_empty(), "it is no longer his");
    }

    #[test]
    fn a_released_block_is_free_at_once_and_an_older_issue_cannot_release_it() {
        let mut book = SeriesBook::default();
        book.issue(1, 2, (), issue(10, 0, 100));
        assert!(book.release(1, 10));
        assert_eq!(book.reissue(issue(11, 1, 200)), Some(1));
        assert!(!book.release(1, 10));
        assert_eq!(book.blocks()[&1].issue.deadline, 200);
    }

    #[test]
    fn after_the_end_nothing_is_issued_and_late_games_are_told_once() {
        let mut book = SeriesBook::default();
        book.issue(1, 2, (), issue(10, 0, 100));
        book.accept(1, 0);
        book.end();
        book.end();
        assert_eq!(
            book.accounting(),
            Accounting { issued: 2, accepted: 1, leased: 0, void: 1, unplayable: 0 }
        );
        assert_eq!(book.reissue(issue(11, 500, 600)), None);
        assert!(!book.issue(2, 2, (), issue(11, 500, 600)));
        assert_eq!(book.accept(1, 1), Outcome::Late);
        assert_eq!(
            book.accounting(),
            Accounting { issued: 2, accepted: 1, leased: 0, void: 1, unplayable: 0 }
        );
    }

    #[test]
    fn after_the_end_old_blocks_are_forgotten() {
        let mut book = SeriesBook::default();
        book.issue(1, 2, (), issue(10, 0, 100));
        book.issue(2, 2, (), issue(10, 0, 200));
        assert!(book.forget(1000).is_empty(), "an open block is never forgotten");
        book.end();
        assert_eq!(book.forget(150), vec![1]);
        assert_eq!(
            book.accounting(),
            Accounting { issued: 4, accepted: 0, leased: 0, void: 4, unplayable: 0 }
        );
    }
}
