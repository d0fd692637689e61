//! Work of minor importance: on a thread of its own, at the lowest priority.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::coordinator::Shared;

/// What to wait for before the next piece of work.
pub(crate) enum Wait<'a> {
    /// Nothing.
    Not,
    /// This long.
    For(Duration),
    /// The bell.
    Bell(&'a Notify),
    /// The bell, but no longer than this.
    BellOrFor(&'a Notify, Duration),
}

/// Does `work`, piece by piece, until `stop`, yielding to everything else on the machine. What is given back resolves when it
/// has ended. `name` is the thread's, `what` for the message when there is none to be had.
pub(crate) fn start<F>(
    shared: Arc<Shared>,
    stop: CancellationToken,
    name: &str,
    what: &'static str,
    mut work: F,
) -> oneshot::Receiver<()>
where
    F: for<'a> FnMut(&'a Shared) -> Wait<'a> + Send + 'static,
{
    let (ended, end) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let run = move || {
        yield_to_others();
        while !stop.is_cancelled() {
            let (bell, time) = match work(&shared) {
                Wait::Not => continue,
                Wait::For(time) => (None, Some(time)),
                Wait::Bell(bell) => (Some(bell), None),
                Wait::BellOrFor(bell, time) => (Some(bell), Some(time)),
            };
            let rung = async {
                match bell {
                    Some(bell) => bell.notified().await,
                    None => std::future::pending().await,
                }
            };
            let over = async {
                match time {
                    Some(time) => tokio::time::sleep(time).await,
                    None => std::future::pending().await,
                }
            };
            runtime.block_on(async {
                tokio::select! {
                    // First: a runtime that comes to its end keeps no time any more.
                    biased;
                    () = stop.cancelled() => {}
                    () = rung => {}
                    () = over => {}
                }
            });
        }
        drop(shared);
        // Nobody may be waiting.
        let _ = ended.send(());
    };
    if let Err(error) = std::thread::Builder::new().name(name.into()).spawn(run) {
        tracing::error!("{what}, for there is no thread for it: {error}");
    }
    end
}

/// Gives this thread the lowest priority.
fn yield_to_others() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19) {
        tracing::debug!("minor work has the priority of everything else: {error}");
    }
}
