//! Ludus on the wire. The messages and services are documented in `ludus/v1/*.proto`;
//! this crate holds the code generated from them and nothing else.

/// Version 1 of the protocol.
#[allow(missing_docs, clippy::all, reason = "generated; the .proto files hold the documentation")]
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/ludus.v1.rs"));
}
