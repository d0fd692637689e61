//! `ludus play --ubgi`: the Universal Backgammon Interface, as the drafts 0.1 and 0.2 of the bgci project have it, after
//! Ø. Schønning-Johansen's first draft.
//!
//! Positions are seen by the side on roll, and the engine is cubeless money play: what drafts say about scores, cubes and
//! sessions is answered as unsupported. Of a double offered, which an XGID can say, the drafts know nothing: asked about
//! the cube, it is taken or dropped. Options: the variant, which must be backgammon.

use std::io::{BufRead, Write};

use anyhow::Result;
use ludus_games::backgammon::{Dice, MatchState, Position, Xgid};
use ludus_games::{Backgammon, Chances, Game, NotationError};

use super::engine::{Engine, steps};

/// The one option, by its names in the drafts 0.1 and 0.2, and its one value.
const OPTION: (&str, &str) = ("Variant", "game.variant");
const VARIANT: &str = "backgammon";

/// Reads commands until `quit` or the end of the input, and answers each at once.
pub fn speak(engine: Engine, player: &str, input: impl BufRead, mut output: impl Write) -> Result<()> {
    let mut session = Session {
        engine,
        player: player.into(),
        position: Some(Backgammon.start()),
        dice: None,
        doubled: false,
    };
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
    /// Whether the side on roll has offered a double.
    doubled: bool,
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
                (self.position, self.dice, self.doubled) = (Some(Backgammon.start()), None, false);
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
                self.place(Position::from_id(position).map(|position| (position, MatchState::default())))
            }
            ["position", "xgid", id] => self.place(id.parse().map(|xgid: Xgid| (xgid.position, xgid.state))),
            ["position", kind, _] => Err(Refusal::unsupported(format!("position {kind}"))),
            ["dice", ref dice @ ..] => self.roll(dice),
            ["go"] | ["go", "chequer", ..] | ["go", "role", "chequer", ..] => self.chequer(),
            ["go", "cube", ..] | ["go", "role", "cube", ..] => self.cube(),
            ["go", "turn", ..] | ["go", "role", "turn", ..] => {
                let (play, after) = self.best()?;
                Ok(vec![format!("bestturn cube=nodouble move={play} moveid={after}")])
            }
            ["newsession" | "setscore" | "setcube", ..] => {
                Err(Refusal::unsupported(format!("{}: this is cubeless money play", words[0])))
            }
            ["position", ..] => Err(Refusal::command("expected: position gnubgid ID, or position xgid ID")),
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

    fn place(&mut self, read: Result<(Position, MatchState), NotationError>) -> Answer {
        (self.position, self.dice, self.doubled) = (None, None, false);
        let (position, state) = read.map_err(Refusal::value)?;
        if position.payoff().is_some() {
            return Err(Refusal::value("the game is over"));
        }
        (self.position, self.dice, self.doubled) = (Some(position), state.dice, state.doubled);
        Ok(Vec::new())
    }

    /// Takes a roll. One that cannot be read leaves none: the next question is not about the last roll.
    fn roll(&mut self, dice: &[&str]) -> Answer {
        self.dice = None;
        let [a, b] = dice else { return Err(Refusal::command("expected: dice A B")) };
        self.dice = Some(format!("{a} {b}").parse().map_err(Refusal::value)?);
        // Who rolls has been answered.
        self.doubled = false;
        Ok(Vec::new())
    }

    /// It never doubles, so the one decision about the cube is that of a double offered.
    fn cube(&mut self) -> Answer {
        if !self.doubled {
            return Ok(vec!["bestcube nodouble".into()]);
        }
        let Some(position) = self.position else { return Err(Refusal::state("missing position")) };
        let answer = if self.engine.takes(&position)? { "take" } else { "drop" };
        Ok(vec![format!("bestcube {answer}")])
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
