//! One module a command: its arguments and its code.
//!
//! The cluster: [`train`], [`coordinator`], [`trainer`], [`worker`], [`token`]. Its runs: [`run`], [`versions`],
//! [`lineage`], [`gate`],
//! [`weights`], [`config`], [`watch`]. The program itself: [`doctor`], [`completions`], [`man`]. Players without a
//! cluster: the rest.

pub mod backup;
pub mod bearoff;
pub mod benchmark;
pub mod completions;
pub mod config;
pub mod coordinator;
pub mod doctor;
pub mod endgame;
pub mod evaluate;
pub mod gate;
pub mod lineage;
pub mod listnet;
pub mod man;
pub mod r#match;
pub mod moves;
pub mod perft;
pub mod play;
pub mod run;
pub mod speed;
pub mod token;
pub mod train;
pub mod trainer;
pub mod versions;
pub mod watch;
pub mod weights;
pub mod weights_export;
pub mod weights_show;
pub mod worker;
