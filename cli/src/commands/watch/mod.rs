//! `ludus watch`: a run in the terminal.

mod screen;

use std::io::IsTerminal;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use ludus_proto::v1::{RunStatus, VersionInfo};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use crate::local_run::{RunPlace, Runs};

/// How often to look at the run.
const PERIOD: Duration = Duration::from_secs(1);
/// How often to see whether a key was pressed.
const KEYS: Duration = Duration::from_millis(100);
/// Looks that the rate is measured over.
const RATE_OVER: usize = 15;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ludus watch                                              the last run on this machine
  ludus watch backgammon --coordinator http://127.0.0.1:7777

q ends it. Where the output is no terminal, it is printed once.")]
pub struct Args {
    /// Name of the run [default: the newest]
    #[arg(default_value = "", hide_default_value = true)]
    run: String,
    #[command(flatten)]
    place: RunPlace,
}

/// A run at one moment.
struct Picture {
    run: RunStatus,
    versions: Vec<VersionInfo>,
    /// Accepted games a second over the last looks, when there were enough.
    games_per_second: Option<f64>,
}

/// Shows the run until a key ends it.
pub fn run(args: Args) -> Result<()> {
    let mut eye = Eye { place: args.place, run: args.run, looks: Vec::new() };
    let first = eye.look()?;
    if !std::io::stdout().is_terminal() {
        print!("{}", screen::text(&first, 100, 40)?);
        return Ok(());
    }
    // Looking may take its time; keys are answered at once.
    let (sender, pictures) = mpsc::channel();
    thread::spawn(move || {
        loop {
            let begun = Instant::now();
            let picture = eye.look().map_err(|error| format!("{error:#}"));
            if sender.send(picture).is_err() {
                return;
            }
            thread::sleep(PERIOD.saturating_sub(begun.elapsed()));
        }
    });
    let mut terminal = ratatui::try_init()?;
    let shown = show(&mut terminal, first, &pictures);
    ratatui::restore();
    shown
}

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    mut picture: Picture,
    pictures: &mpsc::Receiver<Result<Picture, String>>,
) -> Result<()> {
    let mut trouble = None;
    loop {
        for news in pictures.try_iter() {
            match news {
                Ok(next) => (picture, trouble) = (next, None),
                Err(error) => trouble = Some(error),
            }
        }
        terminal.draw(|frame| screen::draw(frame, &picture, trouble.as_deref()))?;
        if event::poll(KEYS)?
            && let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
        {
            let interrupted = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
            if interrupted || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) {
                return Ok(());
            }
        }
    }
}

/// What looks at the run again and again.
struct Eye {
    place: RunPlace,
    run: String,
    /// When it looked lately, and how many games there were.
    looks: Vec<(Instant, u64)>,
}

impl Eye {
    fn look(&mut self) -> Result<Picture> {
        // A folder is opened anew each time; a connection is made at the first question.
        let runs: Runs = self.place.read()?;
        let run = runs.run(&self.run)?;
        let versions = runs.versions(&run.run)?;
        self.looks.push((Instant::now(), run.accepted));
        if self.looks.len() > RATE_OVER {
            self.looks.remove(0);
        }
        let games_per_second = match (self.looks.first(), self.looks.last()) {
            (Some(first), Some(last)) if last.0 - first.0 > 2 * PERIOD => {
                Some(last.1.saturating_sub(first.1) as f64 / (last.0 - first.0).as_secs_f64())
            }
            _ => None,
        };
        Ok(Picture { run, versions, games_per_second })
    }
}
