//! The trait through which the rest of Ludus sees a game.

use std::fmt::Debug;
use std::hash::Hash;

use crate::Chances;

/// The rules of one game: pure functions on small values.
///
/// A position is always seen by the side to act, and the sides act in strict alternation (a forced pass is a play like
/// any other). Every turn is a roll and then a play. A game without dice has one certain roll, so that dice games and
/// the others need one loop, one record and one check: Othello's roll is `()` with probability 1.
///
/// **Order is part of the rules.** Records store the index of the roll in [`Game::rolls`] and of the play in
/// [`Game::plays`]; both orders depend on their arguments alone, and changing one means a new [`Game::REVISION`].
pub trait Game: Copy + Default + Debug + Send + Sync + 'static {
    /// Stable short name for keys, files and messages, such as `backgammon`.
    const NAME: &'static str;
    /// Grows when a rule or an order changes; older streams and records are then refused.
    const REVISION: u32;

    /// A position between turns, seen by the side to act. Valid by construction.
    type State: Clone + Eq + Hash + Debug + Send + Sync;
    /// What chance decides before a play.
    type Roll: Copy + Eq + Debug + Send + Sync;
    /// One way to play a roll.
    type Move: Copy + Eq + Debug + Send + Sync;
    /// How positions of this game are judged.
    type Chances: Chances;

    /// The position the game starts from.
    fn start(&self) -> Self::State;

    /// Points for the side to act when the game is over, `None` while it goes on.
    fn payoff(&self, state: &Self::State) -> Option<i8>;

    /// Every possible roll with its probability; they add up to one. `ply` is the number of plays made so far: the
    /// opening roll of backgammon, at ply 0, is never a double.
    fn rolls(&self, state: &Self::State, ply: usize) -> &'static [(Self::Roll, f32)];

    /// Replaces the content of `plays` by every legal play of `roll`, one for each distinct resulting position, never
    /// empty while the game goes on. The resulting positions are seen by the other side, who acts next.
    fn plays(&self, state: &Self::State, roll: Self::Roll, plays: &mut Plays<Self>);

    /// Reads a position in any of the game's notations.
    fn read_position(&self, text: &str) -> Result<Self::State, NotationError>;
    /// Writes a position in the game's main notation.
    fn write_position(&self, state: &Self::State) -> String;
    /// Reads a roll (`31`); for games without dice the empty text.
    fn read_roll(&self, text: &str) -> Result<Self::Roll, NotationError>;
    /// Writes a roll.
    fn write_roll(&self, roll: Self::Roll) -> String;
    /// Writes a play made in `state`, as people do (`8/5 6/5`).
    fn write_move(&self, state: &Self::State, play: Self::Move) -> String;
    /// Index of the play that `text` means among the legal `plays` of a roll in `state`. Without an implementation of its own
    /// it is the play that is written like that.
    fn read_move(
        &self,
        state: &Self::State,
        plays: &Plays<Self>,
        text: &str,
    ) -> Result<usize, NotationError> {
        let wanted = text.trim();
        (plays.moves.iter())
            .position(|&play| self.write_move(state, play).eq_ignore_ascii_case(wanted))
            .ok_or_else(|| NotationError::new(text, "move", "no legal play is written like this"))
    }
}

/// The legal plays of a roll: parallel lists of the plays and the positions they lead to.
#[derive(Clone, Debug)]
pub struct Plays<G: Game> {
    /// One way to reach each resulting position.
    pub moves: Vec<G::Move>,
    /// The resulting positions, all different, seen by the side that acts next.
    pub after: Vec<G::State>,
}

impl<G: Game> Plays<G> {
    /// An empty list, to be filled by [`Game::plays`] again and again without new allocations.
    pub fn new() -> Self {
        Plays { moves: Vec::new(), after: Vec::new() }
    }

    /// Number of plays.
    pub fn len(&self) -> usize {
        self.after.len()
    }

    /// Whether there is no play (only before the list was filled).
    pub fn is_empty(&self) -> bool {
        self.after.is_empty()
    }

    /// Forgets all plays and keeps the memory.
    pub fn clear(&mut self) {
        self.moves.clear();
        self.after.clear();
    }
}

impl<G: Game> Default for Plays<G> {
    fn default() -> Self {
        Self::new()
    }
}

/// A text that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what}: {reason}")]
pub struct NotationError {
    /// The offending text.
    pub text: String,
    /// What it should have been, such as `position ID`.
    pub what: &'static str,
    /// What is wrong with it, and where.
    pub reason: String,
}

impl NotationError {
    /// An error about `text`, which should have been a `what`. Of a long text only the beginning is kept.
    pub fn new(text: &str, what: &'static str, reason: impl Into<String>) -> Self {
        const LONGEST: usize = 120;
        let text = match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text.to_owned(),
        };
        NotationError { text, what, reason: reason.into() }
    }
}
