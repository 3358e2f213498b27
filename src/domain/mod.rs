//! Everything that decides: pure functions over plain data.
//!
//! Nothing here reads a file, a clock, a process or a repository. What was observed arrives as
//! values, what is to be done leaves as values, and so every rule is a table that a test can walk.

pub mod anchor;
pub mod cleanup;
pub mod compaction;
pub mod exit;
pub mod failure;
pub mod finding;
pub mod history;
pub mod hook;
pub mod liveness;
pub mod lock;
pub mod merge;
pub mod moment;
pub mod plan;
pub mod record;
pub mod rules;
pub mod tally;
pub mod task_branch;
pub mod task_guard;
pub mod task_id;
pub mod verdict;
pub mod words;
