//! The merge mutex: which task may run its end-of-task merge in the shared repository root.
//!
//! As everywhere in this room, these are decisions over plain values; files, processes and git are
//! looked at by others.

pub mod branch;
pub mod findings;
pub mod guard;
pub mod holder;
pub mod into;
pub mod options;
pub mod outcome;
pub mod preflight;
pub mod queue;
pub mod report;
pub mod reservation;
pub mod residue;
pub mod rules;
pub mod verdict;
