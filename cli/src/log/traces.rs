//! Traces: which call led to what, and how long each took, for whoever names a collector of OpenTelemetry.

#[cfg(feature = "otel")]
mod otlp;

use tracing_subscriber::{Layer, Registry};

/// The variables that name a collector, the first that is set.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Sends spans, if somebody wants them, until it is dropped: then what is left goes out.
#[derive(Default)]
pub struct Traces {
    /// What there is to say about it, and whether that is good.
    news: Option<Result<String, String>>,
    #[cfg(feature = "otel")]
    provider: Option<opentelemetry_sdk::trace::SdkTracerProvider>,
}

/// What makes spans known.
pub type Spans = Box<dyn Layer<Registry> + Send + Sync>;

impl Traces {
    /// Begins to send the spans of this role where the environment names a collector; other commands have none.
    pub fn begin(role: Option<&'static str>) -> (Self, Option<Spans>) {
        let set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let off = std::env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
        match (role, ENDPOINTS.iter().find(set)) {
            (Some(role), Some(variable)) if !off => Self::send(role, variable),
            _ => (Traces::default(), None),
        }
    }

    #[cfg(not(feature = "otel"))]
    fn send(_: &str, variable: &str) -> (Self, Option<Spans>) {
        let news = format!(
            "{variable} is set, and this ludus sends no traces: it was built without them; see docs/operations.md, or \
             unset it"
        );
        (Traces { news: Some(Err(news)) }, None)
    }

    #[cfg(feature = "otel")]
    fn send(role: &str, variable: &str) -> (Self, Option<Spans>) {
        match otlp::provider(role) {
            Ok(provider) => {
                let layer = otlp::layer(&provider);
                let news = format!("traces go to the collector that {variable} names");
                (Traces { news: Some(Ok(news)), provider: Some(provider) }, Some(layer))
            }
            Err(reason) => {
                let news = format!("no traces are sent: {reason}");
                (Traces { news: Some(Err(news)), provider: None }, None)
            }
        }
    }

    /// Logs what there is to say, once lines are logged.
    pub fn tell(&self) {
        match &self.news {
            Some(Ok(news)) => tracing::info!("{news}"),
            Some(Err(trouble)) => tracing::warn!("{trouble}"),
            None => {}
        }
    }
}

#[cfg(feature = "otel")]
impl Drop for Traces {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.provider.take().map(|provider| provider.shutdown()) {
            tracing::warn!("the last traces are lost: {error}");
        }
    }
}
