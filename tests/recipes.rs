//! The recipes of the README, as they stand there.

use crate::support::manifest_dir;

/// The block of code that follows the words `**<name>**` in the README.
pub fn block(name: &str) -> String {
    let readme = std::fs::read_to_string(manifest_dir().join("README.md")).unwrap();
    let (_, after) = readme.split_once(&format!("**{name}**")).unwrap_or_else(|| panic!("no recipe {name}"));
    let (_, code) = after.split_once("\n```\n").unwrap();
    let (code, _) = code.split_once("\n```\n").unwrap();
    format!("{code}\n")
}
