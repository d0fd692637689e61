//! Checks against the reference data beside the project; each is skipped, and says so, where that is absent.

use std::path::{Path, PathBuf};

use ludus_players::arena::{Registry, Seating, Source};
use ludus_players::benchmark::BenchmarkReport;

/// Scores a baseline on a file of decisions, if it is there.
fn score(file: &str, name: &str) -> Option<BenchmarkReport> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("LUDUS_SHARED").map_or_else(beside, PathBuf::from);
    let path = folder.join("data/backgammon").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {} is absent", path.display());
        return None;
    };
    let registry = Registry::standard();
    let arena = registry.find("backgammon").expect("backgammon comes with Ludus");
    let player = Seating { source: Source::Baseline(name.into()), plies: 0 };
    Some(arena.score((file, &text), (name, &player), 2).expect("a score"))
}

/// Whether the error rates are the published ones, to the tolerance of their last digits or of chance.
fn expect(report: &BenchmarkReport, rates: [(&str, u64, f64, f64); 3]) {
    for (class, decisions, er, tolerance) in rates {
        let found = report.classes[class];
        assert_eq!(found.decisions, decisions);
        assert!((found.er - er).abs() <= tolerance, "{class}: {} instead of {er}\n{report}", found.er);
    }
}

#[test]
fn pubeval_scores_on_the_reference_decisions_what_it_should() {
    let Some(report) = score("decisions.bm", "pubeval") else { return };
    expect(
        &report,
        [("contact", 5915, 44.7, 0.06), ("crashed", 4881, 48.4, 0.06), ("race", 1199, 4.2, 0.06)],
    );
}

#[test]
fn a_random_player_scores_on_the_reference_decisions_what_it_should() {
    let Some(report) = score("decisions.bm", "random") else { return };
    expect(
        &report,
        [("contact", 5915, 265.0, 16.0), ("crashed", 4881, 202.0, 16.0), ("race", 1199, 60.0, 16.0)],
    );
}

#[test]
fn records_of_the_public_benchmark_files_are_read_and_put_into_their_classes() {
    let Some(report) = score("gnubg_bm_sample.txt", "pubeval") else { return };
    let decisions = ["contact", "crashed", "race"].map(|class| report.classes[class].decisions);
    assert_eq!(decisions, [12, 14, 13]);
}
