//! Linear players like PubEval: two vectors of weights, and the text file that holds them.

use std::fmt::Write;
use std::sync::Arc;

use ludus_games::backgammon::{BAR, CHECKERS, Dice, Position};
use ludus_games::{Backgammon, Plays};
use rand_chacha::ChaCha8Rng;

use crate::arena::PlayerFileError;
use crate::player::Player;

/// Number of inputs, and so of weights in a vector.
pub const INPUTS: usize = 122;

/// The line that a weight file begins with, remarks aside.
const HEADER: &str = "ludus-pubeval 1";
/// The two vectors, in the order of the file.
const SECTIONS: [&str; 2] = ["contact", "race"];

/// The weights of a player that plays what scores highest.
///
/// Both vectors have the inputs of PubEval, see [`score`]. Which of them scores all plays of a roll depends on the
/// position *before* the play.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearWeights {
    /// While the sides can still meet.
    pub contact: [f32; INPUTS],
    /// Once they have passed each other.
    pub race: [f32; INPUTS],
}

impl LinearWeights {
    /// Reads the text of a weight file: remarks (`#`), the header, and `contact` and `race`, each followed by its 122
    /// weights, one a line. `file` is its name, for messages.
    pub fn read(file: &str, text: &str) -> Result<Self, PlayerFileError> {
        let at = |line, problem| PlayerFileError { file: file.into(), line, problem };
        let mut lines = (text.lines().enumerate())
            .map(|(index, line)| (index + 1, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let end = text.lines().count();
        let mut next = |wanted: &str| {
            lines.next().ok_or_else(|| at(end, format!("the file ends where {wanted} should be")))
        };
        let expect = |word: &str, (line, found): (usize, &str)| match found == word {
            true => Ok(()),
            false => Err(at(line, format!("expected {word:?}, found {found:?}"))),
        };
        expect(HEADER, next(HEADER)?)?;
        let mut vectors = [[0.0; INPUTS]; 2];
        for (section, vector) in SECTIONS.iter().zip(&mut vectors) {
            expect(section, next(section)?)?;
            for (index, weight) in vector.iter_mut().enumerate() {
                let (line, word) = next(&format!("weight {} of {INPUTS} for {section}", index + 1))?;
                let number = word.parse().ok().filter(|number: &f32| number.is_finite());
                *weight = number.ok_or_else(|| at(line, format!("{word:?} is not a weight")))?;
            }
        }
        if let Some((line, found)) = lines.next() {
            return Err(at(line, format!("{found:?} comes after the last weight")));
        }
        let [contact, race] = vectors;
        Ok(LinearWeights { contact, race })
    }

    /// The text of a weight file, with these remarks at its head. Reading it gives the same weights to the last bit.
    pub fn write(&self, remarks: &str) -> String {
        let mut text: String = remarks.lines().map(|line| format!("# {line}\n")).collect();
        text += HEADER;
        for (name, vector) in SECTIONS.iter().zip([&self.contact, &self.race]) {
            let _ = write!(text, "\n{name}");
            for weight in vector {
                // The shortest text that means this number and no other.
                let _ = write!(text, "\n{weight:?}");
            }
        }
        text + "\n"
    }

    /// Index of the play that scores highest, the first of equals.
    pub fn choose(&self, before: &Position, plays: &Plays<Backgammon>) -> usize {
        let weights = if has_contact(before) { &self.contact } else { &self.race };
        let mut best = (0, f32::NEG_INFINITY);
        for (index, after) in plays.after.iter().enumerate() {
            let score = score(weights, after);
            if score > best.1 {
                best = (index, score);
            }
        }
        best.0
    }
}

/// Plays by linear weights.
#[derive(Clone, Debug)]
pub struct LinearPlayer(pub Arc<LinearWeights>);

impl Player<Backgammon> for LinearPlayer {
    fn choose(&mut self, state: &Position, _: Dice, plays: &Plays<Backgammon>, _: &mut ChaCha8Rng) -> usize {
        self.0.choose(state, plays)
    }
}

/// Whether the two sides can still meet.
pub(super) fn has_contact(position: &Position) -> bool {
    let rearmost = |side: &[u8; 25]| side.iter().rposition(|&checkers| checkers > 0).unwrap_or(0);
    rearmost(position.own()) + rearmost(position.other()) > 22
}

/// Score of a position for the side that has just moved; `after` is seen by its opponent.
///
/// Five inputs a point, from the mover's 24 point down to its ace point, by the number of its checkers there less the
/// number of the opponent's; then the opponent's bar and the mover's checkers off. Nothing is better than to have won.
pub(super) fn score(weights: &[f32; INPUTS], after: &Position) -> f32 {
    let (mover, opponent) = (after.other(), after.own());
    if after.other_off() == CHECKERS {
        return f32::INFINITY;
    }
    let mut score = 0.0;
    for (j, weights) in weights.chunks_exact(5).take(24).enumerate() {
        match i32::from(mover[23 - j]) - i32::from(opponent[j]) {
            -1 => score += weights[0],
            1 => score += weights[1],
            2 => score += weights[2],
            3 => score += weights[2] + weights[3],
            n if n >= 4 => score += weights[2] + weights[4] * (n - 3) as f32 / 2.0,
            _ => {}
        }
    }
    score + weights[120] * f32::from(opponent[BAR]) / 2.0 + weights[121] * f32::from(after.other_off()) / 15.0
}

/// Shows each input of [`score`] that is not zero, and its value, to `show`.
pub(super) fn inputs(after: &Position, mut show: impl FnMut(usize, f64)) {
    let (mover, opponent) = (after.other(), after.own());
    for j in 0..24 {
        match i32::from(mover[23 - j]) - i32::from(opponent[j]) {
            -1 => show(5 * j, 1.0),
            1 => show(5 * j + 1, 1.0),
            n if n >= 2 => {
                show(5 * j + 2, 1.0);
                if n == 3 {
                    show(5 * j + 3, 1.0);
                } else if n > 3 {
                    show(5 * j + 4, f64::from(n - 3) / 2.0);
                }
            }
            _ => {}
        }
    }
    if opponent[BAR] > 0 {
        show(120, f64::from(opponent[BAR]) / 2.0);
    }
    if after.other_off() > 0 {
        show(121, f64::from(after.other_off()) / 15.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::PubEval;
    use crate::backgammon::tests::positions;

    #[test]
    fn the_inputs_and_the_score_are_one_and_the_same() {
        for position in positions() {
            if position.other_off() == CHECKERS {
                continue;
            }
            for weights in [&PubEval::weights().contact, &PubEval::weights().race] {
                let mut sum = 0.0;
                inputs(&position, |index, value| sum += f64::from(weights[index]) * value);
                let score = f64::from(score(weights, &position));
                assert!((sum - score).abs() < 1e-4, "{sum} and {score} in {position:?}");
            }
        }
    }

    #[test]
    fn a_weight_file_that_is_read_is_the_one_that_was_written() {
        let mut weights = PubEval::weights().clone();
        weights.race[7] = -1.0 / 3.0;
        weights.contact[0] = f32::MIN_POSITIVE;
        let text = weights.write("made for a test\nin two lines");
        assert!(text.starts_with("# made for a test\n# in two lines\nludus-pubeval 1\ncontact\n"), "{text}");
        assert_eq!(LinearWeights::read("test.pubeval", &text), Ok(weights));
    }

    #[test]
    fn a_file_that_is_none_is_named_with_the_line_and_what_is_wrong() {
        let good = PubEval::weights().write("remark");
        let lines: Vec<&str> = good.lines().collect();
        let without_last = lines[..lines.len() - 1].join("\n");
        for (text, problem) in [
            ("", ":0: the file ends where ludus-pubeval 1 should be"),
            ("pubeval\n", ":1: expected \"ludus-pubeval 1\", found \"pubeval\""),
            (&good.replacen("contact", "1.5", 1), ":3: expected \"contact\", found \"1.5\""),
            (&good.replacen("race", "1.5", 1), ":126: expected \"race\", found \"1.5\""),
            (&good.replacen("race", "inf\nrace", 1), ":126: expected \"race\", found \"inf\""),
            (&without_last, ":247: the file ends where weight 122 of 122 for race should be"),
            (&format!("{good}\n0.5\n"), ":250: \"0.5\" comes after the last weight"),
            (&good.replacen("contact\n", "contact\nNaN\n", 1), ":4: \"NaN\" is not a weight"),
        ] {
            let error = LinearWeights::read("test.pubeval", text).unwrap_err().to_string();
            assert_eq!(error, format!("test.pubeval{problem}"));
        }
    }
}
