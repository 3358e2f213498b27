//! `completions`: the scripts that make TAB work, for `git aitask-lock` and for `git-aitask-lock`.

use super::Answer;
use crate::domain::verdict::Verdict;

/// Arguments of `completions`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The shell
    pub shell: Shell,
}

/// Shells that there is a script for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// Bash, through git's own completion
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

/// Runs `completions`.
#[must_use]
pub fn run(args: &Args) -> Answer {
    let text = match args.shell {
        Shell::Bash => include_str!("completions/git-aitask-lock.bash"),
        Shell::Zsh => include_str!("completions/_git-aitask-lock"),
        Shell::Fish => include_str!("completions/git-aitask-lock.fish"),
    };
    Answer::with_exit(vec![Verdict::Text { text: text.to_owned() }], 0)
}
