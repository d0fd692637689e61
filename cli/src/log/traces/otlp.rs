//! Spans on their way to a collector: OTLP in protobuf over HTTP, set up by the variables that OpenTelemetry specifies.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tonic::metadata::{MetadataMap, MetadataValue};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::Spans;

/// Longest time for one delivery.
const PATIENCE: Duration = Duration::from_secs(10);
/// The header of W3C Trace Context.
const HEADER: &str = "traceparent";

/// What collects the spans of a role and sends them from a thread of its own.
pub fn provider(role: &str) -> Result<SdkTracerProvider, String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let protocol =
        ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"].into_iter().find_map(set);
    if let Some(other) = protocol.filter(|protocol| protocol != "http/protobuf") {
        return Err(format!(
            "the protocol {other} is asked for, and there is only http/protobuf (port 4318)"
        ));
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_http_client(Post::new())
        .build()
        .map_err(|error| error.to_string())?;
    let mut resource =
        Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    let named =
        set("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|attributes| attributes.contains("service.name="));
    if set("OTEL_SERVICE_NAME").is_none() && !named {
        resource = resource.with_service_name(format!("ludus-{role}"));
    }
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build())
}

/// What hands the spans of our crates to `provider`. From now on they go with calls to other processes, too.
pub fn layer(provider: &SdkTracerProvider) -> Spans {
    ludus_proto::trace::carry(ludus_proto::trace::Carrier { write, read });
    let spans = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("ludus"))
        .with_filter(super::super::ours("info"));
    Box::new(spans)
}

fn write(metadata: &mut MetadataMap) {
    TraceContextPropagator::new().inject_context(&Span::current().context(), &mut Outgoing(metadata));
}

fn read(span: &Span, header: &str) {
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &Incoming(header));
    // Fails where the span is not followed, which is no trouble.
    let _ = span.set_parent(parent);
}

struct Outgoing<'a>(&'a mut MetadataMap);

impl Injector for Outgoing<'_> {
    fn set(&mut self, key: &str, value: String) {
        if let (HEADER, Ok(value)) = (key, MetadataValue::try_from(value)) {
            self.0.insert(HEADER, value);
        }
    }
}

struct Incoming<'a>(&'a str);

impl Extractor for Incoming<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == HEADER).then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec![HEADER]
    }
}

/// Posts what is to be delivered, on the exporter's thread, which may wait.
#[derive(Debug)]
struct Post(ureq::Agent);

impl Post {
    fn new() -> Self {
        let system = rustls_native_certs::load_native_certs().certs;
        let roots: Vec<_> = system.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::new_with_certs(&roots))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .tls_config(tls)
            .build();
        Post(config.new_agent())
    }
}

#[tonic::async_trait]
impl HttpClient for Post {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = self.0.run(request.map(|body| body.to_vec()))?.into_parts();
        let body = body.into_with_config().limit(1 << 20).read_to_vec()?;
        Ok(Response::from_parts(parts, body.into()))
    }
}
