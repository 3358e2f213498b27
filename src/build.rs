//! What is known only when the program is built: the commit, and the man pages that go into it.

#![expect(clippy::expect_used, reason = "a build that cannot go on ends")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let commit = packaged_commit(&root).or_else(|| checked_out_commit(&root));
    let version = commit.map_or_else(|| version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=AITASK_LOCK_VERSION={version}");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("pages.rs");
    std::fs::write(out, pages(&root.join("man"))).expect("the build folder can be written");
}

/// The commit that a crate package was made of: cargo leaves it there.
fn packaged_commit(root: &Path) -> Option<String> {
    let info = std::fs::read_to_string(root.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = info.split_once("\"sha1\"")?;
    let commit = rest.split('"').nth(1)?;
    Some(commit.chars().take(12).collect())
}

/// The commit of the checkout that this is the top of. A folder that merely lies inside of another
/// repository has none.
fn checked_out_commit(root: &Path) -> Option<String> {
    if !root.join(".git").exists() {
        return None;
    }
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(root).args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // The reflog grows with every commit. A path that does not exist would mean a build every time.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file]).map(|path| root.join(path));
        if let Some(path) = path.filter(|path| path.exists()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// The pages as a table of names and contents.
fn pages(folder: &Path) -> String {
    println!("cargo::rerun-if-changed=man");
    let listing = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = listing.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "1"));
    files.sort();
    let mut code = String::from("&[\n");
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        writeln!(code, "({name:?}, include_str!({:?})),", file.display().to_string()).expect("a string");
    }
    code + "]\n"
}
