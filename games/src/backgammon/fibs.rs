//! The `board:` line of FIBS, the First Internet Backgammon Server: a game in one line of 52 numbers and names.
//!
//! ```text
//! board:You:Other:7:3:5:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:3:1:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0
//! ```
//!
//! Two names; the match length and both scores; 26 cells, from the cell of one bar over points 1 to 24 to the cell of the
//! other; whose turn it is; two dice of each player; the cube, who may double, and whether a double has been offered;
//! colour and direction of "you"; the cells of your home and your bar; checkers off and on the bar of each; how many
//! checkers can move; whether the move is forced; and two fields about the Crawford rule. The checkers of the colour 1
//! are counted positive in the cells, those of the colour -1 negative. Playing in direction -1 one moves from cell 24 to
//! cell 1 and enters from cell 25, in direction 1 the other way round.
//!
//! GNU Backgammon speaks it with its external players. There the side to move need not be "you", the checkers on the bar
//! stand in the cells only, and a roll is often written for both players.

use std::fmt;
use std::str::FromStr;

use super::position::{BAR, CHECKERS, Position};
use super::{Dice, Seat};
use crate::NotationError;

/// What FIBS writes as the length of a match that has none.
const UNLIMITED: u32 = 9999;
/// Fields after the word `board`.
const FIELDS: usize = 52;

/// A game as a FIBS board line tells it. Pairs are of "you" and of the other player, in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FibsBoard {
    /// Names. On writing, blanks and colons in them become `_`.
    pub names: [String; 2],
    /// Points the match is played to, 0 for money and for matches without end.
    pub length: u32,
    /// Points won so far.
    pub score: [u32; 2],
    /// The checkers, seen by "you", whoever's turn it is.
    pub position: Position,
    /// Whose turn it is: [`Seat::Zero`] is "you", [`Seat::One`] the other player; `None` when the game is over.
    pub turn: Option<Seat>,
    /// What each has rolled.
    pub dice: [Option<Dice>; 2],
    /// Value of the cube.
    pub cube: u32,
    /// Who may double: both when the cube is in the middle, otherwise its owner.
    pub may_double: [bool; 2],
    /// Whether the side whose turn it is has offered a double, which the other side has not answered.
    pub doubled: bool,
    /// Whether your checkers are those of the colour 1, counted positive.
    pub positive: bool,
    /// Whether you move from cell 1 to cell 24, in direction 1.
    pub ascending: bool,
    /// Checkers that can move, as FIBS counts them; GNU Backgammon writes 0.
    pub can_move: u32,
    /// Whether there is no choice.
    pub forced: bool,
    /// The field before the last, which FIBS sets to 3 where the Crawford rule is off.
    pub no_crawford: u32,
    /// The last field, which is 1 after the Crawford game.
    pub post_crawford: u32,
}

impl FibsBoard {
    /// A position that stands alone: money play, "you" on roll with `dice`, the cube in the middle.
    pub fn of(position: Position, dice: Option<Dice>) -> Self {
        FibsBoard {
            names: ["You".into(), "Opponent".into()],
            length: 0,
            score: [0, 0],
            position,
            turn: Some(Seat::Zero),
            dice: [dice, None],
            cube: 1,
            may_double: [true, true],
            doubled: false,
            positive: true,
            ascending: false,
            can_move: 0,
            forced: false,
            no_crawford: 0,
            post_crawford: 0,
        }
    }

    /// The position seen by the side whose turn it is, `None` when the game is over.
    pub fn on_roll(&self) -> Option<Position> {
        let flipped = self.turn? == Seat::One;
        Some(if flipped { self.position.flipped() } else { self.position })
    }

    /// What has been rolled, whoever's name it is written beside.
    pub fn roll(&self) -> Option<Dice> {
        self.dice[0].or(self.dice[1])
    }

    /// The cell of a slot of "you" or of the other player.
    fn cell(&self, side: Seat, slot: usize) -> usize {
        let descends = self.ascending == (side == Seat::One);
        if descends { slot + 1 } else { BAR - slot }
    }
}

/// Writes the line, without an end of line.
impl fmt::Display for FibsBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name: &str| {
            let plain = |c: char| if c == ':' || c.is_whitespace() || c.is_control() { '_' } else { c };
            name.chars().map(plain).collect::<String>()
        };
        let mut cells = [0_i32; 26];
        let sign = if self.positive { 1 } else { -1 };
        for (slot, (&own, &other)) in self.position.own().iter().zip(self.position.other()).enumerate() {
            // A cell holds checkers of one side only: positions are checked when they are made.
            cells[self.cell(Seat::Zero, slot)] += sign * i32::from(own);
            cells[self.cell(Seat::One, slot)] -= sign * i32::from(other);
        }
        let [first, second] = [&self.names[0], &self.names[1]].map(|text| name(text));
        write!(f, "board:{first}:{second}:{}:{}:{}", self.length, self.score[0], self.score[1])?;
        for cell in cells {
            write!(f, ":{cell}")?;
        }
        let turn = match self.turn {
            Some(Seat::Zero) => sign,
            Some(Seat::One) => -sign,
            None => 0,
        };
        write!(f, ":{turn}")?;
        for dice in self.dice {
            let (a, b) = dice.map_or((0, 0), |dice| (dice.high(), dice.low()));
            write!(f, ":{a}:{b}")?;
        }
        let [yours, theirs] = self.may_double.map(u8::from);
        let (direction, home, bar) = if self.ascending { (1, 25, 0) } else { (-1, 0, 25) };
        write!(f, ":{}:{yours}:{theirs}:{}:{sign}:{direction}", self.cube, u8::from(self.doubled))?;
        write!(f, ":{home}:{bar}:{}:{}", self.position.own_off(), self.position.other_off())?;
        write!(f, ":{}:{}", self.position.own()[BAR], self.position.other()[BAR])?;
        write!(f, ":{}:{}", self.can_move, u8::from(self.forced))?;
        write!(f, ":{}:{}", self.no_crawford, self.post_crawford)
    }
}

/// Reads a line. The counts of checkers off must fit the checkers that are on the board; those on the bar may be left at
/// 0, as GNU Backgammon does.
impl FromStr for FibsBoard {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let text = text.trim();
        let error = |reason: String| NotationError::new(text, "FIBS board", reason);
        let body = text.strip_prefix("board:").ok_or_else(|| error("it should begin with board:".into()))?;
        let fields: Vec<&str> = body.split(':').collect();
        if fields.len() != FIELDS {
            let found = fields.len();
            return Err(error(format!("it has {found} fields after board, and should have {FIELDS}")));
        }
        read(&fields).map_err(error)
    }
}

/// Fields that are read one after the other.
struct Fields<'a> {
    fields: std::slice::Iter<'a, &'a str>,
}

impl Fields<'_> {
    fn number(&mut self, what: &str, low: i32, high: i32) -> Result<i32, String> {
        let field = self.fields.next().copied().unwrap_or_default();
        match field.trim().parse() {
            Ok(number) if (low..=high).contains(&number) => Ok(number),
            _ => Err(format!("the {what} is {field:?}, not a number from {low} to {high}")),
        }
    }

    fn count(&mut self, what: &str, high: i32) -> Result<u32, String> {
        self.number(what, 0, high).map(i32::unsigned_abs)
    }

    fn flag(&mut self, what: &str) -> Result<bool, String> {
        self.number(what, 0, 1).map(|number| number == 1)
    }

    fn dice(&mut self, what: &str) -> Result<Option<Dice>, String> {
        let (a, b) = (self.count(what, 6)?, self.count(what, 6)?);
        match (a, b) {
            (0, 0) => Ok(None),
            (a, b) => Dice::new(a as u8, b as u8)
                .map(Some)
                .ok_or_else(|| format!("the {what} is {a}:{b}; one die alone is no roll")),
        }
    }
}

fn read(fields: &[&str]) -> Result<FibsBoard, String> {
    let largest = i32::MAX;
    let names = [fields[0], fields[1]].map(String::from);
    let mut fields = Fields { fields: fields[2..].iter() };
    let length = fields.count("match length", largest)?;
    let score = [fields.count("first score", largest)?, fields.count("second score", largest)?];
    let mut cells = [0; 26];
    let most = i32::from(CHECKERS);
    for (i, cell) in cells.iter_mut().enumerate() {
        *cell = fields.number(&format!("number of checkers in cell {i}"), -most, most)?;
    }
    let turn = fields.number("turn", -1, 1)?;
    let dice = [fields.dice("first roll")?, fields.dice("second roll")?];
    let cube = fields.count("cube", largest)?;
    let may_double = [fields.flag("first may-double flag")?, fields.flag("second may-double flag")?];
    // GNU Backgammon writes -1 here where the other player doubled.
    let doubled = fields.number("flag of a double", -1, 1)? != 0;
    let colour = fields.number("colour", -1, 1)?;
    let direction = fields.number("direction", -1, 1)?;
    if colour == 0 || direction == 0 {
        return Err("colour and direction must be 1 or -1".into());
    }
    let (positive, ascending) = (colour > 0, direction > 0);
    for (what, expected) in
        [("home", if ascending { 25 } else { 0 }), ("bar", if ascending { 0 } else { 25 })]
    {
        let cell = fields.number(what, 0, 25)?;
        if cell != expected {
            return Err(format!("the {what} is cell {cell}, which does not fit direction {direction}"));
        }
    }
    let off = [fields.count("checkers off", most)?, fields.count("checkers off", most)?];
    let on_bar = [fields.count("checkers on the bar", most)?, fields.count("checkers on the bar", most)?];
    let can_move = fields.count("number of checkers that can move", largest)?;
    let forced = fields.flag("flag of a forced move")?;
    let (no_crawford, post_crawford) =
        (fields.count("field before the last", largest)?, fields.count("last field", largest)?);

    let mut board = FibsBoard {
        names,
        length: if length == UNLIMITED { 0 } else { length },
        score,
        turn: match turn * colour {
            0 => None,
            1 => Some(Seat::Zero),
            _ => Some(Seat::One),
        },
        dice,
        cube,
        may_double,
        doubled,
        positive,
        ascending,
        can_move,
        forced,
        no_crawford,
        post_crawford,
        ..FibsBoard::of(Position::START, None)
    };
    board.position = checkers(&board, &cells)?;
    let known = [board.position.own_off(), board.position.other_off()].map(u32::from);
    if off != known {
        let ([a, b], [c, d]) = (off, known);
        return Err(format!(
            "it says that {a} and {b} checkers are off, but {c} and {d} are not on the board"
        ));
    }
    let known = [board.position.own()[BAR], board.position.other()[BAR]].map(u32::from);
    if on_bar != [0, 0] && on_bar != known {
        let ([a, b], [c, d]) = (on_bar, known);
        return Err(format!("it says that {a} and {b} checkers are on the bar, but there are {c} and {d}"));
    }
    Ok(board)
}

/// The checkers of the cells, seen by "you".
fn checkers(board: &FibsBoard, cells: &[i32; 26]) -> Result<Position, String> {
    let sign = if board.positive { 1 } else { -1 };
    let (mut own, mut other) = ([0; 25], [0; 25]);
    for slot in 0..=BAR {
        let count = |seat, sign: i32| {
            let cell = board.cell(seat, slot);
            let checkers = sign * cells[cell];
            if checkers < 0 && slot == BAR {
                return Err(format!("cell {cell} is a bar, and holds checkers of the wrong colour"));
            }
            Ok(checkers.max(0) as u8)
        };
        own[slot] = count(Seat::Zero, sign)?;
        other[slot] = count(Seat::One, -sign)?;
    }
    Position::new(own, other).map_err(|error| error.to_string())
}
