//! The door: every request, over gRPC or HTTP, is looked at here before anything of its body is read.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tonic::{Code, Status};
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::CoordinatorError;
use crate::blocking::blocking;
use crate::coordinator::Shared;
use crate::tokens::{Caller, Need, Role, Unadmitted};

/// Longest time for a request to arrive and its answer to begin. A submission of 16 MiB over a slow line takes a minute.
const LONGEST: Duration = Duration::from_secs(120);
/// Where the gRPC services are.
const SERVICES: &str = "/ludus.v1.";

/// What a path needs. Whatever is not named here needs some token, so that nothing is left open by mistake.
fn need(method: &Method, path: &str) -> Need {
    match path {
        "/healthz" | "/readyz" | "/favicon.svg" => return Need::Nothing,
        // The dashboard's own files say nothing of any run.
        _ if path.starts_with("/assets/") && !path.contains("..") => return Need::Nothing,
        _ => {}
    }
    let Some(rpc) = path.strip_prefix(SERVICES) else {
        let reads = *method == Method::GET || *method == Method::HEAD;
        return if reads { Need::Token } else { Need::Role(Role::Admin) };
    };
    match rpc {
        "WorkerService/FetchWeights"
        | "AdminService/ListRuns"
        | "AdminService/ShowRun"
        | "AdminService/ListVersions"
        | "AdminService/ShowLineage" => Need::Token,
        _ if rpc.starts_with("WorkerService/") => Need::Role(Role::Worker),
        _ if rpc.starts_with("TrainerService/") => Need::Role(Role::Trainer),
        _ => Need::Role(Role::Admin),
    }
}

/// Lets a request in with its [`Caller`] among its extensions, or answers it.
pub(crate) async fn door(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let grpc = request.uri().path().starts_with(SERVICES);
    let need = need(request.method(), request.uri().path());
    let secret = secret(request.headers());
    let looking = shared.clone();
    let caller = match blocking(move || looking.admit(secret.as_deref(), need)).await {
        Ok(caller) => caller,
        Err(error) => return turned_away(&shared, error, grpc),
    };
    request.extensions_mut().insert(caller);
    let span = if grpc { rpc(&request) } else { Span::none() };
    let answering = tokio::time::timeout(LONGEST, next.run(request)).instrument(span.clone());
    let Ok(answer) = answering.await else {
        shared.refused_request("slow");
        let text = format!("the request took longer than {} seconds", LONGEST.as_secs());
        let answer = match grpc {
            true => Status::deadline_exceeded(text).into_http::<Body>(),
            false => crate::http::refusal(StatusCode::REQUEST_TIMEOUT, &text),
        };
        note_outcome(&span, &answer);
        return answer;
    };
    note_outcome(&span, &answer);
    if let Some(reason) = nonsense(&answer) {
        shared.refused_request(reason);
        if let Caller::Holder(token) = caller {
            let counting = blocking(move || shared.fault(token, reason)).await;
            if let Err(error) = counting {
                tracing::warn!("a refused request is not counted against its token: {error}");
            }
        }
    }
    answer
}

/// The span of a call: part of the caller's trace, if it has one.
fn rpc(request: &Request) -> Span {
    let method = request.uri().path().trim_start_matches('/');
    let span = tracing::info_span!(
        "rpc",
        otel.name = method,
        otel.kind = "server",
        otel.status_code = Empty,
        rpc.system = "grpc",
        rpc.grpc.status_code = Empty
    );
    ludus_proto::trace::follow(&span, request.headers());
    span
}

/// What a call came to. That of a stream, such as a download, is how it began.
fn note_outcome(span: &Span, answer: &Response) {
    let code = Status::from_header_map(answer.headers()).map_or(Code::Ok, |status| status.code());
    span.record("rpc.grpc.status_code", code as i32);
    if code != Code::Ok {
        span.record("otel.status_code", "ERROR");
    }
}

fn turned_away(shared: &Shared, error: CoordinatorError, grpc: bool) -> Response {
    let mut status = StatusCode::SERVICE_UNAVAILABLE;
    if let CoordinatorError::Unadmitted(why) = &error {
        shared.refused_request(why.label());
        status = match why {
            Unadmitted::NoToken | Unadmitted::Unknown => StatusCode::UNAUTHORIZED,
            _ => StatusCode::FORBIDDEN,
        };
    }
    if grpc {
        return Status::from(error).into_http::<Body>();
    }
    let mut answer = crate::http::refusal(status, &error.to_string());
    if status == StatusCode::UNAUTHORIZED {
        // Browsers then ask for a name, which is not looked at, and a password: the token.
        let challenge = header::HeaderValue::from_static("Basic realm=\"ludus token\"");
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    answer
}

/// The token that a request shows: as a bearer, or as the password of a browser.
fn secret(headers: &HeaderMap) -> Option<String> {
    let (scheme, value) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let value = value.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(value.to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(value).ok()?).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

/// What no honest program sends, by the answer that it got: it could not be read, was too long, or made no sense.
fn nonsense(answer: &Response) -> Option<&'static str> {
    let status = Status::from_header_map(answer.headers())?;
    match status.code() {
        Code::OutOfRange => Some("too-large"),
        Code::InvalidArgument => Some("malformed"),
        // How the gRPC library answers what is no message of ours.
        Code::Internal if status.message().contains("decode") => Some("malformed"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_needs_what_it_does() {
        for (path, wanted) in [
            ("/healthz", Need::Nothing),
            ("/", Need::Token),
            ("/assets/main.js", Need::Nothing),
            ("/assets/../metrics", Need::Token),
            ("/metrics", Need::Token),
            ("/healthz/../metrics", Need::Token),
            ("/api/v1/runs/r/versions/1/weights", Need::Token),
            ("/ludus.v1.WorkerService/Submit", Need::Role(Role::Worker)),
            ("/ludus.v1.WorkerService/FetchWeights", Need::Token),
            ("/ludus.v1.TrainerService/Publish", Need::Role(Role::Trainer)),
            ("/ludus.v1.AdminService/ListRuns", Need::Token),
            ("/ludus.v1.AdminService/CreateToken", Need::Role(Role::Admin)),
            ("/ludus.v1.AdminService/SomethingNew", Need::Role(Role::Admin)),
        ] {
            let method = if path.starts_with(SERVICES) { Method::POST } else { Method::GET };
            assert_eq!(need(&method, path), wanted, "{path}");
        }
        assert_eq!(need(&Method::POST, "/api/v1/runs"), Need::Role(Role::Admin));
    }

    #[test]
    fn a_token_is_read_from_a_bearer_or_a_password_and_from_nothing_else() {
        let read = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, value.parse().expect("a header"));
            secret(&headers)
        };
        assert_eq!(read("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(read("bearer  abc").as_deref(), Some("abc"));
        assert_eq!(read(&format!("Basic {}", STANDARD.encode("me:a:c"))).as_deref(), Some("a:c"));
        for wrong in ["abc", "Digest abc", "Basic %%%", "Basic YWJj"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(secret(&HeaderMap::new()), None);
    }
}
