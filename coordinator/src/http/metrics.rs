//! `/metrics`: the coordinator's state in OpenMetrics text, made anew for every scrape.
//!
//! Everything here is a count the coordinator keeps on disk or a number derived from it, so counters go on after a
//! restart. The accounting invariant can be checked from outside, for each run and kind of series:
//! `ludus_games_issued_total = ludus_games_accepted_total + ludus_games_leased + sum(ludus_games_void_total)`, or in
//! short `ludus_games_unaccounted = 0`.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::{Accounts, RunView, View};
use crate::CoordinatorError;

/// The content type of the text.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Labels and a value.
type Sample<T> = (Vec<(&'static str, String)>, T);

/// The text.
pub(super) fn text(view: &dyn View) -> Result<String, CoordinatorError> {
    let overview = view.overview()?;
    let mut scrape = Scrape::default();
    for run in &overview.runs {
        scrape.run(run);
        let mut states =
            BTreeMap::from(["published", "gating", "promoted", "rejected"].map(|s| (s.to_owned(), 0)));
        for version in view.versions(&run.status.run)? {
            *states.entry(version.state).or_insert(0) += 1;
        }
        for (state, count) in states {
            scrape.versions.push((vec![run_label(run), ("state", state)], f64::from(count)));
        }
    }
    for (reason, count) in &overview.strays {
        scrape.refused.push((vec![("run", String::new()), ("reason", reason.clone())], *count));
    }
    for (reason, count) in &overview.refused_requests {
        scrape.refused_requests.push((vec![("reason", reason.clone())], *count));
    }
    for (standing, count) in &overview.tokens {
        scrape.tokens.push((vec![("state", standing.clone())], *count as f64));
    }
    scrape.workers.push((vec![], overview.workers.len() as f64));
    scrape.ready.push((vec![], f64::from(u8::from(view.ready().is_ok()))));
    Ok(scrape.write())
}

fn run_label(run: &RunView) -> (&'static str, String) {
    ("run", run.status.run.clone())
}

/// The samples of every family.
#[derive(Default)]
struct Scrape {
    issued: Vec<Sample<u64>>,
    accepted: Vec<Sample<u64>>,
    leased: Vec<Sample<f64>>,
    void: Vec<Sample<u64>>,
    unaccounted: Vec<Sample<f64>>,
    refused: Vec<Sample<u64>>,
    refused_requests: Vec<Sample<u64>>,
    audits: Vec<Sample<u64>>,
    tokens: Vec<Sample<f64>>,
    trained: Vec<Sample<u64>>,
    expired: Vec<Sample<u64>>,
    positions: Vec<Sample<u64>>,
    steps: Vec<Sample<u64>>,
    skipped: Vec<Sample<u64>>,
    backlog: Vec<Sample<f64>>,
    loss: Vec<Sample<f64>>,
    active: Vec<Sample<f64>>,
    phase: Vec<Sample<f64>>,
    latest: Vec<Sample<f64>>,
    champion: Vec<Sample<f64>>,
    versions: Vec<Sample<f64>>,
    gate_candidate: Vec<Sample<f64>>,
    gate_pairs: Vec<Sample<f64>>,
    gate_limit: Vec<Sample<f64>>,
    gate_ppg: Vec<Sample<f64>>,
    gate_e_value: Vec<Sample<f64>>,
    gate_llr: Vec<Sample<f64>>,
    workers: Vec<Sample<f64>>,
    ready: Vec<Sample<f64>>,
}

impl Scrape {
    fn run(&mut self, run: &RunView) {
        let status = &run.status;
        let label = || vec![run_label(run)];
        let with = |key, value: &str| vec![run_label(run), (key, value.to_owned())];

        self.accounts(run, "self-play", &run.self_play);
        self.accounts(run, "rollout", &run.rollouts);
        self.accounts(run, "gate", &run.gates);
        for (reason, count) in &run.refused {
            self.refused.push((with("reason", reason), *count));
        }
        for (result, count) in &run.audits {
            self.audits.push((with("result", result), *count));
        }

        let progress = status.progress.clone().unwrap_or_default();
        self.trained.push((label(), progress.games));
        self.expired.push((label(), progress.expired));
        self.positions.push((label(), progress.positions));
        self.steps.push((label(), progress.steps));
        self.skipped.push((label(), progress.skipped_steps));
        self.backlog.push((label(), status.backlog as f64));
        for loss in &progress.losses {
            self.loss.push((with("class", &loss.class), loss.loss));
        }

        self.active.push((label(), f64::from(u8::from(status.state == "active"))));
        self.phase.push((label(), status.phase.into()));
        self.latest.push((label(), status.latest_version as f64));
        self.champion.push((label(), status.champion as f64));

        if let Some(gate) = &status.gate {
            self.gate_candidate.push((label(), gate.candidate as f64));
            self.gate_pairs.push((label(), gate.pairs as f64));
            self.gate_limit.push((label(), gate.limit as f64));
            for (bound, ppg) in [("mean", gate.ppg), ("low", gate.ppg_low), ("high", gate.ppg_high)] {
                self.gate_ppg.push((with("bound", bound), ppg));
            }
            for (for_what, e_value) in [("better", gate.e_better), ("worse", gate.e_worse)] {
                self.gate_e_value.push((with("evidence", for_what), e_value));
            }
        }
        if let Some(report) = &run.gate {
            self.gate_llr.push((label(), report.llr));
        }
    }

    fn accounts(&mut self, run: &RunView, kind: &'static str, accounts: &Accounts) {
        let labels = || vec![run_label(run), ("kind", kind.to_owned())];
        self.issued.push((labels(), accounts.issued));
        self.accepted.push((labels(), accounts.accepted));
        self.leased.push((labels(), accounts.leased as f64));
        self.unaccounted.push((labels(), accounts.unaccounted() as f64));
        for (reason, count) in &accounts.void {
            let mut labels = labels();
            labels.push(("reason", reason.clone()));
            self.void.push((labels, *count));
        }
    }

    fn write(self) -> String {
        let mut registry = Registry::with_prefix("ludus");
        let r = &mut registry;
        counter(r, "games_issued", "Games handed out, each counted once", self.issued);
        counter(r, "games_accepted", "Games taken from workers", self.accepted);
        gauge(r, "games_leased", "Games handed out and neither taken nor void", self.leased);
        counter(r, "games_void", "Games that will never count", self.void);
        gauge(
            r,
            "games_unaccounted",
            "issued - accepted - leased - void: a fault if not 0",
            self.unaccounted,
        );
        counter(r, "games_refused", "Submitted games that were refused", self.refused);
        counter(r, "games_audited", "Games played again, by what came of it", self.audits);
        counter(r, "requests_refused", "Requests without an answer since the start", self.refused_requests);
        gauge(r, "tokens", "Tokens by how they stand", self.tokens);
        counter(r, "games_trained", "Games trained on, each once", self.trained);
        counter(r, "games_expired", "Games dropped before training for their age", self.expired);
        counter(r, "positions_trained", "Positions trained on", self.positions);
        counter(r, "training_steps", "Steps of the optimiser", self.steps);
        counter(r, "training_steps_skipped", "Steps skipped for a loss that was not finite", self.skipped);
        gauge(r, "games_backlog", "Accepted games not yet trained on", self.backlog);
        gauge(r, "training_loss", "Mean loss of the last report", self.loss);
        gauge(r, "run_active", "1 while the run goes on", self.active);
        gauge(r, "run_phase", "Index of the phase that holds", self.phase);
        gauge(r, "latest_version", "Newest version, 0 for none", self.latest);
        gauge(r, "champion_version", "Newest promoted version, 0 for none", self.champion);
        gauge(r, "versions", "Versions by state", self.versions);
        gauge(r, "gate_candidate", "Version at the gate", self.gate_candidate);
        gauge(r, "gate_pairs", "Pairs read by the gate", self.gate_pairs);
        gauge(r, "gate_pairs_limit", "Pairs after which the gate ends", self.gate_limit);
        gauge(r, "gate_ppg", "Points per game of the candidate and its interval", self.gate_ppg);
        gauge(r, "gate_e_value", "Evidence that the candidate is better or worse", self.gate_e_value);
        gauge(r, "gate_llr", "GSPRT log-likelihood ratio, for comparison", self.gate_llr);
        gauge(r, "workers", "Workers seen lately", self.workers);
        gauge(r, "ready", "1 while work can be handed out and taken", self.ready);
        gauge(
            r,
            "build_info",
            "The program",
            vec![(vec![("version", env!("CARGO_PKG_VERSION").to_owned())], 1.0)],
        );
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
        text
    }
}

fn counter(registry: &mut Registry, name: &str, help: &str, samples: Vec<Sample<u64>>) {
    let family = Family::<Vec<(&'static str, String)>, Counter>::default();
    for (labels, value) in samples {
        family.get_or_create(&escaped(labels)).inc_by(value);
    }
    registry.register(name, help, family);
}

fn gauge(registry: &mut Registry, name: &str, help: &str, samples: Vec<Sample<f64>>) {
    let family = Family::<Vec<(&'static str, String)>, Gauge<f64, AtomicU64>>::default();
    for (labels, value) in samples {
        family.get_or_create(&escaped(labels)).set(value);
    }
    registry.register(name, help, family);
}

/// Label values as the text format wants them; the library writes them as they are.
fn escaped(mut labels: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    for (_, value) in &mut labels {
        if value.contains(['\\', '"', '\n']) {
            *value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        }
    }
    labels
}
