//! The Redis that carries games: would it keep them.

use std::time::Duration;

use ludus_stream::{REDIS_NEEDED, RedisFacts, StreamError, StreamHome};

use super::finding::{Finding, size};
use crate::roles;

const CHECK: &str = "redis";
/// Patience with it.
const ANSWER: Duration = Duration::from_secs(10);

/// Everything about it.
pub(super) fn check(url: &str) -> Vec<Finding> {
    // Without what is secret in it.
    let shown = StreamHome::Redis { url: url.to_owned() }.to_string();
    let facts = match roles::runtime() {
        Ok(runtime) => runtime.block_on(async { tokio::time::timeout(ANSWER, RedisFacts::ask(url)).await }),
        Err(error) => return vec![Finding::problem(CHECK, format!("cannot ask: {error}"), "try again")],
    };
    match facts {
        Ok(Ok(facts)) => judge(&shown, &facts),
        Ok(Err(StreamError::Refused { cause, .. })) if cause.code() == Some("NOPERM") => {
            let found = format!("{shown} answers, and does not let this user look ({cause})");
            vec![Finding::warning(
                CHECK,
                found,
                "let the user of the address use INFO, too: ACL SETUSER NAME +info",
            )]
        }
        Ok(Err(error)) => {
            let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            // These errors end with what to do.
            let (found, advice) =
                text.rsplit_once("): ").map_or((text.as_str(), "correct the address"), |split| split);
            let closed = if text.contains("): ") { ")" } else { "" };
            vec![Finding::problem(CHECK, format!("{found}{closed}"), advice)]
        }
        Err(_) => {
            let found = format!("{shown} does not answer within {} seconds", ANSWER.as_secs());
            vec![Finding::problem(CHECK, found, "it is overloaded, or something else listens there")]
        }
    }
}

fn judge(shown: &str, facts: &RedisFacts) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (major, minor) = REDIS_NEEDED;
    findings.push(if facts.is_new_enough() {
        Finding::ok(CHECK, format!("version {} at {shown}", facts.version))
    } else {
        let found = format!("version {} at {shown} is too old", facts.version);
        Finding::problem(CHECK, found, format!("install {major}.{minor} or newer"))
    });
    if facts.replica {
        let advice = "name the one it copies, which alone takes games";
        findings.push(Finding::problem(CHECK, "it is a copy of another Redis", advice));
    }
    if facts.loading {
        let advice = "roles wait for it; look again when it has read them";
        findings.push(Finding::warning(CHECK, "it is still reading its data", advice));
    }
    findings.push(match facts.eviction.as_str() {
        "noeviction" | "" => Finding::ok(CHECK, "it throws nothing away (maxmemory-policy noeviction)"),
        policy => Finding::problem(
            CHECK,
            format!("it throws games away when its memory is full (maxmemory-policy {policy})"),
            "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf",
        ),
    });
    findings.push(if facts.appends {
        Finding::ok(CHECK, "it writes down what it takes (appendonly yes)")
    } else {
        let advice = "CONFIG SET appendonly yes, and the same in redis.conf; otherwise games are sent again after its restart";
        Finding::warning(CHECK, "it forgets games when it ends (appendonly no)", advice)
    });
    for (failed, what) in
        [(facts.append_failed, "its last write"), (facts.snapshot_failed, "its last snapshot")]
    {
        if failed {
            let advice = "its log says why; most often its disk is full or its folder not writable";
            findings.push(Finding::problem(CHECK, format!("{what} to its disk failed"), advice));
        }
    }
    findings.push(memory(facts.used_memory, facts.most_memory));
    findings
}

fn memory(used: u64, most: u64) -> Finding {
    let (advice, found) = match most {
        0 => return Finding::ok(CHECK, format!("{} of memory in use, without a limit", size(used))),
        most => (
            "a full Redis takes no games: raise maxmemory; a run needs some 6 MB with the default backlog",
            format!("{} of memory in use, {} at most", size(used), size(most)),
        ),
    };
    match used {
        _ if used >= most => Finding::problem(CHECK, found, advice),
        _ if used >= most / 10 * 9 => Finding::warning(CHECK, found, advice),
        _ => Finding::ok(CHECK, found),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Health;
    use super::*;

    fn good() -> RedisFacts {
        let (version, eviction) = ("7.0.15".to_owned(), "noeviction".to_owned());
        RedisFacts { version, eviction, appends: true, used_memory: 1 << 20, ..RedisFacts::default() }
    }

    /// What is not well.
    fn ill(change: impl FnOnce(&mut RedisFacts)) -> Vec<(Health, String)> {
        let mut facts = good();
        change(&mut facts);
        let findings = judge("redis://x", &facts).into_iter().filter(|finding| finding.state != Health::Ok);
        findings.map(|finding| (finding.state, finding.found)).collect()
    }

    #[test]
    fn each_fault_is_found_alone_and_a_good_redis_has_none() {
        assert_eq!(ill(|_| {}), []);
        let one = |change: fn(&mut RedisFacts), state, word: &str| {
            let found = ill(change);
            assert!(
                found.len() == 1 && found[0].0 == state && found[0].1.contains(word),
                "{word}: {found:?}"
            );
        };
        one(|facts| facts.version = "6.2.7".into(), Health::Problem, "6.2.7");
        one(|facts| facts.replica = true, Health::Problem, "copy");
        one(|facts| facts.loading = true, Health::Warning, "reading");
        one(|facts| facts.eviction = "allkeys-lru".into(), Health::Problem, "allkeys-lru");
        one(|facts| facts.appends = false, Health::Warning, "appendonly no");
        one(|facts| facts.append_failed = true, Health::Problem, "last write");
        one(|facts| facts.snapshot_failed = true, Health::Problem, "snapshot");
        one(|facts| facts.most_memory = 1 << 20, Health::Problem, "1.0 MiB at most");
        one(|facts| facts.most_memory = (1 << 20) + (1 << 16), Health::Warning, "at most");
    }
}
