//! What the commands that stay running have in common.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use ludus_coordinator::{Coordinator, CoordinatorOptions, Retention};
use ludus_players::arena::Registry;
use ludus_proto::{Access, Bearer};
use ludus_stream::StreamHome;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Runtime;

/// Time between two lines about the work of a role.
pub const NEWS: Duration = Duration::from_secs(10);

/// A runtime that moves data; what computes has threads of its own.
pub fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Where the games of the folder `dir` go: through the Redis at this address, or through a file in the folder.
pub fn stream(dir: &Path, redis: Option<String>) -> StreamHome {
    let file = StreamHome::Local { folder: dir.to_owned() };
    redis.map_or(file, |url| StreamHome::Redis { url })
}

/// A coordinator of the folder `dir` whose games go there, as it is where nobody says otherwise.
pub fn options(dir: &Path, stream: &StreamHome) -> CoordinatorOptions {
    CoordinatorOptions {
        dir: dir.to_owned(),
        stream: stream.clone(),
        registry: Registry::standard(),
        insecure: false,
        keep: Retention::default(),
        depot: None,
        tls: None,
    }
}

/// Opens the folder of a coordinator. Refuses to change from a file to a Redis or back: games that were accepted and not
/// yet learnt would stay behind.
pub async fn coordinator(options: CoordinatorOptions) -> Result<Coordinator> {
    let (dir, stream) = (options.dir.clone(), options.stream.clone());
    stream.check().await?;
    let in_file = dir.join("stream.sqlite").is_file();
    // It reads the database, and may wait for a store: not where tasks run.
    let coordinator = tokio::task::spawn_blocking(move || Coordinator::open(options)).await??;
    let has_games = coordinator.runs()?.iter().any(|run| run.accepted > 0);
    match stream {
        StreamHome::Redis { .. } if in_file => {
            bail!(
                "the games of {} go through a file in it: leave out --redis, or choose another folder",
                dir.display()
            )
        }
        StreamHome::Local { .. } if has_games && !in_file => {
            bail!("the games of {} go through a Redis: name it with --redis", dir.display())
        }
        _ => Ok(coordinator),
    }
}

/// What opens every door of a coordinator in this process.
pub fn house_access(coordinator: &Coordinator) -> Access {
    Bearer::new(coordinator.house_token()).unwrap_or_default().into()
}

/// Reads a number of threads. More than any machine has would only bring this one down.
pub fn threads(text: &str) -> Result<usize, String> {
    let most = 1024;
    let threads = text.parse().ok().filter(|threads| (1..=most).contains(threads));
    threads.ok_or_else(|| format!("a number of threads is from 1 to {most}"))
}

/// Lets this process have as many open files, and so connections, as the system allows it. Many systems begin with fewer.
pub fn many_files() {
    let files = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files }) {
        tracing::debug!("the limit of open files stays: {error}");
    }
}

/// Threads this machine can run at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A name for a worker: that of the machine, and the process.
pub fn worker_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "worker",
        host => host,
    };
    format!("{host}-{}", std::process::id())
}
