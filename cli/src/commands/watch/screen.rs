//! What `ludus watch` draws.

use anyhow::Result;
use ludus_coordinator::json::opponent;
use ludus_proto::v1::{GateStatus, VersionInfo};
use ratatui::backend::TestBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Row, Table};
use ratatui::{Frame, Terminal};

use super::Picture;
use crate::report::grouped;

const SOFT: Style = Style::new().fg(Color::DarkGray);
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// Length of the bars of a gate.
const BAR: usize = 30;

/// Draws a run, and what keeps it from being looked at.
pub fn draw(frame: &mut Frame<'_>, picture: &Picture, trouble: Option<&str>) {
    let run = &picture.run;
    let losses = run.progress.as_ref().map_or(0, |progress| progress.losses.len()) as u16;
    let [head, figures, classes, gate, versions, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(4),
        Constraint::Length(losses.min(8) + u16::from(losses > 0)),
        Constraint::Length(if run.gate.is_some() { 6 } else { 2 }),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let state = if run.state == "active" { Style::new().fg(Color::Green) } else { SOFT };
    let title = Line::from(vec![
        Span::styled(run.run.clone(), STRONG),
        Span::raw("  "),
        Span::styled(run.state.clone(), state),
        Span::styled(format!("  {}", run.game), SOFT),
    ]);
    frame.render_widget(title, head);
    frame.render_widget(Paragraph::new(figure_lines(picture)), figures);
    frame.render_widget(Paragraph::new(loss_lines(picture)), classes);
    frame.render_widget(Paragraph::new(gate_lines(run.gate.as_ref())), gate);
    draw_versions(frame, versions, &picture.versions);
    let foot_line = match trouble {
        Some(trouble) => Line::styled(trouble.to_owned(), Style::new().fg(Color::Red)),
        None => Line::styled("q ends this", SOFT),
    };
    frame.render_widget(foot_line, foot);
}

/// The same once, as plain text.
pub fn text(picture: &Picture, width: u16, height: u16) -> Result<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height))?;
    terminal.draw(|frame| draw(frame, picture, Some("")))?;
    let buffer = terminal.backend().buffer();
    let lines = buffer.content().chunks(usize::from(width));
    let lines = lines.map(|cells| cells.iter().map(|cell| cell.symbol()).collect::<String>());
    let mut text = String::new();
    for line in lines {
        text += line.trim_end();
        text.push('\n');
    }
    Ok(format!("{}\n", text.trim_end()))
}

fn pair(name: &str, value: String) -> Vec<Span<'static>> {
    vec![Span::styled(format!("{name:<22}"), SOFT), Span::raw(format!("{value:<22}"))]
}

fn figure_lines(picture: &Picture) -> Vec<Line<'static>> {
    let run = &picture.run;
    let progress = run.progress.clone().unwrap_or_default();
    let version = |number: u64| if number == 0 { "none yet".to_owned() } else { format!("v{number}") };
    let rate = picture.games_per_second.map_or("...".to_owned(), |rate| grouped(rate.round() as u64));
    let rows = [
        (("champion", version(run.champion)), ("latest", version(run.latest_version))),
        (("games learnt", grouped(progress.games)), ("positions", grouped(progress.positions))),
        (("games/s", rate), ("waiting to be learnt", grouped(run.backlog))),
        (("workers", run.workers.to_string()), ("out", grouped(run.leased))),
    ];
    let line =
        |((a, b), (c, d)): ((&str, String), (&str, String))| Line::from([pair(a, b), pair(c, d)].concat());
    rows.into_iter().map(line).collect()
}

fn loss_lines(picture: &Picture) -> Vec<Line<'static>> {
    let losses = picture.run.progress.iter().flat_map(|progress| &progress.losses);
    let lines =
        losses.map(|loss| Line::from(pair(&format!("loss, {}", loss.class), format!("{:.4}", loss.loss))));
    lines.take(8).collect()
}

fn gate_lines(gate: Option<&GateStatus>) -> Vec<Line<'static>> {
    let Some(gate) = gate else { return vec![Line::styled("no gate is open", SOFT)] };
    // Where the thresholds are is not said over gRPC; those of the default are 20.
    const NEEDED: f64 = 20.0;
    let bar = |name: &str, share: f64, colour: Color, text: String| {
        let full = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
        Line::from(vec![
            Span::styled(format!("{name:<22}"), SOFT),
            Span::styled("█".repeat(full), Style::new().fg(colour)),
            Span::styled("░".repeat(BAR - full), SOFT),
            Span::raw(format!("  {text}")),
        ])
    };
    let way = |e: f64| e.ln() / NEEDED.ln();
    vec![
        Line::from(vec![
            Span::styled(format!("gate v{} against {}", gate.candidate, opponent(gate)), STRONG),
            Span::raw(format!("  ppg {:+.4} [{:+.4}, {:+.4}]", gate.ppg, gate.ppg_low, gate.ppg_high)),
        ]),
        bar("better", way(gate.e_better), Color::Green, format!("e {:.3}", gate.e_better)),
        bar("not better", way(gate.e_worse), Color::Yellow, format!("e {:.3}", gate.e_worse)),
        bar(
            "pairs",
            gate.pairs as f64 / gate.limit.max(1) as f64,
            Color::Blue,
            format!("{} of {}", grouped(gate.pairs), grouped(gate.limit)),
        ),
        Line::styled(gate.reason.clone(), SOFT),
    ]
}

fn draw_versions(frame: &mut Frame<'_>, area: Rect, versions: &[VersionInfo]) {
    let rows = versions.iter().rev().map(|version| {
        let games = version.progress.as_ref().map_or(0, |progress| progress.games);
        let gate = version.gate.as_ref().filter(|gate| gate.pairs > 0).map_or(String::new(), |gate| {
            format!(
                "{:+.3} [{:+.3}, {:+.3}] against {}",
                gate.ppg,
                gate.ppg_low,
                gate.ppg_high,
                opponent(gate)
            )
        });
        let colour = match version.state.as_str() {
            "promoted" => Style::new().fg(Color::Green),
            "rejected" => Style::new().fg(Color::Red),
            "gating" => Style::new().fg(Color::Yellow),
            _ => SOFT,
        };
        Row::new(vec![
            Line::raw(format!("v{}", version.version)),
            Line::styled(version.state.clone(), colour),
            Line::raw(grouped(games)).right_aligned(),
            Line::raw(gate),
        ])
    });
    let widths = [Constraint::Length(7), Constraint::Length(10), Constraint::Length(14), Constraint::Min(20)];
    let head = Row::new(["version", "state", "         games", "points per game at its gate"]).style(SOFT);
    frame.render_widget(Table::new(rows, widths).header(head).column_spacing(2), area);
}

#[cfg(test)]
mod tests {
    use ludus_proto::v1::{ClassLoss, Progress, RunStatus};

    use super::*;

    fn picture() -> Picture {
        let gate = GateStatus {
            candidate: 3,
            opponent: 2,
            pairs: 500,
            limit: 1000,
            ppg: 0.02,
            ppg_low: -0.01,
            ppg_high: 0.05,
            e_better: 20.0_f64.sqrt(),
            e_worse: 0.3,
            reason: "promoted when the evidence reaches 20".into(),
            ..GateStatus::default()
        };
        let losses = vec![ClassLoss { class: "contact".into(), loss: 1.2345, positions: 10 }];
        let run = RunStatus {
            run: "first".into(),
            game: "backgammon".into(),
            state: "active".into(),
            progress: Some(Progress { games: 1_234_567, losses, ..Progress::default() }),
            latest_version: 3,
            champion: 2,
            gate: Some(gate),
            workers: 4,
            ..RunStatus::default()
        };
        let version =
            |version, state: &str| VersionInfo { version, state: state.into(), ..VersionInfo::default() };
        let versions = vec![version(1, "promoted"), version(2, "promoted"), version(3, "gating")];
        Picture { run, versions, games_per_second: Some(1234.4) }
    }

    #[test]
    fn a_run_is_shown_with_its_numbers_its_gate_and_its_versions_newest_first() {
        let text = text(&picture(), 100, 30).expect("drawn");
        for expected in [
            "first  active",
            "v2",
            "1,234,567",
            "1,234",
            "loss, contact",
            "1.2345",
            "gate v3 against v2",
            "500 of 1,000",
        ] {
            assert!(text.contains(expected), "{expected} is missing from\n{text}");
        }
        // Half of the way on a logarithmic scale.
        let better = text.lines().find(|line| line.starts_with("better")).expect("its bar");
        assert_eq!(better.matches('█').count(), BAR / 2, "{better}");
        let places: Vec<_> = ["v3   ", "v2   ", "v1   "].map(|version| text.rfind(version)).into();
        assert!(places.is_sorted() && places[0].is_some(), "{text}");
    }

    #[test]
    fn a_small_terminal_and_a_run_without_anything_are_drawn_too() {
        let empty = Picture { run: RunStatus::default(), versions: Vec::new(), games_per_second: None };
        for (width, height) in [(100, 30), (20, 5), (1, 1)] {
            text(&empty, width, height).expect("drawn");
            text(&picture(), width, height).expect("drawn");
        }
        assert!(text(&empty, 100, 30).expect("drawn").contains("no gate is open"));
    }
}
