//! What makes the program pleasant in a shell: completions, manual pages, configuration from three places, its version.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn ludus(args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ludus"));
    command.args(args).env_remove("RUST_LOG").stdin(Stdio::null());
    command.envs(variables.iter().copied()).output().expect("ludus starts")
}

/// What a command wrote that must succeed.
fn ok(args: &[&str], variables: &[(&str, &str)]) -> String {
    let output = ludus(args, variables);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The one line of a command that must refuse its configuration.
fn refused(args: &[&str], variables: &[(&str, &str)]) -> String {
    let output = ludus(args, variables);
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(64), "{args:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr
}

/// Whether a program that a test needs is there; says so where it is not.
fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !there {
        eprintln!("skipped: {program} is not installed");
    }
    there
}

/// What a shell that must succeed wrote.
fn shell(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{program} {args:?}: {stderr}");
    String::from_utf8(output.stdout).expect("text")
}

fn arg(path: &Path) -> &str {
    path.to_str().expect("a path of plain letters")
}

#[test]
fn every_shell_has_completions_and_bash_completes_commands_options_and_games() {
    let place = TempDir::new().unwrap();
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ok(&["completions", name], &[]);
        assert!(script.contains("coordinator") && script.contains("doctor"), "{name}");
        std::fs::write(place.path().join(name), script).unwrap();
    }
    for name in ["bash", "zsh", "fish"].into_iter().filter(|name| has(name)) {
        shell(name, &["-n", arg(&place.path().join(name))]);
    }
    if !has("bash") {
        return;
    }
    let script = place.path().join("bash");
    let complete = |words: &[&str]| {
        let last = words.len() - 1;
        let (word, before) = (words[last], words[last - 1]);
        let lines = format!(
            "source {} && COMP_WORDS=({}) COMP_CWORD={last} && _ludus ludus '{word}' '{before}' && echo \"${{COMPREPLY[*]}}\"",
            arg(&script),
            words.join(" "),
        );
        shell("bash", &["-c", &lines]).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["ludus", "co"]), ["coordinator", "config", "completions"]);
    assert_eq!(complete(&["ludus", "run", "st"]), ["stop"]);
    assert!(complete(&["ludus", "worker", "--tls-"]).contains(&"--tls-ca".to_owned()));
    assert_eq!(complete(&["ludus", "train", "oth"]), ["othello"]);
}

#[test]
fn every_command_has_a_manual_page_that_man_takes() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("man1");
    let said = ok(&["man", "--out", arg(&dir)], &[]);
    let pages: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|page| page.unwrap().path()).collect();
    assert!(said.starts_with(&format!("{} pages in ", pages.len())), "{said}");
    for name in ["ludus", "ludus-train", "ludus-run-create", "ludus-doctor", "ludus-weights-export"] {
        assert!(dir.join(format!("{name}.1")).is_file(), "{name}");
    }
    let one = ok(&["man", "run", "create"], &[]);
    assert_eq!(one, std::fs::read_to_string(dir.join("ludus-run-create.1")).unwrap());
    assert!(!ludus(&["man", "run", "away"], &[]).status.success());

    if has("mandoc") {
        for page in &pages {
            shell("mandoc", &["-T", "lint", "-W", "error", arg(page)]);
        }
    }
    if has("groff") {
        for page in &pages {
            let text = shell("groff", &["-man", "-ww", "-Tutf8", arg(page)]);
            assert!(text.contains("(1)"), "{}", page.display());
        }
    }
}

#[test]
fn config_show_says_where_each_value_came_from_and_can_be_read_back() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("run.toml");
    std::fs::write(&file, "seed = 2\n\n[learn]\nlambda = 0.5\nbatch = 64\nreplay = 2\n").unwrap();
    let show = ["config", "show", "--config", arg(&file), "--set", "learn.replay=4"];
    let variables = [("LUDUS_RUN__LEARN__BATCH", "32"), ("LUDUS_RUN__LEARN__REPLAY", "3")];
    let text = ok(&show, &variables);
    for line in [
        format!("seed = 2 # from {}, line 1", file.display()),
        format!("lambda = 0.5 # from {}, line 4", file.display()),
        "batch = 32 # from LUDUS_RUN__LEARN__BATCH".to_owned(),
        "replay = 4 # from --set learn.replay".to_owned(),
        "average = 0.1".to_owned(),
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line} is not in {text}");
    }
    let shown = place.path().join("shown.toml");
    std::fs::write(&shown, &text).unwrap();
    let values = |args: &[&str], variables: &[(&str, &str)]| -> Vec<Value> {
        serde_json::from_str(&ok(&[args, &["--json"]].concat(), variables)).expect("JSON")
    };
    let (before, after) =
        (values(&show, &variables), values(&["config", "show", "--config", arg(&shown)], &[]));
    let plain = |list: &[Value]| {
        list.iter().map(|entry| (entry["key"].clone(), entry["value"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(plain(&before), plain(&after));
    let of = |key: &str| before.iter().find(|entry| entry["key"] == key).expect("every key is there");
    let origins = ["learn.replay", "learn.batch", "seed", "gate.alpha"].map(|key| of(key)["origin"].clone());
    assert_eq!(origins, ["flag", "environment", "file", "default"]);

    let othello = ok(&["config", "show", "--game", "othello"], &[]);
    assert!(
        othello.contains("game = \"othello\" # from --game") && othello.contains("# the default of othello")
    );
    // Without anything said, only what the game wants is remarked upon.
    let plain = ok(&["config", "show"], &[]);
    let mut remarks =
        plain.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" # "));
    assert!(remarks.all(|(_, remark)| remark == "the default of backgammon"), "{plain}");
    assert!(plain.lines().any(|line| line == "alpha = 0.05"));
}

#[test]
fn a_wrong_setting_is_refused_alike_by_every_command_with_its_name_and_a_way_out() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("run");
    for command in [
        &["config", "show"][..],
        &["run", "create", "--dir", arg(&dir)],
        &["train", "backgammon", "--dir", arg(&dir)],
    ] {
        let set = |text: &'static str| refused(&[command, &["--set", text]].concat(), &[]);
        let line = set("learn.lamda=0.5");
        assert!(
            line.contains("--set learn.lamda: unknown key `learn.lamda`; did you mean `learn.lambda`?"),
            "{line}"
        );
        let line = set("learn.lambda=1.5");
        assert!(
            line.contains("--set learn.lambda: `learn.lambda` is 1.5, but it must lie between 0 and 1"),
            "{line}"
        );
        assert!(set("phases.1.lambda=0.5").contains("phases are set in a file"));
        let line = refused(command, &[("LUDUS_RUN__LEARN__LAMDA", "0.5")]);
        assert!(line.contains("did you mean LUDUS_RUN__LEARN__LAMBDA?"), "{line}");
    }
    assert!(!dir.exists(), "nothing is made for a configuration that is refused");
    let line = refused(&["train", "backgammon", "--dir", arg(&dir)], &[("LUDUS_RUN__GAME", "othello")]);
    assert!(line.contains("LUDUS_RUN__GAME is a configuration for othello, not for backgammon"), "{line}");
    assert_eq!(ludus(&["config", "show", "--set", "learn.lambda"], &[]).status.code(), Some(2));
}

#[test]
fn a_run_is_created_with_what_flags_and_variables_say() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("run");
    // An empty folder is begun in by the first token; the run is made through the same door.
    ok(&["token", "create", "owner", "--role", "admin", "--dir", arg(&dir)], &[]);
    let set = ["--set", "game=othello", "--set", "learn.batch=77"];
    let variables = [("LUDUS_RUN__SEED", "5"), ("LUDUS_RUN__LEARN__BATCH", "66")];
    ok(&[&["run", "create", "--dir", arg(&dir)], &set[..]].concat(), &variables);
    let run: Value =
        serde_json::from_str(&ok(&["run", "show", "--dir", arg(&dir), "--json"], &[])).expect("JSON");
    let config: toml::Table = run["config"].as_str().expect("text").parse().expect("TOML");
    assert_eq!((config["seed"].as_integer(), config["learn"]["batch"].as_integer()), (Some(5), Some(77)));
    assert_eq!(config["game"].as_str(), Some("othello"));
}

#[test]
fn the_version_names_the_commit_of_a_release_and_none_outside_a_git_tree() {
    let said = ok(&["--version"], &[]);
    assert!(said.starts_with(concat!("ludus ", env!("CARGO_PKG_VERSION"))), "{said}");
    if !has("git") || !has("rustc") {
        return;
    }
    let place = TempDir::new().unwrap();
    let program = place.path().join("build");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-o"]).arg(&program).arg(source).env("CARGO_PKG_VERSION", "1.2.3");
    assert!(rustc.status().expect("rustc starts").success());
    let folder = place.path().join("package");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("Cargo.toml"), "").unwrap();
    let said = |profile: &str, commit: &str| {
        let mut command = Command::new(&program);
        command.current_dir(&folder).env("PROFILE", profile).env("LUDUS_COMMIT", commit);
        // Nothing above the temporary folder counts.
        let output = command.env("GIT_CEILING_DIRECTORIES", place.path()).output().expect("it starts");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    };
    let version = |said: &str| {
        said.lines().find_map(|line| line.strip_prefix("cargo:rustc-env=LUDUS_VERSION=").map(str::to_owned))
    };
    assert_eq!(version(&said("release", "")).as_deref(), Some("1.2.3"));
    assert_eq!(version(&said("release", "abc123")).as_deref(), Some("1.2.3 (abc123)"));
    assert_eq!(version(&said("release", "two words")).as_deref(), Some("1.2.3"));
    assert_eq!(version(&said("debug", "")).as_deref(), Some("1.2.3 (development build)"));

    let git = |args: &[&str]| {
        let name = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"];
        let output =
            Command::new("git").current_dir(&folder).args(name).args(args).output().expect("git starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    assert_eq!(version(&said("release", "")).as_deref(), Some("1.2.3"), "a git tree of somebody else");
    git(&["add", "Cargo.toml"]);
    git(&["commit", "-q", "-m", "the package"]);
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let release = said("release", "");
    assert_eq!(version(&release), Some(format!("1.2.3 ({commit})")));
    // Every file that cargo watches is there; it would take a missing one for changed at every build.
    let watched = release.lines().filter_map(|line| line.strip_prefix("cargo:rerun-if-changed="));
    let watched: Vec<&str> = watched.filter(|path| *path != "build.rs").collect();
    assert!(watched.iter().any(|path| path.ends_with("HEAD")), "{release}");
    assert!(watched.iter().all(|path| folder.join(path).is_file()), "{release}");
}
