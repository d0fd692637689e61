//! Real processes of `ludus`, for tests that kill them.

#![allow(dead_code, reason = "not every test program needs all of it")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Far longer than anything here takes on a busy machine of two cores: only what hangs meets it.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(50);

/// A folder in which the processes of one test live, with a home of their own.
pub struct Place {
    folder: TempDir,
    told: Vec<(String, String)>,
}

impl Place {
    pub fn new() -> Self {
        Place { folder: tempfile::tempdir().expect("a temporary folder"), told: Vec::new() }
    }

    /// Sets a variable in the environment of all processes started from now on.
    pub fn tell(&mut self, name: &str, value: &str) {
        self.told.push((name.to_owned(), value.to_owned()));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("the file can be written");
        self.path(name).display().to_string()
    }

    /// Everything that processes of this name wrote to standard error.
    pub fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default()
    }

    fn command(&self, args: &[&str]) -> Command {
        // Long runs may be made with another build of it.
        let program = std::env::var_os("LUDUS").unwrap_or_else(|| env!("CARGO_BIN_EXE_ludus").into());
        let mut command = Command::new(program);
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.path("state"));
        for name in [
            "RUST_LOG",
            "LUDUS_COORDINATOR",
            "LUDUS_REDIS",
            "LUDUS_TOKEN",
            "LUDUS_TOKEN_FILE",
            "LUDUS_LOG_FORMAT",
            "LUDUS_STORE",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
        ] {
            command.env_remove(name);
        }
        command.envs(self.told.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("ludus starts")
    }

    /// What a command that must succeed wrote.
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).expect("JSON")
    }

    /// The one line on standard error of a command that must fail with this code.
    pub fn refused(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
        assert!(stderr.starts_with("error: "), "{args:?}: {stderr}");
        stderr
    }

    /// Starts a process that stays; its news go to `NAME.log` here.
    pub fn start(&self, name: &str, args: &[&str]) -> Process {
        let log = self.path(&format!("{name}.log"));
        let errors = File::options().create(true).append(true).open(&log).expect("a log");
        let mut command = self.command(args);
        let child = command.stdout(Stdio::piped()).stderr(errors).spawn().expect("ludus starts");
        Process { name: name.into(), child, log }
    }
}

/// A process of ludus. Killed when dropped.
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// The first line it writes to standard output.
    pub fn first_line(&mut self) -> String {
        let out = self.child.stdout.as_mut().expect("a pipe");
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("a line");
        assert!(!line.is_empty(), "{} said nothing: {}", self.name, self.log());
        line
    }

    /// SIGKILL: it cannot put anything in order.
    pub fn kill(mut self) {
        assert!(
            self.child.try_wait().expect("it can be asked for").is_none(),
            "{} ended: {}",
            self.name,
            self.log()
        );
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it can be waited for");
    }

    /// SIGTERM.
    pub fn terminate(&self) {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(told.expect("kill starts").success());
    }

    /// Waits for its good end, and gives what it wrote to standard output.
    pub fn ends_well(mut self) -> String {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("it can be asked for") {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("{} does not end: {}", self.name, self.log()),
                None => std::thread::sleep(LOOK),
            }
        };
        assert!(status.success(), "{} ended with {status}: {}", self.name, self.log());
        let mut text = String::new();
        self.child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
        text
    }

    /// Everything that processes of this name wrote to standard error.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked for").is_some()
    }

    /// Its number in the system.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Looks again and again until `look` finds something.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::sleep(LOOK);
    }
}

/// The body of a page of a coordinator at `url`.
pub fn page(url: &str, path: &str) -> String {
    let answer = answer(url, path, "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

/// Whatever a coordinator at `url` answers to a request for `path` with these header lines.
pub fn answer(url: &str, path: &str, headers: &str) -> String {
    let host = url.trim_start_matches("http://");
    let mut connection = TcpStream::connect(host).expect("the coordinator answers");
    connection.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    write!(connection, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")
        .expect("a request");
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Memory that a process has in use, in KiB.
pub fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|size| size.parse().ok()).expect("a size")
}

/// A whole number in the environment, for tests that have a long form.
pub fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a whole number"))
}

/// The accounting of a run's self-play games, as `ludus run show --json` gives it.
#[derive(Debug)]
pub struct Accounts {
    pub issued: u64,
    pub accepted: u64,
    pub leased: u64,
    pub void: u64,
    pub trained: u64,
    pub expired: u64,
    pub latest: u64,
}

impl Accounts {
    pub fn of(run: &Value) -> Self {
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let games = &run["self_play"];
        Accounts {
            issued: number(&games["issued"]),
            accepted: number(&games["accepted"]),
            leased: number(&games["leased"]),
            void: number(&games["void"]),
            trained: number(&run["games"]),
            expired: number(&run["expired"]),
            latest: number(&run["latest_version"]),
        }
    }

    /// Every issued game is accounted for, and no more games were learnt than were taken.
    pub fn assert_balanced(&self) {
        assert_eq!(self.issued, self.accepted + self.leased + self.void, "{self:?}");
        assert!(self.trained + self.expired <= self.accepted, "a game was learnt twice: {self:?}");
    }

    /// And every game that was taken was learnt.
    pub fn assert_drained(&self) {
        self.assert_balanced();
        assert_eq!(self.trained + self.expired, self.accepted, "{self:?}");
    }
}

/// A run that does in seconds what others do in hours.
pub const TINY: &str = "\
phases = []
[network]
hidden = 8
[learn]
batch = 256
publish_games = 1500
checkpoint_seconds = 1
[gate]
limit_pairs = 2000
[leases]
ttl_seconds = 2
target_seconds = 0.5
max_games = 400
";

/// `path` as an argument.
pub fn arg(path: &Path) -> &str {
    path.to_str().expect("a path of plain letters")
}
