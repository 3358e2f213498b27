//! Every command that a message, the README or a manual page prints exists, with every option it is
//! printed with.

use std::path::Path;

use clap::CommandFactory as _;
use git_aitask_lock::commands::Cli;

use crate::support;

/// The printed commands of a text: what follows the program's name up to the end of the quotation.
fn printed(text: &str) -> Vec<String> {
    let starts = text.match_indices("git aitask-lock ").map(|(at, name)| at + name.len());
    let ends = |c: char| matches!(c, '"' | '`' | '\n' | ')' | ';' | ',' | '\\' | '#' | '|');
    starts.map(|at| text[at..].split(ends).next().unwrap_or_default().to_owned()).collect()
}

fn check(line: &str, place: &str) {
    let mut command = Cli::command();
    command.build();
    let mut command = &command;
    for word in line.split_whitespace() {
        let word = word.trim_matches(|c| matches!(c, '\'' | '[' | ']' | '.' | ':' | '…'));
        if word == "--" || word.starts_with(['{', '<', '$']) {
            // What follows belongs to another program, or is filled in; a command that is filled in
            // has its own test.
            if word == "--" || command.has_subcommands() {
                break;
            }
            continue;
        }
        if let Some(option) = word.strip_prefix("--") {
            let name = option.split(['=', '{', '|']).next().unwrap_or_default();
            let known = command.get_arguments().any(|arg| arg.get_long() == Some(name)) || name == "help";
            assert!(known || name.is_empty(), "{place} prints --{name} of {}: {line}", command.get_name());
        } else if let Some(below) = command.find_subcommand(word) {
            command = below;
        } else if command.has_subcommands() && word.starts_with(|c: char| c.is_ascii_lowercase()) {
            // Prose after the program's name is no command; a word that could be one must be one.
            let prose =
                ["for", "starts", "must", "is", "in", "to", "and", "as", "says", "list,", "names", "takes"];
            assert!(prose.contains(&word), "{place} prints an unknown command '{word}': {line}");
            break;
        }
    }
}

fn walk(folder: &Path, lines: &mut usize) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, lines);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            let text = text.replace("\\-", "-").replace("\\ ", " ");
            for line in printed(&text) {
                check(&line, &path.display().to_string());
                *lines += 1;
            }
        }
    }
}

#[test]
fn exist() {
    let top = support::manifest_dir();
    let mut lines = 0;
    for folder in ["src", "man"] {
        walk(&top.join(folder), &mut lines);
    }
    for line in printed(&std::fs::read_to_string(top.join("README.md")).unwrap()) {
        check(&line, "README.md");
        lines += 1;
    }
    assert!(lines > 60, "only {lines} printed commands were found");
}
