//! The way to a coordinator: does it answer, is it ready, does it take the token, are its version and clock like ours.

use std::time::{Duration, SystemTime};

use anyhow::Result;
use serde_json::Value;

use super::finding::Finding;
use super::machine::shown;
use crate::access::AccessArgs;
use crate::coordinator_client::{CoordinatorClient, Page};

const CHECK: &str = "coordinator";
const TOKEN: &str = "token";
const CLOCK: &str = "clock";
/// Difference of clocks from which times in logs mislead. Their headers tell whole seconds.
const APART: Duration = Duration::from_secs(5);

/// Everything about it.
pub(super) fn check(url: &str, access: &AccessArgs) -> Vec<Finding> {
    let client = access.read().and_then(|access| CoordinatorClient::new(url, access));
    let client = match client {
        Ok(client) => client,
        Err(error) => {
            return vec![Finding::problem(CHECK, format!("{error:#}"), "correct the option or the variable")];
        }
    };
    let before = SystemTime::now();
    let page = match client.page("/api/v1/server") {
        Ok(page) => page,
        Err(error) => return vec![unreachable(url, &error)],
    };
    let after = SystemTime::now();

    let server = serde_json::from_str::<Value>(&page.text).unwrap_or_default();
    let mut findings = vec![server_of(url, &page, &server)];
    match page.status {
        200 => {
            findings.extend(readiness(&server));
            findings.push(token(
                url,
                access.shows_a_token(),
                server["guarded"] == true,
                client.tokens().map(drop),
            ));
        }
        401 | 403 => {
            let said = server["error"].as_str().unwrap_or("it refuses us");
            let (found, advice) = said.split_once(": ").unwrap_or((said, "ask its owner for another token"));
            findings.push(Finding::problem(TOKEN, found, advice));
        }
        _ => {}
    }
    findings.extend(page.date.map(|theirs| clock(theirs, before, after)));
    findings
}

fn unreachable(url: &str, error: &anyhow::Error) -> Finding {
    let text = format!("{error:#}");
    let (found, advice) = match text.rsplit_once(": ") {
        Some((found, advice)) if advice.starts_with("start one") => (found.to_owned(), advice.to_owned()),
        _ => (text, "check the address".to_owned()),
    };
    let advice = match url.starts_with("https://") {
        true => format!(
            "{advice}; for TLS see --tls-ca, --tls-name and, where it asks for a certificate, --tls-cert"
        ),
        false => format!("{advice}; if it speaks TLS, write https://"),
    };
    Finding::problem(CHECK, found, advice)
}

/// What it is.
fn server_of(url: &str, page: &Page, server: &Value) -> Finding {
    let how = if url.starts_with("https://") { "over TLS" } else { "without TLS" };
    let ours = env!("CARGO_PKG_VERSION");
    match (page.status, server["version"].as_str()) {
        (200, Some(theirs)) if theirs == ours => {
            Finding::ok(CHECK, format!("version {theirs} answers at {url}, {how}"))
        }
        (200, Some(theirs)) => Finding::warning(
            CHECK,
            format!("version {theirs} answers at {url}, {how}; this is {ours}"),
            "use one version everywhere: games of another may be refused",
        ),
        (401 | 403, _) => Finding::ok(
            CHECK,
            format!("it answers at {url}, {how}, and its version is for holders of a token"),
        ),
        (status, _) => Finding::problem(
            CHECK,
            format!("something answers at {url} ({status}) that is not a coordinator of this ludus"),
            "check the address, and whether a proxy stands before it",
        ),
    }
}

fn readiness(server: &Value) -> Option<Finding> {
    let trouble = server["trouble"].as_str()?;
    let advice = "its log and /readyz say more; games wait until then";
    Some(Finding::problem(CHECK, format!("it cannot hand out games: {trouble}"), advice))
}

/// `asked` is the answer to a question that only admins may ask.
fn token(url: &str, shown: bool, guarded: bool, asked: Result<()>) -> Finding {
    if !guarded {
        return Finding::ok(TOKEN, "none is asked for: the coordinator has no tokens");
    }
    let role = match asked {
        Ok(()) => "it is for the role admin".to_owned(),
        Err(error) => {
            let text = error.to_string();
            // As in "the token NAME is for the role worker, and this needs the role admin".
            match text.split_once(", and this needs") {
                Some((role, _)) => role.to_owned(),
                None => {
                    return Finding::warning(
                        TOKEN,
                        format!("what it is for could not be found out ({text})"),
                        "ask again; as an admin, `ludus token list` tells",
                    );
                }
            }
        }
    };
    let found = format!("taken: {role}");
    let plain = url.strip_prefix("http://").or_else(|| (!url.contains("://")).then_some(url));
    let nearby = |host: &str| ["127.", "localhost", "[::1]"].iter().any(|near| host.starts_with(near));
    match plain {
        Some(host) if shown && !nearby(host) => {
            let advice = "without TLS everybody on the way can read it: serve with --tls-cert, or use a network you trust";
            Finding::warning(TOKEN, found, advice)
        }
        _ => Finding::ok(TOKEN, found),
    }
}

/// Their clock was read between two looks at ours.
fn clock(theirs: SystemTime, before: SystemTime, after: SystemTime) -> Finding {
    // What is within these two, and within the second that its header leaves open, is no difference.
    let late = before.duration_since(theirs + Duration::from_secs(1)).unwrap_or_default();
    let early = theirs.duration_since(after).unwrap_or_default();
    let apart = late.max(early);
    if apart < APART {
        return Finding::ok(CLOCK, "like that of the coordinator");
    }
    let side = if late > early { "behind" } else { "ahead of" };
    let found = format!("the coordinator's ({}) is {} s {side} this one", shown(theirs), apart.as_secs());
    let advice =
        "set both by NTP (timedatectl set-ntp true): ages of games, logs and certificates go by them";
    Finding::warning(CLOCK, found, advice)
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::super::finding::Health;
    use super::*;

    #[test]
    fn clocks_agree_within_the_time_that_the_question_took() {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds);
        for (theirs, before, after) in [(10, 10, 10), (10, 11, 11), (10, 5, 20), (10, 14, 14)] {
            assert_eq!(
                clock(at(theirs), at(before), at(after)).state,
                Health::Ok,
                "{theirs} {before} {after}"
            );
        }
        let late = clock(at(10), at(41), at(42));
        assert!(late.state == Health::Warning && late.found.contains("30 s behind"), "{late:?}");
        let early = clock(at(100), at(10), at(11));
        assert!(early.found.contains("89 s ahead of"), "{early:?}");
    }

    #[test]
    fn a_token_is_shown_with_its_role_and_a_warning_where_others_can_read_it() {
        let refused = || {
            let text =
                "the token lab is for the role worker, and this needs the role admin: use another token";
            Err(anyhow!(text))
        };
        let finding = token("https://far:1", true, true, refused());
        assert_eq!(
            (finding.state, finding.found.as_str()),
            (Health::Ok, "taken: the token lab is for the role worker")
        );
        assert!(token("http://127.0.0.1:1", true, true, Ok(())).found.ends_with("the role admin"));
        for url in ["http://far:1", "far:1"] {
            assert_eq!(token(url, true, true, Ok(())).state, Health::Warning);
        }
        assert_eq!(token("http://far:1", false, false, Ok(())).state, Health::Ok);
    }

    #[test]
    fn another_version_is_a_warning_and_something_else_a_problem() {
        let state = |status: u16, text: &str| {
            let page = Page { status, text: text.to_owned(), date: None };
            server_of("http://x", &page, &serde_json::from_str(text).unwrap_or_default()).state
        };
        assert_eq!(state(200, &format!("{{\"version\": {:?}}}", env!("CARGO_PKG_VERSION"))), Health::Ok);
        assert_eq!(state(200, "{\"version\": \"0.0.1\"}"), Health::Warning);
        assert_eq!(state(403, "{}"), Health::Ok);
        assert_eq!([state(200, "<html>"), state(404, "{}")], [Health::Problem; 2]);
    }
}
