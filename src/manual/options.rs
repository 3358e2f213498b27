//! Synopsis and options of a command, out of its definition.

use clap::{Arg, Command};

use super::roff;

/// The line that shows how a command is called.
#[must_use]
pub fn synopsis(command: &Command) -> String {
    let mut command = command.clone();
    let usage = command.render_usage().to_string();
    let usage = usage.trim().strip_prefix("Usage:").unwrap_or(&usage).trim();
    let mut line = String::new();
    for word in usage.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        let plain = word.starts_with(|c: char| c.is_ascii_lowercase() || c == '-');
        line.push_str(&if plain { roff::bold(word) } else { roff::italic(word) });
    }
    line
}

/// The options and arguments of a command's own; those that every command takes are on the first page.
#[must_use]
pub fn own(command: &Command) -> String {
    list(command, |arg| !arg.is_global_set())
}

/// The options that every command takes.
#[must_use]
pub fn global(top: &Command) -> String {
    list(top, |_| true)
}

/// Whether a command has anything of its own.
#[must_use]
pub fn any(command: &Command) -> bool {
    command.get_arguments().any(|arg| !arg.is_global_set() && shown(arg))
}

fn shown(arg: &Arg) -> bool {
    !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version")
}

fn list(command: &Command, wanted: impl Fn(&Arg) -> bool) -> String {
    let arguments = command.get_arguments().filter(|arg| shown(arg) && wanted(arg));
    let (plain, options): (Vec<&Arg>, Vec<&Arg>) = arguments.partition(|arg| arg.is_positional());
    plain.into_iter().chain(options).map(entry).collect()
}

fn entry(arg: &Arg) -> String {
    let mut help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = if arg.get_action().takes_values() {
        arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect()
    } else {
        Vec::new()
    };
    if !values.is_empty() {
        help.push_str(&format!(": {}", values.join(", ")));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        help.push_str(&format!(" (default: {})", defaults.join(", ")));
    }
    roff::definition(&term(arg), &(help + "."))
}

fn term(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let value = names.first().map(|name| roff::italic(&format!("<{}>", name.to_lowercase())));
    let value = value.filter(|_| arg.get_action().takes_values());
    if arg.is_positional() {
        let more = arg.get_num_args().is_some_and(|count| count.max_values() > 1);
        let shown = value.unwrap_or_default();
        return if more { format!("{shown}...") } else { shown };
    }
    let short = arg.get_short().map(|short| roff::bold(&format!("-{short}")));
    let long = arg.get_long().map(|long| roff::bold(&format!("--{long}")));
    let spellings: Vec<String> = short.into_iter().chain(long).collect();
    let joined = spellings.join(", ");
    match value {
        Some(value) => format!("{joined} {value}"),
        None => joined,
    }
}
