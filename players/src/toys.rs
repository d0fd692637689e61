//! For tests: a game small enough to enumerate, and evaluators good and bad.

use std::hash::{DefaultHasher, Hash, Hasher};

use ludus_games::backgammon::{BackgammonChances, Position};
use ludus_games::{Backgammon, Chances, Game, NotationError, Plays};
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{LuckMode, PlayerRef, Rollout, Series, SeriesKind};

use crate::luck::average;
use crate::player::{Evaluator, best_play};

/// A race of four steps with a die of three sides, 1, 2 and 3, of unequal weights. A roll above 1 may be given up for one
/// step and a bonus: winning with it counts two points.
#[derive(Clone, Copy, Default, Debug)]
pub struct Toy;

/// Steps made and bonus of the side to act, then of the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ToyState {
    pub own: (u8, bool),
    pub other: (u8, bool),
}

const GOAL: u8 = 4;
static ROLLS: [(u8, f32); 3] = [(1, 0.5), (2, 0.3), (3, 0.2)];

impl Game for Toy {
    const NAME: &'static str = "toy";
    const REVISION: u32 = 1;
    type State = ToyState;
    type Roll = u8;
    type Move = u8;
    type Chances = BackgammonChances;

    fn start(&self) -> ToyState {
        ToyState::default()
    }

    fn payoff(&self, state: &ToyState) -> Option<i8> {
        (state.other.0 >= GOAL).then_some(if state.other.1 { -2 } else { -1 })
    }

    fn rolls(&self, _: &ToyState, _: usize) -> &'static [(u8, f32)] {
        &ROLLS
    }

    fn plays(&self, state: &ToyState, roll: u8, plays: &mut Plays<Self>) {
        plays.clear();
        let mut add = |steps, bonus| {
            plays.moves.push(steps);
            plays.after.push(ToyState { own: state.other, other: (state.own.0 + steps, bonus) });
        };
        add(roll, state.own.1);
        if roll > 1 {
            add(1, true);
        }
    }

    fn read_position(&self, text: &str) -> Result<ToyState, NotationError> {
        Err(NotationError::new(text, "position", "the toy game has no notation"))
    }

    fn write_position(&self, state: &ToyState) -> String {
        format!("{state:?}")
    }

    fn read_roll(&self, text: &str) -> Result<u8, NotationError> {
        Err(NotationError::new(text, "roll", "the toy game has no notation"))
    }

    fn write_roll(&self, roll: u8) -> String {
        roll.to_string()
    }

    fn write_move(&self, _: &ToyState, play: u8) -> String {
        play.to_string()
    }
}

/// Knows the toy game's positions exactly, for perfect play of both sides.
pub struct Exact;

impl Exact {
    fn value(state: &ToyState) -> BackgammonChances {
        if let Some(points) = Toy.payoff(state) {
            return BackgammonChances::from_payoff(points);
        }
        let shares: Vec<f64> = crate::dice::shares(&ROLLS).collect();
        let best = ROLLS.iter().map(|(roll, _)| {
            let mut plays = Plays::new();
            Toy.plays(state, *roll, &mut plays);
            let values: Vec<_> = plays.after.iter().map(Exact::value).collect();
            values[best_play(&values)].flipped()
        });
        average(&shares, best)
    }
}

impl Evaluator<Toy> for Exact {
    fn judge(&mut self, positions: &[ToyState], chances: &mut Vec<BackgammonChances>) {
        chances.clear();
        chances.extend(positions.iter().map(Exact::value));
    }
}

/// Judges at random, though always the same: as bad as an evaluator can be. Its number makes another one of it.
pub struct Noise(pub u64);

impl<G: Game<Chances = BackgammonChances>> Evaluator<G> for Noise {
    fn judge(&mut self, positions: &[G::State], chances: &mut Vec<BackgammonChances>) {
        chances.clear();
        chances.extend(positions.iter().map(|state| {
            if let Some(points) = G::default().payoff(state) {
                return BackgammonChances::from_payoff(points);
            }
            let mut hasher = DefaultHasher::new();
            (self.0, state).hash(&mut hasher);
            let bits = hasher.finish();
            let numbers = [0, 12, 24, 36, 48].map(|shift| (bits >> shift & 0xfff) as f32 / 4096.0);
            BackgammonChances(numbers).ordered()
        }));
    }
}

/// Judges backgammon by pips to go, blots, points made near home and stacks: crude, but a judgement.
pub struct Pips;

impl Pips {
    /// How well a side stands, in pips.
    fn standing(side: &[u8; 25], off: u8) -> i32 {
        let slots = (0_i32..).zip(side.iter().map(|&n| i32::from(n)));
        let worth = slots.map(|(slot, n)| {
            let blot = if n == 1 && slot < 24 { -7 } else { 0 };
            let point = if n >= 2 && slot < 8 { 6 } else { 0 };
            blot + point - 2 * (n - 3).max(0) - (slot + 1) * n
        });
        worth.sum::<i32>() + 4 * i32::from(off)
    }
}

impl Evaluator<Backgammon> for Pips {
    fn judge(&mut self, positions: &[Position], chances: &mut Vec<BackgammonChances>) {
        chances.clear();
        chances.extend(positions.iter().map(|position| {
            if let Some(points) = position.payoff() {
                return BackgammonChances::from_payoff(points);
            }
            let (own_off, other_off) = (position.own_off(), position.other_off());
            // Four pips for being on roll.
            let lead =
                Pips::standing(position.own(), own_off) - Pips::standing(position.other(), other_off) + 4;
            let win = 1.0 / (1.0 + (-lead as f32 / 25.0).exp());
            let gammons = |off: u8| if off == 0 { 0.2 } else { 0.0 };
            let (won, lost) = (win * gammons(other_off), (1.0 - win) * gammons(own_off));
            BackgammonChances([win, won, 0.0, lost, 0.0]).ordered()
        }));
    }
}

/// A player reference by name.
pub fn named(name: &str) -> PlayerRef {
    PlayerRef { who: Some(Who::Baseline(name.into())), plies: 0 }
}

/// A series of matches.
pub fn gate(seed: u64, luck: LuckMode, luck_bound: f64) -> Series {
    let kind = SeriesKind::Gate.into();
    Series { kind, seed, mirrored: true, luck: luck.into(), luck_bound, ..Series::default() }
}

/// A series of self-play.
pub fn self_play(seed: u64, luck: LuckMode, explore: f64) -> Series {
    let kind = SeriesKind::SelfPlay.into();
    Series { kind, seed, luck: luck.into(), luck_bound: 3.0, explore, ..Series::default() }
}

/// A series of self-play with rollouts.
pub fn rollouts(seed: u64, rollout: Rollout) -> Series {
    let kind = SeriesKind::Rollout.into();
    Series { kind, rollout: Some(rollout), ..self_play(seed, LuckMode::LuckNone, 0.0) }
}
