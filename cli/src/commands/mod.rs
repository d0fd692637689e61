//! One module a command: its arguments and its code.
//!
//! The cluster: [`train`], [`coordinator`], [`trainer`], [`worker`]. Its runs: [`run`], [`versions`], [`gate`],
//! [`weights`], [`config`]. Players without a cluster: the rest.

pub mod bearoff;
pub mod benchmark;
pub mod config;
pub mod coordinator;
pub mod evaluate;
pub mod gate;
pub mod listnet;
pub mod r#match;
pub mod moves;
pub mod play;
pub mod run;
pub mod speed;
pub mod train;
pub mod trainer;
pub mod versions;
pub mod weights;
pub mod weights_show;
pub mod worker;
