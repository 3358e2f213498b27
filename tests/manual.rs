//! The manual says what the program does: the pages are current, complete, and well-formed.

use std::path::{Path, PathBuf};
use std::process::Command;

use git_aitask_lock::domain::{exit, history, words};
use git_aitask_lock::manual::pages;
use git_aitask_lock::sys::man::PAGES;

/// Set it to write the pages anew instead of comparing them.
const UPDATE: &str = "AITASK_LOCK_UPDATE_MAN";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("man")
}

#[test]
fn the_pages_are_current() {
    let made = pages::all();
    if std::env::var_os(UPDATE).is_some() {
        for (name, text) in &made {
            std::fs::write(folder().join(name), text).unwrap();
        }
    }
    for (name, text) in &made {
        let there = std::fs::read_to_string(folder().join(name)).unwrap_or_default();
        assert!(there == *text, "man/{name} is out of date: {UPDATE}=1 cargo test the_pages_are_current");
    }
    let mut there: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let mut names: Vec<String> = made.into_iter().map(|(name, _)| name).collect();
    there.sort();
    names.sort();
    assert_eq!(there, names, "a page for each command, and no other");
}

#[test]
fn the_program_carries_all_pages() {
    let made = pages::all();
    assert_eq!(PAGES.len(), made.len(), "every page is in the program");
    for (name, text) in made {
        let carried = PAGES.iter().find(|(page, _)| *page == name).map(|(_, text)| *text);
        assert!(carried == Some(text.as_str()), "{name} in the program is the one of the definitions");
    }
}

/// A page as a reader sees it: without what roff does to hyphens and quotes.
fn read(name: &str) -> String {
    let pages = pages::all();
    let (_, text) = pages.iter().find(|(page, _)| page == name).unwrap_or_else(|| panic!("no page {name}"));
    let mut text = text.clone();
    for (roff, plain) in [
        ("\\-", "-"),
        ("\\fB", ""),
        ("\\fI", ""),
        ("\\fR", ""),
        ("\\(aq", "'"),
        ("\\(ti", "~"),
        ("\\(dq", "\""),
        ("\\:", ""),
    ] {
        text = text.replace(roff, plain);
    }
    text
}

#[test]
fn everything_that_is_promised_is_on_the_first_page() {
    let page = read("git-aitask-lock.1");
    for word in words::all() {
        let term = if word.fields.is_empty() {
            word.word.to_owned()
        } else {
            format!("{}:{}", word.word, word.fields)
        };
        assert!(page.contains(&format!(".TP\n{term}\n")), "the word {term}");
    }
    for (code, meaning) in exit::CODES.iter().chain([&exit::FATAL]) {
        assert!(page.contains(&format!(".TP\n{code}\n")), "exit code {code}: {meaning}");
    }
    for key in settings_in_the_source() {
        assert!(page.contains(&format!(".TP\n{key}\n")), "the setting {key}");
    }
    for variable in ["AIT_AGENT_PID", "GIT_AITASK_LOCK_EMAIL", "NO_COLOR", "GIT_PAGER", "TMUX_PANE"] {
        assert!(page.contains(variable), "the variable {variable}");
    }
    let log = read("git-aitask-lock-log.1");
    for kind in history::KINDS {
        assert!(log.contains(&format!(".TP\n{}\n", kind.word())), "the action {}", kind.word());
    }
}

#[test]
fn every_command_and_option_is_on_a_page() {
    use clap::CommandFactory as _;
    let mut cli = git_aitask_lock::commands::Cli::command();
    cli.build();
    let first = read("git-aitask-lock.1");
    for arg in cli.get_arguments().filter(|arg| !arg.is_hide_set()) {
        if let Some(long) = arg.get_long().filter(|long| !["help", "version"].contains(long)) {
            assert!(first.contains(&format!("--{long}")), "--{long} on the first page");
        }
    }
    let visible = |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
    for command in cli.get_subcommands().filter(visible) {
        let page = read(&format!("git-aitask-lock-{}.1", command.get_name()));
        assert!(
            first.contains(&format!("git-aitask-lock-{}(1)", command.get_name())),
            "{}",
            command.get_name()
        );
        assert!(page.contains("\n.SH \"DESCRIPTION\"\n"), "{} has a description", command.get_name());
        assert!(page.contains("\n.SH \"EXAMPLES\"\n"), "{} has an example", command.get_name());
        for inner in command.get_subcommands().filter(visible).chain([command]) {
            for alias in inner.get_visible_aliases() {
                assert!(page.contains(alias) || first.contains(alias), "the alias {alias}");
            }
            for arg in inner.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_global_set()) {
                let Some(long) = arg.get_long().filter(|long| *long != "help") else { continue };
                assert!(page.contains(&format!("--{long}")), "{} --{long}", inner.get_name());
            }
        }
        for inner in command.get_subcommands().filter(visible) {
            assert!(page.contains(&format!(".SS \"{}\"\n", inner.get_name())), "{}", inner.get_name());
        }
    }
}

/// Every `aitask-lock.<key>` that the source mentions.
fn settings_in_the_source() -> Vec<String> {
    let mut keys = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for (at, _) in text.match_indices("aitask-lock.") {
                // Of a ref or a file name, such as `refs/aitask-lock.x`, it is no setting.
                if text[..at].ends_with(['/', '-', '_', '.']) {
                    continue;
                }
                let rest = &text[at + "aitask-lock.".len()..];
                let key: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
                let a_file = ["txt", "bash", "fish", "yaml", "saved"].contains(&key.as_str());
                let key = format!("aitask-lock.{key}");
                if !key.ends_with('.') && !a_file && !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
    }
    assert!(keys.len() >= 8, "the settings were found: {keys:?}");
    keys
}

#[test]
fn the_pages_pass_mandoc() {
    let asked = Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).args(page_files()).output();
    let Ok(answer) = asked else {
        println!("skipped: mandoc is not installed");
        return;
    };
    let said =
        String::from_utf8_lossy(&answer.stdout).into_owned() + &String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success() && said.is_empty(), "{said}");
}

/// The formatter behind `man` on most machines has an eye for other things.
#[test]
fn the_pages_pass_man() {
    for page in page_files() {
        let mut man = Command::new("man");
        man.args(["--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l"]).arg(&page).env("MANWIDTH", "80");
        let Ok(answer) = man.output() else {
            println!("skipped: man is not installed");
            return;
        };
        let said = String::from_utf8_lossy(&answer.stderr);
        if said.contains("--warnings") || said.contains("unrecognized") {
            println!("skipped: this man has no --warnings");
            return;
        }
        assert!(said.is_empty(), "{}: {said}", page.display());
    }
}

fn page_files() -> Vec<PathBuf> {
    pages::all().into_iter().map(|(name, _)| folder().join(name)).collect()
}
