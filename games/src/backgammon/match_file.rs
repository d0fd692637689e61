//! `.mat` files: the match format of Jellyfish that every backgammon program reads.

use std::fmt;

use super::plays::{OFF, Play, Step};
use super::position::BAR;
use super::{Dice, Seat};

/// One finished game, to be written as a `.mat` file of money play.
///
/// The left column is [`Seat::Zero`], the right one [`Seat::One`]. Each step of a play is written on its own, with 25
/// for the bar and 0 for off.
#[derive(Clone, Copy, Debug)]
pub struct MatchFile<'a> {
    /// Names of seat zero and seat one. Blanks and other characters that would break the columns become `_`.
    pub names: [&'a str; 2],
    /// Who rolled first.
    pub first: Seat,
    /// Rolls and plays from the start; the seats take turns.
    pub turns: &'a [(Dice, Play)],
    /// Points of seat zero, negative when seat one won.
    pub points: i8,
}

impl fmt::Display for MatchFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names.map(|name| {
            let plain = |c: char| if c.is_alphanumeric() || "-_.@".contains(c) { c } else { '_' };
            name.chars().map(plain).collect::<String>()
        });
        writeln!(f, " 0 point match\n\n Game 1")?;
        let left = format!("{} : 0", names[0]);
        writeln!(f, " {left:<30} {} : 0", names[1])?;

        // Seat zero's cell of the first line stays empty when seat one rolled first.
        let mut cells = vec![String::new(); usize::from(self.first == Seat::One)];
        cells.extend(self.turns.iter().map(|(dice, play)| turn(*dice, play)));
        for (i, line) in cells.chunks(2).enumerate() {
            let right = line.get(1).map_or("", String::as_str);
            // A cell that is too long for its column still keeps its distance.
            let line = format!("{:>3}) {:<26}  {right}", i + 1, line[0]);
            writeln!(f, "{}", line.trim_end())?;
        }

        let won = self.points.unsigned_abs();
        let column = if self.points > 0 { 6 } else { 34 };
        if won > 0 {
            let plural = if won > 1 { "s" } else { "" };
            writeln!(f, "{:column$}Wins {won} point{plural}", "")?;
        }
        Ok(())
    }
}

/// `31: 8/5 6/5`.
fn turn(dice: Dice, play: &Play) -> String {
    let mut text = format!("{dice}:");
    for Step { from, to, hits } in play.steps() {
        let from = if usize::from(*from) == BAR { 25 } else { from + 1 };
        let to = if *to == OFF { 0 } else { to + 1 };
        let star = if *hits { "*" } else { "" };
        text.push_str(&format!(" {from}/{to}{star}"));
    }
    text
}
