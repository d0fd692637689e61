//! The configuration of a run, as written in its TOML file.
//!
//! Every key has a documented default, so an empty file (plus `game`) is a good run. [`RunConfig::parse`] refuses
//! unknown keys and values that make no sense, and says where and what would be right.

use serde::{Deserialize, Serialize};

/// Everything a run is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunConfig {
    /// The game to learn.
    pub game: String,
    /// Seed from which the seeds of all series, initial weights and sampling are derived.
    pub seed: u64,
    /// How workers play.
    pub self_play: SelfPlay,
    /// The networks.
    pub network: Network,
    /// How the trainer learns.
    pub learn: Learn,
    /// How versions are promoted.
    pub gate: Gate,
    /// How games are handed out.
    pub leases: Leases,
}

/// How workers play against themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfPlay {
    /// Variance reduction of the games' outcomes.
    pub variance: Variance,
    /// Probability that a play is drawn at random instead of chosen.
    pub explore: f64,
    /// Search depth of self-play, in plies.
    pub plies: u32,
}

/// Variance reduction in self-play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variance {
    /// Plain games.
    None,
    /// Games in pairs on the same dice with seats swapped (needs `explore` above 0: two equal players without
    /// exploration would play the same game twice).
    Mirrored,
    /// Luck of every roll measured, so that outcomes can be adjusted (about 21 times the evaluations of a plain game).
    Luck,
}

/// The networks to train, one per position class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// Input set, such as `tesauro-198`.
    pub inputs: String,
    /// Hidden units of each network.
    pub hidden: usize,
}

/// How the trainer learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Learn {
    /// Optimiser.
    pub optimizer: Optimizer,
    /// Step size at the start.
    pub step_size: f64,
    /// Step size at the end of the schedule: it falls geometrically from `step_size` over `decay_games` games.
    pub final_step_size: f64,
    /// Games over which the step size falls.
    pub decay_games: u64,
    /// Weight decay of AdamW.
    pub weight_decay: f64,
    /// Positions in a step.
    pub batch: usize,
    /// TD(lambda): 0 learns each position from the next one's value, 1 from the outcome.
    pub lambda: f64,
    /// Games between published versions.
    pub publish_games: u64,
    /// Seconds between checkpoints.
    pub checkpoint_seconds: u64,
    /// Games older than this many seconds when they reach the trainer are dropped and counted; 0 keeps all.
    pub max_age_seconds: u64,
}

/// Optimisers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// Plain stochastic gradient descent.
    Sgd,
    /// Adam with decoupled weight decay.
    AdamW,
}

/// The promotion gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// Probability of promoting a version that is not better.
    pub alpha: f64,
    /// Probability of rejecting a version that is better by `delta`.
    pub beta: f64,
    /// Points per game worth promoting for.
    pub delta: f64,
    /// Pairs after which a version that is not proved better is rejected.
    pub limit_pairs: u64,
    /// Whether pair results are luck-adjusted (about 21 times the evaluations of a plain game).
    pub luck: bool,
    /// Bound of the luck of one game, in points.
    pub luck_bound: f64,
    /// Share of the workers' time for gates, 0 to 0.9; self-play keeps the rest.
    pub share: f64,
    /// Benchmark file (.bm) whose error rates a version must keep within `benchmark_tolerance`; empty for none.
    pub benchmark: String,
    /// Millipoints by which a version's error rate in any class may exceed the champion's.
    pub benchmark_tolerance: f64,
}

/// How games are handed out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Leases {
    /// Seconds a lease lives without an accepted submission.
    pub ttl_seconds: u32,
    /// Seconds of play a lease should hold.
    pub target_seconds: f64,
    /// Largest number of games in a lease.
    pub max_games: u32,
    /// Accepted games not yet trained on, above which no self-play is handed out.
    pub backlog_games: u64,
}

impl Default for RunConfig {
    fn default() -> Self {
        RunConfig {
            game: "backgammon".into(),
            seed: 1,
            self_play: SelfPlay::default(),
            network: Network::default(),
            learn: Learn::default(),
            gate: Gate::default(),
            leases: Leases::default(),
        }
    }
}

impl Default for SelfPlay {
    fn default() -> Self {
        SelfPlay { variance: Variance::None, explore: 0.0, plies: 0 }
    }
}

impl Default for Network {
    fn default() -> Self {
        Network { inputs: "tesauro-198".into(), hidden: 80 }
    }
}

impl Default for Learn {
    fn default() -> Self {
        Learn {
            optimizer: Optimizer::AdamW,
            step_size: 0.002,
            final_step_size: 0.0002,
            decay_games: 1_000_000,
            weight_decay: 0.0,
            batch: 512,
            lambda: 0.3,
            publish_games: 20_000,
            checkpoint_seconds: 20,
            max_age_seconds: 0,
        }
    }
}

impl Default for Gate {
    fn default() -> Self {
        Gate {
            alpha: 0.05,
            beta: 0.05,
            delta: 0.005,
            limit_pairs: 200_000,
            luck: false,
            luck_bound: 3.0,
            share: 0.25,
            benchmark: String::new(),
            benchmark_tolerance: 0.5,
        }
    }
}

impl Default for Leases {
    fn default() -> Self {
        Leases { ttl_seconds: 60, target_seconds: 4.0, max_games: 4096, backlog_games: 20_000 }
    }
}
