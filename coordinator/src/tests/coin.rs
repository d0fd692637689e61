//! A game that is one toss of a coin.

use std::collections::BTreeMap;

use ludus_players::arena::{Arena, ArenaError, Checked, PlayError, Seating, Source, Table, Violation};
use ludus_players::benchmark::{BenchmarkReport, ErrorRate};
use ludus_players::lessons::Teacher;
use ludus_players::weight_file::{Card, Digest, Shape, WeightFile};
use ludus_proto::v1::{GameRecord, Label, PlayerRef, Series, SeriesKind};

/// The game.
pub(super) struct Coin {
    pub revision: u32,
}

/// The record of a game that seat 0 wins (1), loses (-1) or draws (0), with its luck; in a rollout series with a label.
pub(super) fn game(series: &Series, number: u64, payoff: i32, luck: f64) -> GameRecord {
    GameRecord {
        number,
        payoff,
        total_luck: luck,
        digest: digest(series, number, payoff),
        labels: if series.kind() == SeriesKind::Rollout { vec![label(series)] } else { Vec::new() },
        ..GameRecord::default()
    }
}

fn label(series: &Series) -> Label {
    let trials = series.rollout.map_or(0, |rollout| rollout.trials);
    Label { chances: vec![0.5], trials, ..Label::default() }
}

fn digest(series: &Series, number: u64, payoff: i32) -> Vec<u8> {
    Digest::of(format!("{} {number} {payoff}", series.seed).as_bytes()).0[..16].to_vec()
}

/// Weights of version `version` of `run`, with `hidden` units, all different by `seed`; `error_rate` is what they lose
/// on a benchmark, in millipoints.
pub(super) fn weights(run: &str, version: u64, seed: u64, error_rate: u64) -> WeightFile {
    let card = Card {
        game: "coin".into(),
        revision: 1,
        inputs: "faces-2".into(),
        run: run.into(),
        version,
        parent: String::new(),
        created_at: 1,
        counters: BTreeMap::from([("error-rate".into(), error_rate)]),
    };
    WeightFile::fresh(card, &[shape(3)], seed).expect("weights of a good shape")
}

fn shape(hidden: usize) -> Shape {
    Shape { class: "toss".into(), inputs: 2, hidden, outputs: 1 }
}

impl Arena for Coin {
    fn game(&self) -> &'static str {
        "coin"
    }

    fn revision(&self) -> u32 {
        self.revision
    }

    fn baselines(&self) -> Vec<&'static str> {
        vec!["random"]
    }

    fn input_sets(&self) -> Vec<&'static str> {
        vec!["faces-2"]
    }

    fn max_points(&self) -> u32 {
        1
    }

    fn table(&self, series: &Series, _: [&Seating; 2]) -> Result<Box<dyn Table>, ArenaError> {
        Ok(Box::new(CoinTable { series: *series }))
    }

    fn check(&self, series: &Series, _: &[PlayerRef], record: &GameRecord) -> Result<Checked, Violation> {
        let refuse = |reason, detail: &str| Err(Violation { reason, detail: detail.into() });
        if record.payoff.abs() > 1 {
            return refuse("wrong-result", "a coin has two sides");
        }
        if record.total_luck.is_nan() || record.total_luck.abs() > series.luck_bound {
            return refuse("luck-out-of-range", "luck beyond its bound");
        }
        if record.labels.len() != usize::from(series.kind() == SeriesKind::Rollout) {
            return refuse("wrong-labels", "a label for each rollout");
        }
        if record.digest != digest(series, record.number, record.payoff) {
            return refuse("wrong-digest", "another game");
        }
        Ok(Checked { plies: 1, payoff: record.payoff as i8 })
    }

    fn shapes(&self, inputs: &str, hidden: usize) -> Result<Vec<Shape>, ArenaError> {
        match inputs {
            "faces-2" => Ok(vec![shape(hidden)]),
            _ => Err(ArenaError::Settings(format!("coin has no input set {inputs:?}"))),
        }
    }

    fn teacher(&self, _: &WeightFile) -> Result<Box<dyn Teacher>, ArenaError> {
        Err(ArenaError::Unsupported { game: "coin", what: "lessons" })
    }

    fn score(
        &self,
        _: (&str, &str),
        (name, player): (&str, &Seating),
        _: usize,
    ) -> Result<BenchmarkReport, ArenaError> {
        let error_rate = match &player.source {
            Source::Weights { file, .. } => file.card.counters["error-rate"],
            _ => 0,
        };
        let losses = BTreeMap::from([("toss".to_owned(), vec![error_rate as f64 / 1000.0; 2])]);
        let overall = ErrorRate { decisions: 2, er: error_rate as f64, se: None };
        Ok(BenchmarkReport { player: name.into(), classes: BTreeMap::new(), overall, losses })
    }
}

struct CoinTable {
    series: Series,
}

impl Table for CoinTable {
    fn play(&mut self, number: u64) -> Result<GameRecord, PlayError> {
        Ok(game(&self.series, number, 1, 0.0))
    }
}
