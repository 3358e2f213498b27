//! What a git child inherits, what it does not, and what is set for it.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use super::Hooks;

/// Variables that name a repository or a part of one (`git rev-parse --local-env-vars`), less
/// those that carry configuration: `git -c x=y aitask-lock` arrives through these and is honoured.
pub const REPOSITORY_VARIABLES: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// More variables of an enclosing git command that would change what ours do.
const FURTHER_VARIABLES: [&str; 6] = [
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_DATE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_QUARANTINE_PATH",
    "GIT_REFLOG_ACTION",
    "GIT_EXTERNAL_DIFF",
];

/// Settings for each call, given after the user's own so that they win.
pub(super) fn settings(hooks: Hooks) -> Vec<&'static str> {
    let mut settings = vec![
        "color.ui=false",
        "core.fsmonitor=false",
        "gc.auto=0",
        "maintenance.auto=false",
        "advice.detachedHead=false",
    ];
    if hooks == Hooks::Off {
        settings.extend([
            "core.hooksPath=/dev/null",
            "fetch.prune=false",
            "fetch.writeCommitGraph=false",
            "push.followTags=false",
            "push.gpgSign=false",
            "push.negotiate=false",
            "push.recurseSubmodules=no",
            "submodule.recurse=false",
            "transfer.credentialsInUrl=allow",
        ]);
    }
    settings
}

/// Seals a child for one repository: no inherited repository, no prompt, no editor, no pager.
pub(super) fn seal(command: &mut Command) {
    for name in REPOSITORY_VARIABLES.iter().chain(&FURTHER_VARIABLES) {
        command.env_remove(name);
    }
    seal_messages(command);
}

/// What is set only where no hook of the user's runs: a merge in a partial clone may have to fetch
/// what it merges, lock traffic never has to.
pub(super) fn seal_hooks(command: &mut Command, hooks: Hooks) {
    if hooks == Hooks::Off {
        command.env("GIT_NO_LAZY_FETCH", "1");
    }
}

/// Stable messages and no questions, with the inherited repository left in place.
pub(super) fn seal_messages(command: &mut Command) {
    // Encoding stays the user's, for the hooks and drivers of a merge; only the words are fixed.
    if let Some(all) = variable("LC_ALL") {
        command.env("LC_CTYPE", all);
    }
    command.env_remove("LC_ALL").env_remove("LANGUAGE").env("LC_MESSAGES", "C");
    // An empty GIT_ASKPASS also silences core.askPass and SSH_ASKPASS.
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "")
        .env("SSH_ASKPASS_REQUIRE", "never")
        .env("GCM_INTERACTIVE", "never")
        .env("GIT_EDITOR", ":")
        .env("GIT_SEQUENCE_EDITOR", ":")
        .env("GIT_PAGER", "cat")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_MERGE_AUTOEDIT", "no");
}

/// Adds configuration through the environment, after what is already there: values such as
/// addresses stay out of the argument list that every user of the machine can read.
pub(super) fn configuration(pairs: &[(String, OsString)]) -> Vec<(OsString, OsString)> {
    let inherited = variable("GIT_CONFIG_COUNT")
        .and_then(|count| count.to_str().and_then(|count| count.parse::<usize>().ok()))
        .unwrap_or(0);
    let mut env = Vec::with_capacity(pairs.len() * 2 + 1);
    for (index, (key, value)) in pairs.iter().enumerate() {
        let index = inherited.saturating_add(index);
        env.push((format!("GIT_CONFIG_KEY_{index}").into(), key.into()));
        env.push((format!("GIT_CONFIG_VALUE_{index}").into(), value.clone()));
    }
    env.push(("GIT_CONFIG_COUNT".into(), inherited.saturating_add(pairs.len()).to_string().into()));
    env
}

/// How ssh is kept from asking: only where the user has no ssh command of their own.
pub(super) fn quiet_ssh(configured: bool) -> Option<(OsString, OsString)> {
    let own = configured || ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(|name| variable(name).is_some());
    (!own).then(|| ("GIT_SSH_COMMAND".into(), OsStr::new("ssh -oBatchMode=yes").to_owned()))
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_that_names_a_repository_is_removed() {
        let known = Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap().stdout;
        for name in String::from_utf8(known).unwrap().lines() {
            let carries_configuration = matches!(name, "GIT_CONFIG_PARAMETERS" | "GIT_CONFIG_COUNT");
            assert_eq!(REPOSITORY_VARIABLES.contains(&name), !carries_configuration, "{name}");
        }
    }
}
