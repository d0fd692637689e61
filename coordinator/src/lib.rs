//! The coordinator: owns runs, versions, leases and gates, and serves workers, trainers and people.
//!
//! Read in this order. The pure cores: [`leases`] (which games were handed out, which came back), [`gate`] (is the
//! candidate better?), `turns` (whose turn it is). The state: `book` (everything in memory), `store` (the same on disk)
//! and `state` (the one lock, and the step that changes both). Who may ask: [`Role`] and `tokens`, with `people`, `door`
//! and [`ServerTls`]. What is asked of it: `acquire`, `submit`, `phases`, `training`, `gatekeeper`, `condition`. What is made
//! sure of beside all that: `audit` (on a thread of its own, `aside`), `lineage`, [`Retention`]. What moves data: `outbox`,
//! `services`, `http` with `view`, [`json`] and [`exposition`], `connections`, `serve`. What people look at besides: `watch`.
//! [`Coordinator`] is the handle to all of it, and [`Records`] looks into a folder without one, and recomputes its verdicts
//! (`verdict_check`).

pub mod exposition;
pub mod gate;
pub mod json;
pub mod leases;

mod acquire;
mod aside;
mod audit;
mod blocking;
mod book;
mod clock;
mod condition;
mod connections;
mod coordinator;
mod door;
mod error;
mod gatekeeper;
mod http;
mod lineage;
mod outbox;
mod people;
mod phases;
mod records;
mod retention;
mod roster;
mod series;
mod serve;
mod services;
mod state;
mod status;
mod store;
mod submit;
#[cfg(test)]
mod tests;
mod tls;
mod tokens;
mod training;
mod turns;
mod verdict_check;
mod view;
mod watch;

pub use coordinator::{Coordinator, CoordinatorOptions};
pub use error::CoordinatorError;
pub use records::Records;
pub use retention::Retention;
pub use store::depot::Depot;
pub use tls::ServerTls;
pub use tokens::{Role, Unadmitted};
pub use verdict_check::{Finding, VerdictCheck};
