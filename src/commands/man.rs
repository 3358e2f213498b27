//! `man`: the man pages, which are part of the program, and where `git help aitask-lock` finds them.

use std::path::PathBuf;

use super::Answer;
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::verdict::Verdict;
use crate::sys::man;

/// Arguments of `man`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Write the pages there
    #[arg(long)]
    pub install: bool,
    /// Another folder than the one beside the program, such as ~/.local/share/man/man1
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Runs `man`.
///
/// # Errors
/// The folder cannot be told, or not be written.
pub fn run(args: &Args) -> Result<Answer, Failure> {
    let found = || man::locate("git-aitask-lock");
    let beside = || if args.install { None } else { found()?.parent().map(PathBuf::from) };
    let folder = args.dir.clone().or_else(beside).or_else(man::beside_the_program);
    let Some(folder) = folder else {
        let message = "where this program lies cannot be told";
        return Err(
            Failure::new(FailureKind::Fatal, message).hint("git aitask-lock man --install --dir '<folder>'")
        );
    };
    let names: Vec<&str> = man::PAGES.iter().map(|(name, _)| *name).collect();
    if args.install {
        man::install(&folder, man::PAGES).map_err(|error| {
            Failure::new(FailureKind::NotWritable, error.to_string())
                .hint("git aitask-lock man --install --dir ~/.local/share/man/man1")
        })?;
    }
    let pages = man::present(&folder, &names);
    let folder = folder.canonicalize().unwrap_or(folder);
    let found = found()
        .and_then(|page| page.parent().map(PathBuf::from))
        .is_some_and(|there| there.canonicalize().unwrap_or(there) == folder);
    let folder = folder.to_string_lossy().into_owned();
    Ok(Answer::of(vec![Verdict::Manual { folder, pages, installed: args.install, found }]))
}
