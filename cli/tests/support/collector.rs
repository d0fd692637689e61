//! A collector of OpenTelemetry with just enough of the protocol to keep the spans it is sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use prost::Message;

/// A span, as far as tests ask for it. Numbers of traces and spans are bytes.
#[derive(Clone, Debug)]
pub struct Span {
    pub service: String,
    pub name: String,
    pub trace: Vec<u8>,
    pub id: Vec<u8>,
    pub parent: Vec<u8>,
    pub attributes: Vec<(String, String)>,
}

/// Takes spans until the test program ends.
pub struct Collector {
    /// Where it is.
    pub url: String,
    spans: Arc<Mutex<Vec<Span>>>,
}

impl Collector {
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let spans = Arc::<Mutex<Vec<Span>>>::default();
        let kept = spans.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = kept.clone();
                // A connection stays open between deliveries.
                thread::spawn(
                    move || while deliver(stream.as_ref().expect("a connection"), &kept).is_some() {},
                );
            }
        });
        Collector { url, spans }
    }

    /// What has come so far.
    pub fn spans(&self) -> Vec<Span> {
        self.spans.lock().expect("the spans").clone()
    }
}

/// Takes one delivery; `None` at the end of the connection.
fn deliver(mut stream: &TcpStream, kept: &Mutex<Vec<Span>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|&read| read > 0)?;
    assert!(first.starts_with("POST /v1/traces "), "{first}");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request = Request::decode(&body[..]).expect("protobuf");
    for of_resource in request.resources {
        let attributes = of_resource.resource.unwrap_or_default().attributes;
        let service = attributes.into_iter().map(KeyValue::text).find(|(key, _)| key == "service.name");
        let service = service.expect("a name").1;
        for span in of_resource.scopes.into_iter().flat_map(|scope| scope.spans) {
            let attributes = span.attributes.into_iter().map(KeyValue::text).collect();
            let (trace, id, parent) = (span.trace, span.id, span.parent);
            let span = Span { service: service.clone(), name: span.name, trace, id, parent, attributes };
            kept.lock().expect("the spans").push(span);
        }
    }
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n")
        .ok()
}

// What is needed of opentelemetry/proto/trace/v1/trace.proto.

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resources: Vec<OfResource>,
}

#[derive(Clone, PartialEq, Message)]
struct OfResource {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scopes: Vec<OfScope>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct OfScope {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Sent>,
}

#[derive(Clone, PartialEq, Message)]
struct Sent {
    #[prost(bytes = "vec", tag = "1")]
    trace: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<Value>,
}

impl KeyValue {
    fn text(self) -> (String, String) {
        (self.key, self.value.unwrap_or_default().text)
    }
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    text: String,
}
