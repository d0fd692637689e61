//! Connections: how many there may be, and how long one may say nothing.
//!
//! A port that strangers reach is held open by strangers: by connections that never say anything, by requests that come a
//! byte at a time, by more connections than there is room for. Each of these has an end here.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// What a connection is allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most connections at once; a worker has one.
    pub most: usize,
    /// How long a connection may take to say what it speaks, and then an HTTP/1 request to have its head complete.
    pub head: Duration,
    /// How long a connection may be silent. Over HTTP/2 it is asked whether it is there much more often.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { most: 4096, head: Duration::from_secs(10), silence: Duration::from_secs(75) }
    }
}

/// Bytes after which it is clear that something is said: no HTTP request is shorter.
const GREETING: usize = 16;
/// How often the other end of an HTTP/2 connection is asked whether it is there, and how long it may think about it.
const ASK: Duration = Duration::from_secs(20);
const REPLY: Duration = Duration::from_secs(20);
/// Requests under way at once on one connection; a worker has two for each of its threads.
const STREAMS: u32 = 4096;
/// How long a shutdown waits for requests under way.
const GRACE: Duration = Duration::from_secs(5);
/// How long to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until `stop`, then finishes what is under way. `refused` hears of every connection that is turned away, by
/// reason.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    stop: CancellationToken,
    refused: impl Fn(&'static str),
) {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.head);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(ASK)
        .keep_alive_timeout(REPLY)
        .max_concurrent_streams(STREAMS);
    let room = Arc::new(Semaphore::new(limits.most));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
            Some(ended) = connections.join_next() => {
                if let Ok(Some(reason)) = ended {
                    refused(reason);
                }
                continue;
            }
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // As a rule no file can be opened any more; connections that end make room.
                tracing::debug!("a connection is not accepted: {error}");
                refused("no-room");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Ok(place) = room.clone().try_acquire_owned() else {
            refused("too-many-connections");
            continue;
        };
        // Answers are small and waited for.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("a connection stays slow: {error}");
        }
        let service = TowerToHyperService::new(router.clone());
        let (builder, watcher, tls) = (builder.clone(), graceful.watcher(), tls.clone());
        connections.spawn(async move {
            // Held until the connection ends.
            let _place = place;
            let Some(tls) = tls else {
                attend(&builder, watcher, Impatient::new(stream, limits), service).await;
                return None;
            };
            match tokio::time::timeout(limits.head, tls.accept(stream)).await {
                Ok(Ok(stream)) => attend(&builder, watcher, Impatient::new(stream, limits), service).await,
                Ok(Err(error)) => {
                    tracing::debug!("a connection without TLS that fits: {error}");
                    return Some("no-tls");
                }
                Err(_) => return Some("no-tls"),
            }
            None
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::info!("connections that were still open are cut");
    }
}

/// Serves one connection to its end.
async fn attend<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    builder: &Builder<TokioExecutor>,
    watcher: Watcher,
    stream: Impatient<S>,
    service: TowerToHyperService<Router>,
) {
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!("a connection broke: {error}");
    }
}

/// A connection that breaks when its other end is silent for too long.
struct Impatient<S> {
    stream: S,
    deadline: Pin<Box<Sleep>>,
    /// Bytes that have come, until they are a greeting.
    heard: usize,
    silence: Duration,
}

impl<S> Impatient<S> {
    fn new(stream: S, limits: Limits) -> Self {
        Impatient {
            stream,
            deadline: Box::pin(tokio::time::sleep(limits.head)),
            heard: 0,
            silence: limits.silence,
        }
    }

    fn patience(&mut self) {
        let silence = self.silence;
        self.deadline.as_mut().reset(Instant::now() + silence);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, buffer) {
            self.heard = self.heard.saturating_add(buffer.filled().len() - before);
            // Until the greeting is complete, bytes buy no time.
            if self.heard >= GREETING {
                self.patience();
            }
            return Poll::Ready(read);
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other end was silent for too long")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        // Somebody takes what is sent.
        self.patience();
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, bytes));
        self.patience();
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    /// A server of one page under `limits`, and what it has turned away.
    async fn server(limits: Limits) -> (std::net::SocketAddr, Arc<Mutex<Vec<&'static str>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new().route("/", axum::routing::get(|| async { "here" }));
        let refused = Arc::<Mutex<Vec<&'static str>>>::default();
        let noted = refused.clone();
        let note = move |reason| noted.lock().expect("unpoisoned").push(reason);
        tokio::spawn(serve(listener, router, None, limits, CancellationToken::new(), note));
        (address, refused)
    }

    async fn answer(connection: &mut TcpStream) -> String {
        connection.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.expect("sent");
        let mut text = String::new();
        connection.read_to_string(&mut text).await.expect("answered");
        text
    }

    #[tokio::test]
    async fn who_says_nothing_or_never_comes_to_the_point_is_hung_up_on() {
        let limits =
            Limits { most: 100, head: Duration::from_millis(50), silence: Duration::from_millis(50) };
        let (address, _) = server(limits).await;
        for beginning in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n\r\nSM", b"GET / HTTP/1.1\r\nHost: x\r\nA: "] {
            let mut connection = TcpStream::connect(address).await.expect("connected");
            connection.write_all(beginning).await.expect("sent");
            let mut rest = Vec::new();
            // Returns only when the server closes the connection.
            let _ = connection.read_to_end(&mut rest).await;
            assert!(!String::from_utf8_lossy(&rest).contains("here"));
        }
        let mut honest = TcpStream::connect(address).await.expect("connected");
        assert!(answer(&mut honest).await.ends_with("here"));
    }

    #[tokio::test]
    async fn beyond_the_most_connections_new_ones_are_turned_away_until_others_end() {
        let limits = Limits { most: 2, ..Limits::default() };
        let (address, refused) = server(limits).await;
        let mut inside = TcpStream::connect(address).await.expect("connected");
        let idle = TcpStream::connect(address).await.expect("connected");
        let mut outside = TcpStream::connect(address).await.expect("connected");
        let mut rest = Vec::new();
        let _ = outside.read_to_end(&mut rest).await;
        assert!(rest.is_empty());
        assert_eq!(*refused.lock().expect("unpoisoned"), ["too-many-connections"]);
        assert!(answer(&mut inside).await.ends_with("here"));
        drop((inside, idle));
        loop {
            let mut next = TcpStream::connect(address).await.expect("connected");
            let sent = next.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
            let mut text = Vec::new();
            if sent.is_ok() && next.read_to_end(&mut text).await.is_ok() && text.ends_with(b"here") {
                break;
            }
        }
    }
}
