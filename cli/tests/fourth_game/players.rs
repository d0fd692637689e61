//! What players of the game are made of: the inputs of its networks, and a baseline.

use std::sync::Arc;

use ludus_games::{Game, Plays};
use ludus_players::arena::Registry;
use ludus_players::game_arena::{GameArena, Roster};
use ludus_players::input_set::{InputSet, Inputs};
use ludus_players::player::Player;
use rand_chacha::ChaCha8Rng;

use crate::rules::{Board, DieTacToe};

/// An input for each mark.
struct Marks;

impl InputSet<DieTacToe> for Marks {
    fn name(&self) -> &'static str {
        "marks-1"
    }

    fn classes(&self) -> &'static [&'static str] {
        &["board"]
    }

    fn width(&self, _: usize) -> usize {
        18
    }

    fn class(&self, state: &Board) -> Option<usize> {
        DieTacToe.payoff(state).is_none().then_some(0)
    }

    fn write(&self, _: usize, state: &Board, inputs: &mut Inputs) {
        inputs.clear();
        for (first, marks) in [(0, state.own), (9, state.other)] {
            for square in 0..9 {
                inputs.push(first + square, f32::from(marks >> square & 1));
            }
        }
    }
}

/// Takes a line that it can make, and otherwise the first square.
struct Greedy;

impl Player<DieTacToe> for Greedy {
    fn choose(&mut self, _: &Board, _: u8, plays: &Plays<DieTacToe>, _: &mut ChaCha8Rng) -> usize {
        plays.after.iter().position(|after| DieTacToe.payoff(after) == Some(-1)).unwrap_or(0)
    }
}

impl Roster for DieTacToe {
    const BASELINES: &'static [&'static str] = &["greedy"];
    const TRAINING: &'static str =
        "[network]\nhidden = 20\n[learn]\nstep_size = 0.01\nfinal_step_size = 0.001\n";

    fn baseline(&self, name: &str) -> Option<Box<dyn Player<Self>>> {
        (name == "greedy").then(|| Box::new(Greedy) as _)
    }

    fn input_sets(&self) -> Vec<Arc<dyn InputSet<Self>>> {
        vec![Arc::new(Marks)]
    }
}

/// The games of a program that knows this one alone.
pub fn registry() -> Registry {
    Registry::new(vec![Arc::new(GameArena::<DieTacToe>::default())])
}
