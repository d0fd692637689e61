//! Paths and queries as the handlers take them. What cannot be read is an error as JSON, like every other; axum's own
//! would be plain text.

use axum::extract::{FromRequestParts, Path as AxumPath, Query as AxumQuery};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::refusal::Refusal;

/// The names and numbers in a path.
pub(super) struct Path<T>(pub T);

/// What stands behind the question mark.
pub(super) struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = AxumPath::from_request_parts(parts, state).await;
        let AxumPath(path) = read.map_err(|error| Refusal::new(error.status(), error.body_text()))?;
        Ok(Path(path))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = AxumQuery::from_request_parts(parts, state).await;
        let AxumQuery(query) = read.map_err(|error| Refusal::new(error.status(), error.body_text()))?;
        Ok(Query(query))
    }
}
