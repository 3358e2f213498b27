//! Options that a caller passes on to `git merge`: all but those that would make it something else.

use std::fmt;

/// An option that is not passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadOption {
    /// It ends or continues a merge, or asks for help: not a merge at all.
    NoMerge(String),
    /// It would open an editor.
    Editor(String),
    /// It stages the changes without merging, so that nothing ever shows that the task was merged.
    Squash(String),
    /// It stops before the commit, so that the merge is never made.
    NoCommit(String),
    /// It is no option: a second branch, or `--`.
    NoOption(String),
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMerge(option) => write!(f, "{option} does not go with a merge that is to be begun"),
            Self::Editor(option) => write!(f, "{option} would open an editor; -m <message> sets the message"),
            Self::Squash(option) => {
                write!(f, "{option} makes no merge: nothing would show that the task's branch is in")
            }
            Self::NoCommit(option) => {
                write!(f, "{option} makes no merge: it stops before the commit")
            }
            Self::NoOption(word) => {
                write!(f, "{word:?} is no option of git merge; the branch goes before the --")
            }
        }
    }
}

/// What makes a refusal of an option.
type Refusal = fn(String) -> BadOption;

/// Long options that are refused; git takes every unique beginning of one.
const REFUSED: [(&str, Refusal); 7] = [
    ("abort", BadOption::NoMerge),
    ("continue", BadOption::NoMerge),
    ("quit", BadOption::NoMerge),
    ("help", BadOption::NoMerge),
    ("edit", BadOption::Editor),
    ("squash", BadOption::Squash),
    ("no-commit", BadOption::NoCommit),
];
/// Long options whose value may be the next word.
const WITH_VALUE: [&str; 6] = ["message", "file", "strategy", "strategy-option", "into-name", "cleanup"];
/// Short options that take a value, here or in the next word.
const SHORT_WITH_VALUE: [char; 4] = ['m', 'F', 's', 'X'];

/// Checks what is to be passed on.
///
/// # Errors
/// The first one that is not.
pub fn check<'a>(options: impl IntoIterator<Item = &'a str>) -> Result<(), BadOption> {
    let mut options = options.into_iter();
    while let Some(option) = options.next() {
        let takes_next = match (option.strip_prefix("--"), option.strip_prefix('-')) {
            (Some(long), _) => check_long(option, long)?,
            (None, Some(short)) => check_short(option, short)?,
            (None, None) => return Err(BadOption::NoOption(option.to_owned())),
        };
        if takes_next {
            options.next();
        }
    }
    Ok(())
}

/// Whether the next word is its value.
fn check_long(option: &str, long: &str) -> Result<bool, BadOption> {
    let (name, value) = match long.split_once('=') {
        Some((name, _)) => (name, true),
        None => (long, false),
    };
    if name.is_empty() {
        return Err(BadOption::NoOption(option.to_owned()));
    }
    if let Some((_, refusal)) = REFUSED.iter().find(|(refused, _)| refused.starts_with(name)) {
        // `--s` could also be a strategy: git would not take it either.
        return Err(refusal(option.to_owned()));
    }
    Ok(!value && WITH_VALUE.iter().any(|known| known.starts_with(name)))
}

fn check_short(option: &str, short: &str) -> Result<bool, BadOption> {
    if short.is_empty() {
        return Err(BadOption::NoOption(option.to_owned()));
    }
    for (at, letter) in short.char_indices() {
        match letter {
            'e' => return Err(BadOption::Editor(option.to_owned())),
            'h' => return Err(BadOption::NoMerge(option.to_owned())),
            // The rest of the word is its value.
            'S' => return Ok(false),
            _ if SHORT_WITH_VALUE.contains(&letter) => return Ok(at + letter.len_utf8() == short.len()),
            _ => {}
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_keep_it_a_merge_are_passed_on() {
        for options in [
            &[][..],
            &["--no-ff"],
            &["--ff-only", "-q"],
            &["-s", "ours", "-Xtheirs", "-X", "ours"],
            &["-m", "-e"],
            &["-m", "two words", "--signoff"],
            &["--message", "--abort"],
            &["--message=--edit"],
            &["-Sedith@example.com"],
            &["-qn"],
            &["-mhello"],
            &["--strategy", "recursive", "--no-stat"],
            &["--no-edit"],
            &["--allow-unrelated-histories"],
        ] {
            assert_eq!(check(options.iter().copied()), Ok(()), "{options:?}");
        }
    }

    #[test]
    fn options_that_make_it_something_else_are_refused() {
        for options in [
            &["--abort"][..],
            &["--abo"],
            &["--a"],
            &["--continue"],
            &["--cont"],
            &["--quit"],
            &["--edit"],
            &["--ed"],
            &["-e"],
            &["-qe"],
            &["--squash"],
            &["--no-commit"],
            &["--no-comm"],
            &["--sq"],
            &["-h"],
            &["--help"],
            &["other"],
            &["--"],
            &["-"],
            &["--no-ff", "other"],
            &["-m", "text", "other"],
            &["-m"],
        ] {
            let refused = check(options.iter().copied());
            assert_eq!(refused.is_err(), *options != ["-m"], "{options:?}");
        }
    }
}
