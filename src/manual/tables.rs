//! What the manual lists out of tables: exit codes, words, settings, variables.

use super::roff;
use crate::domain::{exit, words};

/// A setting: its key, its default, and what it does.
pub const SETTINGS: [(&str, &str, &str); 14] = [
    (
        "aitask-lock.remote",
        "`origin`, else the only remote, else none",
        "The remote that decides who holds a lock, by name or address; `.` means none: then the branch of \
         this repository decides.",
    ),
    ("aitask-lock.branch", "`aitask-locks`", "The lock branch."),
    ("aitask-lock.email", "see OWNER", "The owner of locks that are taken here."),
    ("aitask-lock.archivedDir", "`aitasks/archived`", "Where `cleanup` looks for archived tasks."),
    (
        "aitask-lock.hookMaxAge",
        "`5m`",
        "How old the last known state may be when a commit on a task's branch is judged without a connection.",
    ),
    ("aitask-lock.mergeWait", "`60s`", "How long `merge claim` and `merge begin` wait for their turn."),
    (
        "aitask-lock.indexWait",
        "`5s`",
        "How long a merge command tries again where only a lock file of another git command stands in its way.",
    ),
    (
        "aitask-lock.mergeInto",
        "the branch of the remote's HEAD, else `init.defaultBranch`",
        "The branch that merges go into without `--into`. A shared root that stands on another is refused.",
    ),
    (
        "aitask-lock.mergeWorktree",
        "the main worktree",
        "The worktree that merges run in, where there is no main one (a bare repository).",
    ),
    (
        "aitask-lock.verify",
        "none",
        "The command that `merge begin` runs in the shared root after the merge, without `--verify`.",
    ),
    ("aitask-lock.timeout", "`60s`", "Most time that one command may take."),
    (
        "aitask-lock.refreshInterval",
        "`10m`",
        "A lock that was refreshed more recently is only verified: a refresh of it makes no commit.",
    ),
    (
        "aitask-lock.hostname",
        "the host's name",
        "Pins the name of this host, where it changes. The shell implementation goes by what `hostname` prints.",
    ),
    (
        "aitask-lock.committer",
        "git's own identity, else the owner",
        "Who signs lock commits, as `Name <email>`, where a server insists on an identity.",
    ),
];

/// A variable of the environment, and what it does.
pub const VARIABLES: [(&str, &str); 10] = [
    (
        "AIT_AGENT_PID",
        "The process that stands for this session. `git aitask-lock exec` sets it; a launcher may set it to the \
         agent's process ID. It must exist, and should be an ancestor of the commands that it speaks for.",
    ),
    ("GIT_AITASK_LOCK_EMAIL", "The owner of locks; see OWNER."),
    (
        "TMUX, TMUX_PANE",
        "Inside of tmux, the pane's process stands for the session where `AIT_AGENT_PID` names none.",
    ),
    ("GIT_DIR", "Names the repository, as for git, unless `-C` is given."),
    ("GIT_CONFIG_PARAMETERS, GIT_CONFIG_COUNT", "How settings of `git -c` arrive; they are honoured."),
    (
        "GIT_SSH_COMMAND, GIT_SSH",
        "How git connects over ssh; without them ssh is kept from asking questions.",
    ),
    (
        "GIT_PAGER, PAGER",
        "The pager of `list` and `log` on a terminal, as for git; `git --no-pager` turns it off.",
    ),
    ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "Whether output on a terminal is coloured."),
    ("TERM", "`list --watch` needs a terminal that can move its cursor."),
    ("PATH", "Where `git` is looked for."),
];

/// Files, and what they are for.
pub const FILES: [(&str, &str); 7] = [
    ("refs/heads/aitask-locks", "The lock branch, on the remote or, without one, in this repository."),
    (
        "refs/aitask-lock/known/",
        "What this clone has seen last of the lock branch on a remote. Completion reads it; deleting it costs one \
         connection.",
    ),
    ("refs/aitask-lock/rescued/", "What `merge force-release` saved before it discarded anything."),
    ("$GIT_COMMON_DIR/aitask-lock/merge.yaml", "The merge reservation."),
    (
        "$GIT_COMMON_DIR/aitask-lock/merge.guard/",
        "A folder that exists only while a reclaim or a recovery is under way.",
    ),
    (
        "$GIT_COMMON_DIR/aitask-lock/merge.guard-by-*",
        "The process that puts the guard up, one file for each: where all of them are provably gone, the next command \
         takes the guard down.",
    ),
    ("$GIT_COMMON_DIR/aitask-lock/queue/", "The tickets of those who wait for the merge."),
];

/// The exit codes.
#[must_use]
pub fn exit_codes() -> String {
    let codes = exit::CODES.iter().chain([&exit::FATAL]);
    codes
        .map(|(code, meaning)| roff::definition(&roff::bold(&code.to_string()), &sentence(meaning)))
        .collect()
}

/// The words, with their fields and exit codes.
#[must_use]
pub fn words() -> String {
    let word = |word: words::Word| {
        let fields = if word.fields.is_empty() { String::new() } else { format!(":{}", word.fields) };
        let exit = match word.exit {
            "" => String::new(),
            codes => format!(" Exit code {}.", codes.replace(", ", " or ")),
        };
        // A long line may be broken after a bar.
        let fields = roff::italic(&fields).replace('|', "|\\:");
        let term = format!("{}{fields}", roff::bold(word.word));
        roff::definition(&term, &(sentence(word.meaning) + &exit))
    };
    words::all().map(word).collect()
}

/// The settings.
#[must_use]
pub fn settings() -> String {
    let entry = |(key, default, text): &(&str, &str, &str)| {
        roff::definition(&roff::bold(key), &format!("{text} Default: {default}."))
    };
    SETTINGS.iter().map(entry).collect()
}

/// The variables.
#[must_use]
pub fn variables() -> String {
    VARIABLES.iter().map(|(name, text)| roff::definition(&roff::bold(name), text)).collect()
}

/// The files.
#[must_use]
pub fn files() -> String {
    FILES.iter().map(|(name, text)| roff::definition(&roff::bold(name), text)).collect()
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
