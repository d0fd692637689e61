//! What lies in deploy/, checked as far as that goes without a cluster. What a check needs and this machine lacks is said.

mod support;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use support::{Place, arg, until};

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

/// Runs a program that may not be there; then says what to install, and gives nothing.
fn run(program: &str, args: &[&str], package: &str) -> Option<Output> {
    match Command::new(program).args(args).current_dir(deploy()).stdin(Stdio::null()).output() {
        Ok(output) => Some(output),
        Err(_) => {
            eprintln!("skipped: there is no {program} ({package})");
            None
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

const OVERLAYS: [&str; 4] = ["laptop", "external-redis", "spot", "s3"];

/// An overlay as kubectl renders it.
fn rendered(overlay: &str) -> Option<String> {
    let folder = format!("kubernetes/overlays/{overlay}");
    let output = run("kubectl", &["kustomize", &folder], "Debian: kubernetes-client")?;
    assert!(output.status.success(), "{overlay}: {}", text(&output));
    Some(String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn manifests_are_rendered_and_follow_the_schemas_of_kubernetes() {
    let python = std::env::var("LUDUS_PYTHON").unwrap_or_else(|_| "python3".into());
    for overlay in OVERLAYS {
        let Some(manifests) = rendered(overlay) else { return };
        for expected in [
            "kind: Deployment",
            "kind: StatefulSet",
            "kind: PodDisruptionBudget",
            "kind: NetworkPolicy",
            "type: Recreate",
            "maxUnavailable: 50%",
            "terminationGracePeriodSeconds: 60",
            "runAsNonRoot: true",
            "readOnlyRootFilesystem: true",
        ] {
            assert!(manifests.contains(expected), "{overlay} lacks {expected}");
        }
        assert_eq!(manifests.contains("kind: HorizontalPodAutoscaler"), overlay != "laptop");
        assert_eq!(manifests.contains("image: redis"), overlay == "laptop");
        for of_s3 in ["name: store", "name: to-store", "OTEL_EXPORTER_OTLP_ENDPOINT", "value: json"] {
            assert_eq!(manifests.contains(of_s3), overlay == "s3", "{overlay}: {of_s3}");
        }
        let has_module =
            Command::new(&python).args(["-c", "import kubernetes_validate"]).stderr(Stdio::null()).status();
        if !has_module.is_ok_and(|status| status.success()) {
            eprintln!("skipped: {python} has no kubernetes-validate from PyPI (LUDUS_PYTHON names another)");
            continue;
        }
        let mut file = tempfile::NamedTempFile::with_suffix(".yaml").expect("a file");
        file.write_all(manifests.as_bytes()).expect("written");
        let validating =
            Command::new(&python).args(["-m", "kubernetes_validate", "--strict"]).arg(file.path()).output();
        let output = validating.expect("python starts");
        assert!(output.status.success(), "{overlay}: {}", text(&output));
    }
}

/// The arguments of every container of ludus in a list of manifests.
fn arguments(manifests: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = manifests.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let plain = |word: &str| word.trim_matches(['"', '\'']).to_owned();
    let starts =
        lines.iter().enumerate().filter(|(_, line)| line.trim_start().trim_start_matches("- ") == "args:");
    let all = starts.map(|(i, line)| {
        let depth = indent(line) + if line.trim_start().starts_with("- ") { 2 } else { 0 };
        let items = lines[i + 1..]
            .iter()
            .take_while(|item| indent(item) == depth && item.trim_start().starts_with("- "));
        items.map(|item| plain(item.trim_start().trim_start_matches("- "))).collect::<Vec<_>>()
    });
    all.filter(|args| args.first().is_some_and(|first| !first.contains("redis"))).collect()
}

#[test]
fn what_the_manifests_tell_ludus_is_what_it_understands() {
    let Some(manifests) = rendered("laptop") else { return };
    let all = arguments(&manifests);
    let roles: BTreeSet<&str> = all.iter().map(|args| args[0].as_str()).collect();
    assert_eq!(roles, BTreeSet::from(["coordinator", "trainer", "worker"]), "{all:?}");
    for args in &all {
        // With --help behind it, everything before is read and nothing is done.
        let output =
            Command::new(env!("CARGO_BIN_EXE_ludus")).args(args).arg("--help").output().expect("it starts");
        assert!(output.status.success(), "{args:?}: {}", text(&output));
        let help = text(&output);
        for option in args.iter().filter(|arg| arg.starts_with("--")) {
            assert!(help.contains(option.as_str()), "{option} is no option of {}", args[0]);
        }
    }
    for line in read(deploy().join("compose.yaml")).lines() {
        let Some(list) = line.trim().strip_prefix("command: [").and_then(|rest| rest.strip_suffix(']'))
        else {
            continue;
        };
        let args: Vec<&str> = list.split(", ").map(|word| word.trim_matches('"')).collect();
        if args[0].starts_with('-') || args[0].starts_with("redis") {
            continue;
        }
        let output =
            Command::new(env!("CARGO_BIN_EXE_ludus")).args(&args).arg("--help").output().expect("it starts");
        assert!(output.status.success(), "{args:?}: {}", text(&output));
        for option in args.iter().filter(|arg| arg.starts_with("--")) {
            assert!(text(&output).contains(option), "{option} is no option of {}", args[0]);
        }
    }
}

/// The guide from an empty cluster to a run.
fn guide() -> String {
    read(deploy().join("../docs/cluster.md"))
}

/// What the guide's five commands do once kubectl has brought them to the coordinator: they make tokens with which a
/// trainer and a worker take part, and the run itself.
#[test]
fn the_five_commands_of_the_guide_lead_to_a_run_that_is_played_and_learnt() {
    let guide = guide();
    let block = guide.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    assert_eq!(block.lines().count(), 5, "{block}");
    let commands: Vec<Vec<&str>> = (block.lines())
        .filter_map(|line| line.split(" -- ludus ").nth(1)?.split(" | ").next())
        .map(|command| command.split(' ').collect())
        .collect();
    let [trainer, workers, run] = &commands[..] else { panic!("{commands:?}") };

    let place = Place::new();
    let data = place.path("data");
    let first = read(deploy().join("kubernetes/base/coordinator.yaml"));
    let first = first.split("[sh, -c, \"").nth(1).and_then(|rest| rest.split("\"]").next());
    let first = first.expect("a first token").replace("/data", arg(&data));
    std::fs::create_dir(&data).expect("a volume");
    let folder = Path::new(env!("CARGO_BIN_EXE_ludus")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    // As often as the pod starts.
    for _ in 0..2 {
        let made = Command::new("sh").args(["-c", &first]).env("PATH", &path).output().expect("sh starts");
        assert!(made.status.success(), "{}", text(&made));
    }
    let owner = data.join("owner.token");

    let mut coordinator =
        place.start("coordinator", &["coordinator", "--dir", arg(&data), "--listen", "127.0.0.1:0"]);
    let line = coordinator.first_line();
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("its address");
    let url = url.trim_end_matches(',');
    let there = |command: &[&str]| {
        let words = command.iter().map(|word| if *word == "/data" { arg(&data) } else { word });
        place.ok(&words.collect::<Vec<_>>())
    };
    let (trainer, worker) = (there(trainer), there(workers));
    let [trainer, worker] = [("trainer.token", trainer), ("worker.token", worker)]
        .map(|(name, secret)| place.file(name, &secret));
    there(run);
    let checkpoints = place.path("trainer");
    let shown = ["--coordinator", url, "--token-file"];
    let learning = ["trainer", "--dir", arg(&checkpoints), "--stream-dir", arg(&data)];
    let _trainer = place.start("trainer", &[&learning[..], &shown, &[&trainer]].concat());
    let _worker = place.start("worker", &[&["worker", "--threads", "1"][..], &shown, &[&worker]].concat());
    until("games come in, and a version", || {
        let run = place.json(&[&["run", "show", "--json"][..], &shown, &[arg(&owner)]].concat());
        let accepted = run["self_play"]["accepted"].as_u64()?;
        (accepted > 0 && run["latest_version"].as_u64()? > 0).then_some(())
    });
}

#[test]
fn sizes_and_costs_of_the_guide_add_up() {
    let guide = guide();
    let number = |text: &str| {
        let word = text.split_whitespace().next().expect("a number").replace(',', "");
        word.parse::<f64>().unwrap_or_else(|_| panic!("{text} begins with no number"))
    };
    let rows = guide.lines().skip_while(|line| !line.starts_with("| workers (cores)")).skip(2);
    let rows: Vec<Vec<&str>> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let workers: Vec<f64> = rows.iter().map(|row| number(row[0])).collect();
    assert_eq!(workers, [2.0, 10.0, 100.0, 1000.0]);
    // Wherever its lines are wrapped.
    let words = guide.split_whitespace().collect::<Vec<_>>().join(" ");
    let costs = words.split("at 0.01 a core-hour (spot) the rows are").nth(1).expect("costs");
    let costs = costs.split("a day").next().expect("an end").replace(" and", ",");
    let costs: Vec<f64> = costs.split(", ").map(number).collect();
    assert_eq!(costs.len(), rows.len());
    for (row, cost) in rows.iter().zip(costs) {
        let hours = 24.0 * [0, 2, 3, 4].map(|column| number(row[column])).iter().sum::<f64>();
        assert!((number(row[6]) / hours - 1.0).abs() < 0.01, "{row:?}: {hours} core-hours");
        assert!((cost / (0.01 * hours) - 1.0).abs() < 0.02, "{row:?}: {cost} a day");
    }
}

#[test]
fn the_alerts_are_sound_and_ring_when_they_should() {
    for args in [
        ["check", "rules", "prometheus/rules.yaml"],
        ["test", "rules", "prometheus/rules-test.yaml"],
        ["check", "config", "prometheus/prometheus.yaml"],
    ] {
        let Some(output) = run("promtool", &args, "Debian: prometheus") else { return };
        assert!(output.status.success(), "{args:?}: {}", text(&output));
    }
}

#[test]
fn variables_that_are_set_are_variables_that_are_read_and_the_image_has_what_reads_them() {
    let compose = read(deploy().join("compose.yaml"));
    // No other lists stand one item a line there.
    let listed = compose.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect::<Vec<_>>();
    let help = ["coordinator", "trainer", "worker"].map(|role| {
        text(&Command::new(env!("CARGO_BIN_EXE_ludus")).args([role, "--help"]).output().expect("it starts"))
    });
    let others = ["OTEL_EXPORTER_OTLP_ENDPOINT"];
    for name in &listed {
        assert!(others.contains(name) || help.iter().any(|help| help.contains(name)), "{name}");
    }
    assert!(listed.contains(&"LUDUS_STORE") && listed.contains(&"LUDUS_LOG_FORMAT"), "{listed:?}");
    let secrets = listed.iter().filter(|name| **name == "AWS_SECRET_ACCESS_KEY").count();
    assert_eq!(secrets, 1, "the coordinator alone has the keys of the bucket");
    assert!(read(deploy().join("Dockerfile")).contains("--features otel,s3"));
}

#[test]
fn the_compose_file_is_one() {
    let asked = Command::new("docker").args(["compose", "version"]).output();
    if asked.is_ok_and(|output| output.status.success()) {
        let output =
            run("docker", &["compose", "-f", "compose.yaml", "config", "--quiet"], "").expect("it was there");
        assert!(output.status.success(), "{}", text(&output));
        return;
    }
    // Debian's is of before files had names; all the rest it knows.
    let compose = read(deploy().join("compose.yaml"));
    let nameless = compose.lines().filter(|line| !line.starts_with("name: ")).map(|line| format!("{line}\n"));
    let mut file = tempfile::NamedTempFile::with_suffix(".yaml").expect("a file");
    file.write_all(nameless.collect::<String>().as_bytes()).expect("written");
    let args = ["--project-directory", ".", "-f", file.path().to_str().expect("a path"), "config", "--quiet"];
    let package = "it comes with Docker; Debian: docker-compose";
    let Some(output) = run("docker-compose", &args, package) else { return };
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn alerts_dashboard_and_documentation_speak_of_metrics_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = ["../coordinator/src/http/metrics.rs", "src/commands/worker.rs", "src/commands/trainer.rs"];
    let known: BTreeSet<String> = sources.iter().flat_map(|file| names(&read(root.join(file)))).collect();
    assert!(known.len() > 40, "{known:?}");
    let dashboard = read(deploy().join("grafana/ludus.json"));
    let parsed: serde_json::Value = serde_json::from_str(&dashboard).expect("JSON");
    let panels = parsed["panels"].as_array().expect("panels");
    let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "no two panels have one number");
    for (file, text) in [
        ("grafana/ludus.json", dashboard),
        ("prometheus/rules.yaml", read(deploy().join("prometheus/rules.yaml"))),
        ("kubernetes/base/workers.yaml", read(deploy().join("kubernetes/base/workers.yaml"))),
    ] {
        let used = names(&text);
        assert!(!used.is_empty());
        let unknown: Vec<_> = used.difference(&known).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
}

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !part(c) && c != ':');
    words.filter(|word| word.starts_with("ludus_")).map(str::to_owned).collect()
}
