//! What can go wrong at the coordinator. Every message fits on one line and says what to do.

use std::net::SocketAddr;
use std::path::PathBuf;

/// A request, a folder or an address that the coordinator cannot work with.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    /// Another coordinator has the folder.
    #[error("another coordinator is using {}: stop it, or choose another folder with --dir", .dir.display())]
    InUse {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder cannot be read or written.
    #[error("cannot use the folder {} ({source}): check its permissions and the room on its disk", .path.display())]
    Folder {
        /// The folder or a file in it.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no coordinator's state in the folder.
    #[error("{} holds no run: create one with `ludus train` or `ludus coordinator`, or name another folder", .dir.display())]
    NothingHere {
        /// The folder.
        dir: PathBuf,
    },
    /// The file belongs to another program.
    #[error("{} is not a coordinator's database ({reason}): choose another folder with --dir", .path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// How that shows.
        reason: String,
    },
    /// The folder was written by a program that knows more than this one.
    #[error("{} has format {found} and this program reads up to {known}: use the newer ludus that wrote it", .path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The file's format.
        found: i64,
        /// The newest format this program knows.
        known: i64,
    },
    /// The database fails.
    #[error("cannot use {} ({source}): check that the disk has room and the file is writable", .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// A row of the database makes no sense.
    #[error("{} is damaged ({what}): restore the folder from a copy", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which row and why.
        what: String,
    },
    /// An active run's game is not the one this program knows.
    #[error(
        "run {run} plays {game} by revision {wanted} of its rules and this program {has}: go on with the ludus that \
         made it, or choose another folder with --dir"
    )]
    Revision {
        /// The run.
        run: String,
        /// Its game.
        game: String,
        /// The revision it began with.
        wanted: u32,
        /// What this program has.
        has: String,
    },
    /// A file for TLS.
    #[error("cannot use {} for TLS ({reason}): it must hold what its option says, in PEM", .path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The run's configuration.
    #[error("run configuration, {0}")]
    Config(#[from] ludus_config::ConfigError),
    /// The run's configuration, checked against what this program knows.
    #[error("run configuration: {0}")]
    Settings(String),
    /// The benchmark file of a run's gates.
    #[error(
        "the benchmark {file} of `gate.benchmark` cannot be used ({reason}): name a .bm file that the coordinator can read, shipped, or none"
    )]
    Benchmark {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A name that cannot be a run's.
    #[error("{name:?} cannot name a run: use 1 to 64 letters, digits, '-', '_' or '.'")]
    RunName {
        /// The name.
        name: String,
    },
    /// The name is taken.
    #[error("there is a run {name} already: choose another name")]
    RunExists {
        /// The name.
        name: String,
    },
    /// No such run.
    #[error("there is no run {name}; the runs are: {known}")]
    NoRun {
        /// What was asked for.
        name: String,
        /// The runs there are.
        known: String,
    },
    /// No run was named, and it is not clear which is meant.
    #[error("no run is named and {found}: name one, or create one with `ludus run create`")]
    WhichRun {
        /// How many there are.
        found: String,
    },
    /// No run was named, and several could be meant.
    #[error("no run is named and several are active: name one of {active}")]
    ManyRuns {
        /// Their names.
        active: String,
    },
    /// No such version.
    #[error("run {run} has no version {version}; {known}")]
    NoVersion {
        /// The run.
        run: String,
        /// What was asked for.
        version: String,
        /// The versions there are.
        known: String,
    },
    /// No such game to look at.
    #[error(
        "run {run} has no game {number} of series {series} to look at: of games that are learnt from a few are kept, of gates all"
    )]
    NoGame {
        /// The run.
        run: String,
        /// The series.
        series: u64,
        /// The number.
        number: u64,
    },
    /// A request that no honest worker or trainer makes.
    #[error("{0}")]
    Request(String),
    /// A worker whose game has other rules.
    #[error(
        "this worker plays {game} by revision {has} of its rules and run {run} needs revision {wanted}: use the same \
         ludus as the coordinator"
    )]
    WorkerRevision {
        /// The game.
        game: String,
        /// The run that needs another.
        run: String,
        /// The worker's revision.
        has: u32,
        /// The run's.
        wanted: u32,
    },
    /// Another trainer has taken the run since.
    #[error("another trainer has joined run {run} (fence {current}, yours is {fence}): stop one of the two")]
    StaleFence {
        /// The run.
        run: String,
        /// The fence of the request.
        fence: u64,
        /// The fence of the last join.
        current: u64,
    },
    /// The trainer reports less than it did before.
    #[error(
        "the trainer of run {run} reports {reported} games and reported {known} before: its checkpoints were lost or \
         replaced by older ones; restore its folder, or start a new run"
    )]
    WentBack {
        /// The run.
        run: String,
        /// Games it reports.
        reported: u64,
        /// Games it reported before.
        known: u64,
    },
    /// Published bytes that are no usable weights.
    #[error("the weights for run {run} are refused: {reason}")]
    Weights {
        /// The run.
        run: String,
        /// What is wrong with them.
        reason: String,
    },
    /// No such weight file.
    #[error(
        "there are no weights {sha256}: they are no version's, or of an old version that was not promoted, of which only \
         the newest are kept (--keep-versions)"
    )]
    NoWeights {
        /// The sum asked for.
        sha256: String,
    },
    /// A stored weight file was changed or lost.
    #[error("{} does not have the bytes its name promises: restore it from a copy", .path.display())]
    WeightsDamaged {
        /// The file.
        path: PathBuf,
    },
    /// What names no place for weights.
    #[error("{url:?} is no place for weights ({reason}); it looks like s3://BUCKET/PREFIX or file:///FOLDER")]
    DepotUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The place where weights are kept does not do as it is asked.
    #[error("the weights at {url} cannot be reached: {reason}")]
    Depot {
        /// Where.
        url: String,
        /// It answered, and will not answer differently: wrong credentials, or no such bucket.
        refused: bool,
        /// What it said.
        reason: String,
    },
    /// Somebody listens there already.
    #[error("port {} of {} is in use: stop the program that has it, or choose another with --listen {}:0", .address.port(), .address.ip(), .address.ip())]
    PortInUse {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address} ({source}): choose another address with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// Anybody could reach the coordinator.
    #[error(
        "{address} can be reached from other machines and there are no tokens yet: make one with `ludus token create \
         NAME --role worker --dir DIR`, listen on 127.0.0.1, or say --insecure on a network you trust"
    )]
    BeyondLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// Somebody at the door.
    #[error(transparent)]
    Unadmitted(#[from] crate::tokens::Unadmitted),
    /// No such token.
    #[error("there is no token {name}; the tokens are: {known}")]
    NoToken {
        /// What was asked for.
        name: String,
        /// The tokens there are.
        known: String,
    },
    /// The name is taken, be it by a token that was revoked: what it did stays known by it.
    #[error("there is or was a token {name} already: choose another name")]
    TokenExists {
        /// The name.
        name: String,
    },
    /// The coordinator is going down.
    #[error("the coordinator is shutting down: try again when it is back")]
    ShuttingDown,
    /// The server broke.
    #[error("the server stopped: {0}")]
    Server(std::io::Error),
    /// The stream cannot be opened.
    #[error(transparent)]
    Stream(#[from] ludus_stream::StreamError),
}
