//! The router, driven request by request against a scripted coordinator.

mod openapi;
mod scripted;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, header};
use ludus_players::weight_file::Digest;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use scripted::Scripted;

fn router(view: Arc<Scripted>) -> axum::Router {
    super::router(view, CancellationToken::new())
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
    reply(router(view.clone()).oneshot(request.body(Body::empty()).unwrap()).await.unwrap()).await
}

async fn reply(answer: Response<Body>) -> Reply {
    let (parts, body) = answer.into_parts();
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
    let posted = send(&view, Method::POST, "/api/v1/workers", &[]).await;
    assert_eq!(posted.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(posted.error().contains("/api says"));
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
async fn metrics_carry_every_term_of_the_accounting_and_what_alerts_need() {
    let view = Scripted::new();
    let reply = get(&view, "/metrics").await;
    assert_eq!(reply.status, StatusCode::OK);
    assert!(reply.header(header::CONTENT_TYPE).starts_with("text/plain; version=0.0.4"));
    let text = reply.text();
    for line in [
        "ludus_games_issued_total{run=\"bg\",kind=\"self-play\"} 2000",
        "ludus_games_accepted_total{run=\"bg\",kind=\"self-play\"} 1700",
        "ludus_games_leased{run=\"bg\",kind=\"self-play\"} 290",
        "ludus_games_void_total{run=\"bg\",kind=\"self-play\",reason=\"run-stopped\"} 10",
        "ludus_games_unaccounted{run=\"bg\",kind=\"self-play\"} 0",
        "ludus_games_accepted_total{run=\"bg\",kind=\"rollout\"} 80",
        "ludus_games_unaccounted{run=\"bg\",kind=\"gate\"} 1",
        "ludus_run_phase{run=\"bg\"} 1",
        "ludus_games_refused_total{run=\"bg\",reason=\"illegal-play\"} 4",
        "ludus_games_refused_total{run=\"\",reason=\"unknown-lease\"} 2",
        "ludus_games_trained_total{run=\"bg\"} 1500",
        "ludus_games_backlog{run=\"bg\"} 200",
        "ludus_versions{run=\"bg\",state=\"promoted\"} 1",
        "ludus_versions{run=\"empty\",state=\"published\"} 0",
        "ludus_gate_pairs{run=\"bg\"} 10",
        "ludus_gate_ppg{run=\"bg\",bound=\"mean\"} 0.25",
        "ludus_training_loss{run=\"bg\",class=\"contact\"} 0.125",
        "ludus_ready 1",
        "ludus_outbox_batches{run=\"bg\"} 6",
        "ludus_leases{run=\"bg\",kind=\"gate\"} 3",
        "ludus_versions_behind{run=\"bg\"} 2",
        "ludus_worker_games_per_second 12.34",
        "ludus_disk_free_bytes 3221225472",
        "ludus_disk_used_bytes{what=\"weights\"} 2000",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing from\n{text}");
    }
    let name = |line: &str| line.split(['{', ' ']).next().unwrap_or_default().to_owned();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(text.contains(&format!("# HELP {} ", name(line))), "{line} has no help");
    }
}

#[tokio::test]
async fn every_page_is_the_dashboard_which_loads_nothing_from_elsewhere_and_knows_its_files_again() {
    let view = Scripted::new();
    for page in ["/", "/api", "/runs/bg", "/runs/bg/position", "/runs/bg/versions/3", "/runs/bg/games/1/7"] {
        let reply = get(&view, page).await;
        assert!(reply.header(header::CONTENT_TYPE).starts_with("text/html"), "{page}");
        assert!(
            reply
                .header(header::CONTENT_SECURITY_POLICY)
                .starts_with("default-src 'none'; script-src 'self'")
        );
        assert!(reply.text().contains("src=\"/assets/main.js\""));
    }
    for icon in ["/favicon.svg", "/favicon.ico"] {
        assert_eq!(get(&view, icon).await.header(header::CONTENT_TYPE), "image/svg+xml");
    }
    let file = get(&view, "/assets/main.js").await;
    assert_eq!(file.status, StatusCode::OK);
    assert!(file.header(header::CONTENT_TYPE).starts_with("text/javascript"));
    let known = [(header::IF_NONE_MATCH, file.header(header::ETAG))];
    let again = send(&view, Method::GET, "/assets/main.js", &known).await;
    assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
    assert_eq!(get(&view, "/assets/..%2f..%2fCargo.toml").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn addresses_that_people_shorten_or_end_with_a_slash_lead_to_the_page_that_is_meant() {
    let view = Scripted::new();
    for (asked, page) in [
        ("/runs", "/"),
        ("/runs/", "/"),
        ("/runs//", "/"),
        ("/api/", "/api"),
        ("/runs/a%20b/", "/runs/a%20b"),
        ("/runs/bg/position/?position=4HPwATDgc/ABMA", "/runs/bg/position?position=4HPwATDgc/ABMA"),
        ("/runs/bg/versions/3/", "/runs/bg/versions/3"),
        ("/runs/bg/games/1/7/", "/runs/bg/games/1/7"),
    ] {
        let reply = get(&view, asked).await;
        assert_eq!(reply.status, StatusCode::TEMPORARY_REDIRECT, "{asked}");
        assert_eq!(reply.header(header::LOCATION), page, "{asked}");
        assert!(get(&view, page).await.header(header::CONTENT_TYPE).starts_with("text/html"), "{page}");
    }
    // Nowhere else, and least of all to another host.
    for nothing in ["/nothing/", "//example.org/", "//example.org/runs/"] {
        assert_eq!(get(&view, nothing).await.status, StatusCode::NOT_FOUND, "{nothing}");
    }
}

/// Posts JSON, with an origin if a page asks.
async fn post(view: &Arc<Scripted>, path: &str, body: &str, origin: Option<&str>) -> Reply {
    let mut request = Request::builder().method(Method::POST).uri(path).header(header::HOST, "127.0.0.1:1");
    request = request.header(header::CONTENT_TYPE, "application/json");
    if let Some(origin) = origin {
        request = request.header(header::ORIGIN, origin);
    }
    reply(router(view.clone()).oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap())
        .await
}

#[tokio::test]
async fn runs_are_created_and_stopped_by_pages_of_this_server_alone() {
    let view = Scripted::new();
    let wanted = r#"{"game": "backgammon", "name": "new", "preset": "quick", "limit_pairs": 500}"#;
    for origin in ["http://evil.example", "null"] {
        let refused = post(&view, "/api/v1/runs", wanted, Some(origin)).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
    }
    for (body, hint) in [
        ("{}", "game"),
        (r#"{"game": "backgammon", "colour": "red"}"#, "colour"),
        (r#"{"game": "backgammon", "preset": "huge"}"#, "standard, quick, large"),
        (r#"{"game": "backgammon", "preset": "quick", "config": "seed = 2"}"#, "name no preset"),
    ] {
        let refused = post(&view, "/api/v1/runs", body, None).await;
        assert!(refused.status.is_client_error() && refused.error().contains(hint), "{}", refused.error());
    }
    assert!(view.actions.lock().unwrap().is_empty());
    let created = post(&view, "/api/v1/runs", wanted, Some("http://127.0.0.1:1")).await;
    assert_eq!((created.status, created.json()), (StatusCode::CREATED, serde_json::json!({"run": "new"})));
    let stopped = post(&view, "/api/v1/runs/bg/stop", "{}", None).await;
    assert_eq!(stopped.json(), serde_json::json!({"run": "bg"}));
    assert_eq!(post(&view, "/api/v1/runs/nope/stop", "{}", None).await.status, StatusCode::NOT_FOUND);
    let actions = view.actions.lock().unwrap().clone();
    assert!(actions[0].starts_with("create new: game = \"backgammon\"\n[network]"), "{actions:?}");
    assert!(actions[0].contains("limit_pairs = 500"));
    assert_eq!(actions[1..], ["stop bg"]);
}

#[tokio::test]
async fn a_browser_hears_everything_first_and_after_a_break_only_the_points_it_lacks() {
    use tokio_stream::StreamExt;
    let view = Scripted::new();
    for (last, points) in [(None, "[{\"id\":1"), (Some("2"), "[{\"id\":3")] {
        let mut request = Request::builder().uri("/api/v1/runs/bg/events");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let answer = router(view.clone()).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/event-stream");
        let mut stream = answer.into_body().into_data_stream();
        let mut text = String::new();
        while !text.contains("event: points") || !text.ends_with("\n\n") {
            text += std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap();
        }
        for topic in ["run", "versions", "strength", "workers", "server"] {
            assert!(text.contains(&format!("event: {topic}\n")), "{topic} is missing from {text}");
        }
        assert!(text.contains(&format!("data: {points}")) && text.contains("id: 3\n"), "{text}");
    }
    assert_eq!(get(&view, "/api/v1/runs/nope/events").await.status, StatusCode::NOT_FOUND);
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
