//! A small web server with one file, which can be told to misbehave.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// How one request is answered.
#[derive(Clone, Copy, Debug)]
pub enum Manner {
    /// The file, or the range asked for.
    Well,
    /// The same, but the connection breaks after so many bytes of it.
    Breaking(usize),
    /// The whole file, whatever range was asked for.
    WithoutRanges,
    /// The whole file, whatever range was asked for, broken after so many bytes.
    WithoutRangesBreaking(usize),
    /// This status, and no file.
    Status(u16),
}

/// What was asked for: a path, and the first byte where a range was asked for.
type Asked = (String, Option<usize>);

/// The server. It serves until the test program ends.
pub struct FileServer {
    /// Where it is, `http://127.0.0.1:PORT/`.
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl FileServer {
    /// Serves `content` under every path. The n-th request is answered in the n-th manner, later ones in the last.
    pub fn start(content: Vec<u8>, manners: &[Manner]) -> FileServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let asked = Arc::<Mutex<Vec<_>>>::default();
        let (log, manners) = (asked.clone(), manners.to_vec());
        thread::spawn(move || {
            for (request, stream) in listener.incoming().enumerate() {
                let manner = manners[request.min(manners.len() - 1)];
                // A client that goes away is its own business.
                let _ = answer(stream.expect("a connection"), &content, manner, &log);
            }
        });
        FileServer { url, asked }
    }

    /// What was asked for so far.
    #[allow(dead_code, reason = "not every test program asks")]
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("the log").clone()
    }
}

fn answer(
    mut stream: TcpStream,
    content: &[u8],
    manner: Manner,
    log: &Mutex<Vec<Asked>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap_or(Ok(String::new()))?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut start = None;
    for line in lines {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            start = range.trim_end_matches('-').parse().ok();
        }
    }
    log.lock().expect("the log").push((path, start));

    let length = content.len();
    let (range, breaks) = match manner {
        Manner::Well => (start, length),
        Manner::Breaking(after) => (start, after),
        Manner::WithoutRanges => (None, length),
        Manner::WithoutRangesBreaking(after) => (None, after),
        Manner::Status(status) => {
            return write!(stream, "HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    };
    let body = match range {
        Some(start) if start >= length => {
            return write!(
                stream,
                "HTTP/1.1 416 No\r\nContent-Range: bytes */{length}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        Some(start) => {
            let body = &content[start..];
            let last = length - 1;
            write!(stream, "HTTP/1.1 206 Part\r\nContent-Range: bytes {start}-{last}/{length}\r\n")?;
            body
        }
        None => {
            write!(stream, "HTTP/1.1 200 OK\r\n")?;
            content
        }
    };
    write!(stream, "Content-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body[..breaks.min(body.len())])
}
