//! Measurements: what `ludus-bench` and the scripts beside it are made of.
//!
//! [`samples`] is what is measured on: positions and records of real games, and weights of a given size; [`taught`] makes
//! weights that have learnt a little. [`floor`] measures the processor itself. The measurements: [`judging`] (positions a
//! second), [`self_play`] (games a second, with luck and without), [`learning`] (positions a second in the trainer), [`work`]
//! (fixed amounts of work, whose instructions are counted), and [`fleet`] (one coordinator and very many workers).
//!
//! Nothing here is a test: figures of time say nothing on a busy machine.

pub mod fleet;
pub mod floor;
pub mod judging;
pub mod learning;
pub mod samples;
pub mod self_play;
pub mod taught;
pub mod work;
