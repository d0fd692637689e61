//! Everything the coordinator knows for good, in memory: the image of its database.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use ludus_config::RunConfig;
use ludus_players::weight_file::Digest;
use ludus_proto::v1::{GateStatus, PlayerRef, Progress, Series as SeriesSettings, SeriesKind};

use crate::gate::{Gate, Prefix};
use crate::leases::{Accounting, LeaseId, SeriesBook};
use crate::tokens::Tokens;

/// Identifies a run in this folder; people use its name.
pub(crate) type RunId = i64;

/// The id of no run.
pub(crate) const NO_RUN: RunId = 0;

/// The players of seat 0 and seat 1.
pub(crate) type Players = [PlayerRef; 2];

/// All runs.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// By id, so in the order of their creation.
    pub runs: BTreeMap<RunId, Run>,
    /// The next lease's id; every id below was used.
    pub next_lease: LeaseId,
    /// The next series' id.
    pub next_series: u64,
    /// The streams had every batch of the outbox up to this one.
    pub posted: u64,
    /// Refused games that belong to no run, by reason.
    pub strays: BTreeMap<String, u64>,
    /// Who may do what.
    pub tokens: Tokens,
}

/// One training effort.
#[derive(Debug)]
pub(crate) struct Run {
    pub id: RunId,
    pub name: String,
    /// Name of its stream: two coordinators with a run of the same name may share a Redis.
    pub stream: String,
    /// Revision of the game's rules.
    pub revision: u32,
    pub config: RunConfig,
    /// `false` once it was stopped.
    pub active: bool,
    /// Seconds since 1970.
    pub created_at: u64,
    /// The version in place `i` has the number `i + 1`.
    pub versions: Vec<Version>,
    /// Newest promoted version, 0 when there is none.
    pub champion: u64,
    /// Token of the last trainer that joined.
    pub fence: u64,
    /// Its name.
    pub trainer: String,
    /// What it reported last.
    pub progress: Progress,
    /// Every series of games to learn from, oldest first. Those of the last one's phase hand out new games; of those
    /// of earlier phases only the games that are still out may come in.
    pub learning: Vec<Series>,
    /// The gate in progress.
    pub gate: Option<GateMatch>,
    /// The series of decided gates that still have blocks out, so that late games are recognised.
    pub past_matches: Vec<Series>,
    /// What was decided, by candidate.
    pub decided: BTreeMap<u64, GateStatus>,
    /// Refused games, by reason.
    pub refusals: BTreeMap<String, u64>,
    /// What came of audits, by result.
    pub audits: BTreeMap<String, u64>,
}

/// A series and its book.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub settings: SeriesSettings,
    pub book: SeriesBook<Players>,
}

/// A published version.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub number: u64,
    pub state: VersionState,
    pub sha256: Digest,
    /// sha256 of the version it was trained on from, 32 bytes; empty for none.
    pub parent: Vec<u8>,
    /// Bytes of the weight file.
    pub size: u64,
    /// Seconds since 1970.
    pub published_at: u64,
    /// Training counters when it was published.
    pub progress: Progress,
}

/// What has become of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionState {
    Published,
    Gating,
    Promoted,
    Rejected,
}

/// The match of a candidate against the champion, in progress.
#[derive(Debug)]
pub(crate) struct GateMatch {
    pub series: Series,
    pub candidate: u64,
    /// The champion it must beat, 0 for the baseline `random`.
    pub opponent: u64,
    /// What the benchmark condition found; `None` while it is due, so that no game is handed out yet.
    pub benchmark: Option<String>,
    pub prefix: Prefix,
    pub fold: Gate,
}

impl Run {
    /// The number of the newest version, 0 when there is none.
    pub(crate) fn latest(&self) -> u64 {
        self.versions.len() as u64
    }

    /// The version of this number.
    pub(crate) fn version(&self, number: u64) -> Option<&Version> {
        self.versions.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// The phase that holds.
    pub(crate) fn phase(&self) -> u32 {
        self.learning.last().map_or(0, |series| series.settings.phase)
    }

    /// The numbers of the games to learn from, of all phases.
    pub(crate) fn accounting(&self) -> Accounting {
        self.learning.iter().map(|series| series.book.accounting()).sum()
    }

    /// Of these, the numbers of one kind.
    pub(crate) fn accounting_of(&self, kind: SeriesKind) -> Accounting {
        let series = self.learning.iter().filter(|series| series.settings.kind() == kind);
        series.map(|series| series.book.accounting()).sum()
    }

    /// Games accepted for training.
    pub(crate) fn accepted(&self) -> u64 {
        self.accounting().accepted
    }

    /// Accepted games that the trainer has neither trained on nor dropped for their age.
    pub(crate) fn backlog(&self) -> u64 {
        self.accepted().saturating_sub(self.progress.games.saturating_add(self.progress.expired))
    }

    /// Every series that may have blocks out.
    pub(crate) fn series(&self) -> impl Iterator<Item = &Series> {
        let gate = self.gate.iter().map(|gate| &gate.series);
        self.learning.iter().chain(gate).chain(&self.past_matches)
    }

    /// The same, to be changed.
    pub(crate) fn series_mut(&mut self) -> impl Iterator<Item = &mut Series> {
        let gate = self.gate.iter_mut().map(|gate| &mut gate.series);
        self.learning.iter_mut().chain(gate).chain(&mut self.past_matches)
    }
}

impl fmt::Display for VersionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VersionState::Published => "published",
            VersionState::Gating => "gating",
            VersionState::Promoted => "promoted",
            VersionState::Rejected => "rejected",
        })
    }
}

impl FromStr for VersionState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let states =
            [VersionState::Published, VersionState::Gating, VersionState::Promoted, VersionState::Rejected];
        states
            .into_iter()
            .find(|state| state.to_string() == text)
            .ok_or_else(|| format!("{text:?} is no state of a version"))
    }
}
