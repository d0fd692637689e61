//! Players outside this program, reached over TCP: one line asks, one or more lines answer.

use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a connection that was refused is tried again, and after how long: gnubg listens again only a moment after it
/// has noticed that a connection has ended.
const RETRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);
/// How long an answer may take; the slowest one waited for is a decision some plies ahead.
const ANSWER: Duration = Duration::from_secs(60);
/// Longest answer that is read, in bytes.
const LONGEST: u64 = 4096;

/// A program that plays, at an address: `gnubg:localhost:4000`.
///
/// All who hold it share one connection, which is opened when it is first needed and asked by one of them at a time.
pub struct Peer {
    program: String,
    host: String,
    port: u16,
    line: Mutex<Option<Line>>,
}

/// What went wrong with a program outside.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{peer}: {problem}")]
pub struct PeerError {
    /// Which program, where.
    pub peer: String,
    /// What is wrong, with the line it was about.
    pub problem: String,
}

impl Peer {
    /// The program at `host` and `port`. Nothing is sent yet.
    pub fn new(program: &str, host: &str, port: u16) -> Self {
        Peer { program: program.into(), host: host.into(), port, line: Mutex::new(None) }
    }

    /// Which program it is.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Asks one question after the other in `talk`, while nobody else does. `greet` is called with a new connection.
    ///
    /// After an error nobody can know which answer would come next, so the connection is closed; it is opened again for
    /// the next who asks.
    pub fn with<T>(
        &self,
        greet: impl FnOnce(&mut Line) -> Result<(), PeerError>,
        talk: impl FnOnce(&mut Line) -> Result<T, PeerError>,
    ) -> Result<T, PeerError> {
        let mut held = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = match held.take() {
            Some(line) => line,
            None => {
                let mut line = self.connect()?;
                greet(&mut line)?;
                line
            }
        };
        let answer = talk(&mut line)?;
        *held = Some(line);
        Ok(answer)
    }

    fn connect(&self) -> Result<Line, PeerError> {
        let peer = self.to_string();
        let failed = |problem: String| PeerError { peer: peer.clone(), problem };
        let addresses: Vec<_> = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|error| failed(format!("its address cannot be found: {error}")))?
            .collect();
        let mut last = "its host has no address".to_owned();
        for _ in 0..=RETRIES {
            let mut refused = false;
            for address in &addresses {
                match TcpStream::connect_timeout(address, CONNECT) {
                    Ok(stream) => {
                        let settings = (stream.set_nodelay(true))
                            .and_then(|()| stream.set_read_timeout(Some(ANSWER)))
                            .and_then(|()| stream.set_write_timeout(Some(ANSWER)));
                        settings.map_err(|error| failed(format!("no connection: {error}")))?;
                        return Ok(Line { peer, stream: BufReader::new(stream) });
                    }
                    Err(error) => {
                        refused |= error.kind() == ErrorKind::ConnectionRefused;
                        last = error.to_string();
                    }
                }
            }
            if !refused {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        Err(failed(format!(
            "no connection: {last}; it must be running, and free: gnubg takes one connection at a time"
        )))
    }
}

/// Writes the player as people do: `gnubg:localhost:4000`, `gnubg:[::1]:4000`.
impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Peer { program, host, port, .. } = self;
        if host.contains(':') {
            return write!(f, "{program}:[{host}]:{port}");
        }
        write!(f, "{program}:{host}:{port}")
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Peer({self})")
    }
}

/// An open connection.
pub struct Line {
    peer: String,
    stream: BufReader<TcpStream>,
}

impl Line {
    /// Sends a line and gives the line that answers it, without its end.
    pub fn ask(&mut self, question: &str) -> Result<String, PeerError> {
        // In one piece, for some programs take what comes in one piece for a line.
        let sent = self.stream.get_mut().write_all(format!("{question}\n").as_bytes());
        sent.map_err(|error| self.failed(question, &format!("cannot be sent: {error}")))?;
        self.more(question)
    }

    /// One more line of the answer to `question`.
    pub fn more(&mut self, question: &str) -> Result<String, PeerError> {
        let mut answer = String::new();
        match self.stream.by_ref().take(LONGEST).read_line(&mut answer) {
            Ok(0) => Err(self.failed(question, "the connection was closed instead of an answer")),
            Ok(_) if answer.ends_with('\n') => Ok(answer.trim().to_owned()),
            Ok(_) => Err(self.failed(question, "the answer does not end")),
            Err(error) => {
                let waited = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                let seconds = ANSWER.as_secs();
                let problem = if waited { format!("no answer in {seconds} s") } else { error.to_string() };
                Err(self.failed(question, &problem))
            }
        }
    }

    /// An error about the answer to `question`.
    pub fn failed(&self, question: &str, problem: &str) -> PeerError {
        PeerError { peer: self.peer.clone(), problem: format!("{problem} (asked: {question})") }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that gives each connection these bytes for its first line, and then closes it.
    fn serving(answers: Vec<&'static [u8]>) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().expect("a connection");
                let mut stream = BufReader::new(stream);
                let mut line = String::new();
                stream.read_line(&mut line).expect("a line");
                stream.get_mut().write_all(answer).expect("an answer can be sent");
            }
        });
        Peer::new("toy", "127.0.0.1", port)
    }

    fn ask(peer: &Peer) -> Result<String, String> {
        peer.with(|_| Ok(()), |line| line.ask("well?")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_answers_a_line() {
        assert_eq!(ask(&serving(vec![b"fine \r\n"])), Ok("fine".into()));
    }

    #[test]
    fn a_connection_that_breaks_is_named_with_the_question_and_opened_again() {
        let peer = serving(vec![b"", b"half", b"whole\n"]);
        let error = ask(&peer).unwrap_err();
        assert!(error.starts_with(&peer.to_string()), "{error}");
        assert!(error.contains("was closed") && error.ends_with("(asked: well?)"), "{error}");
        assert!(ask(&peer).unwrap_err().contains("does not end"));
        assert_eq!(ask(&peer), Ok("whole".into()));
    }

    #[test]
    fn an_address_of_colons_is_written_in_brackets() {
        assert_eq!(Peer::new("toy", "::1", 4000).to_string(), "toy:[::1]:4000");
    }

    #[test]
    fn where_nobody_listens_there_is_no_connection() {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let peer = Peer::new("toy", "127.0.0.1", free.expect("a port").port());
        let error = ask(&peer).unwrap_err();
        assert!(error.starts_with(&format!("{peer}: no connection: ")), "{error}");
    }
}
