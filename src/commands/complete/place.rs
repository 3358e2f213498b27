//! Where on a command line the cursor stands, and what fits there, out of the commands' definitions.

use clap::{Arg, Command};

/// What a repository is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A task that somebody holds.
    HeldTask,
    /// The ID of a lock of a named task.
    LockId,
    /// A local branch.
    Branch,
    /// A remote.
    Remote,
}

/// One kind of thing that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// This word.
    Word {
        /// The word.
        word: String,
        /// What it means, in a few words.
        about: String,
    },
    /// Whatever the repository has of this kind.
    Value {
        /// The kind.
        value: Value,
        /// What stands before it in the same word: `--remote=`.
        before: String,
    },
    /// Files, which the shell knows.
    Files,
    /// Folders, which the shell knows.
    Folders,
}

/// A place on a command line.
#[derive(Debug)]
pub struct Place<'a> {
    words: Vec<String>,
    typed: String,
    command: &'a Command,
    /// The option whose value is being typed as a word of its own.
    open_option: Option<&'a Arg>,
    /// How many plain arguments the command has got already.
    plain: usize,
    /// Whether `--` was given: no options from there on.
    only_plain: bool,
}

impl<'a> Place<'a> {
    /// Finds the place. `words` are those after the program's name; the last one is being typed.
    #[must_use]
    pub fn of(top: &'a Command, words: &[String]) -> Self {
        let (typed, before) = match words.split_last() {
            Some((typed, before)) => (typed.clone(), before.to_vec()),
            None => (String::new(), Vec::new()),
        };
        let mut place = Self {
            words: before.clone(),
            typed,
            command: top,
            open_option: None,
            plain: 0,
            only_plain: false,
        };
        for word in &before {
            place.pass(word);
        }
        place
    }

    fn pass(&mut self, word: &str) {
        if self.open_option.take().is_some() {
            return;
        }
        if self.only_plain {
            self.plain += 1;
        } else if word == "--" {
            self.only_plain = true;
        } else if word.starts_with("--") && word.contains('=') {
        } else if let Some(option) = self.option(word) {
            self.open_option = option.get_action().takes_values().then_some(option);
        } else if word.starts_with('-') && word.len() > 1 {
        } else if let Some(inner) = self.command.find_subcommand(word).filter(|_| self.plain == 0) {
            self.command = inner;
        } else {
            self.plain += 1;
            // What follows a command of the user's is the user's.
            self.only_plain = self.positional(0).is_some_and(Arg::is_trailing_var_arg_set);
        }
    }

    fn options(&self) -> impl Iterator<Item = &'a Arg> {
        self.command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set())
    }

    fn option(&self, word: &str) -> Option<&'a Arg> {
        if let Some(long) = word.strip_prefix("--") {
            return self.options().find(|arg| arg.get_long() == Some(long));
        }
        // Of a group such as `-qn`, the last one may want a value.
        let last = word.strip_prefix('-')?.chars().last()?;
        self.options().find(|arg| arg.get_short() == Some(last))
    }

    fn positional(&self, index: usize) -> Option<&'a Arg> {
        let all: Vec<&Arg> = self.command.get_positionals().collect();
        let last = all.last().copied();
        let repeats = |arg: &&Arg| arg.get_num_args().is_some_and(|count| count.max_values() > 1);
        all.get(index).copied().or_else(|| last.filter(repeats))
    }

    /// The words before the one that is being typed.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The last value that an option was given: `-C dir`, `--remote=x`.
    #[must_use]
    pub fn option_value(&self, option: &str) -> Option<String> {
        let joined = format!("{option}=");
        let mut pairs = self.words.iter().enumerate().filter_map(|(index, word)| {
            let next = || self.words.get(index + 1).cloned();
            if word == option { next() } else { word.strip_prefix(&joined).map(str::to_owned) }
        });
        pairs.next_back()
    }

    /// The part of the typed word that is a value.
    #[must_use]
    pub fn typed_value(&self) -> String {
        match self.typed.split_once('=') {
            Some((option, value)) if option.starts_with("--") && !self.only_plain => value.to_owned(),
            _ => self.typed.clone(),
        }
    }

    /// What fits.
    #[must_use]
    pub fn offers(&self) -> Vec<Offer> {
        if let Some(option) = self.open_option {
            return self.values_of(option, "");
        }
        if !self.only_plain && self.typed.starts_with("--") && self.typed.contains('=') {
            let (name, _) = self.typed.split_once('=').unwrap_or_default();
            let option = self.option(name);
            return option.map(|option| self.values_of(option, &format!("{name}="))).unwrap_or_default();
        }
        if !self.only_plain && self.typed.starts_with('-') {
            return self.option_words();
        }
        let mut offers = Vec::new();
        if self.plain == 0 && !self.only_plain {
            offers.extend(self.commands());
        }
        if let Some(positional) = self.positional(self.plain) {
            offers.extend(self.values_of(positional, ""));
        }
        offers
    }

    /// `merge claim` is for a task that is held.
    fn is_task_claim(&self) -> bool {
        self.command.get_name() == "claim" && !self.words.iter().any(|word| word == "merge")
    }

    fn commands(&self) -> Vec<Offer> {
        let visible = self.command.get_subcommands().filter(|command| !command.is_hide_set());
        let fits = visible.filter(|command| command.get_name().starts_with(&self.typed));
        fits.map(|command| word(command.get_name(), command.get_about())).collect()
    }

    fn option_words(&self) -> Vec<Offer> {
        let mut words: Vec<Offer> = self
            .options()
            .filter_map(|arg| Some((arg, format!("--{}", arg.get_long()?))))
            .filter(|(_, name)| name.starts_with(&self.typed) && !self.words.contains(name))
            .map(|(arg, name)| word(&name, arg.get_help()))
            .collect();
        // `-C` has no long form.
        let short = self.options().filter(|arg| arg.get_long().is_none());
        let short = short.filter_map(|arg| Some((arg, format!("-{}", arg.get_short()?))));
        words.extend(
            short
                .filter(|(_, name)| name.starts_with(&self.typed))
                .map(|(arg, name)| word(&name, arg.get_help())),
        );
        words
    }

    fn values_of(&self, arg: &Arg, before: &str) -> Vec<Offer> {
        let possible = arg.get_possible_values();
        if !possible.is_empty() && arg.get_action().takes_values() {
            let typed = self.typed_value();
            let fits = possible.iter().filter(|value| value.get_name().starts_with(&typed));
            return fits
                .map(|value| word(&format!("{before}{}", value.get_name()), value.get_help()))
                .collect();
        }
        let name = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
        let value = |value| vec![Offer::Value { value, before: before.to_owned() }];
        match name {
            // What is to be claimed is not held yet.
            "TASK" if self.is_task_claim() => Vec::new(),
            "TASK" => value(Value::HeldTask),
            "LOCK_ID" => value(Value::LockId),
            "BRANCH" => value(Value::Branch),
            "NAME" if arg.get_long() == Some("remote") => value(Value::Remote),
            "DIR" => vec![Offer::Folders],
            "COMMAND" => vec![Offer::Files],
            _ => Vec::new(),
        }
    }
}

fn word(word: &str, about: Option<&clap::builder::StyledStr>) -> Offer {
    let about = about.map(ToString::to_string).unwrap_or_default();
    let about = about.lines().next().unwrap_or_default().replace('\t', " ");
    Offer::Word { word: word.to_owned(), about }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::commands::Cli;

    fn offers(line: &str) -> Vec<String> {
        let mut cli = Cli::command();
        cli.build();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let offers = Place::of(&cli, &words).offers();
        let text = |offer| match offer {
            Offer::Word { word, .. } => word,
            Offer::Value { value, before } => format!("{before}<{value:?}>"),
            Offer::Files => ":files".to_owned(),
            Offer::Folders => ":dirs".to_owned(),
        };
        offers.into_iter().map(text).collect()
    }

    #[test]
    fn what_fits_where() {
        for (line, fits) in [
            ("ref", vec!["refresh"]),
            ("rel", vec!["release"]),
            ("release ", vec!["<HeldTask>"]),
            ("release 42 ", vec!["<HeldTask>"]),
            ("unlock ", vec!["<HeldTask>"]),
            ("-q release ", vec!["<HeldTask>"]),
            ("-C dir release 4", vec!["<HeldTask>"]),
            ("--timeout=3s refresh ", vec!["<HeldTask>"]),
            ("check ", vec!["<HeldTask>"]),
            ("check 42 ", vec![]),
            ("log ", vec!["<HeldTask>"]),
            ("claim ", vec![]),
            ("claim --fo", vec!["--force"]),
            ("claim --force --fo", vec![]),
            ("claim 42 --expect ", vec!["<LockId>"]),
            ("claim 42 --note ", vec![]),
            ("--remote ", vec!["<Remote>"]),
            ("list --remote=o", vec!["--remote=<Remote>"]),
            ("-C ", vec![":dirs"]),
            ("completions z", vec!["zsh"]),
            ("exec -- ", vec![":files"]),
            ("exec make --f", vec![":files"]),
            ("merge force", vec!["force-release"]),
            ("merge claim ", vec!["<HeldTask>"]),
            ("merge claim 42 --into ", vec!["<Branch>"]),
            ("merge run 42 ", vec!["<Branch>"]),
            ("merge begin 42 topic -- --no", vec![]),
            ("merge finish ", vec!["<HeldTask>"]),
            ("hook un", vec!["uninstall"]),
            ("__com", vec![]),
            ("list ", vec![]),
        ] {
            assert_eq!(offers(line), fits, "{line:?}");
        }
        assert!(offers("").contains(&"claim".to_owned()));
        assert!(!offers("").contains(&"__complete".to_owned()));
        assert!(offers("list --").contains(&"--json".to_owned()), "options of every command");
    }
}
