//! `GET /api/v1/runs/{run}/events`: a run as it happens, by server-sent events.
//!
//! First a picture of everything, then what has changed, looked for once a second:
//!
//! | event | data |
//! |---|---|
//! | `run` | the run, as `GET /api/v1/runs/{run}` gives it without its configuration |
//! | `points` | points of the learning curve that are new; their last number is the event's id |
//! | `versions` | versions that are new or have changed |
//! | `strength` | what is known of the strength of versions |
//! | `workers` | the workers |
//! | `server` | the coordinator: trouble and room on its disk |
//!
//! A browser that lost its connection says with `Last-Event-ID` which points it has.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

use super::api::{find_run, run_json, version_json};
use super::asked::Path;
use super::refusal::Refusal;
use super::watching::{ServerJson, WorkerJson};
use super::{Site, View, ask};
use crate::CoordinatorError;
use crate::watch::curves::{MOST_POINTS, Point};

/// How often to look.
const PERIOD: Duration = Duration::from_secs(1);
/// How often something is said at least, so that nobody in between closes the connection.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// Events that wait for a slow browser at most.
const WAITING: usize = 64;

type Events = ReceiverStream<Result<Event, Infallible>>;

/// `GET /api/v1/runs/{run}/events`.
pub(super) async fn listen(
    State(site): State<Site>,
    Path(run): Path<String>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let place = site.listeners.clone().try_acquire_owned().map_err(|_| {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many browsers listen already: close some, or look without",
        )
    })?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let mut told = Told { last: last.unwrap_or(0), ..Told::default() };
    // The first picture is made here, so that a run that does not exist is an error.
    let first = look(&site, &run, told.last).await?;
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let _place = place;
        let mut picture = first;
        loop {
            for event in told.news(picture) {
                if sender.send(Ok(event)).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = site.stop.cancelled() => return,
                () = sender.closed() => return,
                () = tokio::time::sleep(PERIOD) => {}
            }
            match look(&site, &run, told.last).await {
                Ok(next) => picture = next,
                // The browser comes back, and hears then what is wrong.
                Err(_) => return,
            }
        }
    });
    let events: Events = ReceiverStream::new(receiver);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(SIGN_OF_LIFE)))
}

/// A run at one moment.
struct Picture {
    topics: Vec<(&'static str, Value)>,
    versions: Vec<(u64, Value)>,
    points: Vec<Point>,
}

async fn look(site: &Site, run: &str, after: u64) -> Result<Picture, Refusal> {
    let run = run.to_owned();
    ask(&site.view, move |view| picture(view, &run, after)).await
}

fn picture(view: &dyn View, run: &str, after: u64) -> Result<Picture, CoordinatorError> {
    let json = |value: serde_json::Result<Value>| {
        value.map_err(|error| CoordinatorError::Request(format!("this cannot be written as JSON: {error}")))
    };
    let mut overview = view.overview()?;
    let server = ServerJson::of(view, &overview);
    let found = find_run(&mut overview, run)?;
    let workers: Vec<WorkerJson> = overview.workers.into_iter().map(WorkerJson::from).collect();
    let versions = view.versions(run)?;
    let versions = versions
        .iter()
        .map(|version| Ok((version.version, json(serde_json::to_value(version_json(run, version)))?)));
    Ok(Picture {
        versions: versions.collect::<Result<_, CoordinatorError>>()?,
        points: view.curve(run, after, MOST_POINTS)?,
        topics: vec![
            ("run", json(serde_json::to_value(run_json(found, false)))?),
            ("strength", json(serde_json::to_value(view.strength(run)?))?),
            ("workers", json(serde_json::to_value(workers))?),
            ("server", json(serde_json::to_value(server))?),
        ],
    })
}

/// What a browser knows.
#[derive(Default)]
struct Told {
    topics: BTreeMap<&'static str, Value>,
    versions: BTreeMap<u64, Value>,
    /// Number of its last point.
    last: u64,
}

impl Told {
    /// What is new to it, as events.
    fn news(&mut self, picture: Picture) -> Vec<Event> {
        let mut events = Vec::new();
        let event = |name: &str, data: String| Event::default().event(name).data(data);
        let mut changed = Vec::new();
        for (number, version) in picture.versions {
            if self.versions.get(&number) != Some(&version) {
                changed.push(version.clone());
                self.versions.insert(number, version);
            }
        }
        if !changed.is_empty() {
            events.push(event("versions", Value::from(changed).to_string()));
        }
        for (topic, value) in picture.topics {
            if self.topics.get(topic) != Some(&value) {
                events.push(event(topic, value.to_string()));
                self.topics.insert(topic, value);
            }
        }
        if let Some(last) = picture.points.last() {
            self.last = last.id;
            if let Ok(data) = serde_json::to_string(&picture.points) {
                events.push(event("points", data).id(self.last.to_string()));
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(id: u64) -> Point {
        let (at, accepted, games, positions, backlog) = (id, 10 * id, 9 * id, 500 * id, id);
        Point { id, at, accepted, games, positions, backlog, losses: BTreeMap::new() }
    }

    fn picture(state: &str, versions: &[(u64, &str)], points: &[u64]) -> Picture {
        Picture {
            topics: vec![("run", state.into()), ("workers", Value::Array(vec![]))],
            versions: versions.iter().map(|&(number, state)| (number, state.into())).collect(),
            points: points.iter().copied().map(point).collect(),
        }
    }

    #[test]
    fn everything_is_told_once_and_then_only_what_has_changed() {
        let mut told = Told::default();
        let first = told.news(picture("active", &[(1, "promoted"), (2, "gating")], &[1, 2]));
        assert_eq!(first.len(), 4, "versions, two topics, points");
        assert_eq!(told.last, 2);
        assert!(told.news(picture("active", &[(1, "promoted"), (2, "gating")], &[])).is_empty());
        let text = |events: Vec<Event>| format!("{events:?}");
        let changed = text(told.news(picture("active", &[(1, "promoted"), (2, "rejected")], &[3])));
        assert!(changed.contains("rejected") && !changed.contains("promoted"), "{changed}");
        assert_eq!(told.last, 3);
        assert!(text(told.news(picture("stopped", &[], &[]))).contains("stopped"));
    }
}
