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
pub const REPORT_WORDS: [Word; 5] = [
    word(
        "EVENT",
        "0",
        "time|action|task|owner|previous_owner|lock_id|commit",
        "something that happened to a lock",
    ),
    word(
        "TALLY",
        "0",
        "owner|claims|releases|crashes|lost_by_force|held_seconds|held_now",
        "what an owner's part of the story adds up to",
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
    TASK_WORDS.into_iter().chain(MERGE_WORDS).chain(HOOK_WORDS).chain(REPORT_WORDS)
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
    word(
        "HOLDER_CHANGED",
        "27",
        "task|owner|lock_id|holder or residue",
        "refused: it is not the lock that --expect names",
    ),
    word("NOT_CLAIMED", "1", "task|because_of", "left alone because another task of the call was refused"),
    word("DECLINED", "1", "task", "a person at the terminal left it as it was"),
    word("RELEASED", "0", "task|lock_id|owner|reason", "given back"),
    word(
        "NOT_HELD",
        "0, 1, 25",
        "task|lock_id",
        "nothing to release, abort or clean up (0), to refresh (1), or to merge under (25)",
    ),
    word("NOT_RELEASED", "1", "task|because_of", "left alone because another task of the call was refused"),
    word(
        "LOCKED",
        "0, 1",
        "owner|locked_at|hostname|pid|task|lock_id|state|reason|refreshed_at|note",
        "it is locked; 1 only for check --mine, when this session does not hold it",
    ),
    word("FREE", "0, 1", "task", "nobody holds it: 1 for check, 0 for merge status"),
    word("WOULD_RELEASE", "0", "task|lock_id|owner|reason", "a dry run: this lock would be removed"),
    word(
        "INITIALIZED",
        "0",
        "branch|remote|created, present or compacted|lost_tasks",
        "the lock branch is there",
    ),
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

/// The words of the merge mutex, in the order in which a merge meets them. Fields before a bar are
/// parted by colons where the word has them so. `RELEASED`, `NOT_HELD`, `FREE`, `HOLDER_CHANGED` and
/// `NO_SESSION_ANCHOR` are among [`TASK_WORDS`].
pub const MERGE_WORDS: [Word; 32] = [
    word(
        "MERGE_CLAIMED",
        "0",
        "task|id|output_branch|reclaimed_from|again",
        "this session has the merge reservation; reclaimed_from is the task of a lost session",
    ),
    word(
        "BUSY",
        "21",
        "task:waited|why|pid|id|guard|remove_guard",
        "refused: somebody else has the merge reservation",
    ),
    word(
        "STALE_MERGE_RESIDUE",
        "22",
        "state|remedy|holder|task",
        "refused: the shared root holds what somebody left unfinished",
    ),
    word(
        "HELD",
        "0",
        "task|pid|liveness|output_branch|taken_at|id|reason|owner|queue|mine|guard",
        "the merge reservation is taken",
    ),
    word("NOT_HOLDER", "25", "holder|task", "refused: the reservation is another task's"),
    word("NOT_OWNER_SESSION", "25", "task:pid|liveness", "refused: another session has the reservation"),
    word("HOLDER_INCOMPLETE", "25", "damage", "refused: whose the reservation is cannot be told"),
    word("RETAINED", "29", "because|task", "the reservation was to be given back, and is kept"),
    word("DIRTY_TREE", "22", "paths|task|kept", "refused before the merge: tracked files are changed"),
    word(
        "PREFLIGHT_MISSING",
        "22",
        "what|task|kept",
        "refused before the merge: a branch or the root is missing",
    ),
    word(
        "PREFLIGHT_FOREIGN_WORKTREE",
        "22",
        "branch|task|kept",
        "refused before the merge: another worktree has the output branch",
    ),
    word(
        "PREFLIGHT_CHECKOUT_FAILED",
        "22",
        "branch|task|kept",
        "refused before the merge: the output branch cannot be checked out",
    ),
    word(
        "PREFLIGHT_HEAD_MISMATCH",
        "22",
        "head|task|kept|into",
        "refused before the merge: HEAD is not the output branch; into is the one that merges go into",
    ),
    word(
        "UNSAFE_OUTPUT_BRANCH",
        "22",
        "branch|task|kept",
        "refused before the merge: no branch to merge into",
    ),
    word("MERGE_OK", "0", "oid|task|output_branch|task_branch|how", "merged; the reservation is kept"),
    word("MERGE_CONFLICT", "23", "path,path|task", "stopped at conflicts; the reservation is kept"),
    word("MERGE_FAILED", "24", "task|git_exit|state|said", "the merge failed; the reservation is kept"),
    word(
        "MERGE_UNVERIFIED",
        "24",
        "oid|task|rescue|kept",
        "merged, and undone again because --verify failed; kept is whether the reservation is",
    ),
    word("ABORTED", "0", "task|id|rescue", "the merge is undone, and the reservation given back"),
    word("RELEASED_NO_MERGE", "0", "task|id|rescue", "nothing to undo; the reservation is given back"),
    word("ABORT_UNSAFE", "28", "state:remedy|task", "not undone: it is no merge; the reservation is kept"),
    word("ABORT_FAILED", "29", "what|task|kept", "it could not be undone; the reservation is kept"),
    word("CLEANED", "0", "task|removed", "the task branch and its worktree are removed"),
    word("CLEANED_PARTIAL", "29", "stayed|task|removed", "some of it stayed; the reservation is kept"),
    word("CLEANUP_REQUIRES_COMPLETION", "22", "task", "refused: --task-complete was not given"),
    word("TARGET_MISMATCH", "22", "branch|task|kept", "refused: it is not the branch that was merged"),
    word(
        "DRY_RUN",
        "0",
        "token|remedy|holder|pid|liveness|state|guard|remove_guard",
        "what a forced release would do",
    ),
    word("FORCE_RELEASED", "0", "task|remedy|rescue", "released by force; the shared root is clean"),
    word("REFUSED_LIVE_HOLDER", "26", "task:pid", "refused: the holder is provably alive"),
    word("RESIDUE_PRESENT", "28", "state|remedy|task", "refused: what is left needs a remedy"),
    word("WRONG_REMEDY", "28", "state|remedy|task", "refused: what is left needs another remedy"),
    word(
        "RECOVERY_FAILED",
        "29",
        "step|task|rescue|remove_guard",
        "kept: it could not be brought to a clean state",
    ),
];

/// The words of `hook`.
pub const HOOK_WORDS: [Word; 6] = [
    word("HOOKS_INSTALLED", "0", "folder|hook=state|hook=state|tasks=mode", "both hooks are in force"),
    word(
        "HOOKS_PARTLY",
        "1",
        "folder|hook=state|hook=state|tasks=mode",
        "a hook is missing, changed, or cannot run",
    ),
    word("HOOKS_MISSING", "1", "folder|hook=state|hook=state|tasks=mode", "the hooks are not installed"),
    word("HOOKS_REMOVED", "0", "folder|hook=state|hook=state|tasks=mode", "the hooks are taken out again"),
    word(
        "COMMIT_REFUSED",
        "21",
        "holder_task|pid|liveness",
        "a hook stopped a commit in the shared root: another session holds the merge reservation",
    ),
    word(
        "TASK_COMMIT_REFUSED",
        "1",
        "task|branch|owner|pid|state|lock_id",
        "a hook stopped a commit on a task's branch: another session holds the task, or this one does not",
    ),
];
