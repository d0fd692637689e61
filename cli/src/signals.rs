//! Being told to stop.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::output;

/// The shell's code for a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// A token that is cancelled by the first Ctrl-C or SIGTERM. The second one ends the program at once: everything here
/// survives that, only not as tidily.
///
/// Must be called within a tokio runtime.
pub fn told_to_stop() -> std::io::Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let told = CancellationToken::new();
    let token = told.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if token.is_cancelled() {
                output::news("ended at once");
                std::process::exit(INTERRUPTED);
            }
            token.cancel();
        }
    });
    Ok(told)
}
