//! What a command says of its work: log lines on standard error, for people or for programs, and traces.

mod traces;

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;
use tracing_subscriber::filter::FilterExt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, filter, fmt};

use crate::cli::{Cli, Command};
use traces::Spans;
pub use traces::Traces;

/// The progress lines on the terminal, if there are any: log lines are written above them.
static AROUND: Mutex<Option<MultiProgress>> = Mutex::new(None);
/// Whether every line on standard error is a JSON object.
static JSON: AtomicBool = AtomicBool::new(false);
/// Under what name the program's own words to whoever started it are logged, where lines are JSON.
const NEWS: &str = "ludus::news";
/// The same for panics.
const PANIC: &str = "ludus::panic";

/// Arguments of the commands that stay running.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LogArgs {
    /// How log lines on standard error are written
    #[arg(
        long = "log-format",
        value_name = "FORMAT",
        env = "LUDUS_LOG_FORMAT",
        default_value = "text",
        display_order = 99
    )]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// An object a line, with timestamp, level, target, message and further fields
    Json,
}

/// The name of a command that stays running, with what it was told about its log lines.
fn staying(command: &Command) -> Option<(&'static str, LogArgs)> {
    match command {
        Command::Coordinator(args) => Some(("coordinator", args.log)),
        Command::Worker(args) => Some(("worker", args.log)),
        Command::Trainer(args) => Some(("trainer", args.log)),
        Command::Train(args) => Some(("train", args.log)),
        _ => None,
    }
}

/// Begins to log: what `RUST_LOG` says, else warnings and, with each `-v`, more; the ordinary news of a role of a cluster
/// are worth a line. Traces are sent as long as what it gives lives.
pub fn begin(cli: &Cli) -> Traces {
    let staying = staying(&cli.command);
    let json = staying.is_some_and(|(_, args)| args.format == Format::Json);
    JSON.store(json, Relaxed);
    if json {
        std::panic::set_hook(Box::new(|panic| tracing::error!(target: PANIC, "{panic}")));
    }
    let level = match cli.verbose.saturating_add(u8::from(cli.command.stays_running())) {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let mut filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| ours(level));
    // Whatever `RUST_LOG` leaves out: without JSON these are no log lines and always shown.
    for always in [format!("{NEWS}=info"), format!("{PANIC}=error")] {
        if let Ok(always) = always.parse() {
            filter = filter.add_directive(always);
        }
    }
    let lines = fmt::layer()
        .with_writer(|| Above)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()) && std::env::var_os("NO_COLOR").is_none())
        .with_target(cli.verbose > 0)
        // It would complain on standard error that standard error takes nothing, and panic.
        .log_internal_errors(false);
    // Spans are for traces: where nobody follows them, they cost nothing.
    let filter = FilterExt::<Registry>::and(filter, filter::filter_fn(|event| event.is_event()));
    let lines: Spans = if json {
        let object = lines.json().flatten_event(true).with_target(true).with_ansi(false);
        Box::new(object.with_filter(filter))
    } else {
        Box::new(lines.with_filter(filter))
    };
    let (traces, spans) = Traces::begin(staying.map(|(role, _)| role));
    let layers: Vec<Spans> = spans.into_iter().chain([lines]).collect();
    tracing_subscriber::registry().with(layers).init();
    traces.tell();
    traces
}

/// Our own news of this level. Below warnings, those of the libraries are too many to be of use.
fn ours(level: &str) -> EnvFilter {
    EnvFilter::new(format!("warn,ludus={level}{}", CRATES.map(|name| format!(",{name}={level}")).concat()))
}

const CRATES: [&str; 4] = ["ludus_coordinator", "ludus_worker", "ludus_trainer", "ludus_stream"];

/// Whether every line on standard error is a JSON object: then nothing is drawn there.
pub fn is_json() -> bool {
    JSON.load(Relaxed)
}

/// Writes words to whoever started the program on standard error, in the form of everything there.
pub fn say(text: &str) {
    if is_json() {
        tracing::info!(target: NEWS, "{text}");
    } else {
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// The same for why the program ends.
pub fn say_failure(text: &str) {
    if is_json() {
        tracing::error!(target: NEWS, "{text}");
    } else {
        say(&format!("error: {text}"));
    }
}

/// From now on writes log lines above these progress lines; `None`: plainly.
pub fn write_around(progress: Option<MultiProgress>) {
    *AROUND.lock().unwrap_or_else(PoisonError::into_inner) = progress;
}

/// Standard error, above the progress lines.
struct Above;

impl Write for Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let progress = AROUND.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match progress {
            Some(progress) => progress.suspend(|| io::stderr().write(bytes)),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
