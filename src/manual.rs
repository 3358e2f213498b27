//! The man pages: what is in the program, and how it is made.

/// The pages, by file name.
pub const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));
