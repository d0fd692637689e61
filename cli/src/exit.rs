//! How the program ends: one line on standard error, and a code that says what kind of failure it was.

use std::process::ExitCode;

use ludus_coordinator::CoordinatorError;

use crate::log;

/// Bad configuration, as in `sysexits.h`. Wrong usage is 2 (from clap), every other failure 1.
const BAD_CONFIGURATION: u8 = 64;

/// An error in what the user configured, as opposed to something that went wrong on the way.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadConfiguration(pub String);

/// Reports `outcome` to people and to the shell.
pub fn code_of(outcome: anyhow::Result<()>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    if is_closed_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    log::say_failure(&one_line(&error));
    ExitCode::from(if error.chain().any(is_bad_configuration) { BAD_CONFIGURATION } else { 1 })
}

fn is_bad_configuration(cause: &(dyn std::error::Error + 'static)) -> bool {
    use CoordinatorError::{Benchmark, Config, RunName, Settings};
    let coordinator = cause.downcast_ref();
    cause.is::<BadConfiguration>()
        || matches!(coordinator, Some(Benchmark { .. } | Config(_) | RunName { .. } | Settings(_)))
}

/// The whole chain of causes on one line, without repeating a cause that an outer message already quotes.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let text = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            line = text;
        } else if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
    }
    line
}

/// `ludus versions | head` closes our output early; that is no failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
