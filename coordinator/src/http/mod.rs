//! The HTTP side: what people, scripts and Prometheus read. It changes nothing.
//!
//! In the order in which to read it: [`View`] (what it asks of the coordinator), `api` (JSON), `download` with `range`
//! (weight files), `metrics` (Prometheus), `page` (the status page), `refusal` (errors as JSON).

mod api;
mod download;
mod metrics;
mod page;
mod range;
mod refusal;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

pub(crate) use view::{Accounts, Overview, RunView, View, WorkerView};

use crate::CoordinatorError;
use refusal::Refusal;

/// The coordinator as the handlers hold it.
type Shared = Arc<dyn View>;

/// Everything served over HTTP, gRPC apart.
pub(crate) fn router(view: Arc<dyn View>) -> Router {
    Router::new()
        .route("/", get(status_page))
        .route("/style.css", get(|| async { asset("text/css; charset=utf-8", include_str!("style.css")) }))
        .route("/favicon.svg", get(|| async { asset("image/svg+xml", include_str!("favicon.svg")) }))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics_text))
        .route("/api/v1/runs", get(api::runs))
        .route("/api/v1/runs/{run}", get(api::run))
        .route("/api/v1/runs/{run}/versions", get(api::versions))
        .route("/api/v1/runs/{run}/versions/{version}", get(api::model_card))
        .route("/api/v1/runs/{run}/versions/{version}/weights", get(download::get).head(download::head))
        .method_not_allowed_fallback(|| async { Refusal::method() })
        .fallback(|| async { Refusal::path() })
        .with_state(view)
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

async fn status_page(State(view): State<Shared>) -> Result<Response, Refusal> {
    let page = ask(&view, |view| page::page(view, now())).await?;
    // Nothing on the page comes from elsewhere, and nothing on it runs.
    let policy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                  frame-ancestors 'none'";
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, Html(page)).into_response())
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
    Ok(([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response())
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "max-age=300")], text).into_response()
}

/// Seconds since 1970.
fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
