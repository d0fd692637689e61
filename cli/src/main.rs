//! `ludus`, the one binary: every role of a training cluster and every tool around its players.

mod cli;
mod commands;
mod exit;
mod local_run;
mod players;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = cli::Cli::parse();
    cli::log_to_stderr(cli.verbose);
    exit::code_of(cli.command.run())
}
