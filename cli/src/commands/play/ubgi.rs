//! `ludus play --ubgi`: the Universal Backgammon Interface, as the drafts 0.1 and 0.2 of the bgci project have it, after
//! Ø. Schønning-Johansen's first draft.
//!
//! Positions are seen by the side on roll, and the engine is cubeless money play: what drafts say about scores, cubes and
//! sessions is answered as unsupported. Options: the variant, which must be backgammon.

use std::io::{BufRead, Write};

use anyhow::Result;
use ludus_games::backgammon::{Dice, Position, Xgid};
use ludus_games::{Backgammon, Chances, Game, NotationError};

use super::engine::{Engine, steps};

/// The one option, by its names in the drafts 0.1 and 0.2, and its one value.
const OPTION: (&str, &str) = ("Variant", "game.variant");
const VARIANT: &str = "backgammon";

/// Reads commands until `quit` or the end of the input, and answers each at once.
pub fn speak(engine: Engine, player: &str, input: impl BufRead, mut output: impl Write) -> Result<()> {
    let mut session =
        Session { engine, player: player.into(), position: Some(Backgammon.start()), dice: None };
    for line in input.split(b'\n') {
        let line = line?;
        let text = String::from_utf8_lossy(&line);
        let words: Vec<&str> = text.split_whitespace().collect();
        if words == ["quit"] {
            break;
        }
        match session.answer(&words) {
            Ok(lines) => lines.iter().try_for_each(|line| writeln!(output, "{line}"))?,
            Err(Refusal { code, detail }) => writeln!(output, "error {code} {detail}")?,
        }
        output.flush()?;
    }
    Ok(())
}

/// A command that is not done, with a code of the drafts.
struct Refusal {
    code: &'static str,
    detail: String,
}

impl Refusal {
    fn command(detail: impl Into<String>) -> Self {
        Refusal { code: "bad_command", detail: detail.into() }
    }

    fn value(problem: impl ToString) -> Self {
        Refusal { code: "bad_value", detail: problem.to_string() }
    }

    fn state(problem: impl Into<String>) -> Self {
        Refusal { code: "bad_state", detail: problem.into() }
    }

    fn unsupported(what: impl Into<String>) -> Self {
        Refusal { code: "unsupported", detail: what.into() }
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        Refusal::state(format!("{error:#}").replace(['\n', '\r'], " "))
    }
}

type Answer = Result<Vec<String>, Refusal>;

struct Session {
    engine: Engine,
    player: String,
    /// What it is asked about; none after a position that could not be read.
    position: Option<Position>,
    dice: Option<Dice>,
}

impl Session {
    fn answer(&mut self, words: &[&str]) -> Answer {
        let silently = Ok(Vec::new());
        match *words {
            // Nothing goes on that could be stopped, and a position comes with its turn.
            [] | ["stop"] | ["setturn", "p0" | "p1"] => silently,
            ["ubgi"] => Ok(self.introduction()),
            ["isready"] => Ok(vec!["readyok".into()]),
            ["newgame"] => {
                (self.position, self.dice) = (Some(Backgammon.start()), None);
                silently
            }
            ["setoption", "name", name, "value", value] if name == OPTION.0 => set(name, value),
            ["set", name, value] if name == OPTION.1 => set(name, value),
            ["setoption", "name", name, "value", ..] | ["set", name, _] | ["get", name]
                if name != OPTION.1 =>
            {
                Err(Refusal::unsupported(format!("option {name}")))
            }
            ["get", name] => Ok(vec![format!("value {name} {VARIANT}")]),
            ["keys"] => Ok(vec![format!("key {} enum {VARIANT} {VARIANT}", OPTION.1)]),
            ["position", "gnubgid", id] => {
                let position = id.split(':').next().unwrap_or_default();
                self.place(Position::from_id(position).map(|position| (position, None)))
            }
            ["position", "xgid", id] => {
                self.place(id.parse().map(|xgid: Xgid| (xgid.position, xgid.state.dice)))
            }
            ["position", kind, _] => Err(Refusal::unsupported(format!("position {kind}"))),
            ["dice", a, b] => {
                self.dice = Some(format!("{a} {b}").parse().map_err(Refusal::value)?);
                silently
            }
            ["go"] | ["go", "chequer", ..] | ["go", "role", "chequer", ..] => self.chequer(),
            ["go", "cube", ..] | ["go", "role", "cube", ..] => Ok(vec!["bestcube nodouble".into()]),
            ["go", "turn", ..] | ["go", "role", "turn", ..] => {
                let (play, after) = self.best()?;
                Ok(vec![format!("bestturn cube=nodouble move={play} moveid={after}")])
            }
            ["newsession" | "setscore" | "setcube", ..] => {
                Err(Refusal::unsupported(format!("{}: this is cubeless money play", words[0])))
            }
            ["position", ..] => Err(Refusal::command("expected: position gnubgid ID, or position xgid ID")),
            ["dice", ..] => Err(Refusal::command("expected: dice A B")),
            ["go", ..] => Err(Refusal::command("expected: go role chequer, cube or turn")),
            ["setoption", ..] => Err(Refusal::command("expected: setoption name NAME value VALUE")),
            ["set" | "get", ..] => Err(Refusal::command("expected: set KEY VALUE, or get KEY")),
            [word, ..] => Err(Refusal::command(word)),
        }
    }

    fn introduction(&self) -> Vec<String> {
        vec![
            format!("id name Ludus {}", self.player),
            "id author the Ludus project".into(),
            format!("id version {}", env!("CARGO_PKG_VERSION")),
            "proto 0.2".into(),
            format!("option name {} type combo default {VARIANT} var {VARIANT}", OPTION.0),
            "ubgiok".into(),
        ]
    }

    fn place(&mut self, read: Result<(Position, Option<Dice>), NotationError>) -> Answer {
        (self.position, self.dice) = (None, None);
        let (position, dice) = read.map_err(Refusal::value)?;
        if position.payoff().is_some() {
            return Err(Refusal::value("the game is over"));
        }
        (self.position, self.dice) = (Some(position), dice);
        Ok(Vec::new())
    }

    /// The best play in text, and the position it leads to, seen by the opponent.
    fn best(&mut self) -> Result<(String, Position), Refusal> {
        let Some(position) = self.position else { return Err(Refusal::state("missing position")) };
        let Some(roll) = self.dice else { return Err(Refusal::state("missing dice")) };
        let (play, after) = self.engine.choose(&position, roll)?;
        let text = if play.steps().is_empty() { "pass".into() } else { steps(&play) };
        Ok((text, after))
    }

    fn chequer(&mut self) -> Answer {
        let (play, after) = self.best()?;
        let mut lines = Vec::new();
        if let Some(chances) = self.engine.chances(&after)? {
            let chances = chances.flipped();
            let [win, gammon, backgammon, ..] = chances.0;
            lines.push(format!(
                "info eq {:.4} pwin {win:.4} pgammon {gammon:.4} pbg {backgammon:.4}",
                chances.points()
            ));
        }
        lines.push(format!("bestmove {play}"));
        Ok(lines)
    }
}

fn set(name: &str, value: &str) -> Answer {
    if value == VARIANT {
        Ok(Vec::new())
    } else {
        Err(Refusal::value(format!("{name} must be {VARIANT}, not {value}")))
    }
}
