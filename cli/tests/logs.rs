//! What the roles of a cluster say of their work, as programs read it: log lines in JSON, and traces.

#[path = "support/collector.rs"]
#[cfg(feature = "otel")]
mod collector;
mod support;

use serde_json::Value;
use support::{Place, Process, TINY, arg, until};

/// A coordinator with a run, a trainer and a worker, told to log in JSON.
struct Cluster {
    place: Place,
    url: String,
    processes: Vec<(&'static str, Process)>,
}

impl Cluster {
    fn start(more: &[(&str, &str)]) -> Self {
        let mut place = Place::new();
        place.tell("LUDUS_LOG_FORMAT", "json");
        more.iter().for_each(|(name, value)| place.tell(name, value));
        let config = place.file("run.toml", TINY);
        let data = place.path("data");
        let listen = ["coordinator", "--dir", arg(&data), "--listen", "127.0.0.1:0"];
        let mut coordinator = place.start("coordinator", &listen);
        let line = coordinator.first_line();
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("its address");
        let url = url.trim_end_matches(',').to_owned();
        place.ok(&["run", "create", "--config", &config, "--name", "logged", "--coordinator", &url]);
        let checkpoints = place.path("trainer");
        let roles = ["--coordinator", &url, "--stream-dir", arg(&data), "--dir", arg(&checkpoints)];
        let trainer = place.start("trainer", &[&["trainer"], &roles[..]].concat());
        let worker = place.start("worker", &["worker", "--coordinator", &url, "--threads", "1"]);
        let processes = vec![("worker", worker), ("trainer", trainer), ("coordinator", coordinator)];
        Cluster { place, url, processes }
    }

    /// Waits for a promoted version, then tells everybody to stop.
    fn work(&mut self) {
        until("there is a champion", || {
            let run = self.place.json(&["run", "show", "logged", "--coordinator", &self.url, "--json"]);
            run["champion"].as_u64().filter(|&champion| champion > 0)
        });
        for (_, process) in self.processes.drain(..) {
            process.terminate();
            process.ends_well();
        }
    }

    /// The lines of a role, each an object.
    fn lines(&self, role: &str) -> Vec<Value> {
        let log = self.place.log(role);
        let object =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        log.lines().map(object).collect()
    }
}

#[test]
fn every_line_of_every_role_is_an_object_for_programs_that_read_logs() {
    let mut cluster = Cluster::start(&[]);
    cluster.work();
    for role in ["coordinator", "worker", "trainer"] {
        let lines = cluster.lines(role);
        assert!(!lines.is_empty(), "{role} said nothing");
        for line in &lines {
            for field in ["timestamp", "level", "target", "message"] {
                assert!(line[field].is_string(), "no {field}: {line}");
            }
        }
    }
    let published =
        cluster.lines("trainer").into_iter().find(|line| line["message"] == "published a version");
    assert!(published.is_some_and(|line| line["version"].as_u64() == Some(1)), "fields stay numbers");
    let promoted = |line: &Value| line["message"] == "a gate is decided" && line["verdict"] == "promoted";
    let lines = cluster.lines("coordinator");
    assert!(lines.iter().any(|line| promoted(line) && line["run"] == "logged"), "{lines:?}");
    // Why a role ends is such a line, too, and what people are told while they wait for `train`.
    let place = &cluster.place;
    let nowhere = place.run(&["worker", "--coordinator", "redis://x", "--log-format", "json"]);
    let error = String::from_utf8(nowhere.stderr).expect("text");
    let error: Value = serde_json::from_str(error.lines().last().expect("a line")).expect("an object");
    assert_eq!(error["level"], "ERROR");
    let folder = place.path("run");
    let training =
        place.run(&["train", "backgammon", "--time", "1s", "--dir", arg(&folder), "--log-format", "json"]);
    let said = String::from_utf8(training.stderr).expect("text");
    assert!(training.status.success() && !said.is_empty(), "{said}");
    said.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).expect("an object")));
}

#[cfg(not(feature = "otel"))]
#[test]
fn a_program_without_traces_says_so_once_when_they_are_asked_for() {
    let mut cluster = Cluster::start(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")]);
    cluster.work();
    for role in ["coordinator", "worker", "trainer"] {
        let lines = cluster.lines(role);
        let warns =
            |line: &&Value| line["message"].as_str().is_some_and(|text| text.contains("sends no traces"));
        let warnings: Vec<&Value> = lines.iter().filter(warns).collect();
        assert!(warnings.len() == 1 && warnings[0]["level"] == "WARN", "{role}: {warnings:?}");
    }
}

#[cfg(feature = "otel")]
#[test]
fn traces_lead_from_a_lease_through_the_call_that_hands_it_in_to_the_verdict_of_a_gate() {
    let collector = collector::Collector::start();
    let mut cluster = Cluster::start(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)]);
    cluster.work();
    let spans = collector.spans();
    let named = |service: &str, name: &str| {
        let found: Vec<_> =
            spans.iter().filter(|span| span.service == service && span.name == name).collect();
        assert!(!found.is_empty(), "no {name} of {service}");
        found
    };
    let leases = named("ludus-worker", "lease");
    let submits = named("ludus-coordinator", "ludus.v1.WorkerService/Submit");
    named("ludus-worker", "play");
    named("ludus-trainer", "round");
    let publish = named("ludus-trainer", "publish");
    // A call belongs to the trace of who makes it.
    let lease = leases.iter().find(|lease| submits.iter().any(|submit| submit.parent == lease.id));
    assert!(lease.is_some(), "{submits:?}");
    let taken = named("ludus-coordinator", "ludus.v1.TrainerService/Publish");
    assert!(taken.iter().any(|span| publish.iter().any(|publish| publish.trace == span.trace)));
    let gates = named("ludus-coordinator", "gate");
    let decided = gates.iter().find(|gate| {
        gate.attributes.iter().any(|(key, value)| (&**key, &**value) == ("verdict", "promoted"))
    });
    assert!(decided.is_some_and(|gate| submits.iter().any(|submit| submit.id == gate.parent)));
}

#[cfg(feature = "otel")]
#[test]
fn a_collector_that_is_away_stops_nothing() {
    let mut cluster = Cluster::start(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")]);
    cluster.work();
}
