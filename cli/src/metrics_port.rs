//! A port at which Prometheus reads the numbers of a worker or trainer, and Kubernetes asks whether it lives. The
//! coordinator has a port of its own.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use ludus_coordinator::exposition::CONTENT_TYPE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Longest request and the time it may take. A scrape has some hundred bytes.
const LONGEST: usize = 8 << 10;
const PATIENCE: Duration = Duration::from_secs(5);
/// Requests at once.
const MOST: usize = 8;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct MetricsArgs {
    /// Address at which Prometheus reads /metrics, such as 127.0.0.1:9100; also answers /healthz
    #[arg(long = "metrics", value_name = "ADDRESS", env = "LUDUS_METRICS", display_order = 80)]
    address: Option<SocketAddr>,
}

impl MetricsArgs {
    /// What serves `text` until it is dropped; without an address it does nothing for ever.
    pub async fn serve<T: Fn() -> String + Send + Sync + 'static>(
        &self,
        text: T,
    ) -> Result<impl Future<Output = ()> + use<T>> {
        let listener = match self.address {
            Some(address) => {
                let listener = TcpListener::bind(address).await.with_context(|| {
                    format!("cannot listen on {address}: choose another address with --metrics")
                })?;
                tracing::info!("metrics at http://{}/metrics", listener.local_addr()?);
                Some(listener)
            }
            None => None,
        };
        Ok(async move {
            match listener {
                Some(listener) => answer_all(listener, Arc::new(text)).await,
                None => std::future::pending().await,
            }
        })
    }
}

async fn answer_all(listener: TcpListener, text: Arc<impl Fn() -> String + Send + Sync + 'static>) {
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // As a rule no file can be opened any more.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let text = text.clone();
        tokio::spawn(async move {
            let _place = place;
            // Whoever asks and goes away, or asks for nonsense, gets no answer.
            let _ = tokio::time::timeout(PATIENCE, answer(stream, text.as_ref())).await;
        });
    }
}

async fn answer(mut stream: TcpStream, text: &impl Fn() -> String) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > LONGEST || stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let plain = "text/plain; charset=utf-8";
    let (status, kind, body) = match (method, path.split('?').next().unwrap_or_default()) {
        ("GET", "/metrics") => ("200 OK", CONTENT_TYPE, text()),
        ("GET", "/healthz") => ("200 OK", plain, "ok\n".into()),
        ("GET", _) => ("404 Not Found", plain, "there are /metrics and /healthz\n".into()),
        _ => ("405 Method Not Allowed", plain, "use GET\n".into()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn metrics_and_health_are_answered_and_nothing_else_is() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = tokio::spawn(answer_all(listener, Arc::new(|| "a_total 1\n".to_owned())));
        for (request, status, body) in [
            ("GET /metrics HTTP/1.1\r\n\r\n", "200", "a_total 1\n"),
            ("GET /healthz HTTP/1.0\r\nHost: x\r\n\r\n", "200", "ok\n"),
            ("GET /secret HTTP/1.1\r\n\r\n", "404", "there are /metrics and /healthz\n"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405", "use GET\n"),
        ] {
            let mut stream = TcpStream::connect(address).await.expect("connected");
            stream.write_all(request.as_bytes()).await.expect("sent");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("answered");
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
            assert!(answer.ends_with(&format!("\r\n\r\n{body}")), "{answer}");
        }
        serving.abort();
    }
}
