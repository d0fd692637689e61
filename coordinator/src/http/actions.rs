//! Creating and stopping runs from a browser. The door has asked for an admin's token by then.

use std::net::IpAddr;

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};

use super::asked::Path;
use super::refusal::Refusal;
use super::{Shared, ask};
use crate::CoordinatorError;
use crate::tokens::Caller;

/// A configuration to begin with.
#[derive(Debug, Serialize)]
pub(super) struct Preset {
    name: &'static str,
    /// For people: what it is for.
    about: &'static str,
    /// What it changes, as TOML.
    config: &'static str,
}

/// The configurations to begin with, the usual one first.
pub(super) fn presets() -> Vec<Preset> {
    vec![
        Preset { name: "standard", about: "The default: strong in the end", config: "" },
        Preset {
            name: "quick",
            about: "A small network and early versions: a curve after a minute, weaker in the end",
            config: "[network]\nhidden = 40\n\n[learn]\npublish_games = 5000\n",
        },
        Preset {
            name: "large",
            about: "A network twice as wide: slower, and stronger in the very end",
            config: "[network]\nhidden = 640\n",
        },
    ]
}

/// What a run is to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRun {
    game: String,
    /// Empty: named after its game.
    #[serde(default)]
    name: String,
    /// A configuration to begin with; empty: the standard one.
    #[serde(default)]
    preset: String,
    /// A whole configuration as TOML, instead of a preset.
    #[serde(default)]
    config: String,
    /// Pairs after which a gate ends.
    limit_pairs: Option<u64>,
    /// Games that may wait for the trainer.
    backlog_games: Option<u64>,
}

impl NewRun {
    /// The configuration as a run's file would have it: what it does not say is as the game has it.
    fn config(&self) -> Result<String, CoordinatorError> {
        let refused = |message: String| Err(CoordinatorError::Request(message));
        if !self.config.is_empty() {
            if !self.preset.is_empty() || self.limit_pairs.is_some() || self.backlog_games.is_some() {
                return refused(
                    "a whole configuration was given: write the limits into it, and name no preset".into(),
                );
            }
            return Ok(self.config.clone());
        }
        let all = presets();
        let found = all.iter().find(|preset| preset.name == self.preset || self.preset.is_empty());
        let Some(preset) = found else {
            let known: Vec<&str> = all.iter().map(|preset| preset.name).collect();
            let (name, known) = (&self.preset, known.join(", "));
            return refused(format!("there is no preset {name:?}; the presets are {known}"));
        };
        // No preset has these sections.
        let limit = |section: &str, key: &str, limit: Option<u64>| {
            limit.map_or(String::new(), |limit| format!("\n[{section}]\n{key} = {limit}\n"))
        };
        Ok(format!(
            "game = {:?}\n{}{}{}",
            self.game,
            preset.config,
            limit("gate", "limit_pairs", self.limit_pairs),
            limit("leases", "backlog_games", self.backlog_games)
        ))
    }
}

/// Which run an action was about.
#[derive(Debug, Serialize)]
pub(super) struct Done {
    run: String,
}

/// `POST /api/v1/runs`.
pub(super) async fn create_run(
    State(view): State<Shared>,
    request: Request,
) -> Result<(StatusCode, Json<Done>), Refusal> {
    let wanted: NewRun = body(request).await?;
    let run = ask(&view, move |view| view.create_run(&wanted.config()?, &wanted.name)).await?;
    Ok((StatusCode::CREATED, Json(Done { run })))
}

/// Stopping takes nothing but the name of the run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {}

/// `POST /api/v1/runs/{run}/stop`.
pub(super) async fn stop_run(
    State(view): State<Shared>,
    Path(run): Path<String>,
    request: Request,
) -> Result<Json<Done>, Refusal> {
    let Stop {} = body(request).await?;
    let name = run.clone();
    ask(&view, move |view| view.stop_run(&name)).await?;
    Ok(Json(Done { run }))
}

/// The body of a request that changes something: JSON, from a page of this server. A page of another one could otherwise
/// make a browser send it, with the token that the browser remembers.
async fn body<T: serde::de::DeserializeOwned>(request: Request) -> Result<T, Refusal> {
    // The door says who asks, and that is nobody where there are no tokens.
    let known = request.extensions().get::<Caller>().is_some_and(|caller| *caller != Caller::Anyone);
    if !from_here(request.headers(), known) {
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "a page of another server cannot ask for this; without tokens, open the page by the coordinator's address, not by a name",
        ));
    }
    match Json::<T>::from_request(request, &()).await {
        Ok(Json(body)) => Ok(body),
        Err(rejection) => Err(Refusal::new(rejection.status(), rejection.body_text())),
    }
}

/// Whether a request comes from a page of this server, or from no page at all; `known`: somebody has shown a token for it.
fn from_here(headers: &HeaderMap, known: bool) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    let (Some((_, origin)), Some(host)) = (origin, host) else { return false };
    origin.eq_ignore_ascii_case(host) && (known || no_other_name(host))
}

/// Whether a host is an address, or this machine's name for itself. Where nobody shows a token, a page of a server with a name
/// could have that name lead here after it was loaded, and then seem to be ours (DNS rebinding).
fn no_other_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    use ludus_config::RunConfig;

    #[test]
    fn every_preset_is_a_configuration_with_the_game_and_limits_that_were_asked_for() {
        for preset in presets() {
            let wanted = NewRun {
                game: "backgammon".into(),
                name: String::new(),
                preset: preset.name.into(),
                config: String::new(),
                limit_pairs: Some(4321),
                backlog_games: Some(98),
            };
            let config = RunConfig::parse(&wanted.config().expect("a configuration")).expect("TOML");
            let limits = (config.gate.limit_pairs, config.leases.backlog_games);
            assert_eq!((config.game.as_str(), limits), ("backgammon", (4321, 98)));
            assert!(preset.config.is_empty() || preset.config.contains('='));
        }
    }

    #[test]
    fn presets_are_as_large_beside_the_default_as_they_say() {
        let registry = ludus_players::arena::Registry::standard();
        let hidden = presets().into_iter().map(|preset| {
            let config = RunConfig::parse_over(preset.config, |game| registry.training(game)).expect("TOML");
            config.network.hidden
        });
        let hidden: Vec<usize> = hidden.collect();
        assert!(hidden[1] < hidden[0] && hidden[2] == 2 * hidden[0], "{hidden:?}");
    }

    #[test]
    fn only_pages_of_this_server_and_programs_may_change_anything() {
        let headers = |pairs: &[(header::HeaderName, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| (name.clone(), value.parse().expect("a value")))
                .collect::<HeaderMap>()
        };
        let host = (header::HOST, "127.0.0.1:7777");
        assert!(from_here(&headers(std::slice::from_ref(&host)), false));
        assert!(from_here(&headers(&[host.clone(), (header::ORIGIN, "http://127.0.0.1:7777")]), false));
        for origin in ["http://evil.example", "null", "http://127.0.0.1:7778"] {
            assert!(!from_here(&headers(&[host.clone(), (header::ORIGIN, origin)]), true), "{origin}");
        }
        // A name that leads here is no proof, but where a token is shown.
        let named = [(header::HOST, "evil.example:7777"), (header::ORIGIN, "http://evil.example:7777")];
        assert!(!from_here(&headers(&named), false));
        assert!(from_here(&headers(&named), true));
        for ours in ["localhost:7777", "[::1]:7777", "192.168.1.7", "LOCALHOST"] {
            let origin = format!("http://{ours}");
            assert!(from_here(&headers(&[(header::HOST, ours), (header::ORIGIN, &origin)]), false), "{ours}");
        }
    }
}
