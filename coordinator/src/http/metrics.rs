//! `/metrics`: the coordinator's state, made anew for every scrape.
//!
//! Everything here is a count the coordinator keeps on disk or a number derived from it, so counters go on after a
//! restart. The accounting invariant can be checked from outside, for each run and kind of series:
//! `ludus_games_issued_total = ludus_games_accepted_total + ludus_games_leased + sum(ludus_games_void_total)`, or in
//! short `ludus_games_unaccounted = 0`.

use std::collections::BTreeMap;

use super::{Accounts, RunView, View};
use crate::exposition::{Exposition, Labels};
use crate::watch::disk::Disk;
use crate::{CoordinatorError, clock};

/// Labels and a value.
type Sample<T> = (Labels, T);

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
    let rate = overview.workers.iter().map(|worker| worker.games_per_second).sum();
    scrape.rate.push((vec![], rate));
    let Disk { free, size, database, weights } = view.disk();
    // A system that does not say how large its disk is says nothing of the room on it.
    if size > 0 {
        scrape.disk_free.push((vec![], free as f64));
        scrape.disk_size.push((vec![], size as f64));
    }
    for (what, bytes) in [("database", database), ("weights", weights)] {
        scrape.disk_used.push((vec![("what", what.to_owned())], bytes as f64));
    }
    if let Some(depot) = view.depot() {
        scrape.depot.push((vec![], f64::from(u8::from(depot.is_ok()))));
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
    leases: Vec<Sample<f64>>,
    outbox: Vec<Sample<f64>>,
    checkpoint_age: Vec<Sample<f64>>,
    behind: Vec<Sample<f64>>,
    gate_progress: Vec<Sample<f64>>,
    rate: Vec<Sample<f64>>,
    disk_free: Vec<Sample<f64>>,
    disk_size: Vec<Sample<f64>>,
    disk_used: Vec<Sample<f64>>,
    depot: Vec<Sample<f64>>,
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
        for (kind, count) in &run.leases {
            self.leases.push((with("kind", kind), *count as f64));
        }
        self.outbox.push((label(), run.outbox as f64));
        if let Some(at) = run.reported_at {
            let age = (clock::now() / 1000).saturating_sub(at);
            self.checkpoint_age.push((label(), age as f64));
        }
        self.behind.push((label(), status.latest_version.saturating_sub(status.champion) as f64));
        if let Some(report) = &run.gate {
            let progress = |e: f64, needed: f64| (e.ln() / needed.ln()).clamp(0.0, 1.0);
            let better = progress(report.e_better, report.e_promote);
            let worse = progress(report.e_worse, report.e_reject);
            for (for_what, progress) in [("better", better), ("worse", worse)] {
                self.gate_progress.push((with("evidence", for_what), progress));
            }
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
        let mut text = Exposition::new();
        text.counter("ludus_games_issued_total", "Games handed out, each counted once", self.issued);
        text.counter("ludus_games_accepted_total", "Games taken from workers", self.accepted);
        text.gauge("ludus_games_leased", "Games handed out and neither taken nor void", self.leased);
        text.counter("ludus_games_void_total", "Games that will never count", self.void);
        text.gauge(
            "ludus_games_unaccounted",
            "issued - accepted - leased - void: a fault if not 0",
            self.unaccounted,
        );
        text.counter("ludus_games_refused_total", "Submitted games that were refused", self.refused);
        text.counter("ludus_games_audited_total", "Games played again, by what came of it", self.audits);
        text.counter(
            "ludus_requests_refused_total",
            "Requests without an answer since the start",
            self.refused_requests,
        );
        text.gauge("ludus_tokens", "Tokens by how they stand", self.tokens);
        text.counter("ludus_games_trained_total", "Games trained on, each once", self.trained);
        text.counter(
            "ludus_games_expired_total",
            "Games dropped before training for their age",
            self.expired,
        );
        text.counter("ludus_positions_trained_total", "Positions trained on", self.positions);
        text.counter("ludus_training_steps_total", "Steps of the optimiser", self.steps);
        text.counter(
            "ludus_training_steps_skipped_total",
            "Steps skipped for a loss that was not finite",
            self.skipped,
        );
        text.gauge("ludus_games_backlog", "Accepted games not yet trained on", self.backlog);
        text.gauge("ludus_training_loss", "Mean loss of the last report", self.loss);
        text.gauge("ludus_run_active", "1 while the run goes on", self.active);
        text.gauge("ludus_run_phase", "Index of the phase that holds", self.phase);
        text.gauge("ludus_latest_version", "Newest version, 0 for none", self.latest);
        text.gauge("ludus_champion_version", "Newest promoted version, 0 for none", self.champion);
        text.gauge("ludus_versions", "Versions by state", self.versions);
        text.gauge("ludus_gate_candidate", "Version at the gate", self.gate_candidate);
        text.gauge("ludus_gate_pairs", "Pairs read by the gate", self.gate_pairs);
        text.gauge("ludus_gate_pairs_limit", "Pairs after which the gate ends", self.gate_limit);
        text.gauge("ludus_gate_ppg", "Points per game of the candidate and its interval", self.gate_ppg);
        text.gauge("ludus_gate_e_value", "Evidence that the candidate is better or worse", self.gate_e_value);
        text.gauge("ludus_gate_llr", "GSPRT log-likelihood ratio, for comparison", self.gate_llr);
        text.gauge("ludus_workers", "Workers seen lately", self.workers);
        text.gauge("ludus_ready", "1 while work can be handed out and taken", self.ready);
        text.gauge("ludus_leases", "Leases that workers hold", self.leases);
        text.gauge(
            "ludus_outbox_batches",
            "Batches of accepted games that no checkpoint holds yet",
            self.outbox,
        );
        text.gauge(
            "ludus_checkpoint_age_seconds",
            "Time since the trainer's last durable report",
            self.checkpoint_age,
        );
        text.gauge("ludus_versions_behind", "Versions published after the champion", self.behind);
        text.gauge(
            "ludus_gate_progress",
            "Evidence on the way to its threshold: 1 decides",
            self.gate_progress,
        );
        text.gauge(
            "ludus_worker_games_per_second",
            "Accepted games a second of all workers seen lately",
            self.rate,
        );
        text.gauge("ludus_disk_free_bytes", "Room left for the coordinator's folder", self.disk_free);
        text.gauge("ludus_disk_size_bytes", "Size of its disk", self.disk_size);
        text.gauge("ludus_disk_used_bytes", "What is ours on it", self.disk_used);
        text.gauge("ludus_store_ready", "1 while weights can be kept where --store says", self.depot);
        let program = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
        text.gauge("ludus_build_info", "The program", [(program, 1.0)]);
        text.finish()
    }
}
