//! The router, driven request by request against a scripted coordinator.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use ludus_players::weight_file::{Card, Digest, Shape, WeightFile};
use ludus_proto::v1::{Accounting, ClassLoss, GateStatus, Progress, RunStatus, VersionInfo};
use serde_json::Value;
use tower::ServiceExt;

use super::{Accounts, Overview, RunView, View, WorkerView, router};
use crate::CoordinatorError;
use crate::gate::{Gate, GateRule, PairOutcome};

/// A coordinator with a run of three versions and an empty one.
struct Scripted {
    files: BTreeMap<Digest, Vec<u8>>,
    versions: Vec<VersionInfo>,
    broken: AtomicBool,
    reads: AtomicUsize,
}

impl Scripted {
    fn new() -> Arc<Self> {
        let mut files = BTreeMap::new();
        let mut versions = vec![];
        let mut parent = vec![];
        for (number, state) in [(1, "promoted"), (2, "rejected"), (3, "gating")] {
            let card = Card {
                game: "backgammon".into(),
                revision: 1,
                inputs: "tesauro-198".into(),
                run: "bg".into(),
                version: number,
                parent: String::new(),
                created_at: 1000 * number,
                counters: BTreeMap::from([("games".into(), 500 * number)]),
            };
            let shape = Shape { class: "contact".into(), inputs: 6, hidden: 2, outputs: 5 };
            let bytes = WeightFile::fresh(card, &[shape], number).unwrap().to_bytes().unwrap();
            let sha256 = Digest::of(&bytes);
            versions.push(VersionInfo {
                version: number,
                state: state.into(),
                sha256: sha256.0.to_vec(),
                parent: std::mem::replace(&mut parent, sha256.0.to_vec()),
                size: bytes.len() as u64,
                published_at: 1000 * number,
                progress: Some(Progress {
                    games: 500 * number,
                    positions: 30_000 * number,
                    ..Progress::default()
                }),
                gate: (number == 1).then(|| GateStatus {
                    candidate: 1,
                    pairs: 40,
                    ppg: 1.25,
                    verdict: "promoted".into(),
                    ..GateStatus::default()
                }),
            });
            files.insert(sha256, bytes);
        }
        Arc::new(Scripted { files, versions, broken: AtomicBool::new(false), reads: AtomicUsize::new(0) })
    }

    fn bytes(&self, number: usize) -> &[u8] {
        &self.files[&self.digest(number)]
    }

    fn digest(&self, number: usize) -> Digest {
        Digest(self.versions[number - 1].sha256.as_slice().try_into().unwrap())
    }
}

impl View for Scripted {
    fn ready(&self) -> Result<(), String> {
        if self.broken.load(Ordering::Relaxed) { Err("the disk is <full>".into()) } else { Ok(()) }
    }

    fn overview(&self) -> Result<Overview, CoordinatorError> {
        let rule = GateRule { alpha: 0.05, beta: 0.05, delta: 0.005, limit_pairs: 1000, bound: 3.0 };
        let log = (0..10).map(|pair| PairOutcome { pair, points: if pair % 2 == 0 { 0.5 } else { 0.0 } });
        let report = Gate::replay(rule, log).unwrap().report();
        let status = RunStatus {
            run: "bg".into(),
            game: "backgammon".into(),
            state: "active".into(),
            created_at: 900,
            issued: 2100,
            accepted: 1780,
            leased: 310,
            void: 10,
            progress: Some(Progress {
                games: 1500,
                positions: 90_000,
                losses: vec![ClassLoss { class: "contact".into(), loss: 0.125, positions: 10 }],
                ..Progress::default()
            }),
            latest_version: 3,
            champion: 1,
            gate: Some(GateStatus {
                candidate: 3,
                opponent: 1,
                pairs: report.pairs,
                limit: report.limit,
                ppg: report.ppg,
                ppg_low: report.interval.low,
                ppg_high: report.interval.high,
                e_better: report.e_better,
                e_worse: report.e_worse,
                verdict: report.verdict.as_str().into(),
                reason: report.reason.clone(),
            }),
            workers: 1,
            config: "game = \"backgammon\"\n".into(),
            backlog: 200,
            phase: 1,
            next_phase: 5000,
            rollouts: Some(Accounting { issued: 100, accepted: 80, leased: 20, void: 0 }),
        };
        let void = BTreeMap::from([("run-stopped".to_owned(), 10)]);
        let run = RunView {
            status,
            gate: Some(report),
            self_play: Accounts { issued: 2000, accepted: 1700, leased: 290, void },
            rollouts: Accounts { issued: 100, accepted: 80, leased: 20, void: BTreeMap::new() },
            gates: Accounts { issued: 100, accepted: 60, leased: 39, void: BTreeMap::new() },
            refused: BTreeMap::from([("illegal-play".into(), 4)]),
            audits: BTreeMap::from([("agreed".into(), 17)]),
        };
        let empty = RunStatus { run: "empty".into(), state: "stopped".into(), ..RunStatus::default() };
        Ok(Overview {
            runs: vec![run, RunView { status: empty, ..RunView::default() }],
            workers: vec![WorkerView {
                name: "<script>alert(1)</script>".into(),
                idle_seconds: 3,
                leased: 64,
            }],
            strays: BTreeMap::from([("unknown-lease".into(), 2)]),
            refused_requests: BTreeMap::from([("no-token".into(), 3)]),
            tokens: BTreeMap::from([("active".into(), 1)]),
        })
    }

    fn versions(&self, run: &str) -> Result<Vec<VersionInfo>, CoordinatorError> {
        match run {
            "bg" => Ok(self.versions.clone()),
            "empty" => Ok(vec![]),
            _ => Err(CoordinatorError::NoRun { name: run.into(), known: "bg, empty".into() }),
        }
    }

    fn weights(&self, sha256: Digest) -> Result<Vec<u8>, CoordinatorError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.files.get(&sha256).cloned().ok_or(CoordinatorError::NoWeights { sha256: sha256.to_string() })
    }
}

struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Reply {
    fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn json(&self) -> Value {
        assert_eq!(self.header(header::CONTENT_TYPE), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The message of an error, which has to be JSON.
    fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

async fn send(
    view: &Arc<Scripted>,
    method: Method,
    path: &str,
    headers: &[(header::HeaderName, &str)],
) -> Reply {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    let reply = router(view.clone()).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = reply.into_parts();
    Reply { status: parts.status, headers: parts.headers, body: to_bytes(body, usize::MAX).await.unwrap() }
}

async fn get(view: &Arc<Scripted>, path: &str) -> Reply {
    send(view, Method::GET, path, &[]).await
}

fn weights(version: &str) -> String {
    format!("/api/v1/runs/bg/versions/{version}/weights")
}

#[tokio::test]
async fn a_version_is_downloaded_by_number_or_as_champion_or_latest_with_its_sum_as_entity_tag() {
    let view = Scripted::new();
    for (name, number) in [("2", 2), ("v2", 2), ("champion", 1), ("latest", 3)] {
        let reply = get(&view, &weights(name)).await;
        assert_eq!(reply.status, StatusCode::OK, "{name}");
        assert_eq!(reply.body, view.bytes(number), "{name}");
        assert_eq!(reply.header(header::ETAG), format!("\"{}\"", Digest::of(&reply.body)));
        assert_eq!(reply.header(header::CONTENT_LENGTH), reply.body.len().to_string());
        assert_eq!(reply.header(header::CONTENT_TYPE), "application/octet-stream");
        assert_eq!(
            reply.header(header::CONTENT_DISPOSITION),
            format!("attachment; filename=\"bg-v{number}.safetensors\"")
        );
        let immutable = reply.header(header::CACHE_CONTROL).contains("immutable");
        assert_eq!(immutable, name.ends_with('2'), "{name}");
    }
}

#[tokio::test]
async fn head_says_the_same_as_get_without_reading_the_file() {
    let view = Scripted::new();
    let head = send(&view, Method::HEAD, &weights("v3"), &[]).await;
    assert_eq!(view.reads.load(Ordering::Relaxed), 0);
    let get = get(&view, &weights("v3")).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.headers, get.headers);
}

#[tokio::test]
async fn a_file_the_client_has_already_is_not_sent_again() {
    let view = Scripted::new();
    let tag = format!("\"{}\"", view.digest(3));
    for method in [Method::GET, Method::HEAD] {
        let known = send(&view, method.clone(), &weights("latest"), &[(header::IF_NONE_MATCH, &tag)]).await;
        assert_eq!((known.status, known.body.len()), (StatusCode::NOT_MODIFIED, 0));
        assert_eq!(known.header(header::ETAG), tag);
        let other = send(&view, method, &weights("champion"), &[(header::IF_NONE_MATCH, &tag)]).await;
        assert_eq!(other.status, StatusCode::OK);
    }
    assert_eq!(view.reads.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_broken_download_is_resumed_only_from_the_same_file() {
    let view = Scripted::new();
    let (whole, tag) = (view.bytes(3), format!("\"{}\"", view.digest(3)));
    let size = whole.len();
    let part = send(&view, Method::GET, &weights("v3"), &[(header::RANGE, "bytes=100-")]).await;
    assert_eq!((part.status, &part.body[..]), (StatusCode::PARTIAL_CONTENT, &whole[100..]));
    assert_eq!(part.header(header::CONTENT_RANGE), format!("bytes 100-{}/{size}", size - 1));
    assert_eq!(part.header(header::CONTENT_LENGTH), (size - 100).to_string());

    let range = (header::RANGE, "bytes=0-9");
    let same = send(&view, Method::GET, &weights("latest"), &[range.clone(), (header::IF_RANGE, &tag)]).await;
    assert_eq!((same.status, &same.body[..]), (StatusCode::PARTIAL_CONTENT, &whole[..10]));
    let other = send(&view, Method::GET, &weights("latest"), &[range, (header::IF_RANGE, "\"older\"")]).await;
    assert_eq!((other.status, &other.body[..]), (StatusCode::OK, whole));

    let beyond = send(&view, Method::GET, &weights("v3"), &[(header::RANGE, "bytes=999999-")]).await;
    assert_eq!(beyond.status, StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(beyond.header(header::CONTENT_RANGE), format!("bytes */{size}"));
    assert!(beyond.error().contains(&size.to_string()));
}

#[tokio::test]
async fn what_does_not_exist_is_a_json_error_that_says_what_does() {
    let view = Scripted::new();
    for (path, status, hint) in [
        ("/api/v1/runs/nope", StatusCode::NOT_FOUND, "bg, empty"),
        ("/api/v1/runs/nope/versions", StatusCode::NOT_FOUND, "bg, empty"),
        ("/api/v1/runs/bg/versions/4", StatusCode::NOT_FOUND, "v1 to v3"),
        ("/api/v1/runs/bg/versions/0/weights", StatusCode::NOT_FOUND, "v1 to v3"),
        ("/api/v1/runs/bg/versions/99999999999999999999999/weights", StatusCode::NOT_FOUND, "v1 to v3"),
        ("/api/v1/runs/empty/versions/latest/weights", StatusCode::NOT_FOUND, "none was published yet"),
        ("/api/v1/runs/bg/versions/v1x/weights", StatusCode::BAD_REQUEST, "champion or latest"),
        ("/api/v1/runs/bg/versions/-1/weights", StatusCode::BAD_REQUEST, "champion or latest"),
        ("/api/v2/runs", StatusCode::NOT_FOUND, "/api/v1/runs"),
    ] {
        let reply = get(&view, path).await;
        assert_eq!(reply.status, status, "{path}");
        assert!(reply.error().contains(hint), "{path}: {}", reply.error());
    }
    let posted = send(&view, Method::POST, "/api/v1/runs", &[]).await;
    assert_eq!(posted.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(posted.error().contains("GET"));
}

#[tokio::test]
async fn no_path_leads_out_of_the_version_table() {
    let view = Scripted::new();
    for path in [
        "/api/v1/runs/bg/versions/..%2F..%2Fcoordinator.sqlite/weights",
        "/api/v1/runs/bg/versions/%2e%2e/weights",
        "/api/v1/runs/..%2F../versions/1/weights",
        "/api/v1/runs/bg/versions/../../../../etc/passwd/weights",
        "/..%2f..%2fetc/passwd",
    ] {
        let reply = get(&view, path).await;
        assert!(reply.status.is_client_error(), "{path}: {}", reply.status);
        assert!(!reply.error().is_empty());
    }
    assert_eq!(view.reads.load(Ordering::Relaxed), 0, "no file was touched");
}

#[tokio::test]
async fn the_version_list_and_the_model_card_say_where_a_version_comes_from() {
    let view = Scripted::new();
    let list = get(&view, "/api/v1/runs/bg/versions").await.json();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 3);
    for (i, version) in list.iter().enumerate() {
        let number = i as u64 + 1;
        assert_eq!(version["version"], number);
        assert_eq!(version["games"], 500 * number);
        assert_eq!(version["sha256"], view.digest(i + 1).to_string());
        let parent = if i == 0 { Value::Null } else { view.digest(i).to_string().into() };
        assert_eq!(version["parent"], parent);
        let download = get(&view, version["weights"].as_str().unwrap()).await;
        assert_eq!(Digest::of(&download.body).to_string(), version["sha256"].as_str().unwrap());
    }
    assert_eq!(list[2]["state"], "gating");
    assert_eq!(list[0]["gate"]["opponent"], "random");

    let card = get(&view, "/api/v1/runs/bg/versions/champion").await.json();
    assert_eq!(card["version"], 1);
    assert_eq!(card["inputs"], "tesauro-198");
    assert_eq!(
        card["networks"],
        serde_json::json!([{"class": "contact", "inputs": 6, "hidden": 2, "outputs": 5}])
    );
    assert_eq!(get(&view, "/api/v1/runs/empty/versions").await.json(), serde_json::json!([]));
}

#[tokio::test]
async fn runs_show_their_accounting_their_training_and_their_gate() {
    let view = Scripted::new();
    let runs = get(&view, "/api/v1/runs").await.json();
    assert_eq!(runs[1]["run"], "empty");
    assert_eq!(runs[1]["champion"], Value::Null);
    let run = get(&view, "/api/v1/runs/bg").await.json();
    assert_eq!(run["config"], "game = \"backgammon\"\n");
    assert_eq!(run["games"], 1500);
    let accounts = &run["self_play"];
    let number = |key: &str| accounts[key].as_u64().unwrap();
    assert_eq!(number("issued"), number("accepted") + number("leased") + number("void"));
    assert_eq!(accounts["void_by_reason"]["run-stopped"], 10);
    assert_eq!(
        (&run["rollouts"]["accepted"], &run["phase"], &run["next_phase"]),
        (&80.into(), &1.into(), &5000.into())
    );
    assert_eq!(run["gates"]["issued"], 100);
    assert_eq!(run["gate"]["opponent"], "v1");
    assert_eq!(run["gate"]["report"]["pairs"], 10);
    assert_eq!(run["refused"]["illegal-play"], 4);
}

#[tokio::test]
async fn metrics_carry_every_term_of_the_accounting_and_are_openmetrics() {
    let view = Scripted::new();
    let reply = get(&view, "/metrics").await;
    assert_eq!(reply.status, StatusCode::OK);
    assert!(reply.header(header::CONTENT_TYPE).starts_with("application/openmetrics-text"));
    let text = reply.text();
    for line in [
        "ludus_games_issued_total{run=\"bg\",kind=\"self-play\"} 2000",
        "ludus_games_accepted_total{run=\"bg\",kind=\"self-play\"} 1700",
        "ludus_games_leased{run=\"bg\",kind=\"self-play\"} 290.0",
        "ludus_games_void_total{run=\"bg\",kind=\"self-play\",reason=\"run-stopped\"} 10",
        "ludus_games_unaccounted{run=\"bg\",kind=\"self-play\"} 0.0",
        "ludus_games_accepted_total{run=\"bg\",kind=\"rollout\"} 80",
        "ludus_games_unaccounted{run=\"bg\",kind=\"gate\"} 1.0",
        "ludus_run_phase{run=\"bg\"} 1.0",
        "ludus_games_refused_total{run=\"bg\",reason=\"illegal-play\"} 4",
        "ludus_games_refused_total{run=\"\",reason=\"unknown-lease\"} 2",
        "ludus_games_trained_total{run=\"bg\"} 1500",
        "ludus_games_backlog{run=\"bg\"} 200.0",
        "ludus_versions{run=\"bg\",state=\"promoted\"} 1.0",
        "ludus_versions{run=\"empty\",state=\"published\"} 0.0",
        "ludus_gate_pairs{run=\"bg\"} 10.0",
        "ludus_gate_ppg{run=\"bg\",bound=\"mean\"} 0.25",
        "ludus_training_loss{run=\"bg\",class=\"contact\"} 0.125",
        "ludus_ready{} 1.0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing from\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[tokio::test]
async fn the_status_page_shows_the_runs_and_lets_nothing_run_in_it() {
    let view = Scripted::new();
    let reply = get(&view, "/").await;
    assert!(reply.header(header::CONTENT_TYPE).starts_with("text/html"));
    assert!(reply.header(header::CONTENT_SECURITY_POLICY).starts_with("default-src 'none'"));
    let page = reply.text();
    assert!(!page.contains("<script"), "a worker's name is text");
    for expected in [
        "Gate: v3 against v1",
        "href=\"/api/v1/runs/bg/versions/champion/weights\"",
        "href=\"/api/v1/runs/bg/versions/2/weights\"",
        "+1.2500",
        "1 unaccounted for",
        "<td>rollouts</td>",
        "1, the next from 5\u{202f}000 games",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "4 × illegal-play",
        "None was published yet",
    ] {
        assert!(page.contains(expected), "{expected} is missing from\n{page}");
    }
    for asset in ["/style.css", "/favicon.svg"] {
        assert!(page.contains(&format!("\"{asset}\"")));
        assert_eq!(get(&view, asset).await.status, StatusCode::OK);
    }
    view.broken.store(true, Ordering::Relaxed);
    assert!(get(&view, "/").await.text().contains("Not ready: the disk is &lt;full&gt;"));
}

#[tokio::test]
async fn health_is_about_the_process_and_readiness_about_its_work() {
    let view = Scripted::new();
    assert_eq!(get(&view, "/healthz").await.text(), "ok\n");
    assert_eq!(get(&view, "/readyz").await.status, StatusCode::OK);
    view.broken.store(true, Ordering::Relaxed);
    assert_eq!(get(&view, "/healthz").await.status, StatusCode::OK);
    let ready = get(&view, "/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ready.error(), "the disk is <full>");
}

#[tokio::test]
async fn a_weight_file_lost_from_the_store_is_an_error_and_no_empty_download() {
    let mut view = Scripted::new();
    Arc::get_mut(&mut view).unwrap().files.clear();
    let reply = get(&view, &weights("v1")).await;
    assert_eq!(reply.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(reply.error().contains(&view.digest(1).to_string()));
}
