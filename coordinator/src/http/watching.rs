//! What the dashboard looks at: curves, strength, gates, leases, games, positions, and the server itself.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::actions::{Preset, presets};
use super::asked::{Path, Query};
use super::download::Which;
use super::refusal::Refusal;
use super::{Overview, Shared, Site, View, WorkerView, ask};
use crate::CoordinatorError;
use crate::watch::curves::{MOST_POINTS, Point};
use crate::watch::disk::Disk;
use crate::watch::kept::ListedGame;
use crate::watch::leased::OpenLease;
use crate::watch::strength::Strength;
use crate::watch::trace::Trace;
use crate::watch::viewing::{ViewedGame, ViewedPosition};

/// The coordinator itself.
#[derive(Debug, Serialize)]
pub(super) struct ServerJson {
    version: &'static str,
    /// Why it cannot hand out and take work, if it cannot.
    trouble: Option<String>,
    /// Whether one has to show a token.
    guarded: bool,
    /// Games that can be learnt.
    games: Vec<&'static str>,
    /// Configurations to begin with.
    presets: Vec<Preset>,
    disk: Disk,
}

impl ServerJson {
    pub(super) fn of(view: &dyn View, overview: &Overview) -> Self {
        ServerJson {
            version: env!("CARGO_PKG_VERSION"),
            trouble: view.ready().err(),
            guarded: !overview.tokens.is_empty(),
            games: view.learnable(),
            presets: presets(),
            disk: view.disk(),
        }
    }
}

/// A worker.
#[derive(Debug, Serialize)]
pub(super) struct WorkerJson {
    name: String,
    /// Build of its program.
    engine: String,
    /// Seconds since it was heard of.
    idle: u64,
    games_per_second: f64,
    accepted: u64,
    refused: u64,
    /// Games it has in hand.
    leased: u64,
}

impl From<WorkerView> for WorkerJson {
    fn from(worker: WorkerView) -> Self {
        let WorkerView { name, engine, idle_seconds: idle, games_per_second, accepted, refused, leased } =
            worker;
        let games_per_second = (games_per_second * 10.0).round() / 10.0;
        WorkerJson { name, engine, idle, games_per_second, accepted, refused, leased }
    }
}

/// `GET /api/v1/server`.
pub(super) async fn server(State(view): State<Shared>) -> Result<Json<ServerJson>, Refusal> {
    Ok(Json(ask(&view, |view| Ok(ServerJson::of(view, &view.overview()?))).await?))
}

/// `GET /api/v1/workers`.
pub(super) async fn workers(State(view): State<Shared>) -> Result<Json<Vec<WorkerJson>>, Refusal> {
    let workers = ask(&view, |view| Ok(view.overview()?.workers)).await?;
    Ok(Json(workers.into_iter().map(WorkerJson::from).collect()))
}

#[derive(Deserialize)]
pub(super) struct CurveQuery {
    #[serde(default)]
    after: u64,
    most: Option<u64>,
}

/// `GET /api/v1/runs/{run}/curve`.
pub(super) async fn curve(
    State(view): State<Shared>,
    Path(run): Path<String>,
    Query(query): Query<CurveQuery>,
) -> Result<Json<Vec<Point>>, Refusal> {
    let most = query.most.unwrap_or(MOST_POINTS).clamp(1, 10 * MOST_POINTS);
    Ok(Json(ask(&view, move |view| view.curve(&run, query.after, most)).await?))
}

/// `GET /api/v1/runs/{run}/strength`.
pub(super) async fn strength(
    State(view): State<Shared>,
    Path(run): Path<String>,
) -> Result<Json<Strength>, Refusal> {
    Ok(Json(ask(&view, move |view| view.strength(&run)).await?))
}

/// `GET /api/v1/runs/{run}/leases`.
pub(super) async fn leases(
    State(view): State<Shared>,
    Path(run): Path<String>,
) -> Result<Json<Vec<OpenLease>>, Refusal> {
    Ok(Json(ask(&view, move |view| view.leases(&run)).await?))
}

/// `GET /api/v1/runs/{run}/gates/{candidate}`.
pub(super) async fn gate(
    State(view): State<Shared>,
    Path((run, candidate)): Path<(String, String)>,
) -> Result<Json<Trace>, Refusal> {
    let candidate = number(&view, &run, Some(candidate)).await?.unwrap_or_default();
    Ok(Json(ask(&view, move |view| view.gate_trace(&run, candidate)).await?))
}

#[derive(Deserialize)]
pub(super) struct GamesQuery {
    gate: Option<String>,
}

/// `GET /api/v1/runs/{run}/games`.
pub(super) async fn games(
    State(view): State<Shared>,
    Path(run): Path<String>,
    Query(query): Query<GamesQuery>,
) -> Result<Json<Vec<ListedGame>>, Refusal> {
    let gate = number(&view, &run, query.gate).await?;
    Ok(Json(ask(&view, move |view| view.games(&run, gate)).await?))
}

#[derive(Deserialize)]
pub(super) struct JudgeQuery {
    judge: Option<String>,
}

/// `GET /api/v1/runs/{run}/games/{series}/{number}`.
pub(super) async fn game(
    State(site): State<Site>,
    Path((run, series, game)): Path<(String, String, String)>,
    Query(query): Query<JudgeQuery>,
) -> Result<Json<ViewedGame>, Refusal> {
    let read = |text: &str| {
        text.parse()
            .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, format!("{text:?} is no number of a game")))
    };
    let id = (read(&series)?, read(&game)?);
    let judge = number(&site.view, &run, query.judge).await?;
    analyse(&site, move |view| view.game(&run, id, judge)).await
}

#[derive(Deserialize)]
pub(super) struct PositionQuery {
    position: String,
    #[serde(default)]
    roll: String,
    judge: Option<String>,
}

/// `GET /api/v1/runs/{run}/position`.
pub(super) async fn position(
    State(site): State<Site>,
    Path(run): Path<String>,
    Query(query): Query<PositionQuery>,
) -> Result<Json<ViewedPosition>, Refusal> {
    let PositionQuery { position, roll, judge } = query;
    let judge = number(&site.view, &run, judge).await?;
    analyse(&site, move |view| view.position(&run, judge, (&position, &roll))).await
}

/// Does some work that takes a core for a moment, when it is its turn.
async fn analyse<T: Send + 'static>(
    site: &Site,
    work: impl FnOnce(&dyn View) -> Result<T, CoordinatorError> + Send + 'static,
) -> Result<Json<T>, Refusal> {
    let turn = site.analyses.clone().acquire_owned().await.map_err(|closed| Refusal::broken(&closed))?;
    ask(&site.view, move |view| {
        // Held until the work is done, also when nobody waits for it any more.
        let _turn = turn;
        work(view).map(Json)
    })
    .await
}

/// The number of the version that a request names, if it names one.
async fn number(view: &Shared, run: &str, version: Option<String>) -> Result<Option<u64>, Refusal> {
    let Some(version) = version.filter(|version| !version.is_empty()) else { return Ok(None) };
    let (which, name) = (Which::parse(&version)?, run.to_owned());
    let versions = ask(view, move |view| view.versions(&name)).await?;
    Ok(Some(which.find(run, &versions)?.version))
}
