//! A verdict becomes text: sentences, one stable line, or one JSON document. Nothing here looks at
//! the world; what a rendering needs to know of it arrives in a [`View`].

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::context::{Format, Layout};
use crate::domain::verdict::Verdict;

pub mod escape;
pub mod events;
pub mod findings;
pub mod hook;
pub mod human;
pub mod json;
pub mod merge;
pub mod porcelain;
pub mod style;
pub mod table;

/// What a rendering has to know of the reader.
#[derive(Clone, Debug)]
pub struct View {
    /// The chosen rendering.
    pub format: Format,
    /// Now, for ages.
    pub now: Timestamp,
    /// The reader's time zone.
    pub zone: TimeZone,
    /// Columns of the reader's terminal; none in a pipe.
    pub columns: Option<u16>,
    /// Whether only what was asked for is wanted.
    pub quiet: bool,
    /// How a person is shown the outcomes.
    pub layout: Layout,
    /// What printed commands have to repeat.
    pub carried: Carried,
}

/// Commands of git that are printed for the repository at hand.
const OF_GIT: [&str; 6] =
    ["git branch ", "git config ", "git ls-remote ", "git fsck", "git remote ", "git worktree "];

/// Options of this command that the printed ones carry on, so that they reach the same lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// `-C`, with a blank behind it.
    pub directory: String,
    /// `-C` and `--remote`, with a blank behind them.
    pub place: String,
    /// `--email`, with a blank before it.
    pub email: String,
}

impl Carried {
    /// What a command with these options prints.
    #[must_use]
    pub fn of(directory: Option<&str>, remote: Option<&str>, email: Option<&str>) -> Self {
        let option = |name: &str, value: Option<&str>| {
            value.map(|value| format!("{name} {} ", escape::for_shell(value))).unwrap_or_default()
        };
        let directory = option("-C", directory);
        let place = directory.clone() + &option("--remote", remote);
        let email = email.map(|email| format!(" --email {}", escape::for_shell(email))).unwrap_or_default();
        Self { directory, place, email }
    }

    /// Repeats the place in every printed command of ours, and in hints in those of git.
    fn carry(&self, text: &str) -> String {
        let lines = text.split_inclusive('\n');
        // Elsewhere, words about git may be somebody else's.
        lines.map(|line| if line.contains("hint:") { self.remedy(line) } else { self.ours(line) }).collect()
    }

    /// Repeats the place in every command of a remedy.
    #[must_use]
    pub fn remedy(&self, text: &str) -> String {
        let ours = self.ours(text);
        OF_GIT.iter().fold(ours, |text, name| {
            // What names a file itself is the same everywhere.
            repeated(&text, name, "git ", &self.directory, &["--global ", "--file "])
        })
    }

    /// Repeats the place in every printed command of ours.
    #[must_use]
    pub fn ours(&self, text: &str) -> String {
        const NAME: &str = "git aitask-lock ";
        // A launcher and the manual are the same everywhere.
        repeated(text, NAME, NAME, &self.place, &["-C ", "exec ", "man "])
    }
}

/// Puts `options` behind each `start` that begins a `name`, unless what follows needs none.
fn repeated(text: &str, name: &str, start: &str, options: &str, but: &[&str]) -> String {
    if options.is_empty() {
        return text.to_owned();
    }
    let mut repeated = String::with_capacity(text.len());
    for (at, part) in text.split(name).enumerate() {
        if at > 0 {
            let needs_it = !but.iter().any(|own| part.starts_with(own));
            let (before, behind) = name.split_at(start.len());
            repeated.extend([before, if needs_it { options } else { "" }, behind]);
        }
        repeated.push_str(part);
    }
    repeated
}

/// What goes to standard output and to standard error; styled text where a person reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Data.
    pub stdout: String,
    /// Talk.
    pub stderr: String,
}

/// Renders the outcomes of one command, with what a person may want to know besides.
#[must_use]
pub fn render(verdicts: &[Verdict], warnings: &[String], notes: &[String], view: &View) -> Printed {
    let found = findings_of(verdicts, view);
    let verdicts = found.as_deref().unwrap_or(verdicts);
    let mut printed = match view.format {
        Format::Human => human::render(verdicts, view),
        Format::Porcelain => {
            Printed { stdout: porcelain::render(verdicts), stderr: failures(verdicts, view) }
        }
        Format::Json => Printed { stdout: json::render(verdicts), stderr: String::new() },
    };
    if !view.quiet && view.format != Format::Json {
        for warning in warnings {
            printed.stderr.push_str(&style::warning(&escape::for_terminal(warning)));
        }
        for note in notes {
            printed.stderr.push_str(&style::note(&escape::for_terminal(note)));
        }
    }
    printed.stderr = view.carried.carry(&printed.stderr);
    printed
}

/// The outcomes with the place in the commands that mend what was found: those are data, in all renderings.
fn findings_of(verdicts: &[Verdict], view: &View) -> Option<Vec<Verdict>> {
    let found = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Finding(_)));
    (found && !view.carried.place.is_empty()).then(|| {
        let mut verdicts = verdicts.to_vec();
        for verdict in &mut verdicts {
            if let Verdict::Finding(finding) = verdict {
                finding.remedy = finding.remedy.take().map(|remedy| view.carried.remedy(&remedy));
            }
        }
        verdicts
    })
}

/// Failures are told in words beside the machine line, since the line only names them.
fn failures(verdicts: &[Verdict], view: &View) -> String {
    let failures = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::LockError(_)));
    let failures: Vec<Verdict> = failures.cloned().collect();
    if failures.is_empty() {
        return String::new();
    }
    human::render(&failures, view).stderr
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_commands_reach_the_same_place() {
        let here = Carried::default();
        assert_eq!(here.carry("hint: git aitask-lock check 1"), "hint: git aitask-lock check 1");
        let there = Carried::of(Some("/a$b"), Some("."), Some("ann@example.com"));
        let carried = there.carry("git aitask-lock check 1, or git aitask-lock -C /x init");
        assert_eq!(carried, "git aitask-lock -C '/a$b' --remote . check 1, or git aitask-lock -C /x init");
        assert_eq!(there.email, " --email ann@example.com");
        for (text, carried) in [
            ("hint: git config a.b c", "hint: git -C '/a$b' config a.b c"),
            ("hint: git fsck", "hint: git -C '/a$b' fsck"),
            ("hint: git config --global a.b c", "hint: git config --global a.b c"),
            ("hint: git -C /x config a.b c", "hint: git -C /x config a.b c"),
            ("the server says: git config a.b c", "the server says: git config a.b c"),
        ] {
            assert_eq!(there.carry(text), carried);
            assert_eq!(here.carry(text), text);
        }
    }
}
