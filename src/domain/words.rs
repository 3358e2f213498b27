//! Every word that a command can answer with: the table that `git aitask-lock verdicts` prints.

use serde::Serialize;

/// A word, its exit code and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// The exit code, or both where it depends.
    pub exit: &'static str,
    /// The fields behind the word, as the porcelain line has them.
    pub fields: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

const fn word(word: &'static str, exit: &'static str, fields: &'static str, meaning: &'static str) -> Word {
    Word { word, exit, fields, meaning }
}

/// The words of `log`, `doctor`, `man` and `completions`.
pub const REPORT_WORDS: [Word; 4] = [
    word(
        "EVENT",
        "0",
        "time|action|task|owner|previous_owner|lock_id|commit",
        "something that happened to a lock",
    ),
    word("FINDING", "0, 1", "level|check|text|remedy", "what doctor found; 1 for a problem"),
    word(
        "MANUAL",
        "0, 1",
        "folder|pages|installed or present|found or hidden",
        "where the man pages are; 1 when there are none",
    ),
    word("TEXT", "0", "text", "a completion script"),
];

/// Every word.
pub fn all() -> impl Iterator<Item = Word> {
    TASK_WORDS.into_iter().chain(REPORT_WORDS)
}

/// The words of the task locks, in the order of the rule table.
pub const TASK_WORDS: [Word; 23] = [
    word("CLAIMED", "0", "task|owner|lock_id|pid", "nobody held it; this session does now"),
    word("REFRESHED", "0", "task|owner|lock_id|pid", "this session held it already"),
    word(
        "RECLAIM_CRASH",
        "0",
        "locked_at|hostname|pid|task|lock_id|previous_lock_id",
        "your session that held it is gone; this session holds it now",
    ),
    word(
        "LOCK_RECLAIM",
        "0",
        "previous_host|locked_at|this_host|task|lock_id|previous_lock_id",
        "you held it on another host; this session holds it now",
    ),
    word(
        "RECLAIM_STATUS",
        "0",
        "locked_at|hostname|pid|task|lock_id|previous_lock_id",
        "your lock never named a process; this session holds it now",
    ),
    word(
        "FORCE_UNLOCKED",
        "0",
        "previous_owner|task|lock_id|previous_lock_id",
        "replaced or removed by force",
    ),
    word(
        "LOCK_FAILED",
        "1",
        "owner|locked_at|hostname|task|lock_id|state|damage",
        "refused: another owner holds it, or nobody can tell who",
    ),
    word(
        "LOCK_LIVE_HOLDER",
        "13",
        "owner|locked_at|hostname|pid|task|lock_id|reason",
        "refused: another session of yours on this host holds it and is alive",
    ),
    word(
        "LOCK_UNVERIFIABLE_HOLDER",
        "14",
        "owner|locked_at|hostname|pid|task|lock_id|reason",
        "refused: whether your other session is still there cannot be told",
    ),
    word("HOLDER_CHANGED", "27", "task|owner|lock_id", "refused: it is not the lock that --expect names"),
    word("NOT_CLAIMED", "1", "task|because_of", "left alone because another task of the call was refused"),
    word("DECLINED", "1", "task", "a person at the terminal left it as it was"),
    word("RELEASED", "0", "task|lock_id|owner|reason", "given back"),
    word(
        "NOT_HELD",
        "0, 1",
        "task|lock_id",
        "nothing to release (0), or nothing of this session's to refresh (1)",
    ),
    word("NOT_RELEASED", "1", "task|because_of", "left alone because another task of the call was refused"),
    word(
        "LOCKED",
        "0, 1",
        "owner|locked_at|hostname|pid|task|lock_id|state|reason|refreshed_at|note",
        "it is locked; 1 only for check --mine, when this session does not hold it",
    ),
    word("FREE", "1", "task", "nobody holds it"),
    word("WOULD_RELEASE", "0", "task|lock_id|owner|reason", "a dry run: this lock would be removed"),
    word("INITIALIZED", "0", "branch|remote|created or present|lost_tasks", "the lock branch is there"),
    word("ANCHOR", "0", "pid|source|token_kind|hostname", "the process that stands for this session"),
    word("NO_SESSION_ANCHOR", "20", "", "no process stands for this session"),
    word("WORD", "0", "word|exit", "a line of git aitask-lock verdicts"),
    word(
        "LOCK_ERROR",
        "2, 10, 11, 12, 15, 16, 128",
        "kind|detail|task",
        "nothing could be decided or written; the kind says why",
    ),
];
