//! The pages: one for the program and one for each command.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::{options, roff, tables};
use crate::commands::Cli;

/// When the manual was last gone through. Not the day of the build: that would change every page.
const DATE: &str = "2026-12-01";
const SOURCE: &str = concat!("git-aitask-lock ", env!("CARGO_PKG_VERSION"));

/// The text of a command, by its name: the one of the program itself is `""`.
const TEXTS: [(&str, &str); 18] = [
    ("", include_str!("text/git-aitask-lock.txt")),
    ("anchor", include_str!("text/anchor.txt")),
    ("check", include_str!("text/check.txt")),
    ("claim", include_str!("text/claim.txt")),
    ("cleanup", include_str!("text/cleanup.txt")),
    ("completions", include_str!("text/completions.txt")),
    ("doctor", include_str!("text/doctor.txt")),
    ("exec", include_str!("text/exec.txt")),
    ("hook", include_str!("text/hook.txt")),
    ("init", include_str!("text/init.txt")),
    ("list", include_str!("text/list.txt")),
    ("log", include_str!("text/log.txt")),
    ("man", include_str!("text/man.txt")),
    ("merge", include_str!("text/merge.txt")),
    ("refresh", include_str!("text/refresh.txt")),
    ("release", include_str!("text/release.txt")),
    ("recovery", include_str!("text/recovery.txt")),
    ("verdicts", include_str!("text/verdicts.txt")),
];

/// Every page that there should be: file name and content.
#[must_use]
pub fn all() -> Vec<(String, String)> {
    let mut cli = Cli::command();
    cli.build();
    let mut pages = vec![("git-aitask-lock.1".to_owned(), program(&cli))];
    for command in visible(&cli) {
        pages.push((format!("{}.1", page_name(command)), page(command)));
    }
    pages
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn page_name(command: &Command) -> String {
    format!("git-aitask-lock-{}", command.get_name())
}

fn text_of(name: &str) -> &'static str {
    TEXTS.iter().find(|(of, _)| *of == name).map_or("", |(_, text)| text)
}

fn about(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut letters = about.trim_end_matches('.').chars();
    let first: String = letters.next().map(|c| c.to_lowercase().collect()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

fn head(name: &str, about: &str) -> String {
    let mut page = roff::title(name, DATE, SOURCE);
    page.push_str(&roff::section("NAME"));
    let _infallible = writeln!(page, "{} \\- {}", roff::escaped(name), roff::inline(about));
    page
}

/// The page of the program.
fn program(cli: &Command) -> String {
    let mut page = head("git-aitask-lock", &about(cli));
    page.push_str(&roff::section("SYNOPSIS"));
    for command in visible(cli) {
        let nested: Vec<&Command> = visible(command).collect();
        let shown = if nested.is_empty() { vec![command] } else { nested };
        for command in shown {
            let _infallible = writeln!(page, "{}\n.br", options::synopsis(command));
        }
    }
    let cut = page.strip_suffix("\n.br\n").map(|page| format!("{page}\n"));
    let mut page = cut.unwrap_or(page);
    for (line, rest) in blocks(text_of("")) {
        page.push_str(&roff::text(&line));
        page.push_str(&match rest.as_deref() {
            Some("commands") => commands(cli),
            Some("options") => options::global(cli),
            Some("exit") => tables::exit_codes(),
            Some("words") => tables::words(),
            Some("settings") => tables::settings(),
            Some("variables") => tables::variables(),
            Some("files") => tables::files(),
            Some("recovery") => roff::text(text_of("recovery")),
            Some("see") => see(&visible(cli).map(page_name).collect::<Vec<_>>()),
            Some(_) | None => String::new(),
        });
    }
    page
}

/// Splits a text at its `@marks`.
fn blocks(text: &str) -> Vec<(String, Option<String>)> {
    let mut blocks = Vec::new();
    let mut block = String::new();
    for line in text.lines() {
        if let Some(mark) = line.strip_prefix('@') {
            blocks.push((std::mem::take(&mut block), Some(mark.trim().to_owned())));
        } else {
            block.push_str(line);
            block.push('\n');
        }
    }
    blocks.push((block, None));
    blocks
}

fn commands(cli: &Command) -> String {
    let mut list = String::new();
    for command in visible(cli) {
        let nested: Vec<&str> = visible(command).map(Command::get_name).collect();
        let mut what = command.get_about().map(ToString::to_string).unwrap_or_default();
        let aliases: Vec<String> = command.get_visible_aliases().map(|alias| format!("`{alias}`")).collect();
        if !aliases.is_empty() {
            what.push_str(&format!(" (also called {})", aliases.join(", ")));
        }
        if !nested.is_empty() {
            what.push_str(&format!(": `{}`", nested.join("`, `")));
        }
        list.push_str(&roff::definition(&format!("{}(1)", roff::bold(&page_name(command))), &(what + ".")));
    }
    list
}

/// The page of a command.
fn page(command: &Command) -> String {
    let mut page = head(&page_name(command), &about(command));
    let nested: Vec<&Command> = visible(command).collect();
    page.push_str(&roff::section("SYNOPSIS"));
    let calls = if nested.is_empty() { vec![command] } else { nested.clone() };
    let lines: Vec<String> = calls.into_iter().map(options::synopsis).collect();
    let _infallible = writeln!(page, "{}", lines.join("\n.br\n"));
    let text = text_of(command.get_name());
    let (description, rest) = match text.split_once("\n# ") {
        Some((description, rest)) => (description, format!("# {rest}")),
        None => (text, String::new()),
    };
    page.push_str(&roff::text(description));
    if !nested.is_empty() {
        page.push_str(&roff::section("COMMANDS"));
        for inner in nested {
            page.push_str(&roff::subsection(inner.get_name()));
            let about =
                inner.get_long_about().or(inner.get_about()).map(ToString::to_string).unwrap_or_default();
            let aliases: Vec<String> =
                inner.get_visible_aliases().map(|alias| format!("`{alias}`")).collect();
            let aliases = if aliases.is_empty() {
                String::new()
            } else {
                format!(" (also called {})", aliases.join(", "))
            };
            page.push_str(&roff::inline(&format!("{}{aliases}.", about.trim_end_matches('.'))));
            page.push('\n');
            page.push_str(&options::own(inner));
        }
    } else if options::any(command) {
        page.push_str(&roff::section("OPTIONS"));
        page.push_str(&options::own(command));
    }
    page.push_str(&roff::text(&rest));
    page.push_str(&roff::section("SEE ALSO"));
    page.push_str(&see(&["git-aitask-lock".to_owned()]));
    page
}

fn see(pages: &[String]) -> String {
    let pages: Vec<String> = pages.iter().map(|page| format!("{}(1)", roff::bold(page))).collect();
    pages.join(",\n") + "\n"
}
