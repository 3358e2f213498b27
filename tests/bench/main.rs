//! Whole processes, timed side by side with git.
fn main() {}
