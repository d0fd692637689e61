//! A small cluster in this process: a coordinator and a worker.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use ludus_coordinator::Coordinator;
use ludus_players::arena::Registry;
use ludus_worker::{WorkerOptions, WorkerStats};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::roles;

/// The coordinator and the worker, at work until they are stopped.
pub(super) struct Works {
    folder: PathBuf,
    server: (CancellationToken, JoinHandle<Result<()>>),
    worker: (CancellationToken, JoinHandle<Result<()>>),
}

impl Works {
    /// Starts them, with what they keep in `folder`. Gives the coordinator's address, too.
    pub(super) fn start(runtime: &Runtime, folder: &Path, threads: usize) -> Result<(Works, String)> {
        let stream = roles::stream(folder, None);
        let coordinator = runtime
            .block_on(roles::coordinator(roles::options(folder, &stream)))
            .with_context(|| format!("the work kept in {}", folder.display()))?;
        let (listener, url) = runtime.block_on(listen(&coordinator))?;
        let access = roles::house_access(&coordinator);
        let stop = CancellationToken::new();
        let told = stop.clone();
        let serving = async move { Ok(coordinator.serve(listener, told).await?) };
        let server = (stop, runtime.spawn(serving));

        let options = WorkerOptions {
            coordinator: url.clone(),
            access,
            name: "local".into(),
            threads,
            cache: None,
            registry: Registry::standard(),
        };
        let stop = CancellationToken::new();
        let working = {
            let told = stop.clone();
            async move { Ok(ludus_worker::run(options, told, Arc::<WorkerStats>::default()).await?) }
        };
        let worker = (stop, runtime.spawn(working));
        Ok((Works { folder: folder.to_owned(), server, worker }, url))
    }

    /// Fails when one of them has ended unasked.
    pub(super) fn check(&self) -> Result<()> {
        for (name, (_, task)) in [("coordinator", &self.server), ("worker", &self.worker)] {
            if task.is_finished() {
                bail!("the {name} of this build has ended unasked");
            }
        }
        Ok(())
    }

    /// Stops them, the worker first: it hands in what it has. What they kept goes away when the build is `done`.
    pub(super) fn stop(self, runtime: &Runtime, done: bool) -> Result<()> {
        for (name, (stop, task)) in [("worker", self.worker), ("coordinator", self.server)] {
            stop.cancel();
            let outcome = runtime.block_on(task).unwrap_or_else(|panic| Err(anyhow!("{panic}")));
            outcome.with_context(|| format!("the {name} of this build failed"))?;
        }
        if done {
            std::fs::remove_dir_all(&self.folder)
                .with_context(|| format!("cannot remove {}", self.folder.display()))?;
        }
        Ok(())
    }
}

async fn listen(coordinator: &Coordinator) -> Result<(tokio::net::TcpListener, String)> {
    let listener = coordinator.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let url = format!("http://{}", listener.local_addr()?);
    Ok((listener, url))
}
