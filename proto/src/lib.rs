//! Ludus on the wire. The messages and services are documented in `ludus/v1/*.proto`; this crate holds the code generated
//! from them, and with the feature `grpc` how a program reaches a coordinator: [`Access`], and the [`Bearer`] that it shows with every
//! call.

#[cfg(feature = "grpc")]
mod access;
#[cfg(feature = "grpc")]
mod bearer;
#[cfg(feature = "grpc")]
pub mod status;
#[cfg(feature = "grpc")]
pub mod trace;

#[cfg(feature = "grpc")]
pub use access::{Access, NoAddress, Tls};
#[cfg(feature = "grpc")]
pub use bearer::Bearer;

/// Version 1 of the protocol.
#[allow(missing_docs, clippy::all, reason = "generated; the .proto files hold the documentation")]
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/ludus.v1.rs"));
}
