//! The tests, in one program.
fn main() {}
