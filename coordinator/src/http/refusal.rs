//! Errors as scripts read them: `{"error": "..."}` with the right status.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::CoordinatorError;

/// A request that gets no answer.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal { status, message: message.into() }
    }

    /// Something that is not there.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, message)
    }

    /// A path nobody serves.
    pub(super) fn path() -> Self {
        Refusal::missing(
            "there is nothing here; the dashboard is at /, the API at /api/v1/runs, described at /api",
        )
    }

    /// A method no path has.
    pub(super) fn method() -> Self {
        Refusal::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "this path does not take that method; /api says which it takes",
        )
    }

    /// A look at the coordinator that broke off.
    pub(super) fn broken(why: &dyn std::fmt::Display) -> Self {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the request broke off: {why}"))
    }
}

impl From<CoordinatorError> for Refusal {
    fn from(error: CoordinatorError) -> Self {
        let status = match &error {
            CoordinatorError::NoRun { .. }
            | CoordinatorError::WhichRun { .. }
            | CoordinatorError::NoVersion { .. }
            | CoordinatorError::NoGame { .. } => StatusCode::NOT_FOUND,
            CoordinatorError::Request(_)
            | CoordinatorError::Config(_)
            | CoordinatorError::Settings(_)
            | CoordinatorError::Benchmark { .. }
            | CoordinatorError::RunName { .. } => StatusCode::BAD_REQUEST,
            CoordinatorError::RunExists { .. } => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal::new(status, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(serde_json::json!({ "error": self.message }))).into_response()
    }
}
