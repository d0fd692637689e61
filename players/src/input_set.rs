//! Input sets: how a position becomes numbers.

use ludus_games::Game;

/// The non-zero inputs of one position, in ascending order of their index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Index of each non-zero input.
    pub indices: Vec<u16>,
    /// Its value, parallel to `indices`.
    pub values: Vec<f32>,
}

impl Inputs {
    /// Forgets all inputs and keeps the memory.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
    }

    /// Adds an input; zeros are left out. Indices must come in ascending order.
    #[inline]
    pub fn push(&mut self, index: usize, value: f32) {
        if value != 0.0 {
            debug_assert!(self.indices.last().is_none_or(|&last| usize::from(last) < index));
            self.indices.push(index as u16);
            self.values.push(value);
        }
    }
}

impl Inputs {
    /// All of them.
    pub fn all(&self) -> Terms<'_> {
        Terms { indices: &self.indices, values: &self.values }
    }

    /// Those with an index below `index`.
    pub fn below(&self, index: usize) -> Terms<'_> {
        let n = self.indices.partition_point(|&found| usize::from(found) < index);
        Terms { indices: &self.indices[..n], values: &self.values[..n] }
    }

    /// All but the first `n`.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn after(&self, n: usize) -> Terms<'_> {
        Terms { indices: &self.indices[n..], values: &self.values[n..] }
    }

    /// Forgets all but the first `n`.
    pub fn truncate(&mut self, n: usize) {
        self.indices.truncate(n);
        self.values.truncate(n);
    }
}

/// Some non-zero inputs of one position, in ascending order of their index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms<'a> {
    /// Index of each.
    pub indices: &'a [u16],
    /// Its value, parallel to `indices`.
    pub values: &'a [f32],
}

/// A named, versioned way to turn positions of a game into network inputs, together with the classes of positions that
/// have a network each. The name goes into every weight file: changing anything means a new name.
pub trait InputSet<G: Game>: Send + Sync {
    /// Name with version, such as `tesauro-198`.
    fn name(&self) -> &'static str;
    /// Position classes, each with a network of its own, such as `contact`, `crashed`, `race`.
    fn classes(&self) -> &'static [&'static str];
    /// Number of inputs of a class's network.
    fn width(&self, class: usize) -> usize;
    /// The class of a position (an index into [`InputSet::classes`]), `None` when the game is over.
    fn class(&self, state: &G::State) -> Option<usize>;
    /// Replaces the content of `inputs` by those of `state`, which is of class `class`.
    fn write(&self, class: usize, state: &G::State, inputs: &mut Inputs);
    /// How many inputs, from the first on, the positions after the plays of one roll mostly have in common: as a play
    /// leaves the opponent's checkers where they are unless it hits, those that tell of the side on roll alone. Their part
    /// of the network is then computed once for several positions; what comes out is the same. By default none.
    fn shared(&self, _class: usize) -> usize {
        0
    }
    /// Whether two positions of class `class` begin with the same inputs, those that [`InputSet::shared`] counts. It may say no
    /// where they do, and must be quicker than to compute them. By default it always says no, and nothing is shared.
    fn begins_alike(&self, _class: usize, _one: &G::State, _other: &G::State) -> bool {
        false
    }
    /// Adds the inputs of `state` that follow the shared ones: `inputs` holds these already, of a position that begins alike.
    /// By default all are written again.
    fn write_rest(&self, class: usize, state: &G::State, inputs: &mut Inputs) {
        self.write(class, state, inputs);
    }
    /// The class of the small network, if there is one, that says which plays leading to positions of class `class` are
    /// worth judging where luck is measured. Networks of such classes learn from games whatever those of the classes they serve
    /// learn; labels of rollouts they do not learn. By default there is none.
    fn pruning(&self, _class: usize) -> Option<usize> {
        None
    }
    /// Hidden units of a class's network, where it is not for the run to say. By default it always is.
    fn hidden(&self, _class: usize) -> Option<usize> {
        None
    }
    /// The chances of a position that needs no network because they are known, such as from a bear-off database. They are
    /// in order and nothing that can no longer happen has a chance. No network is asked about such a position, and none
    /// learns it; it is an exact target for the positions before it. By default none is known. Finished positions do not
    /// count: everybody knows them.
    fn known(&self, _state: &G::State) -> Option<G::Chances> {
        None
    }
    /// The nearest chances to `chances`, which a network gave for `state`, of class `class`, that the rules still allow:
    /// what can no longer happen gets 0. Both are in order (see `Chances::ordered`). By default everything can happen.
    fn possible(&self, _class: usize, _state: &G::State, chances: G::Chances) -> G::Chances {
        chances
    }
}
