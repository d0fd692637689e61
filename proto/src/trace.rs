//! How a trace goes from one process to another: with each call, as the header `traceparent`. Whoever sends traces says
//! how the header is made and read; where nobody does, calls go without it.

use std::sync::OnceLock;

use tonic::codegen::http::HeaderMap;
use tonic::metadata::MetadataMap;
use tracing::Span;

static CARRIER: OnceLock<Carrier> = OnceLock::new();

/// What makes and reads the header.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    /// Adds it to a call that is made within the present span.
    pub write: fn(&mut MetadataMap),
    /// Makes the span of an answer part of the trace that the header's value names.
    pub read: fn(&Span, &str),
}

/// From now on traces go with calls. The first to say so decides how.
pub fn carry(carrier: Carrier) {
    let _ = CARRIER.set(carrier);
}

/// Adds the header to a call, if traces go with calls.
pub(crate) fn write(metadata: &mut MetadataMap) {
    if let Some(carrier) = CARRIER.get() {
        (carrier.write)(metadata);
    }
}

/// Makes the span of an answer part of the trace that the call came with, if any.
pub fn follow(span: &Span, headers: &HeaderMap) {
    let Some(carrier) = CARRIER.get() else { return };
    if let Some(header) = headers.get("traceparent").and_then(|value| value.to_str().ok()) {
        (carrier.read)(span, header);
    }
}
