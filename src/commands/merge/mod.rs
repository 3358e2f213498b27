//! `merge …`: the commands of the merge mutex.

pub mod abort;
pub mod cleanup;
pub mod findings;
pub mod held;
pub mod root;
pub mod run;
