//! The JSON API under `/api/v1`.
//!
//! Times are seconds since 1970, sums are in hexadecimal, what does not exist is `null`.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;

use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::{GateStatus, Progress, VersionInfo};

use super::download::Which;
use super::refusal::Refusal;
use super::{Accounts, RunView, Shared, ask};
use crate::CoordinatorError;
use crate::gate::GateReport;

/// A run.
#[derive(Debug, Serialize)]
pub(super) struct RunJson {
    run: String,
    game: String,
    state: String,
    created_at: u64,
    latest_version: Option<u64>,
    champion: Option<u64>,
    workers: u32,
    self_play: AccountsJson,
    gates: AccountsJson,
    /// Accepted games the trainer has not trained on yet.
    backlog: u64,
    refused: BTreeMap<String, u64>,
    #[serde(flatten)]
    training: TrainingJson,
    gate: Option<RunningGateJson>,
    /// Only of a single run: its configuration as TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<String>,
}

/// issued = accepted + leased + void.
#[derive(Debug, Serialize)]
struct AccountsJson {
    issued: u64,
    accepted: u64,
    leased: u64,
    void: u64,
    void_by_reason: BTreeMap<String, u64>,
}

/// What the trainer has done.
#[derive(Debug, Default, Serialize)]
pub(super) struct TrainingJson {
    /// Games trained on, each once.
    games: u64,
    positions: u64,
    steps: u64,
    /// Games dropped for their age.
    expired: u64,
    /// Steps skipped for a loss that was not finite.
    skipped_steps: u64,
    /// Mean loss, by position class.
    losses: BTreeMap<String, f64>,
}

/// The gate in progress.
#[derive(Debug, Serialize)]
struct RunningGateJson {
    #[serde(flatten)]
    gate: GateJson,
    /// The same with what is shown beside it.
    report: Option<GateReport>,
}

/// A gate.
#[derive(Debug, Serialize)]
pub(super) struct GateJson {
    candidate: u64,
    /// `v3`, or the baseline that stands in for a champion.
    opponent: String,
    pairs: u64,
    limit: u64,
    ppg: f64,
    ppg_low: f64,
    ppg_high: f64,
    e_better: f64,
    e_worse: f64,
    verdict: String,
    reason: String,
}

/// A version.
#[derive(Debug, Serialize)]
pub(super) struct VersionJson {
    version: u64,
    state: String,
    sha256: String,
    parent: Option<String>,
    size: u64,
    published_at: u64,
    #[serde(flatten)]
    training: TrainingJson,
    gate: Option<GateJson>,
    /// Where its weights are.
    weights: String,
}

/// A version with what its weight file says of itself.
#[derive(Debug, Serialize)]
pub(super) struct ModelCard {
    run: String,
    #[serde(flatten)]
    version: VersionJson,
    game: String,
    /// Revision of the game's rules.
    revision: u32,
    /// Input set.
    inputs: String,
    networks: Vec<NetworkJson>,
    created_at: u64,
    /// The counters written in the file.
    counters: BTreeMap<String, u64>,
}

/// The network of a position class: one hidden layer of sigmoid units, sigmoid outputs.
#[derive(Debug, Serialize)]
struct NetworkJson {
    class: String,
    inputs: usize,
    hidden: usize,
    outputs: usize,
}

/// `GET /api/v1/runs`: the runs, newest first.
pub(super) async fn runs(State(view): State<Shared>) -> Result<Json<Vec<RunJson>>, Refusal> {
    let overview = ask(&view, |view| view.overview()).await?;
    Ok(Json(overview.runs.into_iter().map(|run| RunJson::new(run, false)).collect()))
}

/// `GET /api/v1/runs/{run}`.
pub(super) async fn run(
    State(view): State<Shared>,
    Path(name): Path<String>,
) -> Result<Json<RunJson>, Refusal> {
    let run = ask(&view, move |view| {
        let runs = view.overview()?.runs;
        let known: Vec<String> = runs.iter().map(|run| run.status.run.clone()).collect();
        runs.into_iter().find(|run| run.status.run == name).ok_or_else(|| CoordinatorError::NoRun {
            name,
            known: if known.is_empty() { "none yet".into() } else { known.join(", ") },
        })
    })
    .await?;
    Ok(Json(RunJson::new(run, true)))
}

/// `GET /api/v1/runs/{run}/versions`: oldest first.
pub(super) async fn versions(
    State(view): State<Shared>,
    Path(run): Path<String>,
) -> Result<Json<Vec<VersionJson>>, Refusal> {
    let name = run.clone();
    let versions = ask(&view, move |view| view.versions(&name)).await?;
    Ok(Json(versions.into_iter().map(|version| VersionJson::new(&run, version)).collect()))
}

/// `GET /api/v1/runs/{run}/versions/{version}`.
pub(super) async fn model_card(
    State(view): State<Shared>,
    Path((run, version)): Path<(String, String)>,
) -> Result<Json<ModelCard>, Refusal> {
    let which = Which::parse(&version)?;
    let name = run.clone();
    let version = which.find(&run, &ask(&view, move |view| view.versions(&name)).await?)?;
    let place = format!("v{} of run {run}", version.version);
    let sha256 =
        digest(&version.sha256).ok_or_else(|| Refusal::broken(&format!("{place} has no sha256 sum")))?;
    // Megabytes of numbers are checked, so that is done where it holds nobody up.
    let file = ask(&view, move |view| Ok(WeightFile::from_bytes(&view.weights(sha256)?, &place))).await?;
    let file = file.map_err(|error| Refusal::broken(&error))?;
    let networks = file.shapes().into_iter().map(|shape| NetworkJson {
        class: shape.class,
        inputs: shape.inputs,
        hidden: shape.hidden,
        outputs: shape.outputs,
    });
    Ok(Json(ModelCard {
        version: VersionJson::new(&run, version),
        run,
        networks: networks.collect(),
        game: file.card.game,
        revision: file.card.revision,
        inputs: file.card.inputs,
        created_at: file.card.created_at,
        counters: file.card.counters,
    }))
}

impl RunJson {
    fn new(run: RunView, with_config: bool) -> Self {
        let RunView { status, gate, self_play, gates, refused } = run;
        let some = |version| Some(version).filter(|version| *version > 0);
        RunJson {
            latest_version: some(status.latest_version),
            champion: some(status.champion),
            workers: status.workers,
            self_play: self_play.into(),
            gates: gates.into(),
            backlog: status.backlog,
            refused,
            training: status.progress.unwrap_or_default().into(),
            gate: status.gate.map(|status| RunningGateJson { gate: status.into(), report: gate }),
            config: with_config.then_some(status.config),
            run: status.run,
            game: status.game,
            state: status.state,
            created_at: status.created_at,
        }
    }
}

impl From<Accounts> for AccountsJson {
    fn from(accounts: Accounts) -> Self {
        AccountsJson {
            issued: accounts.issued,
            accepted: accounts.accepted,
            leased: accounts.leased,
            void: accounts.void_games(),
            void_by_reason: accounts.void,
        }
    }
}

impl From<Progress> for TrainingJson {
    fn from(progress: Progress) -> Self {
        TrainingJson {
            games: progress.games,
            positions: progress.positions,
            steps: progress.steps,
            expired: progress.expired,
            skipped_steps: progress.skipped_steps,
            losses: progress.losses.into_iter().map(|loss| (loss.class, loss.loss)).collect(),
        }
    }
}

impl From<GateStatus> for GateJson {
    fn from(gate: GateStatus) -> Self {
        GateJson {
            candidate: gate.candidate,
            opponent: opponent(&gate),
            pairs: gate.pairs,
            limit: gate.limit,
            ppg: gate.ppg,
            ppg_low: gate.ppg_low,
            ppg_high: gate.ppg_high,
            e_better: gate.e_better,
            e_worse: gate.e_worse,
            verdict: gate.verdict,
            reason: gate.reason,
        }
    }
}

impl VersionJson {
    fn new(run: &str, version: VersionInfo) -> Self {
        VersionJson {
            weights: format!("/api/v1/runs/{run}/versions/{}/weights", version.version),
            version: version.version,
            state: version.state,
            sha256: hex(&version.sha256),
            parent: Some(hex(&version.parent)).filter(|parent| !parent.is_empty()),
            size: version.size,
            published_at: version.published_at,
            training: version.progress.unwrap_or_default().into(),
            gate: version.gate.map(GateJson::from),
        }
    }
}

/// Who a candidate has to beat: the champion, or the baseline that stands in for one.
pub(super) fn opponent(gate: &GateStatus) -> String {
    match gate.opponent {
        0 => crate::series::FIRST_OPPONENT.into(),
        version => format!("v{version}"),
    }
}

/// The sum of a version, if it has one.
pub(super) fn digest(sha256: &[u8]) -> Option<Digest> {
    sha256.try_into().ok().map(Digest)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
