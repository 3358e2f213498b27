//! The man pages: what is in the program, and how it is made of the commands' own definitions and of
//! the texts under `manual/text/`.
//!
//! The pages lie under `man/`, so that a package can install them without running anything; a test
//! compares them with what this makes.

pub mod options;
pub mod pages;
pub mod roff;
pub mod tables;

/// The pages that are part of the program, by file name.
pub const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));
