//! The man pages that the program carries, and those on this machine: where `man` finds them, and where ours go.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::child::{self, End, Limits};
use super::clock;
use super::files::{self, FileError};

/// The pages that are part of the program, by file name.
pub const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Where `man` finds a page, as far as it says so.
#[must_use]
pub fn locate(page: &str) -> Option<PathBuf> {
    let mut command = Command::new("man");
    command.arg("-w").arg(page);
    let limits =
        Limits { deadline: clock::deadline_in(Duration::from_secs(5)), max_output: 64 * 1024, stdin: None };
    let finished = child::run(command, limits).ok()?;
    if let End::Interrupted(signal) = finished.end {
        child::die_of(signal);
    }
    let said = String::from_utf8(finished.stdout).ok()?;
    let first = said.lines().next()?.trim();
    (finished.end == End::Exited(0) && !first.is_empty()).then(|| PathBuf::from(first))
}

/// Where the pages belong: beside the program's folder, where `man` looks for every folder of
/// `PATH`, `<prefix>/share/man/man1` for `<prefix>/bin`.
#[must_use]
pub fn beside_the_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let program = program.canonicalize().unwrap_or(program);
    Some(program.parent()?.parent()?.join("share/man/man1"))
}

/// How many of these pages a folder has, plain or compressed.
#[must_use]
pub fn present(folder: &Path, names: &[&str]) -> usize {
    let there = |name: &&&str| folder.join(name).is_file() || folder.join(format!("{name}.gz")).is_file();
    names.iter().filter(there).count()
}

/// Writes pages into a folder, which is made if need be.
///
/// # Errors
/// The folder or a page cannot be written.
pub fn install(folder: &Path, pages: &[(&str, &str)]) -> Result<(), FileError> {
    std::fs::create_dir_all(folder).map_err(|source| FileError {
        path: folder.to_owned(),
        doing: "cannot create the folder",
        source,
    })?;
    pages.iter().try_for_each(|(name, text)| files::replace(folder, name, text.as_bytes()))
}
