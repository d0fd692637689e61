//! The HTTP side: what people, scripts and Prometheus read, and the few things a browser may ask for.
//!
//! In the order in which to read it: [`View`] (what it asks of the coordinator), `api` (runs and versions as JSON),
//! `watching` (curves, gates, games, positions), `events` (the same as it happens), `actions` (create and stop runs),
//! `download` with `range` (weight files), `metrics` (Prometheus), `assets` (the dashboard, whose files are in web/),
//! `refusal` (errors as JSON), `asked` (paths and queries that can be such errors). `openapi.json` describes the API; a test
//! holds every answer against it.

mod actions;
mod api;
mod asked;
mod assets;
mod download;
mod events;
mod metrics;
mod range;
mod refusal;
#[cfg(test)]
mod tests;
mod view;
mod watching;

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRef, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub(crate) use view::{Accounts, Overview, RunView, View, WorkerView};

use crate::CoordinatorError;
use refusal::Refusal;

/// The coordinator as the handlers hold it.
type Shared = Arc<dyn View>;

/// Browsers that are told what happens at once, at most.
const MOST_LISTENERS: usize = 64;
/// Games and positions that are analysed at once, at most: each takes a core for a moment.
const MOST_ANALYSES: usize = 2;

/// What all handlers share.
#[derive(Clone)]
struct Site {
    view: Shared,
    /// Ends what would otherwise never end.
    stop: CancellationToken,
    listeners: Arc<Semaphore>,
    analyses: Arc<Semaphore>,
}

impl FromRef<Site> for Shared {
    fn from_ref(site: &Site) -> Shared {
        site.view.clone()
    }
}

/// Everything served over HTTP, gRPC apart, until `stop`.
pub(crate) fn router(view: Arc<dyn View>, stop: CancellationToken) -> Router {
    let site = Site {
        view,
        stop,
        listeners: Arc::new(Semaphore::new(MOST_LISTENERS)),
        analyses: Arc::new(Semaphore::new(MOST_ANALYSES)),
    };
    let mut router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics_text))
        .route("/api/openapi.json", get(assets::openapi))
        .route("/api/v1/server", get(watching::server))
        .route("/api/v1/workers", get(watching::workers))
        .route("/api/v1/runs", get(api::runs).post(actions::create_run))
        .route("/api/v1/runs/{run}", get(api::run))
        .route("/api/v1/runs/{run}/stop", post(actions::stop_run))
        .route("/api/v1/runs/{run}/events", get(events::listen))
        .route("/api/v1/runs/{run}/curve", get(watching::curve))
        .route("/api/v1/runs/{run}/strength", get(watching::strength))
        .route("/api/v1/runs/{run}/leases", get(watching::leases))
        .route("/api/v1/runs/{run}/gates/{candidate}", get(watching::gate))
        .route("/api/v1/runs/{run}/games", get(watching::games))
        .route("/api/v1/runs/{run}/games/{series}/{number}", get(watching::game))
        .route("/api/v1/runs/{run}/position", get(watching::position))
        .route("/api/v1/runs/{run}/versions", get(api::versions))
        .route("/api/v1/runs/{run}/versions/{version}", get(api::model_card))
        .route("/api/v1/runs/{run}/versions/{version}/weights", get(download::get).head(download::head))
        .route("/assets/{file}", get(assets::file))
        .route("/favicon.svg", get(assets::icon));
    router = router.route("/runs", get(assets::detour)).route("/runs/", get(assets::detour));
    // Browsers ask for it unasked when they show JSON or metrics.
    router = router.route("/favicon.ico", get(assets::icon));
    for page in assets::PAGES {
        router = router.route(page, get(assets::page));
        if *page != "/" {
            router = router.route(&format!("{page}/"), get(assets::detour));
        }
    }
    router
        .method_not_allowed_fallback(|| async { Refusal::method() })
        .fallback(|| async { Refusal::path() })
        .with_state(site)
}

/// An answer that is an error, for what is turned away before it gets here.
pub(crate) fn refusal(status: StatusCode, message: &str) -> Response {
    Refusal::new(status, message).into_response()
}

/// Asks the coordinator where waiting is allowed.
async fn ask<T: Send + 'static>(
    view: &Shared,
    look: impl FnOnce(&dyn View) -> Result<T, CoordinatorError> + Send + 'static,
) -> Result<T, Refusal> {
    let view = view.clone();
    match tokio::task::spawn_blocking(move || look(view.as_ref())).await {
        Ok(answer) => answer.map_err(Refusal::from),
        Err(broken) => Err(Refusal::broken(&broken)),
    }
}

async fn ready(State(view): State<Shared>) -> Result<Response, Refusal> {
    let ready = ask(&view, |view| Ok(view.ready())).await?;
    Ok(match ready {
        Ok(()) => "ready\n".into_response(),
        Err(reason) => Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason).into_response(),
    })
}

async fn metrics_text(State(view): State<Shared>) -> Result<Response, Refusal> {
    let text = ask(&view, metrics::text).await?;
    Ok(([(header::CONTENT_TYPE, crate::exposition::CONTENT_TYPE)], text).into_response())
}
