//! The outside world, one small door each. Nothing outside of this room calls the operating
//! system, starts a program, or reads a clock.

pub mod anchor;
pub mod child;
pub mod clock;
pub mod files;
pub mod flock;
pub mod git;
pub mod host;
pub mod process;
pub mod random;
pub mod replace;
pub mod repository;
pub mod signals;
pub mod terminal;
