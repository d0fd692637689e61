//! A bucket that is spoken to as S3 is, with just enough of the protocol, and moods.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Whom it lets in.
pub const KEY: &str = "AKIDEXAMPLE";
/// Its name.
pub const NAME: &str = "games";

/// How requests are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// As they should be.
    Well,
    /// Not now.
    Away,
    /// With half of what is there.
    Halving,
}

/// The server. It serves until the test program ends.
#[derive(Clone)]
pub struct Bucket {
    /// Where it is.
    pub url: String,
    inside: Arc<Mutex<Inside>>,
}

struct Inside {
    objects: BTreeMap<String, Vec<u8>>,
    mood: Mood,
}

impl Bucket {
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let bucket = Bucket {
            url,
            inside: Arc::new(Mutex::new(Inside { objects: BTreeMap::new(), mood: Mood::Well })),
        };
        let serving = bucket.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let serving = serving.clone();
                thread::spawn(
                    move || while serving.answer(stream.as_ref().expect("a connection")).is_some() {},
                );
            }
        });
        bucket
    }

    pub fn set(&self, mood: Mood) {
        self.inside.lock().expect("the bucket").mood = mood;
    }

    /// What is in it.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.inside.lock().expect("the bucket").objects.clone()
    }

    /// Answers one request; `None` at the end of the connection.
    fn answer(&self, mut stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let (mut first, mut length, mut known) = (String::new(), 0, false);
        reader.read_line(&mut first).ok().filter(|&read| read > 0)?;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            match line.trim().split_once(':') {
                None => break,
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().expect("a length");
                }
                Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                    known =
                        value.contains("AWS4-HMAC-SHA256") && value.contains(&format!("Credential={KEY}/"));
                }
                Some(_) => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let (status, body) = self.act(&first, body, known);
        let head = format!(
            "HTTP/1.1 {status}\r\netag: \"1\"\r\nlast-modified: Thu, 01 Jan 2026 00:00:00 GMT\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).ok()
    }

    fn act(&self, first: &str, body: Vec<u8>, known: bool) -> (&'static str, Vec<u8>) {
        let mut words = first.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut inside = self.inside.lock().expect("the bucket");
        let Inside { objects, mood } = &mut *inside;
        if *mood == Mood::Away {
            return ("503 Service Unavailable", b"<Error><Code>SlowDown</Code></Error>".to_vec());
        }
        if !known {
            return ("403 Forbidden", b"<Error><Code>InvalidAccessKeyId</Code></Error>".to_vec());
        }
        let Some(key) = path.strip_prefix(&format!("/{NAME}")) else {
            return ("404 Not Found", b"<Error><Code>NoSuchBucket</Code></Error>".to_vec());
        };
        let key = key.trim_start_matches('/');
        match method {
            "PUT" => {
                objects.insert(key.to_owned(), body);
                ("200 OK", Vec::new())
            }
            "DELETE" => {
                objects.remove(key);
                ("204 No Content", Vec::new())
            }
            "GET" if key.starts_with('?') => {
                let contents = objects.iter().map(|(key, bytes)| {
                    format!(
                        "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
                         <ETag>\"1\"</ETag><Size>{}</Size></Contents>",
                        bytes.len()
                    )
                });
                let list = format!(
                    "<ListBucketResult><IsTruncated>false</IsTruncated>{}</ListBucketResult>",
                    contents.collect::<String>()
                );
                ("200 OK", list.into_bytes())
            }
            "GET" => match objects.get(key) {
                Some(bytes) if *mood == Mood::Halving => ("200 OK", bytes[..bytes.len() / 2].to_vec()),
                Some(bytes) => ("200 OK", bytes.clone()),
                None => ("404 Not Found", b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
            },
            _ => ("400 Bad Request", Vec::new()),
        }
    }
}
