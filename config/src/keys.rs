//! Every key of a run's configuration, with its default and its meaning.

use serde::{Deserialize, Serialize};

use crate::Phase;
use crate::section::section;

section! {
    /// Everything a run is told.
    pub struct RunConfig {
        /// The game to learn.
        pub game: String = "backgammon".into(),
        /// Seed from which the seeds of all series, initial weights and sampling are derived.
        pub seed: u64 = 1,
        /// How workers play against themselves.
        pub self_play: SelfPlay = SelfPlay::default(),
        /// The networks to train, one per position class.
        pub network: Network = Network::default(),
        /// What is rolled out in rollout games: games of self-play in which positions are judged by playing on from
        /// them many times, and the judgements learnt as they are. How many of them are played says rollout_share.
        pub rollout: Rollout = Rollout::default(),
        /// How the trainer learns.
        pub learn: Learn = Learn::default(),
        /// How versions are promoted.
        pub gate: Gate = Gate::default(),
        /// How games are handed out.
        pub leases: Leases = Leases::default(),
        /// How games are checked by playing them again.
        pub audit: Audit = Audit::default(),
        /// What changes after so many games: a table for each phase. Every key but from_games may be left out, and is then
        /// as it was before: in the sections above, or in the phase before. A file without phases has those of its game;
        /// phases = [], at the top of the file, has none.
        pub phases: Vec<Phase> = Vec::new(),
    }
}

section! {
    /// How workers play against themselves.
    pub struct SelfPlay {
        /// Variance reduction of the games' outcomes: "none"; "mirrored" (pairs of games on the same dice with seats
        /// swapped; needs explore above 0); "luck" (the luck of every roll is measured, so that outcomes can be
        /// adjusted; about 21 times the evaluations of a plain game).
        pub variance: Variance = Variance::None,
        /// Probability that a play is drawn at random instead of chosen.
        pub explore: f64 = 0.05,
        /// Such a play is drawn from those within so many points of the best, the best left out; 0: from all.
        pub explore_margin: f64 = 0.0,
        /// Plays of a roll that are judged by the networks, where the inputs have small ones beside them (ludus-2): those that
        /// these like best, such as 6: twice the games, each a little worse to learn from. 0: all. Matches always judge all.
        pub shortlist: u32 = 0,
        /// Search depth of self-play, in plies.
        pub plies: u32 = 0,
        /// Share of the workers' time for learning (what gates leave of it) that rollout games get, 0 to 1; self-play
        /// has the rest.
        pub rollout_share: f64 = 0.0,
    }
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

section! {
    /// The networks to train, one per position class.
    pub struct Network {
        /// Input set, such as "ludus-1"; empty for the game's first.
        pub inputs: String = String::new(),
        /// Hidden units of each network; 0: none, so that each input has a weight of its own for every chance, as is
        /// right for the tables of n-tuple inputs.
        pub hidden: usize = 160,
    }
}

section! {
    /// What is rolled out in rollout games.
    pub struct Rollout {
        /// Plies of each game whose after-positions are rolled out.
        pub positions: u32 = 4,
        /// Whether each class of positions that a game went through is drawn from as often as the others, however many of
        /// its positions it has; rare ones, such as crashed positions, are learnt better then.
        pub balanced: bool = false,
        /// Rival plays of such a ply are rolled out, too, when they are within so many points of the best at sight; 0:
        /// only the play made.
        pub margin: f64 = 0.0,
        /// Whether plies are passed over that have no two plays within `margin`, as for a benchmark. A learner needs them,
        /// too: a play that leaves a checker on the bar is always the only one.
        pub decisions: bool = false,
        /// Most plays of a ply that are rolled out.
        pub plays: u32 = 6,
        /// Times each position is rolled out.
        pub trials: u32 = 12,
        /// Plies after which a rollout ends with the network's judgement; 0: it goes to the end of the game.
        pub horizon: u32 = 8,
    }
}

section! {
    /// How the trainer learns.
    pub struct Learn {
        /// Optimiser: "adamw", or "sgd" for plain stochastic gradient descent.
        pub optimizer: Optimizer = Optimizer::AdamW,
        /// Step size at the start.
        pub step_size: f64 = 0.002,
        /// Step size at the end of the schedule: it falls geometrically from step_size over decay_games games.
        pub final_step_size: f64 = 0.0003,
        /// Games over which the step size falls.
        pub decay_games: u64 = 1_500_000,
        /// Weight decay of AdamW.
        pub weight_decay: f64 = 0.0,
        /// Positions in a step.
        pub batch: usize = 128,
        /// Share of the steps since the present schedule of the step size began, the latest, over which published weights
        /// are averaged, 0 to 1; 0: they are those after the last step.
        pub average: f64 = 0.1,
        /// TD(lambda): 0 learns each position from the next one's value, 1 from the outcome.
        pub lambda: f64 = 0.7,
        /// Times each label is learnt: of a rollout, and of a position of a game whose luck was measured.
        pub replay: u32 = 8,
        /// Labels kept in memory to draw from, the newest.
        pub label_memory: usize = 500_000,
        /// Megabytes of labels that the trainer's archive keeps; the oldest files go when there are more. 0: all stay.
        pub label_archive: u64 = 4000,
        /// Games between published versions.
        pub publish_games: u64 = 20_000,
        /// Games between published versions as a share of the games since the present phase began, where that is more:
        /// a long run would otherwise publish thousands of versions that hardly differ.
        pub publish_growth: f64 = 0.02,
        /// Seconds between checkpoints.
        pub checkpoint_seconds: u64 = 20,
        /// Games older than this many seconds when they reach the trainer are dropped and counted; 0 keeps all.
        pub max_age_seconds: u64 = 0,
    }
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

section! {
    /// The promotion gate.
    pub struct Gate {
        /// Probability of promoting a version that is not better.
        pub alpha: f64 = 0.05,
        /// Probability of rejecting a version that is better by delta.
        pub beta: f64 = 0.05,
        /// Points per game worth promoting for.
        pub delta: f64 = 0.005,
        /// Pairs after which a version that is not proved better is rejected, and the newest one is next.
        pub limit_pairs: u64 = 60_000,
        /// A version without a verdict is given up when the newest has learnt from so many times as many games, for it is the
        /// better candidate then; 0: never.
        pub overtaken: f64 = 1.5,
        /// Whether pair results are luck-adjusted (about 21 times the evaluations of a plain game).
        pub luck: bool = false,
        /// Bound of the luck of one game, in points.
        pub luck_bound: f64 = 3.0,
        /// Share of the workers' time for gates, 0 to 0.9; games to learn from keep the rest.
        pub share: f64 = 0.25,
        /// Benchmark whose error rates a version must keep: a .bm file the coordinator can read, "shipped" for the one
        /// that comes with the program, where the game has one, or empty for none.
        pub benchmark: String = "shipped".to_owned(),
        /// Millipoints by which a version's error rate in any class may exceed the champion's; only a difference that is
        /// larger by two of its standard errors counts.
        pub benchmark_tolerance: f64 = 0.5,
    }
}

section! {
    /// How games are handed out.
    pub struct Leases {
        /// Seconds a lease lives without an accepted submission.
        pub ttl_seconds: u32 = 60,
        /// Seconds of play a lease should hold.
        pub target_seconds: f64 = 4.0,
        /// Largest number of games in a lease.
        pub max_games: u32 = 4096,
        /// Most games to learn from that may be out, or accepted and not yet trained on; then no more are handed out.
        pub backlog_games: u64 = 50_000,
    }
}

section! {
    /// The audit by replay.
    pub struct Audit {
        /// Share of the accepted games that the coordinator plays again and compares bit for bit, 0 to 1; those of workers
        /// in its own process are not among them.
        pub share: f64 = 0.01,
    }
}
