//! The board in text.

use ludus_games::backgammon::{BAR, Position};

/// Rows of each half; more checkers are counted in the last.
const ROWS: u8 = 5;

/// Draws a position, seen by X, who sits below and moves from point 24 to point 1.
pub fn draw(position: &Position, names: [&str; 2]) -> String {
    let (x, o) = (position.own(), position.other());
    let pips = |side: &[u8; 25]| -> u32 { (1..).zip(side).map(|(pip, &n)| pip * u32::from(n)).sum() };
    let point = |slot: usize, row: u8| match (x[slot], o[23 - slot]) {
        (0, 0) => "   ".to_owned(),
        (0, n) => cell('O', n, row),
        (n, _) => cell('X', n, row),
    };
    let half = |slots: [usize; 12], row: u8, bar: (char, u8)| {
        let side = |slots: &[usize]| slots.iter().map(|&slot| point(slot, row)).collect::<String>();
        format!("|{}|{}|{}|", side(&slots[..6]), cell(bar.0, bar.1, row), side(&slots[6..]))
    };
    let above: [usize; 12] = std::array::from_fn(|i| 12 + i);
    let below: [usize; 12] = std::array::from_fn(|i| 11 - i);
    let told = |mark, name, side, off| format!("{mark}: {name}, {} pips, {off} off", pips(side));

    let mut lines = vec!["+13-14-15-16-17-18-+BAR+19-20-21-22-23-24-+".to_owned()];
    lines.extend((0..ROWS).map(|row| half(above, row, ('O', o[BAR]))));
    lines.push("|                  |   |                  |".into());
    lines.extend((0..ROWS).rev().map(|row| half(below, row, ('X', x[BAR]))));
    lines.push("+12-11-10--9--8--7-+BAR+-6--5--4--3--2--1-+".into());
    lines[0] += &format!("  {}", told('O', names[1], o, position.other_off()));
    if let Some(last) = lines.last_mut() {
        *last += &format!("  {}", told('X', names[0], x, position.own_off()));
    }
    lines.join("\n")
}

/// What stands in a row of a point, counted from the edge: a checker, nothing, or in the last row how many there are.
fn cell(mark: char, checkers: u8, row: u8) -> String {
    if row + 1 == ROWS && checkers > ROWS {
        format!("{checkers:^3}")
    } else if row < checkers {
        format!(" {mark} ")
    } else {
        "   ".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_looks_as_it_should() {
        let expected = "\
+13-14-15-16-17-18-+BAR+19-20-21-22-23-24-+  O: it, 167 pips, 0 off
| X           O    |   | O              X |
| X           O    |   | O              X |
| X           O    |   | O                |
| X                |   | O                |
| X                |   | O                |
|                  |   |                  |
| O                |   | X                |
| O                |   | X                |
| O           X    |   | X                |
| O           X    |   | X              O |
| O           X    |   | X              O |
+12-11-10--9--8--7-+BAR+-6--5--4--3--2--1-+  X: you, 167 pips, 0 off";
        assert_eq!(draw(&Position::START, ["you", "it"]), expected);
    }

    #[test]
    fn heaps_are_counted_and_the_bar_is_shown() {
        let (mut x, mut o) = ([0; 25], [0; 25]);
        (x[0], x[24], o[5]) = (12, 1, 2);
        let text = draw(&Position::new(x, o).expect("a position"), ["you", "it"]);
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[11].contains("| X |"), "the one on the bar stands at the edge:\n{text}");
        assert!(rows[7].ends_with(" 12 |"), "{text}");
        assert!(rows[0].ends_with("12 pips, 13 off") && rows[12].ends_with("37 pips, 2 off"), "{text}");
    }
}
