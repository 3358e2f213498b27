//! The hooks that keep a commit out of the shared root while another session holds the merge
//! reservation, and off the branch of a task that another session holds: what is written into the
//! hooks folder, and how it is told from what others wrote.
//!
//! A shell script gets a marked block after its first line. Anything else (another language, a
//! link, a file that is not executable) is moved aside under its own name, and a wrapper runs it.
//! Either way what was there before runs as before, and comes back byte for byte.

use serde::Serialize;

use super::lock::LockView;
use super::merge::verdict::Holder;
use super::task_guard::Enforced;
use super::task_id::TaskId;

/// The hooks: `git commit` runs the first, also at the end of a merge that stopped; `git merge` the
/// second.
pub const NAMES: [&str; 2] = ["pre-commit", "pre-merge-commit"];

/// The folder beside the hooks in which those that were moved aside are kept.
pub const SAVED: &str = "aitask-lock-saved";

const BEGIN: &str = "# >>> git-aitask-lock >>>\n";
const END: &str = "# <<< git-aitask-lock <<<\n";
const OWN: &str = "# There was no such hook before: uninstalling removes the file.\n";
const SHEBANG: &str = "#!/bin/sh\n";

/// Shells that read the block.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"];

/// What a hook's file is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// There is none.
    None,
    /// Somebody else's alone.
    Foreign,
    /// Ours is in force.
    Installed,
    /// Ours was changed, or is not executable: it may not be in force.
    Damaged,
}

impl State {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Foreign => "foreign",
            Self::Installed => "installed",
            Self::Damaged => "damaged",
        }
    }
}

/// The state of a hook with this content.
#[must_use]
pub fn state(content: &[u8], executable: bool) -> State {
    match (find(content, BEGIN), find(content, END)) {
        (None, None) => State::Foreign,
        (Some(begin), Some(end)) if begin < end && executable => State::Installed,
        _ => State::Damaged,
    }
}

fn block(name: &str, own: bool, tasks: Enforced) -> String {
    let own = if own { OWN } else { "" };
    let run = run_line(name, tasks);
    let (what, looked_at) = match tasks {
        Enforced::Off => ("", "the merge reservation was"),
        Enforced::Held => ("# It refuses one on a branch of a task that another session holds, too.\n", BOTH),
        Enforced::Required => {
            ("# It refuses one on a branch of a task that this session does not hold, too.\n", BOTH)
        }
    };
    format!(
        "{BEGIN}{own}\
         # Refuses a commit in the shared root while another session holds the merge reservation.\n{what}\
         # To remove it: git aitask-lock hook uninstall\n\
         if command -v git-aitask-lock >/dev/null 2>&1; then\n\
         {run}\
         else\n\
         \x20 echo 'warning: git-aitask-lock is not on PATH: {looked_at} not looked at' >&2\n\
         fi\n\
         {END}"
    )
}

/// The line of the block that asks whether the commit may go on.
fn run_line(name: &str, tasks: Enforced) -> String {
    format!("  git-aitask-lock hook run {name}{} </dev/null || exit 1\n", tasks.option())
}

const BOTH: &str = "the merge reservation and the task locks were";

/// Which task locks the block in a hook asks for; none without a block.
#[must_use]
pub fn enforced(content: &[u8]) -> Enforced {
    let asks = |mode: Enforced| NAMES.into_iter().any(|name| find(content, &run_line(name, mode)).is_some());
    [Enforced::Required, Enforced::Held].into_iter().find(|mode| asks(*mode)).unwrap_or(Enforced::Off)
}

/// A hook of ours where there was none.
#[must_use]
pub fn own(name: &str, tasks: Enforced) -> Vec<u8> {
    format!("{SHEBANG}{}", block(name, true, tasks)).into_bytes()
}

/// A hook of ours that runs the one that was moved aside.
#[must_use]
pub fn wrapper(name: &str, tasks: Enforced) -> Vec<u8> {
    format!(
        "{SHEBANG}{}# The hook that was here before.\n\
         saved=$(dirname -- \"$0\")/{SAVED}/{name}\n\
         if [ -x \"$saved\" ]; then exec \"$saved\" \"$@\"; fi\n",
        block(name, false, tasks)
    )
    .into_bytes()
}

/// Whether a file is a wrapper of ours, as it was written.
#[must_use]
pub fn is_wrapper(content: &[u8], name: &str) -> bool {
    let parts = without_block(content).zip(without_block(&wrapper(name, Enforced::Off)));
    parts.is_some_and(|((found, _), (ours, _))| found == ours)
}

/// A script with our block in it; none where it has to be wrapped.
#[must_use]
pub fn with_block(content: &[u8], name: &str, tasks: Enforced) -> Option<Vec<u8>> {
    let first = content.iter().position(|&byte| byte == b'\n')? + 1;
    let (shebang, rest) = content.split_at(first);
    runs_in_a_shell(shebang).then(|| [shebang, block(name, false, tasks).as_bytes(), rest].concat())
}

/// A file with our block in it, with the block as it is wanted now; none where there is no whole block.
#[must_use]
pub fn with_block_replaced(content: &[u8], name: &str, tasks: Enforced) -> Option<Vec<u8>> {
    let begin = find(content, BEGIN)?;
    let end = find(content, END)?.checked_add(END.len())?;
    let own = find(content.get(begin..end)?, OWN).is_some();
    Some([content.get(..begin)?, block(name, own, tasks).as_bytes(), content.get(end..)?].concat())
}

/// A file without our block, and whether the file is ours altogether; none where there is no whole block.
#[must_use]
pub fn without_block(content: &[u8]) -> Option<(Vec<u8>, bool)> {
    let begin = find(content, BEGIN)?;
    let end = find(content, END)?.checked_add(END.len())?;
    let block = content.get(begin..end)?;
    let rest = [content.get(..begin)?, content.get(end..)?].concat();
    let own = find(block, OWN).is_some() && rest == SHEBANG.as_bytes();
    Some((rest, own))
}

/// Whether the first line of a script names a shell.
fn runs_in_a_shell(shebang: &[u8]) -> bool {
    let Some(line) = std::str::from_utf8(shebang).ok().and_then(|line| line.strip_prefix("#!")) else {
        return false;
    };
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let interpreter = match words.next() {
        Some("env") => words.find(|word| *word != "-S"),
        other => other,
    };
    interpreter.is_some_and(|name| SHELLS.contains(&name))
}

/// Where a line begins.
fn find(content: &[u8], line: &str) -> Option<usize> {
    let starts = |at: &usize| *at == 0 || content.get(at - 1) == Some(&b'\n');
    let hits = content.windows(line.len()).enumerate().filter(|(_, window)| *window == line.as_bytes());
    hits.map(|(at, _)| at).find(starts)
}

/// What a `hook` command came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HookVerdict {
    /// Both hooks are in force.
    HooksInstalled(Hooks),
    /// One of them is, or one is damaged.
    HooksPartly(Hooks),
    /// None is.
    HooksMissing(Hooks),
    /// None is any more.
    HooksRemoved(Hooks),
    /// A commit in the shared root was refused.
    CommitRefused {
        /// Whether it was the commit of a merge, which git leaves unfinished.
        of_merge: bool,
        /// Who holds the reservation.
        #[serde(flatten)]
        holder: Box<Holder>,
    },
    /// A commit on a task's branch was refused.
    TaskCommitRefused {
        /// The task that the branch names.
        task: TaskId,
        /// The branch, without `refs/heads/`; untrusted text.
        branch: String,
        /// Who holds the task; nobody, where a commit needs it to be held by this session.
        #[serde(skip_serializing_if = "Option::is_none")]
        holder: Option<Box<LockView>>,
    },
}

/// The hooks as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hooks {
    /// The hooks folder in force.
    pub folder: String,
    /// Each hook.
    pub hooks: Vec<Hook>,
    /// What they ask of task locks, as far as they are in force.
    pub tasks: Enforced,
}

/// A hook as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hook {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: State,
}

impl HookVerdict {
    /// How the hooks stand.
    #[must_use]
    pub fn standing(hooks: Hooks) -> Self {
        let all = |wanted: &[State]| hooks.hooks.iter().all(|hook| wanted.contains(&hook.state));
        if all(&[State::Installed]) {
            Self::HooksInstalled(hooks)
        } else if all(&[State::None, State::Foreign]) {
            Self::HooksMissing(hooks)
        } else {
            Self::HooksPartly(hooks)
        }
    }

    /// The word of the machine forms.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::HooksInstalled(_) => "HOOKS_INSTALLED",
            Self::HooksPartly(_) => "HOOKS_PARTLY",
            Self::HooksMissing(_) => "HOOKS_MISSING",
            Self::HooksRemoved(_) => "HOOKS_REMOVED",
            Self::CommitRefused { .. } => "COMMIT_REFUSED",
            Self::TaskCommitRefused { .. } => "TASK_COMMIT_REFUSED",
        }
    }

    /// The exit code.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::HooksInstalled(_) | Self::HooksRemoved(_) => 0,
            Self::HooksPartly(_) | Self::HooksMissing(_) | Self::TaskCommitRefused { .. } => 1,
            Self::CommitRefused { .. } => 21,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_comes_back_byte_for_byte() {
        for script in [
            "#!/bin/sh\n",
            "#!/bin/sh\necho hi\n",
            "#!/usr/bin/env bash\nset -e\nno newline at the end",
            "#!/bin/bash -e\n\n\n\r\n",
            "#! /bin/sh\nx",
            "#!/usr/bin/env -S zsh -f\n",
        ] {
            let with = with_block(script.as_bytes(), "pre-commit", Enforced::Off).unwrap();
            assert_eq!(state(&with, true), State::Installed, "{script:?}");
            assert_eq!(state(&with, false), State::Damaged, "{script:?}");
            assert_eq!(without_block(&with), Some((script.as_bytes().to_vec(), false)), "{script:?}");
        }
    }

    #[test]
    fn what_is_no_shell_script_is_wrapped() {
        for content in
            ["", "#!/bin/sh", "#!/usr/bin/python3\nprint()\n", "\x7fELF\n", "echo\n", "#!/usr/bin/env node\n"]
        {
            assert_eq!(with_block(content.as_bytes(), "pre-commit", Enforced::Off), None, "{content:?}");
            assert_eq!(state(content.as_bytes(), true), State::Foreign, "{content:?}");
        }
    }

    #[test]
    fn our_own_file_is_known() {
        assert_eq!(
            without_block(&own("pre-commit", Enforced::Off)),
            Some((SHEBANG.as_bytes().to_vec(), true))
        );
        // Somebody added to it: it is not ours alone any more.
        let added = [own("pre-commit", Enforced::Off), b"echo\n".to_vec()].concat();
        assert_eq!(without_block(&added), Some((b"#!/bin/sh\necho\n".to_vec(), false)));
        assert!(is_wrapper(&wrapper("pre-commit", Enforced::Held), "pre-commit"));
        assert!(!is_wrapper(&wrapper("pre-commit", Enforced::Held), "pre-merge-commit"));
        assert!(!is_wrapper(&own("pre-commit", Enforced::Off), "pre-commit"));
    }

    #[test]
    fn what_a_block_asks_of_task_locks_is_read_back_and_changed() {
        let modes = [Enforced::Off, Enforced::Held, Enforced::Required];
        for name in NAMES {
            for mode in modes {
                let script = b"#!/bin/sh\necho git-aitask-lock hook run pre-commit --tasks\n";
                let files = [own(name, mode), wrapper(name, mode), with_block(script, name, mode).unwrap()];
                for file in &files {
                    assert_eq!(enforced(file), mode, "{}", String::from_utf8_lossy(file));
                    for other in modes {
                        let changed = with_block_replaced(file, name, other).unwrap();
                        assert_eq!(enforced(&changed), other);
                        assert_eq!(without_block(&changed), without_block(file), "all else stays");
                    }
                }
            }
        }
        assert_eq!(enforced(b"#!/bin/sh\n"), Enforced::Off);
        assert_eq!(with_block_replaced(b"#!/bin/sh\n", "pre-commit", Enforced::Held), None);
    }

    #[test]
    fn half_a_block_is_damaged() {
        for content in [BEGIN.to_owned(), format!("x\n{END}"), format!("{END}{BEGIN}")] {
            assert_eq!(state(content.as_bytes(), true), State::Damaged, "{content:?}");
        }
        // In the middle of a line it is a quotation.
        assert_eq!(state(format!("echo '{BEGIN}'").as_bytes(), true), State::Foreign);
    }
}
