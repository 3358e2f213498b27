//! The man pages: how they are made of the commands' own definitions and of
//! the texts under `manual/text/`.
//!
//! The pages lie under `man/`, so that a package can install them without running anything; a test
//! compares them with what this makes.

pub mod options;
pub mod pages;
pub mod roff;
pub mod tables;
