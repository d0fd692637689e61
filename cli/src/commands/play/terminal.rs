//! `ludus play` in a terminal, or with its input from a pipe.

use std::io::{BufRead, Write};

use anyhow::Result;
use ludus_games::backgammon::{Dice, Position};
use ludus_games::{Backgammon, Game, Plays};
use ludus_players::dice;

use super::board::draw;
use super::engine::Engine;
use crate::output::Paint;

/// Plays that `hint` shows.
const HINTS: usize = 5;

const HELP: &str = "\
A play is written as 8/5 6/5, or in one go as 24/18*/13; bar/20 enters, 6/off bears off, 6/4(2) moves two checkers alike.
  hint   the best plays as your opponent sees them
  moves  all legal plays
  board  the board again
  quit   end the game";

/// Plays one game against `engine`. The end of the input ends it, too.
pub fn play(engine: Engine, name: &str, seed: u64, input: impl BufRead, output: impl Write) -> Result<()> {
    let mut table = Table { engine, name, input, output, plays: Plays::new() };
    writeln!(table.output, "You are X and play down from point 24; {name} is O. Dice of seed {seed}.")?;
    writeln!(table.output, "Type a play such as 8/5 6/5, or help.\n")?;

    let first = dice::below(&mut dice::decisions(seed, 0), 2) == 0;
    let mut state = Backgammon.start();
    for ply in 0_usize.. {
        let yours = first == (ply % 2 == 0);
        if let Some(points) = Backgammon.payoff(&state) {
            return table.end(&state, points, yours);
        }
        let rolls = Backgammon.rolls(&state, ply);
        let (roll, _) = rolls[dice::throw(&mut dice::decisions(seed, ply as u64 + 1), rolls)];
        if ply == 0 {
            let (high, low) = (roll.high(), roll.low());
            let (you, it, who) = if first { (high, low, "you begin") } else { (low, high, "it begins") };
            writeln!(table.output, "You roll {you}, {name} rolls {it}: {who}.")?;
        }
        let after = if yours { table.your_play(&state, roll)? } else { Some(table.its_play(&state, roll)?) };
        let Some(after) = after else {
            writeln!(table.output, "The game ends here.")?;
            return Ok(());
        };
        state = after;
    }
    Ok(())
}

struct Table<'a, I, O> {
    engine: Engine,
    name: &'a str,
    input: I,
    output: O,
    plays: Plays<Backgammon>,
}

impl<I: BufRead, O: Write> Table<'_, I, O> {
    fn its_play(&mut self, state: &Position, roll: Dice) -> Result<Position> {
        let (play, after) = self.engine.choose(state, roll)?;
        writeln!(self.output, "{} rolls {roll}: {}", self.name, Backgammon.write_move(state, play))?;
        Ok(after)
    }

    /// What you make of a roll, `None` when you would rather not.
    fn your_play(&mut self, state: &Position, roll: Dice) -> Result<Option<Position>> {
        Backgammon.plays(state, roll, &mut self.plays);
        self.show(state)?;
        if let [only] = self.plays.moves[..]
            && only.steps().is_empty()
        {
            writeln!(self.output, "You roll {roll} and cannot move.")?;
            return Ok(Some(self.plays.after[0]));
        }
        loop {
            write!(self.output, "{} ", Paint::stdout().bold(&format!("Your {roll}:")))?;
            self.output.flush()?;
            let mut line = Vec::new();
            if self.input.read_until(b'\n', &mut line)? == 0 {
                writeln!(self.output)?;
                return Ok(None);
            }
            let text = String::from_utf8_lossy(&line);
            match text.trim().to_lowercase().as_str() {
                "" => {}
                "quit" | "q" | "exit" => return Ok(None),
                "help" | "h" | "?" => writeln!(self.output, "{HELP}")?,
                "board" => self.show(state)?,
                "hint" => self.hint(state, roll)?,
                "moves" => {
                    for &play in &self.plays.moves {
                        writeln!(self.output, "  {}", Backgammon.write_move(state, play))?;
                    }
                }
                typed => match Backgammon.read_move(state, &self.plays, typed) {
                    Ok(index) => return Ok(Some(self.plays.after[index])),
                    Err(error) => writeln!(self.output, "{error}")?,
                },
            }
        }
    }

    fn show(&mut self, state: &Position) -> Result<()> {
        writeln!(self.output, "\n{}", draw(state, ["you", self.name]))?;
        Ok(())
    }

    fn hint(&mut self, state: &Position, roll: Dice) -> Result<()> {
        let Some(rated) = self.engine.rated(state, roll)? else {
            writeln!(self.output, "{} picks plays without judging positions.", self.name)?;
            return Ok(());
        };
        let best = rated.first().map_or(0.0, |best| best.points);
        for rated in rated.iter().take(HINTS) {
            let (play, less) = (Backgammon.write_move(state, rated.play), rated.points - best);
            writeln!(self.output, "  {:+.3} ({less:+.3})  {play}", rated.points)?;
        }
        Ok(())
    }

    fn end(&mut self, state: &Position, points: i8, yours: bool) -> Result<()> {
        let seen = if yours { *state } else { state.flipped() };
        self.show(&seen)?;
        let how =
            ["a single game", "a gammon", "a backgammon"][usize::from(points.unsigned_abs() - 1).min(2)];
        let you_win = (points > 0) == yours;
        let who = if you_win { "You win" } else { &format!("{} wins", self.name) };
        writeln!(self.output, "{who} {how}.")?;
        Ok(())
    }
}
