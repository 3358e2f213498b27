//! The tests, in one program.

// The manual says what the program does.
mod manual;
