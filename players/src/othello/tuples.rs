//! The n-tuple inputs of Othello: what lies on lines and in corners of the board, each pattern a table of its own.
//!
//! A pattern is a set of squares and what lies on them, each square empty, own or other: a number in base 3. It is looked up at
//! every place that the symmetries of the board take it to, always in the same table; and as the mirror image of a pattern
//! is worth what the pattern is, both have one entry. A position so has 46 inputs, one for each place, of which those that
//! agree are one input with their number as its value.

use std::sync::LazyLock;

use ludus_games::Othello;
use ludus_games::othello::Position;

use crate::input_set::{InputSet, Inputs};

/// Names of the phases, by the number of discs on the board.
const PHASES: [&str; 10] = [
    "discs-4-9",
    "discs-10-15",
    "discs-16-21",
    "discs-22-27",
    "discs-28-33",
    "discs-34-39",
    "discs-40-45",
    "discs-46-51",
    "discs-52-57",
    "discs-58-63",
];
/// Discs that a phase takes.
const DISCS: u32 = 6;
/// Lengths of the diagonals that are looked up.
const DIAGONALS: [usize; 5] = [8, 7, 6, 5, 4];

/// Inputs for 1-ply players, a table a phase of six discs: the four kinds of rows, the diagonals of four squares and more, the
/// 3x3 squares in a corner, and the 4x2 squares in a corner.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tuples1;

impl InputSet<Othello> for Tuples1 {
    fn name(&self) -> &'static str {
        "tuples-1"
    }

    fn classes(&self) -> &'static [&'static str] {
        &PHASES
    }

    fn width(&self, _: usize) -> usize {
        CODES.end
    }

    fn class(&self, state: &Position) -> Option<usize> {
        let discs = (state.own() | state.other()).count_ones();
        (!state.is_over()).then(|| (discs.saturating_sub(4) / DISCS) as usize)
    }

    fn write(&self, _: usize, state: &Position, inputs: &mut Inputs) {
        let codes = &*CODES;
        inputs.clear();
        let upright = Board { own: state.own(), other: state.other() };
        let turned = upright.map(transposed);
        for (row, table) in codes.rows.iter().enumerate() {
            let places = [(upright, row), (upright, 7 - row), (turned, row), (turned, 7 - row)];
            table.push(places.map(|(board, row)| base_3(board.row(row))), inputs);
        }
        let mirrored = upright.map(left_right);
        let mut diagonals = codes.diagonals.iter();
        if let Some(longest) = diagonals.next() {
            longest.push([upright, mirrored].map(|board| base_3(board.diagonal(0))), inputs);
        }
        for (off, table) in (1..).zip(diagonals) {
            let places = [(upright, off), (upright, -off), (mirrored, off), (mirrored, -off)];
            table.push(places.map(|(board, off)| base_3(board.diagonal(off))), inputs);
        }
        let corners = [upright, mirrored, upright.map(u64::swap_bytes), mirrored.map(u64::swap_bytes)];
        codes.square.push(corners.map(|board| base_3(board.square())), inputs);
        let [a, b, c, d] = corners;
        let [e, f, g, h] = corners.map(|board| board.map(transposed));
        codes.oblong.push([a, b, c, d, e, f, g, h].map(|board| base_3(board.oblong())), inputs);
    }
}

/// The discs of both sides on the board as it is or seen from elsewhere.
#[derive(Clone, Copy)]
struct Board<T = u64> {
    own: T,
    other: T,
}

impl Board {
    fn map(self, change: impl Fn(u64) -> u64) -> Board {
        Board { own: change(self.own), other: change(self.other) }
    }

    /// What lies on some squares, as bits from the first square on.
    fn pick(self, squares: impl Fn(u64) -> u64) -> Board<usize> {
        Board { own: squares(self.own) as usize, other: squares(self.other) as usize }
    }

    fn row(self, row: usize) -> Board<usize> {
        self.pick(|bits| bits >> (8 * row) & 0xff)
    }

    /// The diagonal that begins so many squares right of a1, or above it when negative, and goes up to the right.
    fn diagonal(self, right: i32) -> Board<usize> {
        let squares = diagonal(right);
        // Its squares are in different columns: the multiplication puts all of them into the last row.
        let columns = |bits: u64| (bits & squares).wrapping_mul(0x0101_0101_0101_0101) >> 56;
        self.pick(|bits| columns(bits) >> right.max(0))
    }

    /// The 3x3 squares in the corner at a1, row by row.
    fn square(self) -> Board<usize> {
        self.pick(|bits| bits & 7 | bits >> 5 & 7 << 3 | bits >> 10 & 7 << 6)
    }

    /// The 4x2 squares in the corner at a1, row by row.
    fn oblong(self) -> Board<usize> {
        self.pick(|bits| bits & 0xf | bits >> 4 & 0xf0)
    }
}

/// The squares of a diagonal, see [`Board::diagonal`]: the main one moved down, or up, where rows leave the board.
fn diagonal(right: i32) -> u64 {
    const MAIN: u64 = 0x8040_2010_0804_0201;
    if right >= 0 { MAIN >> (8 * right) } else { MAIN << (8 * -right) }
}

/// The board with left and right exchanged.
fn left_right(bits: u64) -> u64 {
    bits.reverse_bits().swap_bytes()
}

/// The board with rows and columns exchanged.
fn transposed(bits: u64) -> u64 {
    // Exchanges the off-diagonal blocks of 4x4, then of 2x2, then of 1x1 squares.
    let swap = |bits: u64, mask: u64, by: u32| {
        let differing = (bits ^ bits >> by) & mask;
        bits ^ differing ^ differing << by
    };
    let bits = swap(bits, 0x0000_0000_f0f0_f0f0, 28);
    let bits = swap(bits, 0x0000_cccc_0000_cccc, 14);
    swap(bits, 0x00aa_00aa_00aa_00aa, 7)
}

/// What lies on up to nine squares as a number in base 3, the first square its last digit: 1 for own discs, 2 for others.
fn base_3(squares: Board<usize>) -> usize {
    usize::from(TERNARY[squares.own & 0x1ff]) + 2 * usize::from(TERNARY[squares.other & 0x1ff])
}

/// The binary digits of the index, read in base 3.
static TERNARY: [u16; 512] = {
    let mut numbers = [0; 512];
    let mut index = 1;
    while index < 512 {
        numbers[index] = 3 * numbers[index / 2] + (index % 2) as u16;
        index += 1;
    }
    numbers
};

/// The entries of one pattern among the inputs.
struct Entries {
    /// The input of each number in base 3.
    inputs: Vec<u16>,
}

impl Entries {
    /// Adds what is looked up at the places of the pattern.
    fn push<const PLACES: usize>(&self, numbers: [usize; PLACES], inputs: &mut Inputs) {
        let mut found = numbers.map(|number| self.inputs[number]);
        found.sort_unstable();
        let mut rest = &found[..];
        while let Some(&first) = rest.first() {
            let count = rest.iter().take_while(|&&input| input == first).count();
            inputs.push(usize::from(first), count as f32);
            rest = &rest[count..];
        }
    }
}

/// The entries of all patterns, in the order of their inputs.
struct Codes {
    /// The rows at the edge, and those 1, 2 and 3 from it.
    rows: [Entries; 4],
    /// By [`DIAGONALS`].
    diagonals: [Entries; 5],
    square: Entries,
    oblong: Entries,
    /// Number of inputs.
    end: usize,
}

static CODES: LazyLock<Codes> = LazyLock::new(|| {
    let mut end = 0;
    let mut entries = |squares: usize, image: &dyn Fn(usize) -> usize| {
        let count = 3_usize.pow(squares as u32);
        let mut inputs: Vec<u16> = Vec::with_capacity(count);
        for number in 0..count {
            let digit = |square: usize| number / 3_usize.pow(square as u32) % 3;
            let other: usize =
                (0..squares).map(|square| digit(square) * 3_usize.pow(image(square) as u32)).sum();
            // Of a pattern and its mirror image the first that comes makes the entry.
            let input = inputs.get(other).copied().unwrap_or_else(|| {
                end += 1;
                (end - 1) as u16
            });
            inputs.push(input);
        }
        Entries { inputs }
    };
    let reversed = |squares: usize| move |square: usize| squares - 1 - square;
    let rows = [(); 4].map(|()| entries(8, &reversed(8)));
    let diagonals = DIAGONALS.map(|squares| entries(squares, &reversed(squares)));
    let square = entries(9, &|square| square % 3 * 3 + square / 3);
    let oblong = entries(8, &|square| square);
    Codes { rows, diagonals, square, oblong, end }
});

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use ludus_games::{Game, Plays};

    use super::*;
    use crate::dice;

    /// Positions of random games.
    fn positions(games: u64) -> Vec<Position> {
        let mut plays = Plays::new();
        let mut positions = Vec::new();
        for game in 0..games {
            let mut rng = dice::decisions(3, game);
            let mut state = Othello.start();
            while Othello.payoff(&state).is_none() {
                positions.push(state);
                Othello.plays(&state, (), &mut plays);
                state = plays.after[dice::below(&mut rng, plays.len())];
            }
        }
        positions
    }

    fn inputs(state: &Position) -> Inputs {
        let mut inputs = Inputs::default();
        Tuples1.write(0, state, &mut inputs);
        inputs
    }

    /// The symmetries of the board.
    fn images(bits: u64) -> [u64; 8] {
        let [a, b] = [bits, transposed(bits)];
        [a, b]
            .map(|bits| [bits, left_right(bits), bits.swap_bytes(), left_right(bits).swap_bytes()])
            .as_flattened()
            .try_into()
            .expect("eight")
    }

    /// The squares of every place of every pattern, as bits.
    fn places() -> Vec<u64> {
        let square = |column: usize, row: usize| 1_u64 << (8 * row + column);
        let rows = (0..4).map(|row| (0..8).map(|column| square(column, row)).sum());
        let diagonals = DIAGONALS.map(|length| (0..length).map(|step| square(8 - length + step, step)).sum());
        let corners = [3, 4].map(|width| {
            let height = if width == 3 { 3 } else { 2 };
            (0..width * height).map(|at| square(at % width, at / width)).sum()
        });
        let mut places = Vec::new();
        for pattern in rows.chain(diagonals).chain(corners) {
            let mut images = images(pattern).to_vec();
            images.sort_unstable();
            images.dedup();
            places.extend(images);
        }
        places
    }

    #[test]
    fn a_disc_is_seen_from_every_place_that_has_its_square_and_from_no_other() {
        let places = places();
        assert_eq!(places.len(), 46);
        let empty = inputs(&Position::new(0, 0).expect("no discs"));
        for first in 0..64 {
            for second in 0..64 {
                let (own, other) = (1 << first, if second == first { 0 } else { 1 << second });
                let found = inputs(&Position::new(own, other).expect("different squares"));
                assert_eq!(found.values.iter().sum::<f32>(), 46.0);
                let still_empty = found.indices.iter().zip(&found.values);
                let still_empty = still_empty.filter(|(input, _)| empty.indices.contains(input));
                let expected = places.iter().filter(|&&place| place & (own | other) == 0).count();
                assert_eq!(still_empty.map(|(_, count)| count).sum::<f32>(), expected as f32);
            }
        }
    }

    #[test]
    fn the_eight_images_of_a_position_have_the_same_inputs_and_other_positions_others() {
        let mut seen = HashMap::new();
        for state in positions(20) {
            let found = inputs(&state);
            let all = images(state.own()).into_iter().zip(images(state.other()));
            for (own, other) in all.clone() {
                assert_eq!(inputs(&Position::new(own, other).expect("an image")), found);
            }
            let first = all.min().expect("eight");
            let bits: Vec<u16> =
                found.indices.iter().copied().chain(found.values.iter().map(|&v| v as u16)).collect();
            assert_eq!(*seen.entry(bits).or_insert(first), first);
        }
        assert!(seen.len() > 1000);
    }

    #[test]
    fn every_entry_is_an_input_and_mirror_images_share_theirs() {
        // Of 3^n patterns on n squares with a mirror image, those that are their own have n less squares to choose.
        let with_image = |squares: u32, own: u32| (3_usize.pow(squares) + 3_usize.pow(own)) / 2;
        let lines = DIAGONALS.map(|length| with_image(length as u32, length.div_ceil(2) as u32));
        let expected = 4 * with_image(8, 4) + lines.iter().sum::<usize>() + with_image(9, 6) + 3_usize.pow(8);
        assert_eq!(Tuples1.width(0), expected);
    }

    #[test]
    fn each_phase_has_six_discs_and_a_finished_game_none() {
        for state in positions(5) {
            let discs = (state.own() | state.other()).count_ones() as usize;
            let name = PHASES[Tuples1.class(&state).expect("it goes on")];
            let bounds: Vec<usize> =
                name.split('-').skip(1).map(|bound| bound.parse().expect("a number")).collect();
            assert!((bounds[0]..=bounds[1]).contains(&discs), "{discs} discs in {name}");
        }
        assert_eq!(Tuples1.class(&Position::new(u64::MAX, 0).expect("all own")), None);
    }
}
