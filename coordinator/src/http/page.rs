//! The status page: plain HTML that a browser reloads by itself. No script, nothing from elsewhere.

use std::fmt::Write as _;

use ludus_proto::v1::{GateStatus, VersionInfo};

use super::{Accounts, Overview, RunView, View, WorkerView};
use crate::CoordinatorError;
use crate::gate::GateReport;
use crate::json::opponent;

/// Newest versions shown of a run; the API has them all.
const VERSIONS_SHOWN: usize = 40;

/// The page, at `now` (seconds since 1970).
pub(super) fn page(view: &dyn View, now: u64) -> Result<String, CoordinatorError> {
    let Overview { runs, workers, strays, refused_requests: _, tokens: _ } = view.overview()?;
    let mut body = String::new();
    if let Err(reason) = view.ready() {
        body += &format!("<p class=\"alarm\">Not ready: {}</p>\n", escape(&reason));
    }
    if runs.is_empty() {
        body +=
            "<section><p>There is no run yet. Start one with <code>ludus run create</code>.</p></section>\n";
    }
    for run in &runs {
        body += &run_section(run, &view.versions(&run.status.run)?, now);
    }
    body += &workers_section(&workers);
    if !strays.is_empty() {
        body += "<section><h3>Refused games of no run</h3>\n";
        body += &reasons(strays.iter());
        body += "</section>\n";
    }
    let active = runs.iter().any(|run| run.status.state == "active");
    let seconds = if active { 5 } else { 30 };
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Ludus</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"refresh\" content=\"{seconds}\">\n\
         <link rel=\"stylesheet\" href=\"/style.css\"><link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">\n\
         </head><body>\n<header><h1>Ludus</h1><span class=\"soft\">{} · {} · version {} · \
         <a href=\"/metrics\">metrics</a> · <a href=\"/api/v1/runs\">API</a></span></header>\n{body}</body></html>\n",
        counted(runs.len(), "run"),
        counted(workers.len(), "worker"),
        env!("CARGO_PKG_VERSION"),
    ))
}

fn run_section(run: &RunView, versions: &[VersionInfo], now: u64) -> String {
    let RunView { status, gate, self_play, rollouts, gates, refused, audits: _ } = run;
    let name = escape(&status.run);
    let state = escape(&status.state);
    let mut html = format!(
        "<section>\n<div class=\"title\"><h2>{name}</h2><span class=\"state {state}\">{state}</span>\
         <span class=\"soft\">{} · started {} · <a href=\"/api/v1/runs/{name}\">JSON</a></span></div>\n",
        escape(&status.game),
        ago(status.created_at, now),
    );

    let progress = status.progress.clone().unwrap_or_default();
    let version = |number: u64| if number == 0 { "none yet".to_owned() } else { format!("v{number}") };
    let mut figures = vec![
        ("Champion".to_owned(), version(status.champion)),
        ("Latest".to_owned(), version(status.latest_version)),
        ("Games trained on".to_owned(), grouped(progress.games)),
        ("Positions".to_owned(), grouped(progress.positions)),
        ("Waiting for the trainer".to_owned(), grouped(status.backlog)),
        ("Workers".to_owned(), grouped(status.workers.into())),
    ];
    if status.phase > 0 || status.next_phase > 0 {
        let next = match status.next_phase {
            0 => ", the last".into(),
            games => format!(", the next from {} games", grouped(games)),
        };
        figures.push(("Phase".to_owned(), format!("{}{next}", status.phase)));
    }
    figures.extend(
        progress
            .losses
            .iter()
            .map(|loss| (format!("Loss, {}", escape(&loss.class)), format!("{:.4}", loss.loss))),
    );
    html += "<dl class=\"figures\">\n";
    for (label, value) in figures {
        let _ = writeln!(html, "<div><dt>{label}</dt><dd>{value}</dd></div>");
    }
    html += "</dl>\n";

    if let Some(status) = &status.gate {
        html += &gate_part(status, gate.as_ref());
    }
    html += &versions_part(&name, versions, now);
    html += "<h3>Accounting</h3>\n<div class=\"table\"><table><tr><th>Games</th><th class=\"number\">issued</th>\
             <th class=\"number\">= accepted</th><th class=\"number\">+ leased</th><th class=\"number\">+ void</th>\
             <th></th></tr>\n";
    html += &accounts_row("self-play", self_play);
    if rollouts.issued > 0 {
        html += &accounts_row("rollouts", rollouts);
    }
    html += &accounts_row("gates", gates);
    html += "</table></div>\n";
    if !refused.is_empty() {
        html += "<h3>Refused games</h3>\n";
        html += &reasons(refused.iter());
    }
    html + "</section>\n"
}

/// The gate in progress: how far the pairs and the two e-values are from deciding.
fn gate_part(status: &GateStatus, report: Option<&GateReport>) -> String {
    let mut html = format!(
        "<h3>Gate: v{} against {}</h3>\n<div class=\"table\"><table class=\"gate\">\n",
        status.candidate,
        escape(&opponent(status))
    );
    let mut row = |label: &str, share: Option<f64>, text: String| {
        let bar = share.map_or(String::new(), |share| {
            format!("<progress max=\"1\" value=\"{:.3}\"></progress>", share.clamp(0.0, 1.0))
        });
        let _ = writeln!(html, "<tr><td>{label}</td><td>{bar}</td><td>{text}</td></tr>");
    };
    let share = status.pairs as f64 / status.limit.max(1) as f64;
    row("Pairs", Some(share), format!("{} of {}", grouped(status.pairs), grouped(status.limit)));
    // The way to a threshold is the same length for every doubling.
    let e_value = |e: f64, needed: Option<f64>| match needed {
        Some(needed) => (Some(e.ln() / needed.ln()), format!("{e:.3} of {needed:.0}")),
        None => (None, format!("{e:.3}")),
    };
    let (share, text) = e_value(status.e_better, report.map(|report| report.e_promote));
    row("Evidence that it is better", share, text);
    let (share, text) = e_value(status.e_worse, report.map(|report| report.e_reject));
    row("Evidence that it is not", share, text);
    row("Points per game", None, ppg(status));
    if let Some(GateReport { llr, llr_reject, llr_accept, .. }) = report {
        let text = format!("{llr:+.2} (a GSPRT would decide at {llr_reject:+.2} and {llr_accept:+.2})");
        row("LLR, for comparison", None, text);
    }
    html += "</table></div>\n";
    html + &format!("<p class=\"soft\">{}</p>\n", escape(&status.reason))
}

fn versions_part(run: &str, versions: &[VersionInfo], now: u64) -> String {
    if versions.is_empty() {
        return "<h3>Versions</h3>\n<p class=\"soft\">None was published yet.</p>\n".into();
    }
    let mut html = format!(
        "<h3>Versions</h3>\n<p class=\"soft\">Download the <a href=\"/api/v1/runs/{run}/versions/latest/weights\">\
         latest</a>{}, or any other:</p>\n<div class=\"table\"><table><tr><th>Version</th><th>State</th>\
         <th class=\"number\">Games</th><th class=\"number\">Positions</th><th>Points per game at its gate</th>\
         <th>Published</th><th>sha256</th><th>Weights</th></tr>\n",
        if versions.iter().any(|version| version.state == "promoted") {
            format!(" or the <a href=\"/api/v1/runs/{run}/versions/champion/weights\">champion</a>")
        } else {
            String::new()
        }
    );
    for version in versions.iter().rev().take(VERSIONS_SHOWN) {
        let VersionInfo { version: number, state, sha256, size, published_at, progress, gate, .. } = version;
        let progress = progress.clone().unwrap_or_default();
        let short: String = sha256.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        let at_gate = gate
            .as_ref()
            .filter(|gate| gate.pairs > 0)
            .map_or(String::new(), |gate| format!("{} against {}", ppg(gate), escape(&opponent(gate))));
        let _ = writeln!(
            html,
            "<tr><td><a href=\"/api/v1/runs/{run}/versions/{number}\">v{number}</a></td>\
             <td><span class=\"state {state}\">{state}</span></td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td>{at_gate}</td><td>{}</td><td><code>{short}</code></td>\
             <td><a href=\"/api/v1/runs/{run}/versions/{number}/weights\">{}</a></td></tr>",
            grouped(progress.games),
            grouped(progress.positions),
            ago(*published_at, now),
            size_of(*size),
            state = escape(state),
        );
    }
    html += "</table></div>\n";
    if versions.len() > VERSIONS_SHOWN {
        let _ = writeln!(
            html,
            "<p class=\"soft\">The newest {VERSIONS_SHOWN} of <a href=\"/api/v1/runs/{run}/versions\">all {}</a>.</p>",
            versions.len()
        );
    }
    html
}

fn accounts_row(kind: &str, accounts: &Accounts) -> String {
    let note = match accounts.unaccounted() {
        0 => String::new(),
        games => format!("<span class=\"alarm\">{games} unaccounted for</span>"),
    };
    let Accounts { issued, accepted, leased, .. } = accounts;
    let mut html = format!("<tr><td>{kind}</td>");
    for count in [*issued, *accepted, *leased, accounts.void_games()] {
        let _ = write!(html, "<td class=\"number\">{}</td>", grouped(count));
    }
    html + &format!("<td>{note}</td></tr>\n")
}

fn workers_section(workers: &[WorkerView]) -> String {
    if workers.is_empty() {
        return "<section><h3>Workers</h3><p class=\"soft\">None here. Start one with <code>ludus worker</code>.</p>\
                </section>\n"
            .into();
    }
    let mut html = "<section><h3>Workers</h3>\n<div class=\"table\"><table><tr><th>Name</th>\
                    <th class=\"number\">Games in hand</th><th>Last heard of</th></tr>\n"
        .to_owned();
    for WorkerView { name, idle_seconds, leased } in workers {
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td class=\"number\">{}</td><td>{}</td></tr>",
            escape(name),
            grouped(*leased),
            ago(0, *idle_seconds)
        );
    }
    html + "</table></div></section>\n"
}

fn reasons<'a>(refused: impl Iterator<Item = (&'a String, &'a u64)>) -> String {
    let list: Vec<String> =
        refused.map(|(reason, count)| format!("{} × {}", grouped(*count), escape(reason))).collect();
    format!("<p>{}</p>\n", list.join(" · "))
}

fn ppg(gate: &GateStatus) -> String {
    format!("{:+.4} ({:+.4} to {:+.4})", gate.ppg, gate.ppg_low, gate.ppg_high)
}

/// Text as HTML shows it, in content and in quoted attributes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// `1 run`, `2 runs`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            // A narrow space that does not break.
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// How long before `now` something was, roughly.
fn ago(then: u64, now: u64) -> String {
    match now.saturating_sub(then) {
        seconds @ 0..60 => format!("{seconds} s ago"),
        seconds @ 60..5400 => format!("{} min ago", seconds / 60),
        seconds @ 5400..172_800 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// Bytes in the unit people use.
fn size_of(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_times_and_sizes_read_well() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!(
            [0, 59, 60, 5399, 5400, 172_800].map(|seconds| ago(100, 100 + seconds)),
            ["0 s ago", "59 s ago", "1 min ago", "89 min ago", "1 h ago", "2 days ago"]
        );
        assert_eq!(ago(10, 5), "0 s ago", "a clock that went back");
        assert_eq!([9999, 10_000, 12_345_678].map(size_of), ["9999 B", "10 kB", "12.3 MB"]);
    }
}
