//! The JSON API under `/api/v1`. What runs and versions look like is in [`crate::json`].

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::VersionInfo;

use super::asked::Path;
use super::download::Which;
use super::refusal::Refusal;
use super::{Accounts, Overview, RunView, Shared, ask};
use crate::CoordinatorError;
use crate::json::{AccountsJson, RunJson, VersionJson};

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
    Ok(Json(overview.runs.into_iter().map(|run| run_json(run, false)).collect()))
}

/// `GET /api/v1/runs/{run}`.
pub(super) async fn run(
    State(view): State<Shared>,
    Path(name): Path<String>,
) -> Result<Json<RunJson>, Refusal> {
    let run = ask(&view, move |view| find_run(&mut view.overview()?, &name)).await?;
    Ok(Json(run_json(run, true)))
}

/// Takes the run of this name out of an overview.
pub(super) fn find_run(overview: &mut Overview, name: &str) -> Result<RunView, CoordinatorError> {
    let place = overview.runs.iter().position(|run| run.status.run == name);
    place.map(|place| overview.runs.swap_remove(place)).ok_or_else(|| {
        let known: Vec<&str> = overview.runs.iter().map(|run| run.status.run.as_str()).collect();
        let known = if known.is_empty() { "none yet".into() } else { known.join(", ") };
        CoordinatorError::NoRun { name: name.into(), known }
    })
}

/// `GET /api/v1/runs/{run}/versions`: oldest first.
pub(super) async fn versions(
    State(view): State<Shared>,
    Path(run): Path<String>,
) -> Result<Json<Vec<VersionJson>>, Refusal> {
    let name = run.clone();
    let versions = ask(&view, move |view| view.versions(&name)).await?;
    Ok(Json(versions.iter().map(|version| version_json(&run, version)).collect()))
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
        version: version_json(&run, &version),
        run,
        networks: networks.collect(),
        game: file.card.game,
        revision: file.card.revision,
        inputs: file.card.inputs,
        created_at: file.card.created_at,
        counters: file.card.counters,
    }))
}

/// A run with everything there is to know of it.
pub(super) fn run_json(run: RunView, with_config: bool) -> RunJson {
    let RunView { status, gate, self_play, rollouts, gates, refused, audits, leases: _, outbox, reported_at } =
        run;
    let mut json = RunJson::new(&status, with_config);
    json.self_play = self_play.into();
    json.rollouts = rollouts.into();
    json.gates = Some(gates.into());
    json.refused = Some(refused);
    json.audits = Some(audits);
    json.outbox = Some(outbox);
    json.reported_at = Some(reported_at);
    if let Some(running) = &mut json.gate {
        running.report = gate;
    }
    json
}

pub(super) fn version_json(run: &str, version: &VersionInfo) -> VersionJson {
    let weights = Some(format!("/api/v1/runs/{run}/versions/{}/weights", version.version));
    let mut json = VersionJson::from(version);
    json.weights = weights;
    json
}

impl From<Accounts> for AccountsJson {
    fn from(accounts: Accounts) -> Self {
        AccountsJson {
            issued: accounts.issued,
            accepted: accounts.accepted,
            leased: accounts.leased,
            void: accounts.void_games(),
            void_by_reason: Some(accounts.void),
        }
    }
}

/// The sum of a version, if it has one.
pub(super) fn digest(sha256: &[u8]) -> Option<Digest> {
    sha256.try_into().ok().map(Digest)
}
