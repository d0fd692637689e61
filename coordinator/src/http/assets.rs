//! The dashboard's files, which lie in `coordinator/web` and are compiled in. One HTML page serves every address; its
//! modules look at the address and show what belongs there.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use ludus_players::weight_file::Digest;

use super::asked::Path;
use super::range::names;
use super::refusal::Refusal;

/// The addresses of the dashboard.
pub(super) const PAGES: &[&str] = &[
    "/",
    "/api",
    "/runs/{run}",
    "/runs/{run}/position",
    "/runs/{run}/versions/{version}",
    "/runs/{run}/games/{series}/{number}",
];

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

macro_rules! files {
    ($($kind:expr => $($name:literal),+;)+) => {
        &[$($(($name, $kind, include_str!(concat!("../../web/", $name)))),+),+]
    };
}

/// Every file: its name, what it is, its text.
const FILES: &[(&str, &str, &str)] = files! {
    CSS => "base.css", "layout.css", "charts.css", "boards.css";
    JAVASCRIPT => "main.js", "api.js", "dom.js", "format.js", "chart.js", "ticks.js", "live.js",
        "page-runs.js", "page-run.js", "page-version.js", "page-game.js", "page-position.js", "page-api.js",
        "run-figures.js", "run-curves.js", "run-gate.js", "run-versions.js", "run-workers.js", "run-games.js",
        "board.js", "board-backgammon.js", "board-othello.js", "board-draughts.js", "plays.js";
};

const INDEX: &str = include_str!("../../web/index.html");
const ICON: &str = include_str!("../../web/favicon.svg");
const OPENAPI: &str = include_str!("openapi.json");

/// The entity tag of each file.
static TAGS: LazyLock<BTreeMap<&str, String>> = LazyLock::new(|| {
    FILES.iter().map(|(name, _, text)| (*name, format!("\"{}\"", Digest::of(text.as_bytes())))).collect()
});

/// Everything comes from here, nothing is written into the page that runs, and nobody puts it into a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Any page.
pub(super) async fn page() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, INDEX).into_response()
}

/// An address as people type or shorten it, `/runs` or one with a slash at its end: leads to the page that is meant.
pub(super) async fn detour(asked: Uri) -> Redirect {
    let page = match asked.path().trim_end_matches('/') {
        "/runs" => "/",
        path => path,
    };
    match asked.query() {
        Some(query) => Redirect::temporary(&format!("{page}?{query}")),
        None => Redirect::temporary(page),
    }
}

/// A file of the dashboard. Browsers ask each time whether it has changed, so that an update shows at once.
pub(super) async fn file(Path(name): Path<String>, request: HeaderMap) -> Result<Response, Refusal> {
    let found = FILES.iter().find(|(file, _, _)| *file == name);
    let (file, kind, text) = found.ok_or_else(Refusal::path)?;
    let tag = TAGS.get(file).cloned().unwrap_or_default();
    let headers = [
        (header::CONTENT_TYPE, (*kind).to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::ETAG, tag.clone()),
    ];
    let known = request.get_all(header::IF_NONE_MATCH).iter();
    if known.filter_map(|value| value.to_str().ok()).any(|value| names(value, &tag)) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    Ok((headers, *text).into_response())
}

/// The icon.
pub(super) async fn icon() -> Response {
    ([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "max-age=3600")], ICON).into_response()
}

/// The description of the API.
pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")], OPENAPI)
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served_and_every_import_of_a_module_is_a_file() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .expect("the folder")
            .map(|file| file.expect("a file").file_name().into_string().expect("a name"))
            .filter(|name| !["index.html", "favicon.svg"].contains(&name.as_str()))
            .collect();
        there.sort_unstable();
        let mut served: Vec<&str> = FILES.iter().map(|(name, _, _)| *name).collect();
        served.sort_unstable();
        assert_eq!(there, served);
        for (name, _, text) in FILES {
            for import in text.split(" from \"./").skip(1) {
                let import = import.split('"').next().expect("an end");
                assert!(served.contains(&import), "{name} imports {import}");
            }
        }
    }

    #[test]
    fn nothing_of_the_dashboard_comes_from_another_host() {
        let all = FILES.iter().map(|(_, _, text)| *text).chain([INDEX, ICON]);
        for text in all {
            for address in ["https://", "http://", "//cdn", "@import", "eval("] {
                let ours = text.replace("http://www.w3.org/", "").replace("http://127.0.0.1", "");
                assert!(!ours.contains(address), "{address} in\n{text}");
            }
        }
    }
}
