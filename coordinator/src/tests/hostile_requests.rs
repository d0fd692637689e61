//! Requests as they come over a port, to every page and every service of a coordinator with a run and games: whatever is
//! asked, there is an answer, it never is that something broke, and the accounts go on to balance.
//!
//! [`super::hostile`] asks what messages mean; here it is whether they can be read at all. Few cases by default. A million:
//! `LUDUS_CASES=1000000 cargo test --release -p ludus-coordinator --lib hostile`.

use std::cell::RefCell;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response, StatusCode, header};
use prop::collection::vec;
use proptest::prelude::*;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::desk::{CONFIG, Desk};
use super::hostile::{bytes, number, real, runner, text};
use crate::Role;

/// More than any answer here is long.
const LONGEST: usize = 8 << 20;

/// A request before it is one: what cannot be written as one is left out.
#[derive(Clone, Debug)]
struct Ask {
    method: String,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

/// What stands in a place of a path or query: something that could be meant, or something that could not.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["coin-1", "1", "0", "2", "champion", "latest", "v1", "heads", "12"])
            .prop_map(String::from),
        2 => number().prop_map(|number| number.to_string()),
        1 => real().prop_map(|real| real.to_string()),
        2 => prop::sample::select(vec![
            "", ".", "..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "%ff", "%", "-1", "1e9", "0x1", "a%20b", "'--", "%u0000",
        ])
        .prop_map(String::from),
        1 => text().prop_map(|text| escaped(&text)),
    ]
}

/// Text as it stands in a path.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// The path of a page or a service; `{}` stands for a piece.
fn path() -> impl Strategy<Value = String> {
    let paths = vec![
        "/",
        "/healthz",
        "/readyz",
        "/metrics",
        "/favicon.svg",
        "/api/openapi.json",
        "/api/v1/server",
        "/api/v1/workers",
        "/api/v1/runs",
        "/api/v1/runs/{}",
        "/api/v1/runs/{}/stop",
        "/api/v1/runs/{}/events",
        "/api/v1/runs/{}/strength",
        "/api/v1/runs/{}/curve",
        "/api/v1/runs/{}/curve?after={}&most={}",
        "/api/v1/runs/{}/leases",
        "/api/v1/runs/{}/gates/{}",
        "/api/v1/runs/{}/games",
        "/api/v1/runs/{}/games?gate={}",
        "/api/v1/runs/{}/games/{}/{}",
        "/api/v1/runs/{}/games/{}/{}?judge={}",
        "/api/v1/runs/{}/position?position={}",
        "/api/v1/runs/{}/position?position={}&roll={}&judge={}",
        "/api/v1/runs/{}/versions",
        "/api/v1/runs/{}/versions/{}",
        "/api/v1/runs/{}/versions/{}/weights",
        "/assets/{}",
        "/run/{}",
        "/{}",
        "/{}/{}?{}={}",
        "/ludus.v1.WorkerService/Acquire",
        "/ludus.v1.WorkerService/Submit",
        "/ludus.v1.WorkerService/Release",
        "/ludus.v1.WorkerService/FetchWeights",
        "/ludus.v1.WorkerService/{}",
        "/ludus.v1.TrainerService/Join",
        "/ludus.v1.TrainerService/Publish",
        "/ludus.v1.TrainerService/Report",
        "/ludus.v1.AdminService/CreateRun",
        "/ludus.v1.AdminService/ListRuns",
        "/ludus.v1.AdminService/ShowRun",
        "/ludus.v1.AdminService/ListVersions",
        "/ludus.v1.AdminService/ShowLineage",
        "/ludus.v1.AdminService/ListTokens",
        "/ludus.v1.{}/{}",
    ];
    (prop::sample::select(paths), vec(piece(), 5)).prop_map(|(path, pieces)| {
        let mut pieces = pieces.iter();
        let mut filled = String::new();
        for (index, part) in path.split("{}").enumerate() {
            if index > 0 {
                filled.push_str(pieces.next().expect("no path has more than five"));
            }
            filled.push_str(part);
        }
        filled
    })
}

fn headers() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let range = prop_oneof![
        (number(), number()).prop_map(|(from, to)| format!("bytes={from}-{to}")),
        number().prop_map(|from| format!("bytes={from}-")),
        number().prop_map(|last| format!("bytes=-{last}")),
        Just("bytes=0-0,5-6".to_owned()),
        Just("bytes=9-1".to_owned()),
        text(),
    ];
    let header = prop_oneof![
        3 => range.prop_map(|value| ("range", value)),
        1 => text().prop_map(|value| ("if-none-match", value)),
        1 => prop_oneof![Just("*".to_owned()), Just("\"x\", W/\"y\"".to_owned()), text()]
            .prop_map(|value| ("if-range", value)),
        1 => prop_oneof![Just("null".to_owned()), Just("http://elsewhere".to_owned()), text()]
            .prop_map(|value| ("origin", value)),
        1 => text().prop_map(|value| ("host", value)),
        1 => number().prop_map(|value| ("last-event-id", value.to_string())),
        2 => prop_oneof![Just("application/json"), Just("application/grpc"), Just("text/plain")]
            .prop_map(|value| ("content-type", value.to_owned())),
        1 => prop_oneof![Just("gzip".to_owned()), Just("zstd".to_owned()), text()]
            .prop_map(|value| ("grpc-encoding", value)),
        1 => text().prop_map(|value| ("grpc-timeout", value)),
        1 => prop_oneof![Just("Bearer x".to_owned()), Just("Basic eDp5".to_owned()), text()]
            .prop_map(|value| ("authorization", value)),
    ];
    vec(header, 0..4)
}

/// JSON as the form of a new run sends it, or nearly; a message in its frame, or nearly; anything.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let config = prop_oneof![
        Just("game = \"coin\"\n[learn]\nlambda = 7\n".to_owned()),
        Just("[gate]\nlimit_pairs = -1\n".to_owned()),
        Just("x = [[[[[[[[[".to_owned()),
        text(),
    ];
    let run =
        (text(), text(), config, prop::option::of(number())).prop_map(|(game, preset, config, limit)| {
            let run =
                serde_json::json!({"game": game, "preset": preset, "config": config, "limit_pairs": limit});
            run.to_string().into_bytes()
        });
    let frame = (any::<u8>(), prop_oneof![Just(None), any::<u32>().prop_map(Some)], bytes()).prop_map(
        |(flag, length, message)| {
            let mut frame = vec![if flag < 200 { 0 } else { flag }];
            frame.extend(length.unwrap_or(message.len() as u32).to_be_bytes());
            frame.extend(message);
            frame
        },
    );
    prop_oneof![2 => Just(Vec::new()), 2 => run, 4 => frame, 1 => bytes()]
}

fn ask() -> impl Strategy<Value = Ask> {
    let method = prop_oneof![
        6 => Just("GET".to_owned()),
        6 => Just("POST".to_owned()),
        1 => Just("HEAD".to_owned()),
        1 => Just("PUT".to_owned()),
        1 => Just("OPTIONS".to_owned()),
        1 => "[A-Z]{1,9}",
    ];
    (method, path(), headers(), body()).prop_map(|(method, path, headers, body)| Ask {
        method,
        path,
        headers,
        body,
    })
}

impl Ask {
    /// The request, with an admin's token unless it brings one; `None` when HTTP itself has no such request.
    fn request(&self, admin: &str) -> Option<Request<Body>> {
        let mut request =
            Request::builder().method(Method::from_bytes(self.method.as_bytes()).ok()?).uri(&self.path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if !self.headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header(header::AUTHORIZATION, format!("Bearer {admin}"));
        }
        request.body(Body::from(self.body.clone())).ok()
    }
}

/// An answer to its end; of one without an end, its beginning.
async fn answered(router: &Router, request: Request<Body>) -> (StatusCode, header::HeaderMap, Vec<u8>) {
    let answer: Response<Body> = router.clone().oneshot(request).await.expect("infallible");
    let (parts, body) = answer.into_parts();
    let endless = parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    let body =
        if endless { Vec::new() } else { to_bytes(body, LONGEST).await.expect("it has an end").to_vec() };
    (parts.status, parts.headers, body)
}

/// A run with a version, games that people can look at, and an admin's token; and a way to ask.
struct House {
    runtime: Runtime,
    desk: Desk,
    router: Router,
    admin: String,
}

impl House {
    fn new() -> House {
        let desk = Desk::new(CONFIG);
        for worker in ["w", "v"] {
            desk.play(&desk.lease(worker), 1);
        }
        let admin = desk.open().create_token("admin", Role::Admin).expect("made");
        let router = desk.open().router(CancellationToken::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        House { runtime, desk, router, admin }
    }

    fn asked(&self, ask: &Ask) -> Result<(), TestCaseError> {
        let Some(request) = ask.request(&self.admin) else { return Ok(()) };
        let answer =
            async { tokio::time::timeout(Duration::from_secs(60), answered(&self.router, request)).await };
        let (status, headers, body) = self.runtime.block_on(answer).expect("an answer within a minute");
        prop_assert!(
            status != StatusCode::INTERNAL_SERVER_ERROR,
            "{ask:?}: {}",
            String::from_utf8_lossy(&body)
        );
        let grpc = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/grpc");
        if status.is_client_error() && ask.method != "HEAD" && !grpc {
            let read: Result<serde_json::Value, _> = serde_json::from_slice(&body);
            let said = read.ok().and_then(|json| json["error"].as_str().map(|text| !text.is_empty()));
            prop_assert_eq!(said, Some(true), "{:?}: {} {}", ask, status, String::from_utf8_lossy(&body));
        }
        // gRPC says with 13 that something broke; a message that cannot be read has it, too, from the library.
        let broke = headers.get("grpc-status").is_some_and(|status| status == "13");
        let unread = headers.get("grpc-message").and_then(|text| text.to_str().ok()).unwrap_or_default();
        prop_assert!(!broke || !unread.contains("panic"), "{ask:?}: {unread}");
        Ok(())
    }

    fn balances(&self) -> bool {
        let state = self.desk.open().shared.lock().expect("locked");
        let mut series = state.book().runs.values().flat_map(|run| run.series());
        series.all(|series| series.book.accounting().balances())
    }
}

#[test]
fn no_hostile_request_breaks_a_page_or_a_service() {
    let house = RefCell::new(House::new());
    let checked = runner(2000).run(&ask(), |ask| {
        let mut house = house.borrow_mut();
        house.asked(&ask)?;
        prop_assert!(house.balances());
        // Some create runs, which would pile up, and some stop the one there is.
        if house.desk.open().shared.lock().expect("locked").book().runs.len() > 20 {
            *house = House::new();
        }
        Ok(())
    });
    checked.expect("nothing breaks");
}

/// What the tests above have found, each with the answer it should have.
#[test]
fn numbers_that_no_row_has_and_queries_that_cannot_be_read_are_answered() {
    let house = House::new();
    let most = u64::MAX;
    let asked = |path: String, headers: Vec<(&'static str, String)>| {
        let ask = Ask { method: "GET".into(), path, headers, body: Vec::new() };
        let request = ask.request(&house.admin).expect("a request");
        let (status, _, body) = house.runtime.block_on(answered(&house.router, request));
        (status, String::from_utf8_lossy(&body).into_owned())
    };
    let run = format!("/api/v1/runs/{}", house.desk.run);
    let listening = asked(format!("{run}/events"), vec![("last-event-id", most.to_string())]);
    assert_eq!(listening.0, StatusCode::OK);
    assert_eq!(asked(format!("{run}/curve?after={most}"), vec![]), (StatusCode::OK, "[]".into()));
    assert_eq!(asked(format!("{run}/games/{most}/{most}"), vec![]).0, StatusCode::NOT_FOUND);
    for (path, status) in
        [("curve?after=x", StatusCode::BAD_REQUEST), ("versions/%ff", StatusCode::BAD_REQUEST)]
    {
        let (found, text) = asked(format!("{run}/{path}"), vec![]);
        assert_eq!(found, status, "{path}: {text}");
        assert!(text.starts_with("{\"error\":"), "{path}: {text}");
    }
}
