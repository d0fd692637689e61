//! Live progress: a few lines that are redrawn on a terminal, one line every few seconds elsewhere.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use ludus_proto::v1::RunStatus;
use ludus_trainer::TrainerSnapshot;
use ludus_worker::WorkerProgress;

use crate::report::{gate_in_words, grouped, losses_in_words, phase_in_words, version_or_none};
use crate::{log, output};

/// Rates are averaged over this long: leases come and go in seconds.
const WINDOW: Duration = Duration::from_secs(10);
/// Time between two lines where there is no terminal.
const LINE: Duration = Duration::from_secs(5);

/// What all roles say at one moment.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// Since the start.
    pub elapsed: Duration,
    /// What the worker says.
    pub worker: WorkerProgress,
    /// What the trainer says.
    pub trainer: TrainerSnapshot,
    /// What the coordinator says.
    pub run: RunStatus,
}

/// Shows moments to people, on standard error.
pub struct Display {
    time: Option<Duration>,
    /// The moments of the last [`WINDOW`].
    recent: VecDeque<Moment>,
    lines: Lines,
}

enum Lines {
    /// Redrawn.
    Live { all: MultiProgress, clock: ProgressBar, rows: [ProgressBar; 4] },
    /// One after the other; the last was printed at this time since the start.
    Plain { printed: Duration },
}

impl Display {
    /// For a run of `time`, or without an end.
    pub fn new(time: Option<Duration>) -> Self {
        let lines = if std::io::stderr().is_terminal() && !log::is_json() {
            Lines::live(time)
        } else {
            Lines::Plain { printed: Duration::ZERO }
        };
        Display { time, recent: VecDeque::new(), lines }
    }

    /// Says something once.
    pub fn say(&self, text: &str) {
        match &self.lines {
            Lines::Live { all, .. } => all.suspend(|| output::news(text)),
            Lines::Plain { .. } => output::news(text),
        }
    }

    /// Shows how things stand.
    pub fn show(&mut self, now: &Moment) {
        // A trainer that resumes says nothing until its checkpoint is read, and then all it has learnt so far.
        if now.trainer.positions > 0 {
            self.recent.retain(|moment| moment.trainer.positions > 0);
        }
        self.recent.push_back(now.clone());
        while self.recent.len() > 2 && now.elapsed - self.recent[1].elapsed > WINDOW {
            self.recent.pop_front();
        }
        let rows = rows(&self.recent[0], now);
        match &mut self.lines {
            Lines::Live { clock, rows: bars, .. } => {
                clock.set_position(now.elapsed.as_secs());
                for (bar, row) in bars.iter().zip(rows) {
                    bar.set_message(row);
                }
            }
            Lines::Plain { printed } => {
                if now.elapsed >= *printed + LINE {
                    *printed = now.elapsed;
                    output::news(&plain(now.elapsed, self.time, &rows));
                }
            }
        }
    }

    /// Leaves the last lines standing.
    pub fn end(&self) {
        if let Lines::Live { clock, rows, .. } = &self.lines {
            clock.abandon();
            rows.iter().for_each(ProgressBar::abandon);
            log::write_around(None);
        }
    }
}

impl Lines {
    fn live(time: Option<Duration>) -> Self {
        let all = MultiProgress::new();
        let style = |template: &str| {
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
        };
        let clock = match time {
            Some(time) => ProgressBar::new(time.as_secs())
                .with_style(style("{prefix:>5}  {elapsed_precise} of {msg}  {wide_bar:.dim}"))
                .with_message(humantime::format_duration(time).to_string()),
            None => ProgressBar::no_length().with_style(style("{prefix:>5}  {elapsed_precise}")),
        };
        let clock = all.add(clock.with_prefix("time"));
        let rows = NAMES.map(|name| {
            let bar = ProgressBar::no_length().with_style(style("{prefix:>5}  {wide_msg}")).with_prefix(name);
            all.add(bar)
        });
        log::write_around(Some(all.clone()));
        Lines::Live { all, clock, rows }
    }
}

/// The rows of the display.
const NAMES: [&str; 4] = ["play", "learn", "loss", "gate"];

fn rows(before: &Moment, now: &Moment) -> [String; 4] {
    let gate = now.run.gate.as_ref().map_or("none in progress".into(), gate_in_words);
    [play(before, now), learn(before, now), losses_in_words(&now.trainer.losses), gate]
}

/// `312 games/s, 17,200 positions/s, 3,120 games, 200 of them rollouts, phase 1, the next from 5,000 games`.
fn play(before: &Moment, now: &Moment) -> String {
    let mut text = format!(
        "{} games/s, {} positions/s, {} games",
        rate(before, now, |moment| moment.worker.games),
        rate(before, now, |moment| moment.worker.positions),
        grouped(now.run.accepted)
    );
    let rollouts = now.run.rollouts.unwrap_or_default().accepted;
    if rollouts > 0 {
        text += &format!(", {} of them rollouts", grouped(rollouts));
    }
    if let Some(phase) = phase_in_words(&now.run) {
        text += &format!(", {phase}");
    }
    if now.worker.refused > 0 {
        text += &format!(", {} refused", grouped(now.worker.refused));
    }
    if let Some(reason) = &now.worker.waiting {
        text += &format!(" (waiting: {reason})");
    }
    text
}

/// `v3, champion v2, 30,000 positions/s, 1,204 games wait`.
fn learn(before: &Moment, now: &Moment) -> String {
    let trainer = &now.trainer;
    let learnt = trainer.games + trainer.expired + trainer.refused;
    let mut text = format!(
        "{}, {}, {} positions/s, {} games wait",
        version_or_none(now.run.latest_version),
        match now.run.champion {
            0 => "no champion".into(),
            version => format!("champion v{version}"),
        },
        rate(before, now, |moment| moment.trainer.positions),
        grouped(now.run.accepted.saturating_sub(learnt))
    );
    if trainer.labels > 0 {
        text += &format!(
            ", {} labels learnt {:.1} times",
            grouped(trainer.labels),
            trainer.label_lessons as f64 / trainer.labels as f64
        );
    }
    if trainer.rollbacks > 0 {
        text += &format!(", {} rollbacks", trainer.rollbacks);
    }
    if let Some(reason) = &trainer.waiting {
        text += &format!(" ({reason})");
    }
    text
}

fn rate(before: &Moment, now: &Moment, count: impl Fn(&Moment) -> u64) -> String {
    let seconds = now.elapsed.saturating_sub(before.elapsed).as_secs_f64();
    if seconds == 0.0 {
        return "0".into();
    }
    grouped((count(now).saturating_sub(count(before)) as f64 / seconds).round() as u64)
}

fn plain(elapsed: Duration, time: Option<Duration>, rows: &[String; 4]) -> String {
    let seconds =
        |time: Duration| humantime::format_duration(Duration::from_secs(time.as_secs())).to_string();
    let of = time.map(|time| format!(" of {}", seconds(time))).unwrap_or_default();
    let rows: Vec<String> = NAMES.iter().zip(rows).map(|(name, row)| format!("{name} {row}")).collect();
    format!("{}{of}: {}", seconds(elapsed), rows.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludus_proto::v1::{Accounting, ClassLoss, GateStatus};

    fn moment(seconds: u64, games: u64) -> Moment {
        let worker = WorkerProgress { games, positions: games * 50, ..Default::default() };
        let trainer = TrainerSnapshot {
            games: games / 2,
            positions: games * 25,
            losses: vec![ClassLoss { class: "contact".into(), loss: 0.02125, positions: 1 }],
            ..Default::default()
        };
        let run = RunStatus { accepted: games, latest_version: 3, champion: 2, ..Default::default() };
        Moment { elapsed: Duration::from_secs(seconds), worker, trainer, run }
    }

    #[test]
    fn rates_are_differences_over_the_time_between() {
        let [play, learn, loss, gate] = rows(&moment(10, 1_000), &moment(14, 5_000));
        assert_eq!(play, "1,000 games/s, 50,000 positions/s, 5,000 games");
        assert_eq!(learn, "v3, champion v2, 25,000 positions/s, 2,500 games wait");
        assert_eq!(loss, "contact 0.0213");
        assert_eq!(gate, "none in progress");
        let mut now = moment(14, 5_000);
        (now.trainer.labels, now.trainer.label_lessons) = (1_200, 9_000);
        let [_, learn, ..] = rows(&moment(10, 1_000), &now);
        assert!(learn.ends_with("2,500 games wait, 1,200 labels learnt 7.5 times"), "{learn}");
    }

    #[test]
    fn rollouts_and_phases_are_said_where_there_are_any() {
        let mut now = moment(14, 5_000);
        now.run.rollouts = Some(Accounting { accepted: 1_200, ..Default::default() });
        (now.run.phase, now.run.next_phase) = (1, 20_000);
        let [play, ..] = rows(&moment(10, 1_000), &now);
        assert_eq!(
            play,
            "1,000 games/s, 50,000 positions/s, 5,000 games, 1,200 of them rollouts, phase 1, the next from 20,000 \
             games"
        );
    }

    #[test]
    fn what_is_waited_for_and_the_gate_are_said() {
        let mut now = moment(1, 10);
        now.worker.waiting = Some("the trainer is behind".into());
        now.run.champion = 0;
        now.run.gate = Some(GateStatus {
            candidate: 3,
            pairs: 1204,
            ppg: 0.5,
            ppg_low: -0.25,
            ppg_high: 1.0,
            e_better: 3.25,
            e_worse: 0.5,
            ..Default::default()
        });
        let line = plain(now.elapsed, Some(Duration::from_secs(600)), &rows(&now, &now));
        assert!(line.starts_with("1s of 10m: play 0 games/s"), "{line}");
        assert!(line.contains("(waiting: the trainer is behind)"), "{line}");
        assert!(
            line.ends_with(
                "gate v3 against random: 1,204 pairs, e+ 3.25, e- 0.50, ppg +0.500 [-0.250, +1.000]"
            ),
            "{line}"
        );
    }
}
