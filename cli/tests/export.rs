//! Networks for other programs say what the kernel says.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use ludus_games::Backgammon;
use ludus_players::arena::{Arena, Seating, Source};
use ludus_players::game_arena::GameArena;
use serde_json::json;

/// Computes each case by onnxruntime and compares it with the kernel's numbers.
const CHECK: &str = "
import json, sys
import numpy as np, onnxruntime as ort
asked = json.load(sys.stdin)
sessions = {name: ort.InferenceSession(file) for name, file in asked['files'].items()}
worst = 0.0
for case in asked['cases']:
    x = np.zeros((1, case['width']), np.float32)
    x[0, case['indices']] = case['values']
    found = sessions[case['class']].run(['probabilities'], {'inputs': x})[0][0]
    worst = max(worst, float(np.abs(found - np.array(case['probabilities'], np.float32)).max()))
    if 'onnx' in sys.argv:
        import onnx
        for file in asked['files'].values():
            onnx.checker.check_model(onnx.load(file), full_check=True)
print(worst)
";

#[test]
fn weights_in_half_the_room_are_a_player_that_hardly_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let weights = concat!(env!("CARGO_MANIFEST_DIR"), "/../weights/backgammon/champion.safetensors");
    let small = folder.path().join("small.safetensors");
    let ludus = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ludus")).args(args).output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let position = folder.path().join("start");
    std::fs::write(&position, "4HPwATDgc/ABMA\n").expect("written");
    let arg = |path: &Path| path.to_str().expect("a path").to_owned();
    let small = &arg(&small);
    let written = ludus(&["weights", "export", weights, "--half", small, "--json"]);
    let size = std::fs::metadata(small).expect("written").len();
    assert_eq!(written["bytes"], size);
    assert_eq!(written["sha256"], ludus(&["weights", "show", small, "--json"])["sha256"]);

    let equity = |player: &str| {
        ludus(&["evaluate", &arg(&position), "--player", player, "--json"])["equity"]
            .as_f64()
            .expect("an equity")
    };
    let (whole, half) = (equity(weights), equity(small));
    assert!((whole - half).abs() < 0.002, "{whole} became {half}");
}

#[test]
fn onnx_models_give_what_the_kernel_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    let weights = concat!(env!("CARGO_MANIFEST_DIR"), "/../weights/backgammon/champion.safetensors");
    let ludus =
        |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_ludus")).args(args).output().expect("it starts");
    let output =
        ludus(&["weights", "export", weights, "--onnx", folder.path().to_str().expect("a path"), "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let files: serde_json::Map<_, _> = listed["files"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| (file["class"].as_str().expect("a class").to_owned(), file["file"].clone()))
        .collect();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["contact", "crashed", "race"]);
    for file in files.values() {
        assert!(std::fs::metadata(file.as_str().expect("a path")).expect("written").len() > 1000);
    }

    let arena = GameArena::<Backgammon>::default();
    let source = arena.shipped().expect("a player");
    assert!(matches!(source, Source::Weights { .. }));
    let mut viewer = arena.viewer(Some(&Seating { source, plies: 0 })).expect("a viewer");
    // Contact and a race in which nothing is out of the question, so that the network's numbers are left as they are.
    let cases = ["4HPwATDgc/ABMA", "4HPwATDgc/ABMA", "sOfgATDgc/ABMA"].map(|position| {
        let study = viewer.position(position, "").expect("a position");
        let (inputs, judged) = (study.inputs.expect("inputs"), study.judgement.expect("judged"));
        json!({
            "class": inputs.class, "width": inputs.width, "indices": inputs.indices, "values": inputs.values,
            "probabilities": judged.probabilities,
        })
    });

    let python = std::env::var("LUDUS_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = |module: &str| {
        let asked =
            Command::new(&python).args(["-c", &format!("import {module}")]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    if !has("onnxruntime") {
        eprintln!("skipped: {python} has no onnxruntime from PyPI (LUDUS_PYTHON names another)");
        return;
    }
    let mut args = vec!["-c", CHECK];
    args.extend(has("onnx").then_some("onnx"));
    let mut checking = Command::new(&python)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python starts");
    let asked = json!({"files": files, "cases": cases}).to_string();
    checking.stdin.take().expect("a pipe").write_all(asked.as_bytes()).expect("read");
    let output = checking.wait_with_output().expect("an end");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let worst: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number");
    assert!(worst < 1e-5, "{worst}");
}
