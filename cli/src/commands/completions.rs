//! `ludus completions`: what makes a shell complete commands and options.

use std::io::Write;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples: once for each machine, then in a new shell
  ludus completions bash > ~/.local/share/bash-completion/completions/ludus
  ludus completions zsh > ~/.zfunc/_ludus    with `fpath+=~/.zfunc` before compinit in ~/.zshrc
  ludus completions fish > ~/.config/fish/completions/ludus.fish")]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Writes the script.
pub fn run(args: Args) -> Result<()> {
    // Its writer takes no failure for an answer, and a pipe may be closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ludus", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(())
}
