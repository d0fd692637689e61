//! GNU Backgammon as a player, by the interface it offers to external programs.
//!
//! What version 1.07 does, found by asking it: it takes one connection at a time and reads one line at a time, of less
//! than 256 bytes. A board line with dice is answered by its play, one without checkers to move by an empty line. How many
//! plies it looks ahead for that, with or without the cube and noise, is a matter of its own settings, and nothing it
//! tells or can be told; only `evaluation` takes such settings with the question. The Jacoby rule holds unless the line
//! says otherwise, which ours do. What it cannot read it answers with a line that begins with `Error`.
//!
//! At 0 plies, cubeless and without noise, its plays were those best by its evaluations in 2,100 of 2,100 decisions, so
//! a few of them tell whether it is set up as the player's name says.

use std::sync::Arc;

use ludus_games::backgammon::{BackgammonChances, Dice, FibsBoard, Position};
use ludus_games::{Backgammon, Chances, Game, Plays};
use rand_chacha::ChaCha8Rng;

use crate::peer::{Line, Peer, PeerError};
use crate::player::{Evaluator, Player};

/// Decisions whose best plays depend on the settings: `(position ID, roll)`. By gnubg 1.07's own evaluations the plays at
/// 0 plies and at 1 differ in the first two by 0.03 points and more, those at 1 and at 2 in the third, and those with and
/// without the cube, at 0 plies, in the others by 0.004.
const TELLING: [(&str, &str); 5] = [
    ("mNuYASTYtgFgRg", "53"),
    ("sLuRAGhqOw4AMg", "53"),
    ("79YGAABv7oABIA", "43"),
    ("994hAABzto0AQA", "64"),
    ("vzcAChDPNgAAAA", "32"),
];
/// Most plies at which the settings are checked: one more would take a minute.
const CHECKED_PLIES: u32 = 2;
/// Lines in which it tells about itself.
const VERSION_LINES: u32 = 4;
/// Points by which a play may fall behind the best of a check: what six decimals leave open.
const ROUNDING: f32 = 2e-5;

/// GNU Backgammon at an address.
pub struct Gnubg {
    peer: Arc<Peer>,
    plies: u32,
    trouble: Option<PeerError>,
}

impl Gnubg {
    /// The gnubg at `peer`, which looks `plies` ahead. Connects, and makes sure that it does.
    pub fn new(peer: Arc<Peer>, plies: u32) -> Result<Self, PeerError> {
        peer.with(|line| greet(line, plies), |_| Ok(()))?;
        Ok(Gnubg { peer, plies, trouble: None })
    }

    /// Its cubeless judgement of a position, before the roll of the side that sees it.
    pub fn evaluate(&self, position: &Position) -> Result<BackgammonChances, PeerError> {
        if let Some(points) = position.payoff() {
            return Ok(BackgammonChances::from_payoff(points));
        }
        self.peer.with(|line| greet(line, self.plies), |line| evaluate(line, position, self.plies))
    }

    /// Index of the play it makes.
    pub fn play(&self, state: &Position, roll: Dice, plays: &Plays<Backgammon>) -> Result<usize, PeerError> {
        self.peer.with(|line| greet(line, self.plies), |line| play(line, state, roll, plays))
    }
}

impl Player<Backgammon> for Gnubg {
    fn choose(
        &mut self,
        state: &Position,
        roll: Dice,
        plays: &Plays<Backgammon>,
        _: &mut ChaCha8Rng,
    ) -> usize {
        self.play(state, roll, plays).unwrap_or_else(|error| {
            self.trouble = Some(error);
            0
        })
    }

    fn trouble(&mut self) -> Option<PeerError> {
        self.trouble.take()
    }
}

impl Evaluator<Backgammon> for Gnubg {
    fn judge(&mut self, positions: &[Position], chances: &mut Vec<BackgammonChances>) {
        chances.clear();
        for position in positions {
            let judged = match &self.trouble {
                None => self.evaluate(position),
                Some(error) => Err(error.clone()),
            };
            chances.push(judged.unwrap_or_else(|error| {
                self.trouble = Some(error);
                BackgammonChances([f32::NAN; 5])
            }));
        }
    }

    fn trouble(&mut self) -> Option<PeerError> {
        self.trouble.take()
    }
}

/// A line about a position, with the rules of cubeless money play.
fn question(position: &Position, roll: Option<Dice>) -> String {
    let board = FibsBoard { names: ["Ludus".into(), "gnubg".into()], ..FibsBoard::of(*position, roll) };
    format!("{board} jacobyrule no")
}

fn play(
    line: &mut Line,
    state: &Position,
    roll: Dice,
    plays: &Plays<Backgammon>,
) -> Result<usize, PeerError> {
    let question = question(state, Some(roll));
    let answer = line.ask(&question)?;
    Backgammon.read_move(state, plays, &answer).map_err(|error| line.failed(&question, &error.to_string()))
}

fn evaluate(line: &mut Line, position: &Position, plies: u32) -> Result<BackgammonChances, PeerError> {
    let question = format!("evaluation fibsboard {} plies {plies} cubeless", question(position, None));
    let answer = line.ask(&question)?;
    let numbers: Result<Vec<f32>, _> = answer.split_whitespace().map(str::parse).collect();
    match numbers.as_deref() {
        Ok(&[win, win_gammon, win_backgammon, lose_gammon, lose_backgammon, _equity]) => {
            Ok(BackgammonChances([win, win_gammon, win_backgammon, lose_gammon, lose_backgammon]))
        }
        _ => {
            let problem = format!("{answer:?} is not a judgement: five probabilities and an equity");
            Err(line.failed(&question, &problem))
        }
    }
}

/// Makes sure that it is gnubg, and that it plays as it is supposed to: its plays must be the best ones by its own
/// evaluations, cubeless and as many plies ahead.
fn greet(line: &mut Line, plies: u32) -> Result<(), PeerError> {
    let question = "version";
    let mut answer = line.ask(question)?;
    if !answer.starts_with("Interface:") {
        return Err(line.failed(question, &format!("{answer:?} is not how gnubg 1.07 answers")));
    }
    // Four lines are the answer, the last of them about its software.
    for _ in 1..VERSION_LINES {
        answer = line.more(question)?;
    }
    if !answer.starts_with("Software:") {
        return Err(line.failed(question, &format!("{answer:?} is not how gnubg 1.07 ends its answer")));
    }
    if plies > CHECKED_PLIES {
        return Ok(());
    }
    let mut plays = Plays::new();
    for (id, roll) in TELLING {
        let read = Backgammon.read_position(id).and_then(|state| Ok((state, Backgammon.read_roll(roll)?)));
        let (state, roll) = read.map_err(|error| line.failed(id, &error.to_string()))?;
        Backgammon.plays(&state, roll, &mut plays);
        let chosen = play(line, &state, roll, &plays)?;
        let mut points = Vec::new();
        for after in &plays.after {
            points.push(-evaluate(line, after, plies)?.points());
        }
        let best = points.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if points[chosen] < best - ROUNDING {
            let problem = format!(
                "it does not play {plies} plies ahead, cubeless and without noise: of {id} with {roll} it plays {}, \
                 which loses {:.4}; start it with bench/peers/gnubg-external --plies {plies}",
                Backgammon.write_move(&state, plays.moves[chosen]),
                best - points[chosen],
            );
            return Err(line.failed("the settings it plays with", &problem));
        }
    }
    Ok(())
}
