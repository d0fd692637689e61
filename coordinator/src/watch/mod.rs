//! What people look at, beyond the state itself. Nothing here decides anything.
//!
//! [`curves`] (what trainers reported, for the learning curves), [`strength`] (how strong versions are, measured beside
//! their gates), [`trace`] (how the evidence of a gate grew), [`kept`] (a few games, kept to be looked at), [`viewing`]
//! (a game or a position with the judgement of a version), [`leased`] (who plays what now), [`disk`].

pub(crate) mod curves;
pub(crate) mod disk;
pub(crate) mod kept;
pub(crate) mod leased;
pub(crate) mod strength;
pub(crate) mod trace;
pub(crate) mod viewing;
