//! The tree of commands.

use clap::{ArgAction, Parser, Subcommand};

use crate::commands;

/// Train game players by self-play, and use what was learnt.
#[derive(Debug, Parser)]
#[command(
    name = "ludus",
    version,
    max_term_width = 110,
    after_help = "\
Example: learn backgammon for ten minutes, then see what came of it
  ludus train backgammon --time 10m
  ludus versions"
)]
pub struct Cli {
    /// More log lines on standard error; RUST_LOG=debug and the like are heeded too
    #[arg(short, long, global = true, action = ArgAction::Count, display_order = 100)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `ludus` can do. One variant a command; its arguments and its code are in the module of the same name.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn a game on this machine: coordinator, trainer and workers in one process
    Train(commands::train::Args),
    /// Serve runs to workers, trainers and people
    Coordinator(commands::coordinator::Args),
    /// Play games for a coordinator
    Worker(commands::worker::Args),
    /// Learn from the games of a run and publish versions
    Trainer(commands::trainer::Args),
    /// Create, list, show and stop runs
    #[command(subcommand)]
    Run(commands::run::Action),
    /// List the versions of a run
    Versions(commands::versions::Args),
    /// Watch a run in the terminal
    Watch(commands::watch::Args),
    /// Show whose games versions may have learnt from
    Lineage(commands::lineage::Args),
    /// Make, list and revoke the tokens of those who talk to a coordinator
    #[command(subcommand)]
    Token(commands::token::Action),
    /// Copy what a coordinator keeps: runs, versions, verdicts, accounts
    Backup(commands::backup::Args),
    /// Check what was decided about versions
    #[command(subcommand)]
    Gate(commands::gate::Action),
    /// Get and look at weight files
    #[command(subcommand)]
    Weights(commands::weights::Action),
    /// Show the configuration of a run, every key with its meaning
    #[command(subcommand)]
    Config(commands::config::Action),
    /// Let two players play pairs of games on the same dice
    Match(commands::r#match::Args),
    /// Score players on decisions whose best plays are known
    #[command(subcommand)]
    Benchmark(commands::benchmark::Action),
    /// Train PubEval's weights on the decisions of benchmarks
    Listnet(commands::listnet::Args),
    /// List the legal plays of a roll, with equities if a player is named
    Moves(commands::moves::Args),
    /// Show what a player thinks of positions
    Evaluate(commands::evaluate::Args),
    /// Build, check and ask the exact database of the end of a backgammon game
    #[command(subcommand)]
    Bearoff(commands::bearoff::Action),
    /// Judge the end of a game exactly: every position with few pieces
    Endgame(commands::endgame::Args),
    /// Play against a player, or let other programs do so
    Play(commands::play::Args),
    /// Count the leaves of a game's tree of plays
    Perft(commands::perft::Args),
    /// Measure how fast this machine judges positions and plays games
    Speed(commands::speed::Args),
}

impl Command {
    /// Does it.
    pub fn run(self) -> anyhow::Result<()> {
        match self {
            Command::Train(args) => commands::train::run(args),
            Command::Coordinator(args) => commands::coordinator::run(args),
            Command::Worker(args) => commands::worker::run(args),
            Command::Trainer(args) => commands::trainer::run(args),
            Command::Run(action) => commands::run::run(action),
            Command::Versions(args) => commands::versions::run(args),
            Command::Watch(args) => commands::watch::run(args),
            Command::Lineage(args) => commands::lineage::run(args),
            Command::Token(action) => commands::token::run(action),
            Command::Backup(args) => commands::backup::run(args),
            Command::Gate(action) => commands::gate::run(action),
            Command::Weights(action) => commands::weights::run(action),
            Command::Config(action) => commands::config::run(action),
            Command::Match(args) => commands::r#match::run(args),
            Command::Benchmark(action) => commands::benchmark::run(action),
            Command::Listnet(args) => commands::listnet::run(args),
            Command::Moves(args) => commands::moves::run(args),
            Command::Evaluate(args) => commands::evaluate::run(args),
            Command::Bearoff(action) => commands::bearoff::run(action),
            Command::Endgame(args) => commands::endgame::run(args),
            Command::Perft(args) => commands::perft::run(args),
            Command::Play(args) => commands::play::run(args),
            Command::Speed(args) => commands::speed::run(args),
        }
    }

    /// Whether this is a role of a cluster, which runs until it is told to stop.
    pub fn stays_running(&self) -> bool {
        matches!(self, Command::Coordinator(_) | Command::Worker(_) | Command::Trainer(_))
    }
}
