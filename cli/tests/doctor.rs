//! `ludus doctor` beside servers that are well and servers that are not.

#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use std::net::TcpListener;

use redis_server::RedisServer;
use serde_json::Value;
use support::{Place, Process, arg};

/// What `ludus doctor --json` finds, and whether it ends well.
fn examine(place: &Place, args: &[&str]) -> (bool, Vec<Value>) {
    let output = place.run(&[&["doctor", "--json"], args].concat());
    let findings = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}: {} {}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (output.status.success(), findings)
}

/// State and words of everything found about one thing, a line each.
fn about(findings: &[Value], check: &str) -> String {
    let of_it = findings.iter().filter(|finding| finding["check"] == check);
    let line = |finding: &Value| {
        let word = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        format!("{}: {} -> {}\n", word("state"), word("found"), word("advice"))
    };
    of_it.map(line).collect()
}

/// A coordinator of a new folder, and where it is.
fn coordinator(place: &Place, dir: &str) -> (Process, String) {
    let mut process = place.start("coordinator", &["coordinator", "--dir", dir, "--listen", "127.0.0.1:0"]);
    let line = process.first_line();
    let url = line.split_whitespace().find(|word| word.starts_with("http")).expect("its address");
    let url = url.trim_end_matches(',').to_owned();
    (process, url)
}

#[test]
fn without_options_it_looks_at_this_machine_and_says_what_would_check_more() {
    let place = Place::new();
    let text = place.ok(&["doctor"]);
    for check in ["processor", "files", "clock"] {
        assert!(text.lines().any(|line| line.contains(check)), "{check}: {text}");
    }
    assert!(text.contains("AVX") || text.contains("NEON") || text.contains("plain instructions"), "{text}");
    let last = text.lines().last().expect("a summary");
    assert!(
        last.starts_with("no problems") && last.contains("--redis, --coordinator would check more"),
        "{last}"
    );
    let (well, findings) = examine(&place, &[]);
    assert!(well && findings.iter().all(|finding| finding["state"] != "problem"), "{findings:?}");
}

#[test]
fn a_redis_that_would_lose_games_is_a_problem_and_one_that_keeps_them_is_not() {
    let place = Place::new();
    let mut server = RedisServer::start();
    let url = server.url();
    let (well, findings) = examine(&place, &["--redis", &url]);
    let redis = about(&findings, "redis");
    assert!(well && redis.lines().all(|line| line.starts_with("ok: ")), "{redis}");
    assert!(redis.contains("noeviction") && redis.contains("appendonly yes"), "{redis}");

    server.ask(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    server.ask(&["CONFIG", "SET", "appendonly", "no"]);
    let (well, findings) = examine(&place, &["--redis", &url]);
    let redis = about(&findings, "redis");
    assert!(!well, "{redis}");
    assert!(
        redis
            .contains("problem: it throws games away when its memory is full (maxmemory-policy allkeys-lru)")
    );
    assert!(redis.contains("-> CONFIG SET maxmemory-policy noeviction"), "{redis}");
    assert!(
        redis.contains("warning: it forgets games when it ends (appendonly no) -> CONFIG SET appendonly yes")
    );
    let line = place.refused(1, &["doctor", "--redis", &url]);
    assert_eq!(line, "error: there is a problem\n");

    server.ask(&["ACL", "SETUSER", "blind", "on", ">pass", "~*", "+ping", "+@stream"]);
    let blind = url.replace("redis://", "redis://blind:pass@");
    let redis = about(&examine(&place, &["--redis", &blind]).1, "redis");
    assert!(redis.starts_with("warning: ") && redis.contains("+info"), "{redis}");
    assert!(!redis.contains("pass@"), "{redis}");

    server.kill();
    let (well, findings) = examine(&place, &["--redis", &url]);
    let redis = about(&findings, "redis");
    assert!(
        !well && redis.starts_with("problem: ") && redis.contains("redis-server --appendonly yes"),
        "{redis}"
    );
}

#[test]
fn a_port_in_use_and_a_folder_that_is_a_file_are_problems() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let file = place.file("file", "");
    let (well, findings) =
        examine(&place, &["--listen", &address, "--listen", "127.0.0.1:0", "--dir", &file]);
    let port = about(&findings, "port");
    assert!(!well && port.starts_with(&format!("problem: nobody can listen at {address}")), "{port}");
    assert!(port.contains("ss -ltnp"), "{port}");
    assert!(port.contains("ok: 127.0.0.1:0 is free"), "{port}");
    assert!(about(&findings, "folder").contains("is a file"), "{findings:?}");

    let dir = place.path("new");
    let (well, findings) = examine(&place, &["--dir", arg(&dir)]);
    assert!(well && about(&findings, "folder").contains("(new) can be written"), "{findings:?}");
    assert!(!dir.exists(), "nothing is made");
}

#[test]
fn the_way_to_a_coordinator_is_walked_with_and_without_tokens() {
    let place = Place::new();
    let dir = place.path("data");
    let (server, url) = coordinator(&place, arg(&dir));
    let (well, findings) = examine(&place, &["--coordinator", &url]);
    assert!(well, "{findings:?}");
    let version = format!("ok: version {} answers at {url}, without TLS", env!("CARGO_PKG_VERSION"));
    assert!(about(&findings, "coordinator").starts_with(&version), "{findings:?}");
    assert!(about(&findings, "token").contains("none is asked for"), "{findings:?}");
    assert!(about(&findings, "clock").contains("ok: like that of the coordinator"), "{findings:?}");

    let token = |name: &str, role: &str| {
        let secret = place.ok(&["token", "create", name, "--role", role, "--dir", arg(&dir)]);
        place.file(&format!("{name}.token"), &secret)
    };
    let (owner, worker) = (token("owner", "admin"), token("laboratory", "worker"));
    let with = |file: &str| examine(&place, &["--coordinator", &url, "--token-file", file]);
    let (well, findings) = with(&owner);
    assert!(
        well && about(&findings, "token").starts_with("ok: taken: it is for the role admin"),
        "{findings:?}"
    );
    let (well, findings) = with(&worker);
    let taken = "ok: taken: the token laboratory is for the role worker";
    assert!(well && about(&findings, "token").starts_with(taken), "{findings:?}");

    let (well, findings) = examine(&place, &["--coordinator", &url]);
    let none = about(&findings, "token");
    assert!(!well && none.starts_with("problem: ") && none.contains("--token-file"), "{none}");
    let (well, findings) = with(&place.file("wrong.token", "ludus_0123"));
    let unknown = about(&findings, "token");
    assert!(!well && unknown.contains("does not know this token") && !unknown.contains("0123"), "{unknown}");
    let (well, findings) = with("/nowhere/token");
    assert!(!well && about(&findings, "coordinator").contains("/nowhere/token"), "{findings:?}");

    server.kill();
    let (well, findings) = with(&owner);
    let gone = about(&findings, "coordinator");
    assert!(!well && gone.starts_with("problem: no coordinator answers at"), "{gone}");
    assert!(gone.contains("start one with `ludus coordinator`") && gone.contains("write https://"), "{gone}");
}
