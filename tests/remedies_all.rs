//! No command is printed that no test runs: every one that stands in the source was run as it was printed,
//! or it says here why it was not.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{manifest_dir, printed};
use crate::{compaction, remedies, remedies_here, remedies_merge, remedies_root, remedies_store, task_hooks};

/// All walks. Each is a test of its own, too.
const WALKS: &[fn()] = &[
    remedies::of_held_locks,
    remedies::of_branches_and_remotes,
    remedies::of_left_over_files,
    remedies::of_a_merge_that_is_not_mine,
    remedies::of_what_stands_in_the_shared_root,
    remedies::of_a_merge_that_stops,
    remedies::of_refused_merges,
    remedies_here::of_the_search_path_and_the_manual,
    remedies_here::of_an_owner_who_is_not_named,
    remedies_here::of_a_session_that_no_process_stands_for,
    remedies_here::of_settings,
    remedies_here::of_a_place_to_merge_in,
    remedies_merge::of_a_busy_mutex,
    remedies_merge::of_a_holder_that_cannot_be_told,
    remedies_merge::of_the_ladder,
    remedies_merge::of_residue_with_a_lost_session,
    remedies_merge::of_a_checkout_that_fails,
    remedies_merge::of_a_merge_that_fails,
    remedies_merge::of_a_session_without_a_process,
    remedies_merge::of_a_stopped_command,
    remedies_store::of_a_server_that_refuses,
    remedies_store::of_credentials_that_are_missing,
    remedies_store::of_an_outcome_that_is_not_known,
    remedies_store::of_a_reference_that_stays_locked,
    remedies_store::of_a_store_that_is_damaged,
    remedies_store::of_a_folder_that_git_does_not_trust,
    remedies_store::of_what_doctor_finds_in_the_repository,
    remedies_store::of_a_machine_without_a_name,
    remedies_store::of_a_repository_that_cannot_be_written,
    remedies_store::of_words_that_are_no_command,
    remedies_store::of_a_file_in_the_place_of_a_folder,
    remedies_root::of_branches_that_are_not_told,
    remedies_root::of_a_head_that_no_branch_has,
    remedies_root::of_a_root_that_the_lost_session_left_elsewhere,
    remedies_root::of_what_abort_does_not_undo,
    remedies_root::of_what_cannot_be_undone,
    remedies_root::of_what_was_saved,
    remedies_root::of_files_that_a_merge_would_overwrite,
    remedies_root::of_a_merge_that_is_not_begun,
    remedies_root::of_a_cleanup,
    remedies_root::of_a_guard_that_is_not_ours,
    remedies_root::of_a_living_holder_and_from_elsewhere,
    remedies_root::of_a_bare_repository_without_a_worktree,
    remedies_root::of_commits_by_hand,
    task_hooks::of_a_tasks_branch,
    compaction::of_a_long_history,
];

/// Texts that name a command and are no remedy: where they stand, how they begin, and why.
const NO_REMEDIES: &[(&str, &str, &str)] = &[
    (
        "commands/doctor.rs",
        "git aitask-lock completions ",
        "a line for a shell's own files, see completion.rs",
    ),
    ("commands/doctor/session.rs", "git aitask-lock starts ", "a sentence"),
    (
        "commands/man.rs",
        "git aitask-lock man --install --dir '<folder>'",
        "no system hides where a program lies",
    ),
    ("commands/merge/run.rs", "git merge refused ", "a sentence"),
    ("domain/hook.rs", "git aitask-lock hook uninstall", "a comment in a hook, see merge_hooks.rs"),
];

/// What a printed command of ours begins with, as it stands in the source.
const BEGINNINGS: &[&str] = &[
    "git aitask-lock ",
    "git -C ",
    "git config ",
    "git ls-remote ",
    "git fsck",
    "git worktree ",
    "git remote ",
    "git merge ",
    "git commit ",
    "{there} ",
    "{keep}",
    "rm ",
    "rmdir ",
    "mv ",
    "chmod ",
    "git branch ",
    "kill ",
    "ps ",
    "ls ",
    "export ",
    "unset ",
    "git switch ",
];

/// The string literals of a source file, without its tests and comments.
fn literals(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            // A character literal may be a quote.
            '\'' => {
                let mut ahead = chars.clone();
                if (ahead.next(), ahead.next()) == (Some('"'), Some('\'')) {
                    chars = ahead;
                }
            }
            '"' => {
                let mut literal = String::new();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    match (c, c == '\\') {
                        (_, true) => match chars.next() {
                            Some('\n') => {
                                while chars.clone().next().is_some_and(char::is_whitespace) {
                                    chars.next();
                                }
                            }
                            Some('n') | None => {}
                            Some(escaped) => literal.push(escaped),
                        },
                        (c, false) => literal.push(c),
                    }
                }
                found.push(literal);
            }
            _ => {}
        }
    }
    found
}

/// The commands that a text names: what begins like one, after a colon or at the start.
fn commands_in(literal: &str) -> Vec<String> {
    let pieces = literal.split(": ").flat_map(|piece| piece.split("; "));
    pieces
        .filter(|piece| BEGINNINGS.iter().any(|start| piece.starts_with(start)))
        .map(str::to_owned)
        .collect()
}

/// The commands of the whole source, with the files they stand in.
fn printed_by_the_source() -> BTreeMap<String, String> {
    let top = manifest_dir().join("src");
    let mut folders = vec![top.clone()];
    let mut found = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let inside = path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                if !["manual", "tests", "commands/completions", "sys/child"].contains(&inside.as_str()) {
                    folders.push(path);
                }
                continue;
            }
            let is_test =
                ["tests.rs", "in_tmux.rs", "in_namespaces.rs"].iter().any(|end| inside.ends_with(end));
            if is_test || path.extension().is_none_or(|end| end != "rs") || inside == "build.rs" {
                continue;
            }
            for literal in literals(&std::fs::read_to_string(&path).unwrap()) {
                for command in commands_in(&literal) {
                    found.insert(command, inside.clone());
                }
            }
        }
    }
    found
}

/// Whether a command that was run is what the source prints: the text between its placeholders stands in
/// it, in order.
fn is_of(template: &str, run: &str) -> bool {
    let mut rest = run;
    let template = match template.strip_prefix("{there} ") {
        Some(rest) => format!("git -C {{}} {rest}"),
        None => template.to_owned(),
    };
    let template = template.replace("{{", "{").replace("}}", "}");
    let mut parts = template.split('{').map(|part| part.split_once('}').map_or(part, |(_, text)| text));
    if let Some(first) = parts.next().filter(|first| !first.is_empty()) {
        let Some(after) = rest.strip_prefix(first) else { return false };
        rest = after;
    }
    parts.all(|part| match rest.find(part.trim_end()) {
        Some(at) => {
            rest = &rest[at + part.trim_end().len()..];
            true
        }
        None => false,
    })
}

#[test]
fn every_printed_command_is_run() {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(walk) = WALKS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    walk();
                }
            });
        }
    });
    let run = printed::all();
    let mut missing = Vec::new();
    let stand = printed_by_the_source();
    for (template, file) in &stand {
        let exempt = NO_REMEDIES.iter().any(|(place, start, _)| file == place && template.starts_with(start));
        let walked = run.iter().any(|command| is_of(template, command));
        if !walked && !exempt {
            missing.push(format!("{file}: {template}"));
        }
        assert!(!(walked && exempt), "{file}: {template} is run, and need not be excused");
    }
    assert!(stand.len() > 80, "the source was read: {}", stand.len());
    for (file, start, why) in NO_REMEDIES {
        let stands = stand.iter().any(|(template, place)| place == file && template.starts_with(start));
        assert!(stands, "{file} prints no {start} any more, which was excused: {why}");
    }
    assert!(missing.is_empty(), "no test runs:\n{}", missing.join("\n"));
}
