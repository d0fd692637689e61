//! A real redis-server for a test: on a spare port, in a folder of its own, gone when the test is.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to answer after its start.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A running redis-server that keeps its data (`appendonly yes`) across [`RedisServer::restart`].
pub struct RedisServer {
    process: Option<Child>,
    port: u16,
    folder: tempfile::TempDir,
}

impl RedisServer {
    /// Starts a server.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut server = RedisServer { process: None, port: 0, folder };
        // Another program may take the port between our looking and the server's binding: look again then.
        for _ in 0..5 {
            server.port = spare_port();
            if server.launch() {
                return server;
            }
        }
        panic!("redis-server did not start; its log:\n{}", server.log());
    }

    /// Its address.
    #[allow(dead_code, reason = "not every test that has a server connects to it itself")]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Where it keeps its data.
    #[allow(dead_code, reason = "not every test that has a server looks there")]
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Sends it a command and gives the beginning of its answer, as it came.
    #[allow(dead_code, reason = "not every test that has a server speaks to it")]
    pub fn ask(&self, command: &[&str]) -> String {
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("it answers");
        connection.set_read_timeout(Some(START_TIMEOUT)).expect("a timeout");
        let parts = command.iter().map(|part| format!("${}\r\n{part}\r\n", part.len()));
        let request = format!("*{}\r\n{}", command.len(), parts.collect::<String>());
        connection.write_all(request.as_bytes()).expect("sent");
        let mut answer = [0; 4096];
        let length = connection.read(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer[..length]).into_owned()
    }

    /// Kills the server (SIGKILL).
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("the server can be killed");
            process.wait().expect("the server can be waited for");
        }
    }

    /// Starts it again, on the same port and with its data.
    #[allow(dead_code, reason = "not every test that has a server restarts it")]
    pub fn restart(&mut self) {
        self.kill();
        assert!(self.launch(), "redis-server did not start again; its log:\n{}", self.log());
    }

    /// Starts the process and waits until it answers; false when it ends instead.
    fn launch(&mut self) -> bool {
        let process = Command::new(program())
            .args([
                "--port",
                &self.port.to_string(),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "yes",
            ])
            .args(["--daemonize", "no", "--logfile", "redis.log", "--dir"])
            .arg(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server can be started");
        let process = self.process.insert(process);
        let deadline = Instant::now() + START_TIMEOUT;
        while Instant::now() < deadline {
            if process.try_wait().expect("the server can be asked for").is_some() {
                self.process = None;
                return false;
            }
            if answers(self.port) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.kill();
        false
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("redis.log")).unwrap_or_default()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where redis-server is: in the PATH or where Debian puts it.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/bin"), PathBuf::from("/usr/local/bin")])
        .map(|folder| folder.join("redis-server"))
        .find(|program| program.is_file())
        .expect("this test needs redis-server: ./test installs it (Debian: apt-get install redis-server)")
}

/// A port that was free a moment ago.
fn spare_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("its number").port()
}

/// Whether a Redis at this port answers a ping (one that is still loading its data does not).
fn answers(port: u16) -> bool {
    let Ok(mut connection) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return false };
    let mut answer = [0; 5];
    connection.set_read_timeout(Some(Duration::from_secs(1))).is_ok()
        && connection.write_all(b"PING\r\n").is_ok()
        && connection.read_exact(&mut answer).is_ok()
        && &answer == b"+PONG"
}
