//! Log lines, on standard error.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;
use tracing_subscriber::EnvFilter;

/// The progress lines on the terminal, if there are any: log lines are written above them.
static AROUND: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Begins to log: what `RUST_LOG` says, else warnings and, with each `-v`, more. `role` is for the commands that stay
/// running, whose ordinary news are worth a line.
pub fn begin(verbose: u8, role: bool) {
    let level = match verbose.saturating_add(u8::from(role)) {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        // Below our own news, the libraries' are too many to be of use.
        EnvFilter::new(format!(
            "warn,ludus={level}{}",
            CRATES.map(|name| format!(",{name}={level}")).concat()
        ))
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Above)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()) && std::env::var_os("NO_COLOR").is_none())
        .with_target(verbose > 0)
        // It would complain on standard error that standard error takes nothing, and panic.
        .log_internal_errors(false)
        .init();
}

const CRATES: [&str; 4] = ["ludus_coordinator", "ludus_worker", "ludus_trainer", "ludus_stream"];

/// From now on writes log lines above these progress lines; `None`: plainly.
pub fn write_around(progress: Option<MultiProgress>) {
    *AROUND.lock().unwrap_or_else(PoisonError::into_inner) = progress;
}

/// Standard error, above the progress lines.
struct Above;

impl Write for Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let progress = AROUND.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match progress {
            Some(progress) => progress.suspend(|| io::stderr().write(bytes)),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
