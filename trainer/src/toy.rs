//! For tests: a race with a die of three sides and nothing to choose, so that the true chances are known.

use std::cell::Cell;
use std::sync::Arc;

use ludus_games::{Chances, Game, NotationError, Plays};
use ludus_players::arena::{Registry, Table};
use ludus_players::game_arena::{GameArena, Roster};
use ludus_players::input_set::{InputSet, Inputs};
use ludus_players::player::{Evaluator, Player};
use ludus_players::search::ValuePlayer;
use ludus_players::table::{Seated, SeriesTable};
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{GameBatch, GameRecord, Label, PlayerRef, Series, SeriesKind};
use prost::Message;

/// Steps from start to goal.
const TRACK: usize = 5;
static ROLLS: [(u8, f32); 3] = [(1, 0.5), (2, 0.3), (3, 0.2)];

/// The race.
#[derive(Clone, Copy, Default, Debug)]
pub struct Race;

/// Steps to go of the side to act and of the other side.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Standing(pub u8, pub u8);

impl Game for Race {
    const NAME: &'static str = "race";
    const REVISION: u32 = 3;
    type State = Standing;
    type Roll = u8;
    type Move = ();
    type Chances = Win;

    fn start(&self) -> Standing {
        Standing(TRACK as u8, TRACK as u8)
    }

    fn payoff(&self, state: &Standing) -> Option<i8> {
        (state.1 == 0).then_some(-1)
    }

    fn rolls(&self, _: &Standing, _: usize) -> &'static [(u8, f32)] {
        &ROLLS
    }

    fn plays(&self, state: &Standing, roll: u8, plays: &mut Plays<Self>) {
        plays.clear();
        plays.moves.push(());
        plays.after.push(Standing(state.1, state.0.saturating_sub(roll)));
    }

    fn read_position(&self, text: &str) -> Result<Standing, NotationError> {
        let steps = |text: &str| text.parse().ok().filter(|&steps: &u8| usize::from(steps) <= TRACK);
        let standing =
            text.split_once('-').and_then(|(own, other)| Some(Standing(steps(own)?, steps(other)?)));
        standing.ok_or_else(|| NotationError::new(text, "position", "it looks like 5-3"))
    }

    fn write_position(&self, state: &Standing) -> String {
        format!("{}-{}", state.0, state.1)
    }

    fn read_roll(&self, text: &str) -> Result<u8, NotationError> {
        Err(NotationError::new(text, "roll", "the race has no notation"))
    }

    fn write_roll(&self, roll: u8) -> String {
        roll.to_string()
    }

    fn write_move(&self, _: &Standing, _: ()) -> String {
        String::new()
    }
}

/// The chance to win.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Win([f32; 1]);

impl AsRef<[f32]> for Win {
    fn as_ref(&self) -> &[f32] {
        &self.0
    }
}

impl AsMut<[f32]> for Win {
    fn as_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

impl Chances for Win {
    const LEN: usize = 1;
    const LABELS: &'static [&'static str] = &["win"];
    const MAX_POINTS: f32 = 1.0;

    fn from_payoff(points: i8) -> Self {
        Win([if points > 0 { 1.0 } else { 0.0 }])
    }

    fn points(&self) -> f32 {
        2.0 * self.0[0] - 1.0
    }

    fn flipped(&self) -> Self {
        Win([1.0 - self.0[0]])
    }

    fn ordered(self) -> Self {
        self
    }

    fn is_valid(&self) -> bool {
        (0.0..=1.0).contains(&self.0[0])
    }

    fn difference_points(difference: &Self) -> f32 {
        2.0 * difference.0[0]
    }
}

/// The true chance of the side to act to win.
pub fn truth(state: &Standing) -> f64 {
    if state.1 == 0 {
        return 0.0;
    }
    let after = |roll: u8| Standing(state.1, state.0.saturating_sub(roll));
    ROLLS.iter().map(|&(roll, weight)| f64::from(weight) * (1.0 - truth(&after(roll)))).sum()
}

/// Judges by the truth.
struct Truth;

impl Evaluator<Race> for Truth {
    fn judge(&mut self, positions: &[Standing], chances: &mut Vec<Win>) {
        chances.clear();
        chances.extend(positions.iter().map(|state| Win([truth(state) as f32])));
    }
}

/// Every position with something to go that a game can come through.
pub fn positions() -> Vec<Standing> {
    let mut found = vec![Race.start()];
    let mut next = 0;
    while let Some(state) = found.get(next).cloned() {
        next += 1;
        for (roll, _) in ROLLS {
            let after = Standing(state.1, state.0.saturating_sub(roll));
            if after.1 > 0 && !found.contains(&after) {
                found.push(after);
            }
        }
    }
    found
}

thread_local! {
    /// Positions on this thread whose inputs come out as not-a-number from now on.
    pub static POISON: Cell<u32> = const { Cell::new(0) };
}

/// One input for each number of steps to go of each side; a network for the last stretch and one for what comes before.
pub struct OneHot;

impl InputSet<Race> for OneHot {
    fn name(&self) -> &'static str {
        "one-hot"
    }

    fn classes(&self) -> &'static [&'static str] {
        &["far", "near"]
    }

    fn width(&self, _: usize) -> usize {
        2 * (TRACK + 1)
    }

    fn class(&self, state: &Standing) -> Option<usize> {
        Race.payoff(state).is_none().then(|| usize::from(state.0 <= 2))
    }

    fn write(&self, _: usize, state: &Standing, inputs: &mut Inputs) {
        let poisoned = POISON.replace(POISON.get().saturating_sub(1)) > 0;
        inputs.clear();
        inputs.push(usize::from(state.0), if poisoned { f32::NAN } else { 1.0 });
        inputs.push(TRACK + 1 + usize::from(state.1), 1.0);
    }
}

impl Roster for Race {
    const BASELINES: &'static [&'static str] = &[];

    fn baseline(&self, _: &str) -> Option<Box<dyn Player<Self>>> {
        None
    }

    fn input_sets(&self) -> Vec<Arc<dyn InputSet<Self>>> {
        vec![Arc::new(OneHot)]
    }
}

/// A registry with the race alone.
pub fn registry() -> Registry {
    Registry::new(vec![Arc::new(GameArena::<Race>::default())])
}

/// The series that games of self-play come from.
pub fn series() -> Series {
    Series { id: 4, kind: SeriesKind::SelfPlay.into(), seed: 11, ..Series::default() }
}

/// The series that rollout games come from.
pub fn rollout_series() -> Series {
    Series { id: 5, kind: SeriesKind::Rollout.into(), seed: 12, phase: 1, ..Series::default() }
}

/// Games of self-play, played.
pub fn games(numbers: std::ops::Range<u64>) -> Vec<GameRecord> {
    games_of(series(), numbers)
}

/// Games of a series, played; luck is measured by the truth.
pub fn games_of(series: Series, numbers: std::ops::Range<u64>) -> Vec<GameRecord> {
    let player: Box<dyn Player<Race>> = Box::new(ValuePlayer::new(Race, Box::new(Truth), 0));
    let refs = [0; 2].map(|_| PlayerRef { who: Some(Who::Baseline("truth".into())), plies: 0 });
    let mut table = SeriesTable::new(Race, &series, refs, Seated::alone(player)).expect("a table");
    numbers.map(|number| table.play(number).expect("a game")).collect()
}

/// Rollout games: games with labels of their first plies, up to eight, as long as the position after them is not
/// finished. The labels say the truth.
pub fn rollouts(numbers: std::ops::Range<u64>) -> Vec<GameRecord> {
    let mut games = games(numbers);
    for game in &mut games {
        for (ply, state) in replay(game).into_iter().take(8).enumerate() {
            if Race.payoff(&state).is_none() {
                let chances = vec![(truth(&state) as f32).clamp(0.0, 1.0)];
                game.labels.push(Label { ply: ply as u32, play: 0, chances, error: 0.01, trials: 7 });
            }
        }
    }
    games
}

/// The positions after each ply of a game.
pub fn replay(game: &GameRecord) -> Vec<Standing> {
    let rolls = game.rolls.iter().map(|&roll| ROLLS[usize::from(roll)].0);
    let mut state = Race.start();
    rolls
        .map(|roll| {
            state = Standing(state.1, state.0.saturating_sub(roll));
            state.clone()
        })
        .collect()
}

/// A batch of games as it travels.
pub fn batch(games: Vec<GameRecord>) -> GameBatch {
    batch_of(series(), games)
}

/// A batch of games of a series.
pub fn batch_of(series: Series, games: Vec<GameRecord>) -> GameBatch {
    let player = PlayerRef { who: Some(Who::Weights(vec![0xab; 32])), plies: 0 };
    GameBatch {
        run: "first".into(),
        game: Race::NAME.into(),
        revision: Race::REVISION,
        series: Some(series),
        players: vec![player.clone(), player],
        games,
        accepted_at: 1000,
        ..GameBatch::default()
    }
}

/// A stream entry's payload.
pub fn payload(batch: &GameBatch) -> Vec<u8> {
    zstd::bulk::compress(&batch.encode_to_vec(), 3).expect("compressed")
}
