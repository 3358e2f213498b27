//! Everything that decides: pure functions over plain data.
//!
//! Nothing here reads a file, a clock, a process or a repository. What was observed arrives as
//! values, what is to be done leaves as values, and so every rule is a table that a test can walk.

pub mod anchor;
pub mod moment;
pub mod record;
pub mod task_id;
