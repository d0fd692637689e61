//! The coordinator: owns runs, versions, leases and gates, and serves workers, trainers and people.
//!
//! Read in this order. The pure cores: [`leases`] (which games were handed out, which came back), [`gate`] (is the
//! candidate better?), `turns` (whose turn it is). The state: `book` (everything in memory), `store` (the same on disk)
//! and `state` (the one lock, and the step that changes both). Who may ask: [`Role`] and `tokens`, with `people` and `door`. What is asked of it: `acquire`, `submit`, `phases`,
//! `training`, `gatekeeper`, `condition`. What is made sure of: `audit`, `lineage`. What moves data: `outbox`, `services`, `http` with `view` and [`json`], `connections`, `serve`. [`Coordinator`] is the
//! handle to all of it, and [`Records`] looks into a folder without one, and recomputes its verdicts (`verdict_check`).

pub mod gate;
pub mod json;
pub mod leases;

mod acquire;
mod audit;
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
mod tokens;
mod training;
mod turns;
mod verdict_check;
mod view;

pub use coordinator::{Coordinator, CoordinatorOptions};
pub use error::CoordinatorError;
pub use records::Records;
pub use tokens::{Role, Unadmitted};
pub use verdict_check::{Finding, VerdictCheck};
