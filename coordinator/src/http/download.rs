//! Weight files: `/api/v1/runs/{run}/versions/{version}/weights`.
//!
//! The file is named by its sum in the version table and by nothing in the request, so no request can reach another
//! file. Its bytes are checked against that sum before the first one is sent.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, Response, StatusCode, header};

use ludus_players::weight_file::Digest;
use ludus_proto::v1::VersionInfo;

use super::api::digest;
use super::asked::Path;
use super::range::{Wanted, names, wanted};
use super::refusal::Refusal;
use super::{Shared, ask};

/// Which version of a run a request means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// This one, which never changes.
    Number(u64),
    /// The newest promoted one.
    Champion,
    /// The newest published one.
    Latest,
}

impl Which {
    /// Reads `12`, `v12`, `champion` or `latest`.
    pub(super) fn parse(text: &str) -> Result<Which, Refusal> {
        let digits = text.strip_prefix('v').unwrap_or(text);
        match text {
            "champion" => Ok(Which::Champion),
            "latest" => Ok(Which::Latest),
            _ if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Ok(Which::Number(digits.parse().unwrap_or(u64::MAX)))
            }
            _ => Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                format!("{text:?} is no version: write 12, v12, champion or latest"),
            )),
        }
    }

    /// Finds it among the versions of `run`, oldest first.
    pub(super) fn find(self, run: &str, versions: &[VersionInfo]) -> Result<VersionInfo, Refusal> {
        let (found, version) = match self {
            Which::Number(number) => {
                (versions.iter().find(|version| version.version == number), format!("v{number}"))
            }
            Which::Champion => {
                (versions.iter().rev().find(|version| version.state == "promoted"), "champion".into())
            }
            Which::Latest => (versions.last(), "latest".into()),
        };
        found.cloned().ok_or_else(|| {
            let known = match versions.last() {
                None => "none was published yet".into(),
                Some(newest) if self == Which::Champion => {
                    format!("v1 to v{} were published and none was promoted yet", newest.version)
                }
                Some(newest) => format!("there are v1 to v{}", newest.version),
            };
            Refusal::missing(format!("run {run} has no version {version}; {known}"))
        })
    }
}

/// What is said of a file before its bytes.
struct Head {
    sha256: Digest,
    size: u64,
    tag: String,
    headers: Vec<(HeaderName, String)>,
}

async fn look_up(view: &Shared, run: String, version: &str) -> Result<Head, Refusal> {
    let which = Which::parse(version)?;
    let name = run.clone();
    let version = which.find(&run, &ask(view, move |view| view.versions(&name)).await?)?;
    let sha256 = digest(&version.sha256)
        .ok_or_else(|| Refusal::broken(&format!("v{} of run {run} has no sha256 sum", version.version)))?;
    // Names of runs have no quotes; whatever else came in stays out of the header all the same.
    let stem: String =
        run.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    let caching = match which {
        Which::Number(_) => "public, max-age=31536000, immutable",
        Which::Champion | Which::Latest => "no-cache",
    };
    let tag = format!("\"{sha256}\"");
    let headers = vec![
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, caching.into()),
        (header::ACCEPT_RANGES, "bytes".into()),
        (header::CONTENT_TYPE, "application/octet-stream".into()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{stem}-v{}.safetensors\"", version.version),
        ),
        (HeaderName::from_static("x-ludus-version"), version.version.to_string()),
    ];
    Ok(Head { sha256, size: version.size, tag, headers })
}

impl Head {
    fn known_to(&self, request: &HeaderMap) -> bool {
        request
            .get_all(header::IF_NONE_MATCH)
            .iter()
            .any(|value| value.to_str().is_ok_and(|value| names(value, &self.tag)))
    }

    fn reply(
        self,
        status: StatusCode,
        more: Vec<(HeaderName, String)>,
        body: Body,
    ) -> Result<Response<Body>, Refusal> {
        let mut reply = Response::builder().status(status);
        for (name, value) in self.headers.into_iter().chain(more) {
            // What describes the bytes is left out where there are none.
            if status != StatusCode::NOT_MODIFIED || name != header::CONTENT_TYPE {
                reply = reply.header(name, value);
            }
        }
        reply.body(body).map_err(|error| Refusal::broken(&error))
    }
}

/// GET.
pub(super) async fn get(
    State(view): State<Shared>,
    Path((run, version)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response<Body>, Refusal> {
    let head = look_up(&view, run, &version).await?;
    if head.known_to(&request) {
        return head.reply(StatusCode::NOT_MODIFIED, vec![], Body::empty());
    }
    let sha256 = head.sha256;
    let bytes = Bytes::from(ask(&view, move |view| view.weights(sha256)).await?);
    let text = |name| request.get(name).and_then(|value| value.to_str().ok());
    // A part of another file than the one the client has begun with is of no use to it.
    let same = text(header::IF_RANGE).is_none_or(|tag| tag.trim() == head.tag);
    let range = text(header::RANGE).filter(|_| same);
    match range.map_or(Wanted::Whole, |range| wanted(range, bytes.len())) {
        Wanted::Whole => {
            let length = vec![(header::CONTENT_LENGTH, bytes.len().to_string())];
            head.reply(StatusCode::OK, length, Body::from(bytes))
        }
        Wanted::Part(part) => {
            let more = vec![
                (header::CONTENT_RANGE, format!("bytes {}-{}/{}", part.start, part.end - 1, bytes.len())),
                (header::CONTENT_LENGTH, part.len().to_string()),
            ];
            head.reply(StatusCode::PARTIAL_CONTENT, more, Body::from(bytes.slice(part)))
        }
        Wanted::Beyond => {
            let message =
                format!("the file has {} bytes and none where the range asks for them", bytes.len());
            let body = serde_json::json!({ "error": message }).to_string();
            Response::builder()
                .status(StatusCode::RANGE_NOT_SATISFIABLE)
                .header(header::CONTENT_RANGE, format!("bytes */{}", bytes.len()))
                .header(header::CONTENT_TYPE, "application/json")
                .header(header::ETAG, head.tag)
                .body(Body::from(body))
                .map_err(|error| Refusal::broken(&error))
        }
    }
}

/// HEAD: the same headers without touching the file.
pub(super) async fn head(
    State(view): State<Shared>,
    Path((run, version)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response<Body>, Refusal> {
    let head = look_up(&view, run, &version).await?;
    if head.known_to(&request) {
        return head.reply(StatusCode::NOT_MODIFIED, vec![], Body::empty());
    }
    let length = vec![(header::CONTENT_LENGTH, head.size.to_string())];
    head.reply(StatusCode::OK, length, Body::empty())
}
