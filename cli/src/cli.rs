//! The tree of commands.

use clap::{ArgAction, Parser, Subcommand};

use crate::commands;

/// The version and, of a release, the commit it was built from; build.rs finds them.
const VERSION: &str = env!("LUDUS_VERSION");

/// Train game players by self-play, and use what was learnt.
#[derive(Debug, Parser)]
#[command(
    name = "ludus",
    version = VERSION,
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
    /// Check this machine, a folder, a Redis and a coordinator, and say what to do
    Doctor(commands::doctor::Args),
    /// Print what makes a shell complete commands and options
    Completions(commands::completions::Args),
    /// Print or write manual pages
    Man(commands::man::Args),
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
            Command::Doctor(args) => commands::doctor::run(args),
            Command::Completions(args) => commands::completions::run(args),
            Command::Man(args) => commands::man::run(args),
        }
    }

    /// Whether this is a role of a cluster, which runs until it is told to stop.
    pub fn stays_running(&self) -> bool {
        matches!(self, Command::Coordinator(_) | Command::Worker(_) | Command::Trainer(_))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;

    /// Every command that does something, with all that is above it: `ludus run create`.
    fn doers(command: &clap::Command, above: &str, found: &mut Vec<(String, clap::Command)>) {
        let name = format!("{above}{}", command.get_name());
        if !command.has_subcommands() {
            found.push((name, command.clone()));
            return;
        }
        command.get_subcommands().for_each(|command| doers(command, &format!("{name} "), found));
    }

    fn every_command() -> Vec<(String, clap::Command)> {
        let mut ludus = Cli::command().disable_help_subcommand(true);
        ludus.build();
        let mut found = Vec::new();
        doers(&ludus, "", &mut found);
        found
    }

    #[test]
    fn every_command_explains_itself_with_an_example() {
        let commands = every_command();
        assert!(commands.len() > 30, "{}", commands.len());
        for (name, mut command) in commands {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example") && help.contains(&format!("  {name}")), "{name}: {help}");
            assert!(command.get_about().is_some_and(|about| !about.to_string().is_empty()), "{name}");
        }
    }

    #[test]
    fn every_help_names_each_option_once_and_says_what_it_is_for() {
        for (name, mut command) in every_command() {
            let help = command.render_long_help().to_string();
            let named = help.lines().filter_map(|line| {
                // `  -v, --verbose...` or `      --dir <DIR>`; what stands further in, or at the edge, is prose.
                let indented = (2..=6).contains(&(line.len() - line.trim_start().len()));
                let named = line.trim_start().strip_prefix('-').filter(|_| indented)?;
                let long = line.split_once("--").map_or(named, |(_, long)| long);
                long.split([' ', '=', '.', '[']).next().map(str::to_owned)
            });
            let mut seen = BTreeSet::new();
            for option in named {
                assert!(seen.insert(option.clone()), "{name} names --{option} twice: {help}");
            }
            for option in command.get_arguments() {
                assert!(option.get_help().is_some(), "{name}: {} has no meaning", option.get_id());
                let expected = option.get_long().filter(|_| !option.is_hide_set());
                assert!(expected.is_none_or(|long| seen.contains(long)), "{name}: {expected:?} in {seen:?}");
            }
        }
    }
}
