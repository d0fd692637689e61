//! The door between games and the processes of a cluster.
//!
//! Coordinator, worker, trainer and command line see a game as an [`Arena`] found in a [`Registry`] by name. They never
//! name a game themselves, so a fourth game changes none of them.

use std::sync::Arc;

use ludus_games::NotationError;
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{GameRecord, PlayerRef, Series};

use crate::analyst::Analyst;
use crate::benchmark::{BenchmarkError, BenchmarkReport};
use crate::decisions::RolledDecision;
use crate::lessons::Teacher;
use crate::peer::{Peer, PeerError};
use crate::speed::{Speed, SpeedSettings};
use crate::viewer::Viewer;
use crate::weight_file::{Digest, Shape, WeightFile};

/// A player as something that can be built: by name, or from weights.
#[derive(Clone, Debug)]
pub enum Source {
    /// A baseline of the game, such as `random`, `pubeval` or, with a setting, `saltare@depth=7`.
    Baseline(String),
    /// A network's weights.
    Weights {
        /// sha256 of the weight file's bytes, by which records name the player.
        digest: Digest,
        /// The weights.
        file: Arc<WeightFile>,
    },
    /// A player that a text file describes, such as the weights that `ludus listnet` writes.
    Text {
        /// sha256 of the text.
        digest: Digest,
        /// The file's name, for messages.
        file: String,
        /// What it says.
        text: Arc<str>,
    },
    /// A program outside, such as gnubg. Only this process can reach it, so it takes no part in the games of a cluster.
    External(Arc<Peer>),
}

/// A player to seat at a table.
#[derive(Clone, Debug)]
pub struct Seating {
    /// Where its judgement comes from.
    pub source: Source,
    /// Search depth in plies.
    pub plies: u32,
}

impl Seating {
    /// How leases and records name this player.
    pub fn player_ref(&self) -> PlayerRef {
        let who = match &self.source {
            Source::Baseline(name) => Who::Baseline(name.clone()),
            Source::Weights { digest, .. } => Who::Weights(digest.0.to_vec()),
            Source::Text { digest, .. } => Who::Weights(digest.0.to_vec()),
            Source::External(peer) => Who::Baseline(peer.to_string()),
        };
        PlayerRef { who: Some(who), plies: self.plies }
    }
}

/// One game as the cluster sees it.
pub trait Arena: Send + Sync {
    /// The game's name.
    fn game(&self) -> &'static str;
    /// The revision of its rules and record format.
    fn revision(&self) -> u32;
    /// Names of its baselines.
    fn baselines(&self) -> Vec<&'static str>;
    /// Names of the programs outside that can play it.
    fn externals(&self) -> &'static [&'static str] {
        &[]
    }
    /// The player that comes with the program.
    fn shipped(&self) -> Result<Source, ArenaError> {
        Err(ArenaError::Unsupported { game: self.game(), what: "player that comes with the program" })
    }
    /// The text of the benchmark file that comes with the program, if one does.
    fn shipped_benchmark(&self) -> Option<&'static str> {
        None
    }
    /// What a run that learns it is told where its configuration says nothing: another configuration, in TOML, or nothing.
    fn training(&self) -> &'static str {
        ""
    }
    /// Names of its input sets.
    fn input_sets(&self) -> Vec<&'static str>;
    /// Largest number of points a game can be worth.
    fn max_points(&self) -> u32;
    /// Sets up a table at which games of `series` are played between two players (seat 0 and seat 1; in self-play both
    /// are the same). Luck is measured with the evaluator of seat 0's player (self-play) or of the first seat that has
    /// one (matches).
    fn table(&self, series: &Series, seats: [&Seating; 2]) -> Result<Box<dyn Table>, ArenaError>;
    /// Replays a record by the rules alone and says what is wrong with it, if anything: illegal rolls or plays, dice that
    /// are not those of the series, a result that the replay does not give, luck that is out of range or not finite, a
    /// digest that does not match.
    fn check(
        &self,
        series: &Series,
        players: &[PlayerRef],
        record: &GameRecord,
    ) -> Result<Checked, Violation>;
    /// The networks a player needs to read this input set, one for each position class with so many hidden units.
    fn shapes(&self, inputs: &str, hidden: usize) -> Result<Vec<Shape>, ArenaError>;
    /// Whether these inputs have small networks beside the large ones, by which plays can be put on a shortlist.
    fn prunes(&self, inputs: &str) -> bool {
        let _ = inputs;
        false
    }
    /// Who makes lessons of this game's records for networks like these, leaning on their judgement.
    fn teacher(&self, weights: &WeightFile) -> Result<Box<dyn Teacher>, ArenaError>;

    /// Who looks at positions, with the judgement of a player or with the rules alone.
    fn analyst(&self, player: Option<&Seating>) -> Result<Box<dyn Analyst>, ArenaError> {
        let _ = player;
        Err(ArenaError::Unsupported { game: self.game(), what: "analysis of positions" })
    }

    /// Who shows games and positions, with the judgement of a player if it judges positions, and else by the rules alone.
    fn viewer(&self, player: Option<&Seating>) -> Result<Box<dyn Viewer>, ArenaError> {
        let _ = player;
        Err(ArenaError::Unsupported { game: self.game(), what: "viewer of games" })
    }

    /// Scores a player on the text of a benchmark file. `file` and `name` are the file and the player for people.
    fn score(
        &self,
        (file, text): (&str, &str),
        (name, player): (&str, &Seating),
        threads: usize,
    ) -> Result<BenchmarkReport, ArenaError> {
        let _ = (file, text, name, player, threads);
        Err(ArenaError::Unsupported { game: self.game(), what: "benchmarks" })
    }

    /// The decisions of a rollout game of which several plays were rolled out, as benchmarks are made of them.
    fn decisions(&self, record: &GameRecord) -> Result<Vec<RolledDecision>, ArenaError> {
        let _ = record;
        Err(ArenaError::Unsupported { game: self.game(), what: "benchmarks" })
    }

    /// Counts the leaves of the tree of plays `depth` plies deep, from the start or from a position, by which move generators
    /// are held against each other: a name and a number for each way of counting.
    fn leaves(&self, position: Option<&str>, depth: u32) -> Result<Vec<(&'static str, u64)>, ArenaError> {
        let _ = (position, depth);
        Err(ArenaError::Unsupported { game: self.game(), what: "counting of plays" })
    }

    /// Measures how fast a player judges and plays.
    fn speed(&self, player: &Seating, settings: &SpeedSettings) -> Result<Speed, ArenaError> {
        let _ = (player, settings);
        Err(ArenaError::Unsupported { game: self.game(), what: "measurements of speed" })
    }
}

/// Plays games of one series, each a pure function of its number.
pub trait Table: Send {
    /// Plays game `number` to the end.
    fn play(&mut self, number: u64) -> Result<GameRecord, PlayError>;

    /// Positions that the players' networks computed since it was last asked: the work that games cost.
    fn evaluated(&mut self) -> u64 {
        0
    }
}

/// A game that could not be played to its end. But for trouble outside, that is a function of the game's number, so
/// playing it again is no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// The players do not bring the game to an end.
    #[error("game {number} is not over after {plies} plies")]
    TooLong {
        /// The game.
        number: u64,
        /// Plies played.
        plies: usize,
    },
    /// The evaluator's judgement is not a number.
    #[error("game {number}, ply {ply}: the evaluator's judgement is not finite, so luck cannot be measured")]
    NotFinite {
        /// The game.
        number: u64,
        /// Plies played.
        ply: usize,
    },
    /// A program outside did not do its part.
    #[error("game {number}, ply {ply}: {trouble}")]
    Outside {
        /// The game.
        number: u64,
        /// Plies played.
        ply: usize,
        /// What is wrong.
        trouble: PeerError,
    },
    /// A player that had an evaluator when it sat down has none any more.
    #[error("game {number}: the player that measures luck has no evaluator")]
    NoEvaluator {
        /// The game.
        number: u64,
    },
}

/// What checking a record found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Plies played.
    pub plies: usize,
    /// Points of seat 0.
    pub payoff: i8,
}

/// Why a record is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {detail}")]
pub struct Violation {
    /// Stable name of the rule that was broken, such as `illegal-play`.
    pub reason: &'static str,
    /// What and where.
    pub detail: String,
}

/// A player or table that cannot be made, or a question it cannot answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ArenaError {
    /// No such baseline.
    #[error(
        "{game} has no player {name:?}{nearest}; its players are {known}, shipped, a version such as v12, champion, latest, \
         or a weight file's path such as ./player.safetensors"
    )]
    UnknownPlayer {
        /// The game.
        game: &'static str,
        /// The name asked for.
        name: String,
        /// ` (did you mean ...?)`, or nothing when no name is near.
        nearest: String,
        /// The names there are.
        known: String,
    },
    /// The weights do not fit.
    #[error(transparent)]
    Weights(#[from] crate::weight_file::WeightFileError),
    /// A position, roll or the like that cannot be read.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// A game that could not be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// A program outside that does not do its part.
    #[error(transparent)]
    Outside(#[from] PeerError),
    /// A player's text file that cannot be read.
    #[error(transparent)]
    Text(#[from] PlayerFileError),
    /// A benchmark that cannot be read.
    #[error(transparent)]
    Benchmark(#[from] BenchmarkError),
    /// A record that breaks the rules.
    #[error(transparent)]
    Record(#[from] Violation),
    /// Something this game does not offer.
    #[error("{game} offers no {what}")]
    Unsupported {
        /// The game.
        game: &'static str,
        /// What was asked for.
        what: &'static str,
    },
    /// The settings make no sense together.
    #[error("{0}")]
    Settings(String),
}

/// A text file that describes no player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct PlayerFileError {
    /// The file's name.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

/// The games this program knows.
#[derive(Clone, Default)]
pub struct Registry {
    arenas: Vec<Arc<dyn Arena>>,
}

impl Registry {
    /// A registry of these games.
    pub fn new(arenas: Vec<Arc<dyn Arena>>) -> Self {
        Registry { arenas }
    }

    /// The games that come with Ludus.
    pub fn standard() -> Self {
        use crate::game_arena::GameArena;
        Registry::new(vec![
            Arc::new(GameArena::<ludus_games::Backgammon>::default()),
            Arc::new(GameArena::<ludus_games::Othello>::default()),
            Arc::new(GameArena::<ludus_games::ItalianDraughts>::default()),
        ])
    }

    /// Names of the games.
    pub fn games(&self) -> Vec<&'static str> {
        self.arenas.iter().map(|arena| arena.game()).collect()
    }

    /// What runs of the game of this name are told where their configuration says nothing, see [`Arena::training`].
    pub fn training(&self, game: &str) -> &'static str {
        self.find(game).map_or("", |arena| arena.training())
    }

    /// The game of this name.
    pub fn find(&self, game: &str) -> Option<&Arc<dyn Arena>> {
        self.arenas.iter().find(|arena| arena.game() == game)
    }
}
