//! The whole coordinator, with a game that is one toss of a coin: fast, and any player can be made to win.
//!
//! `rules`, `gates`, `verdicts`, `recovery` and `random_walk` call it directly and pass the time in; `server` talks to it
//! over a port, as workers and trainers do. `audits`, `doors` and `hostile` are about those who do not
//! play fair. `watching` is about what people see; `measure` measures, when asked.

mod audits;
mod coin;
mod desk;
mod doors;
mod gates;
mod hostile;
mod hostile_requests;
mod measure;
mod phases;
mod random_walk;
mod recovery;
mod retention;
mod rules;
mod server;
mod verdicts;
mod watching;
