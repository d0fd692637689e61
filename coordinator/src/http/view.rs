//! What the HTTP side needs of the coordinator.

use std::collections::BTreeMap;

use ludus_players::weight_file::Digest;
use ludus_proto::v1::{RunStatus, VersionInfo};

use crate::CoordinatorError;
use crate::gate::GateReport;
use crate::watch::curves::Point;
use crate::watch::disk::Disk;
use crate::watch::kept::ListedGame;
use crate::watch::leased::OpenLease;
use crate::watch::strength::Strength;
use crate::watch::trace::Trace;
use crate::watch::viewing::{ViewedGame, ViewedPosition};

/// What HTTP can ask of a coordinator. The coordinator implements it; so does a scripted one in the tests.
///
/// Every method may wait for a lock or a disk, and is called where that is allowed.
pub(crate) trait View: Send + Sync + 'static {
    /// Whether work can be handed out and taken now; if not, why.
    fn ready(&self) -> Result<(), String>;
    /// Everything at one moment, except the versions.
    fn overview(&self) -> Result<Overview, CoordinatorError>;
    /// The versions of the run of this name, oldest first.
    fn versions(&self, run: &str) -> Result<Vec<VersionInfo>, CoordinatorError>;
    /// The bytes of a weight file, checked against its sum.
    fn weights(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError>;
    /// Names of the games that can be learnt.
    fn learnable(&self) -> Vec<&'static str>;
    /// Reports of a run's trainer after the one of this number, thinned out to so many.
    fn curve(&self, run: &str, after: u64, most: u64) -> Result<Vec<Point>, CoordinatorError>;
    /// How strong its versions are.
    fn strength(&self, run: &str) -> Result<Strength, CoordinatorError>;
    /// How the evidence of a candidate's last gate grew.
    fn gate_trace(&self, run: &str, candidate: u64) -> Result<Trace, CoordinatorError>;
    /// Its open leases.
    fn leases(&self, run: &str) -> Result<Vec<OpenLease>, CoordinatorError>;
    /// Its games that can be looked at: those that were kept, or those of the last gate of this candidate.
    fn games(&self, run: &str, gate: Option<u64>) -> Result<Vec<ListedGame>, CoordinatorError>;
    /// A game by series and number, with the judgement of a version or of the champion.
    fn game(&self, run: &str, game: (u64, u64), judge: Option<u64>) -> Result<ViewedGame, CoordinatorError>;
    /// A position and a roll (or every roll), with the judgement of a version or of the champion.
    fn position(
        &self,
        run: &str,
        judge: Option<u64>,
        asked: (&str, &str),
    ) -> Result<ViewedPosition, CoordinatorError>;
    /// What keeps weights from where they are kept beyond the disk, if they are.
    fn depot(&self) -> Option<Result<(), String>> {
        None
    }
    /// Room on its disk.
    fn disk(&self) -> Disk;
    /// Creates a run and gives its name.
    fn create_run(&self, config: &str, name: &str) -> Result<String, CoordinatorError>;
    /// Stops a run for good.
    fn stop_run(&self, run: &str) -> Result<(), CoordinatorError>;
}

/// Everything at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overview {
    /// The runs, newest first.
    pub runs: Vec<RunView>,
    /// The workers that were here lately, by name.
    pub workers: Vec<WorkerView>,
    /// Refused games that belong to no run, by reason.
    pub strays: BTreeMap<String, u64>,
    /// Requests refused at the door or for their form since the start, by reason.
    pub refused_requests: BTreeMap<String, u64>,
    /// Tokens by how they stand.
    pub tokens: BTreeMap<String, u64>,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunView {
    /// What every other reader sees of it too.
    pub status: RunStatus,
    /// The gate in progress, in full.
    pub gate: Option<GateReport>,
    /// Games of its self-play, in all phases.
    pub self_play: Accounts,
    /// Games of its rollouts, in all phases.
    pub rollouts: Accounts,
    /// Games of all its gates together, the decided ones included.
    pub gates: Accounts,
    /// Refused games, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Games played again, by what came of it.
    pub audits: BTreeMap<String, u64>,
    /// Leases that are held, by what their games are for.
    pub leases: BTreeMap<&'static str, u64>,
    /// Batches of accepted games that the trainer has not reported settled.
    pub outbox: u64,
    /// When its trainer reported last, in seconds since 1970.
    pub reported_at: Option<u64>,
}

/// Where the games of a kind have gone: issued = accepted + leased + void.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accounts {
    /// Games handed out, each counted once however often it was issued.
    pub issued: u64,
    /// Games taken.
    pub accepted: u64,
    /// Games handed out and neither taken nor void, whether or not a worker holds them now.
    pub leased: u64,
    /// Games that will never count, by reason.
    pub void: BTreeMap<String, u64>,
}

impl Accounts {
    /// Void games of every reason.
    pub(crate) fn void_games(&self) -> u64 {
        self.void.values().sum()
    }

    /// Issued games that are nowhere. Anything but 0 is a fault of the coordinator.
    pub(crate) fn unaccounted(&self) -> i128 {
        let known = [self.accepted, self.leased, self.void_games()];
        i128::from(self.issued) - known.into_iter().map(i128::from).sum::<i128>()
    }
}

/// A worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerView {
    /// The name it gives itself.
    pub name: String,
    /// Build of its program.
    pub engine: String,
    /// Seconds since it last asked for work or handed in games.
    pub idle_seconds: u64,
    /// Games a second that come in from it.
    pub games_per_second: f64,
    /// Games taken from it since the coordinator started.
    pub accepted: u64,
    /// Games of it that were refused since then.
    pub refused: u64,
    /// Games it holds and has not handed in.
    pub leased: u64,
}
