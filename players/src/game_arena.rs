//! The arena of any game, from its rules and its roster of players.

use std::sync::Arc;

use ludus_games::{Chances, Game, Plays};
use ludus_proto::v1::{GameRecord, PlayerRef, Series};

use crate::analyst::{Analyst, GameAnalyst};
use crate::arena::{Arena, ArenaError, Checked, Seating, Source, Table, Violation};
use crate::benchmark::{Benchmark, BenchmarkReport};
use crate::decisions::{self, RolledDecision, Wording};
use crate::input_set::InputSet;
use crate::lessons::{self, GameTeacher, Judges, Teacher};
use crate::net_evaluator::NetEvaluator;
use crate::openings::Openings;
use crate::peer::Peer;
use crate::player::{Evaluator, Player, RandomPlayer};
use crate::record;
use crate::search::{Lookahead, ValuePlayer};
use crate::spec::{Settings, unknown_player};
use crate::speed::{self, Bench, Speed, SpeedSettings};
use crate::table::{Seated, SeriesTable, describe};
use crate::viewer::{GameFile, GameViewer, Notation, Viewer};
use crate::weight_file::{Digest, Shape, WeightFile};

/// What a game brings besides its rules: the players that come with it and the inputs its networks read.
pub trait Roster: Game {
    /// Names of its own baselines; every game has `random` besides.
    const BASELINES: &'static [&'static str];

    /// The baseline of this name.
    fn baseline(&self, name: &str) -> Option<Box<dyn Player<Self>>>;

    /// The baseline that a name with settings means, such as `saltare@depth=7`. Without an implementation of its own, no
    /// baseline takes settings.
    fn baseline_with(&self, settings: &Settings) -> Result<Box<dyn Player<Self>>, ArenaError> {
        Err(settings.none_taken())
    }

    /// The player that a text file describes; `file` is its name, for messages.
    fn described(&self, file: &str, text: &str) -> Result<Box<dyn Player<Self>>, ArenaError> {
        let _ = text;
        Err(ArenaError::Settings(format!("{file}: no text file describes a player of {}", Self::NAME)))
    }

    /// Its input sets, the default first.
    fn input_sets(&self) -> Vec<Arc<dyn InputSet<Self>>>;

    /// What a run that learns it is told where its configuration says nothing: another configuration, in TOML. By default the
    /// configuration's own defaults hold.
    const TRAINING: &'static str = "";

    /// A position as the game's benchmark files write it; any notation of the game can be read.
    fn benchmark_position(&self, state: &Self::State) -> String {
        self.write_position(state)
    }

    /// Names of the programs outside that can play it.
    const EXTERNALS: &'static [&'static str] = &[];

    /// The weight file of the player that comes with the program, if one does.
    const SHIPPED: Option<&'static [u8]> = None;

    /// A position in notations besides the main one, with the roll where they can say it. `seat` acts; seat 0 sits at the
    /// bottom of the board.
    fn notations(&self, state: &Self::State, roll: Option<Self::Roll>, seat: usize) -> Vec<Notation> {
        let _ = (state, roll, seat);
        Vec::new()
    }

    /// A finished game as other programs read it: who acted first, every roll and play, and the points of seat 0.
    fn game_file(
        &self,
        names: [&str; 2],
        first: usize,
        turns: &[(Self::Roll, Self::Move)],
        points: i8,
    ) -> Option<GameFile> {
        let _ = (names, first, turns, points);
        None
    }

    /// The openings of its matches. By default none: dice make every game another.
    fn openings(&self) -> Option<&'static Openings> {
        None
    }

    /// Leaves of the tree of rolls and plays `depth` plies deep, counted in each of the ways that are usual in the game.
    /// Without an implementation of its own, one: a game that is over before is a leaf.
    fn leaves(&self, state: &Self::State, depth: u32) -> Vec<(&'static str, u64)> {
        vec![("leaves", leaves(*self, state, 0, depth))]
    }

    /// The benchmark file that comes with the program, if one does.
    const BENCHMARK: Option<&'static str> = None;

    /// A program outside, which is asked to look `plies` ahead.
    fn external(&self, peer: &Arc<Peer>, plies: u32) -> Result<Box<dyn External<Self>>, ArenaError> {
        let _ = plies;
        Err(ArenaError::Settings(format!("{} cannot be played by {peer}", Self::NAME)))
    }
}

/// Leaves of the tree below a position after `ply` plies, by the rules alone.
fn leaves<G: Game>(game: G, state: &G::State, ply: usize, depth: u32) -> u64 {
    if depth == 0 || game.payoff(state).is_some() {
        return 1;
    }
    let mut plays = Plays::new();
    let mut count = 0;
    for &(roll, _) in game.rolls(state, ply) {
        game.plays(state, roll, &mut plays);
        count += match depth {
            1 => plays.len() as u64,
            _ => plays.after.iter().map(|after| leaves(game, after, ply + 1, depth - 1)).sum(),
        };
    }
    count
}

/// A program outside, which both plays and judges.
pub trait External<G: Game>: Player<G> + Evaluator<G> {}

impl<G: Game, E: Player<G> + Evaluator<G>> External<G> for E {}

/// A game as an [`Arena`].
#[derive(Clone, Copy, Debug, Default)]
pub struct GameArena<G: Roster> {
    game: G,
}

impl<G: Roster> GameArena<G> {
    /// The input set of this name.
    fn input_set(&self, name: &str) -> Result<Arc<dyn InputSet<G>>, ArenaError> {
        let sets = self.game.input_sets();
        if sets.is_empty() {
            return Err(ArenaError::Unsupported { game: G::NAME, what: "networks to train" });
        }
        let known = || sets.iter().map(|set| set.name()).collect::<Vec<_>>().join(", ");
        sets.iter().find(|set| set.name() == name).cloned().ok_or_else(|| {
            ArenaError::Settings(format!("{} has no inputs {name:?}; it has: {}", G::NAME, known()))
        })
    }

    /// The player of a seating.
    pub fn player(&self, seating: &Seating) -> Result<Box<dyn Player<G>>, ArenaError> {
        match &seating.source {
            Source::Baseline(name) => {
                no_search(name, seating.plies)?;
                if let Some(settings) = Settings::of(name) {
                    return self.game.baseline_with(&settings);
                }
                let player = if name == "random" {
                    Some(Box::new(RandomPlayer) as _)
                } else {
                    self.game.baseline(name)
                };
                player.ok_or_else(|| unknown_player(self, name))
            }
            Source::Weights { file, .. } => {
                Ok(Box::new(ValuePlayer::new(self.game, self.networks(file)?, seating.plies)))
            }
            Source::Text { file, text, .. } => {
                no_search(file, seating.plies)?;
                self.game.described(file, text)
            }
            Source::External(peer) => Ok(self.game.external(peer, seating.plies)?),
        }
    }

    /// The evaluator of a weight file.
    fn networks(&self, file: &WeightFile) -> Result<Box<dyn Evaluator<G>>, ArenaError> {
        Ok(Box::new(NetEvaluator::new(self.game, file, &self.game.input_sets())?))
    }

    /// The evaluator of a player, with its search; `None` for a baseline, which judges no positions.
    pub fn evaluator(&self, seating: &Seating) -> Result<Option<Lookahead<G>>, ArenaError> {
        match &seating.source {
            Source::Baseline(_) | Source::Text { .. } => self.player(seating).map(|_| None),
            Source::Weights { file, .. } => {
                Ok(Some(Lookahead::new(self.game, self.networks(file)?, seating.plies)))
            }
            // It looks ahead by itself.
            Source::External(peer) => {
                Ok(Some(Lookahead::new(self.game, self.game.external(peer, seating.plies)?, 0)))
            }
        }
    }

    /// How benchmarks of the game are written.
    fn classes(&self) -> Classes<G> {
        Classes { game: self.game, inputs: self.game.input_sets().into_iter().next() }
    }

    /// The same player a number of times.
    fn players(&self, seating: &Seating, threads: usize) -> Result<Vec<Box<dyn Player<G>>>, ArenaError> {
        (0..threads.max(1)).map(|_| self.player(seating)).collect()
    }
}

/// Refuses a search by a player that does not judge positions.
fn no_search(name: &str, plies: u32) -> Result<(), ArenaError> {
    if plies > 0 {
        return Err(ArenaError::Settings(format!(
            "{name} does not judge positions, so it cannot look ahead; ask for {name:?} without @{plies}ply"
        )));
    }
    Ok(())
}

impl<G: Roster> Arena for GameArena<G> {
    fn game(&self) -> &'static str {
        G::NAME
    }

    fn revision(&self) -> u32 {
        G::REVISION
    }

    fn baselines(&self) -> Vec<&'static str> {
        [&["random"], G::BASELINES].concat()
    }

    fn externals(&self) -> &'static [&'static str] {
        G::EXTERNALS
    }

    fn shipped(&self) -> Result<Source, ArenaError> {
        let bytes = G::SHIPPED.ok_or(ArenaError::Unsupported {
            game: G::NAME,
            what: "player that comes with the program; name another with --player",
        })?;
        let file = WeightFile::from_bytes(bytes, "the player that comes with the program")?;
        Ok(Source::Weights { digest: Digest::of(bytes), file: Arc::new(file) })
    }

    fn shipped_benchmark(&self) -> Option<&'static str> {
        G::BENCHMARK
    }

    fn input_sets(&self) -> Vec<&'static str> {
        self.game.input_sets().iter().map(|set| set.name()).collect()
    }

    fn training(&self) -> &'static str {
        G::TRAINING
    }

    fn max_points(&self) -> u32 {
        G::Chances::MAX_POINTS as u32
    }

    fn table(&self, series: &Series, seats: [&Seating; 2]) -> Result<Box<dyn Table>, ArenaError> {
        let refs = seats.map(Seating::player_ref);
        let seated = if refs[0] == refs[1] {
            Seated::alone(self.player(seats[0])?)
        } else {
            Seated::opposed([self.player(seats[0])?, self.player(seats[1])?])
        };
        let table = SeriesTable::new(self.game, series, refs, seated)?;
        Ok(Box::new(table.opened_by(self.game.openings())))
    }

    fn check(
        &self,
        series: &Series,
        players: &[PlayerRef],
        record: &GameRecord,
    ) -> Result<Checked, Violation> {
        let openings = self.game.openings();
        let opening = openings.map_or(&[][..], |openings| openings.of(series, record.number));
        record::check(self.game, series, players, opening, record)
    }

    fn shapes(&self, inputs: &str, hidden: usize) -> Result<Vec<Shape>, ArenaError> {
        Ok(lessons::shapes(self.input_set(inputs)?.as_ref(), hidden))
    }

    fn prunes(&self, inputs: &str) -> bool {
        self.input_set(inputs).is_ok_and(|set| set.pruning(0).is_some())
    }

    fn teacher(&self, weights: &WeightFile) -> Result<Box<dyn Teacher>, ArenaError> {
        let inputs = self.input_set(&weights.card.inputs)?;
        let arena = *self;
        let judges: Judges<G> = Box::new(move |weights| arena.networks(weights));
        Ok(Box::new(GameTeacher::new(self.game, inputs, judges, weights)?))
    }

    fn analyst(&self, player: Option<&Seating>) -> Result<Box<dyn Analyst>, ArenaError> {
        let evaluator = match player {
            None => None,
            Some(seating) => Some(self.evaluator(seating)?.ok_or_else(|| {
                let name = describe(&seating.player_ref());
                ArenaError::Settings(format!(
                    "{name} picks plays without judging positions; ask a network: champion, a version such as v12, or a \
                     weight file's path"
                ))
            })?),
        };
        Ok(Box::new(GameAnalyst::new(self.game, evaluator)))
    }

    fn viewer(&self, player: Option<&Seating>) -> Result<Box<dyn Viewer>, ArenaError> {
        let evaluator = player.map(|seating| self.evaluator(seating)).transpose()?.flatten();
        let inputs = match player.map(|seating| &seating.source) {
            Some(Source::Weights { file, .. }) => Some(self.input_set(&file.card.inputs)?),
            _ => None,
        };
        Ok(Box::new(GameViewer::new(self.game, evaluator, inputs)))
    }

    fn score(
        &self,
        (file, text): (&str, &str),
        (name, player): (&str, &Seating),
        threads: usize,
    ) -> Result<BenchmarkReport, ArenaError> {
        let classes = self.classes();
        let benchmark = Benchmark::read(self.game, file, text, &|state| classes.class(state))?;
        Ok(benchmark.score(self.game, name, self.players(player, threads)?)?)
    }

    fn decisions(&self, record: &GameRecord) -> Result<Vec<RolledDecision>, ArenaError> {
        Ok(decisions::decisions(self.game, record, &self.classes())?)
    }

    fn leaves(&self, position: Option<&str>, depth: u32) -> Result<Vec<(&'static str, u64)>, ArenaError> {
        let state = position.map(|text| self.game.read_position(text)).transpose()?;
        Ok(self.game.leaves(&state.unwrap_or_else(|| self.game.start()), depth))
    }

    fn speed(&self, player: &Seating, settings: &SpeedSettings) -> Result<Speed, ArenaError> {
        let bench = || {
            let table = self.table(&settings.series(), [player, player])?;
            let evaluator = self.evaluator(player)?.map(|evaluator| Box::new(evaluator) as _);
            Ok(Bench { game: self.game, table, evaluator })
        };
        let benches = (0..settings.threads.max(1)).map(|_| bench()).collect::<Result<_, ArenaError>>()?;
        speed::measure(benches, settings.duration)
    }
}

/// The classes of benchmarks: those of the game's first input set.
struct Classes<G: Roster> {
    game: G,
    inputs: Option<Arc<dyn InputSet<G>>>,
}

impl<G: Roster> Wording<G> for Classes<G> {
    fn class(&self, state: &G::State) -> Option<&'static str> {
        let inputs = self.inputs.as_ref()?;
        inputs.class(state).map(|class| inputs.classes()[class])
    }

    fn position(&self, state: &G::State) -> String {
        self.game.benchmark_position(state)
    }
}

#[cfg(test)]
mod tests;
