//! `ludus`, the one binary: every role of a training cluster and every tool around its players.

mod access;
mod cli;
mod commands;
mod config_file;
mod coordinator_client;
mod download;
mod exit;
#[cfg(test)]
#[path = "../tests/support/file_server.rs"]
mod file_server;
mod game;
mod input;
mod local_run;
mod log;
mod metrics_port;
mod onnx;
mod output;
mod players;
mod report;
mod roles;
mod signals;
mod token;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = cli::Cli::parse();
    let _traces = log::begin(&cli);
    exit::code_of(cli.command.run())
}
