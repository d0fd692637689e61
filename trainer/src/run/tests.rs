//! Whole lives of a trainer, with a stand-in for the coordinator.

mod bench;
mod labels;
mod learning;
mod survival;
