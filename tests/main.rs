//! The program as people meet it: real processes, real repositories, real remotes. What a test claims
//! about a lock is asked of plain git, never of the program's own list alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::similar_names,
    reason = "a test that meets what it did not expect has to fail, and says why it is skipped"
)]

// Every row of the table "who gets a task lock", with and without a remote.
mod rules;
// Force, expect, several tasks at once, the first free one, clean-up, lists.
mod orders;
// A session that runs, ended, was never reaped, was stopped, or lives where nobody can look.
mod liveness;
// Many at once: nobody fails for want of luck, and one task has one winner.
mod prompts;
mod races;
// Remotes that are gone, refuse, hang or ask.
mod remotes;
// Writes that the server refuses, and writes that may have landed.
mod writes;
// Which address decides, where several could.
mod arbiters;
// Repositories of every layout and format.
mod layouts;
// Surroundings that point elsewhere, and what of the user's must not run or change.
mod surroundings;
// Everything that a real branch holds and this program did not write.
mod records;
// One branch for both implementations.
mod interop;
mod readers;
// Porcelain and JSON contracts, exit codes, and bad input.
mod formats;
// Every outcome in every rendering.
mod renderings;
// How many connections a command costs.
mod connections;
// What `git merge` does, and what the program makes of it.
mod merge_outcomes;
// Refused before the merge: every reason.
mod merge_preflight;
// Repositories of every layout merge in one place.
mod merge_layouts;
// What the holder is told at the end, and what is removed.
mod merge_after;
// `hook install|uninstall|status`.
mod merge_hooks;
// State files of git that hold garbage.
mod merge_broken;
// The recipes of the README, for the tests that run them.
mod recipes;
// `hook install --tasks`, with and without hook managers.
mod task_hooks;
// Another git command at the index.
mod merge_index;
// What is not found good is undone.
mod merge_verify;
// Which branch a merge goes into.
mod merge_into;
// Nothing that is discarded is lost.
mod merge_refusals;
mod merge_rescue;
// Who has the merge mutex, and who waits for it.
mod merge_mutex;
// From a lost session to a usable mutex, by what the program prints.
mod merge_ladder;
// Killed at every step, and many at once.
mod merge_storm;
// A guard that was left behind.
#[cfg(feature = "failpoints")]
mod merge_guard;
// The checker of histories, held against histories with a fault in them.
mod history_checker;
// Random commands and kills of many, and the history that they leave.
mod histories;
// What cannot be looked at is not clean.
mod merge_unseen;
// A model of the mutex, over all interleavings.
mod model_mutex;
// The manual says what the program does.
mod manual;
// The TAB key in real shells.
mod completion;
// `list`, `list --watch`, `log` and `doctor`, as people see them.
mod people;
// Commands that are printed exist.
mod printed_commands;
// Printed remedies, run as they are printed.
mod remedies;
mod remedies_all;
mod remedies_here;
mod remedies_merge;
mod remedies_root;
mod remedies_store;
// The map of rooms, held against the imports.
mod layers;
// A session learns before a merge that it lost its task.
mod merge_task_lock;
// A new root in the place of a long history.
mod compaction;
// The lab that all of them use.
mod support;

#[test]
fn no_file_is_forgotten() {
    let folder = support::manifest_dir().join("tests");
    let listed = include_str!("main.rs");
    // The benchmark is a target of its own; the records are data.
    let elsewhere = ["main", "bench", "records"];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let declared = listed.lines().any(|line| line == format!("mod {name};"));
        assert!(declared || elsewhere.contains(&name), "tests/main.rs does not name {name}");
    }
}
