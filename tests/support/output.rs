//! What a program said and how it ended, in one text, with what changes from run to run taken out.

use std::fmt;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};

/// What a program said and how it ended.
#[derive(Clone, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// How it ended.
    pub status: ExitStatus,
}

impl Output {
    /// Runs a command to its end.
    #[must_use = "an output that nobody looks at tests nothing"]
    pub fn of(mut command: Command) -> Self {
        let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        Self::from(output)
    }

    /// Runs a command to its end, with something on standard input.
    #[must_use = "an output that nobody looks at tests nothing"]
    pub fn of_input(mut command: Command, input: &[u8]) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Self::from(child.wait_with_output().unwrap())
    }

    /// The exit code; 128 and the signal's number for a program that a signal ended.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// Standard output of a program that has to succeed.
    pub fn success(self, what: &str) -> String {
        assert!(self.status.success(), "{what} failed\n{self}");
        self.stdout.strip_suffix('\n').map(str::to_owned).unwrap_or(self.stdout)
    }

    /// The word of the only porcelain line.
    pub fn word(&self) -> &str {
        let line = self.line();
        line.split(':').next().unwrap_or(line)
    }

    /// The only line of standard output.
    #[track_caller]
    pub fn line(&self) -> &str {
        let mut lines = self.stdout.lines();
        let line = lines.next().unwrap_or_default();
        assert!(lines.next().is_none(), "one line was expected\n{self}");
        line
    }

    /// The words of all porcelain lines.
    pub fn words(&self) -> Vec<&str> {
        self.stdout.lines().map(|line| line.split(':').next().unwrap_or(line)).collect()
    }

    /// A field of the only porcelain line, counted from 0.
    pub fn field(&self, index: usize) -> &str {
        let fields = self.line().split_once(':').map(|(_, fields)| fields).unwrap_or_default();
        fields.split('|').nth(index).unwrap_or_default()
    }

    /// Fails unless the one answer has this word and this exit code.
    #[track_caller]
    pub fn expect(self, word: &str, code: i32) -> Self {
        assert_eq!((self.word(), self.code()), (word, code), "\n{self}");
        self.no_panic()
    }

    /// Fails unless the answers have these words, and this exit code.
    #[track_caller]
    pub fn expect_all(self, words: &[&str], code: i32) -> Self {
        assert_eq!((self.words(), self.code()), (words.to_vec(), code), "\n{self}");
        self.no_panic()
    }

    /// Fails unless the one porcelain line begins with these words and fields.
    #[track_caller]
    pub fn expect_line(self, start: &str, code: i32) -> Self {
        assert!(self.line().starts_with(start) && self.code() == code, "{start} and {code} expected\n{self}");
        self.no_panic()
    }

    /// Fails if the program met a fault of its own.
    #[track_caller]
    pub fn no_panic(self) -> Self {
        assert!(!self.stderr.contains("panicked"), "\n{self}");
        assert!(self.status.signal().is_none(), "\n{self}");
        self
    }

    /// The whole text with ids, times, and the given words taken out.
    pub fn redacted(&self, words: &[(&str, &str)]) -> String {
        redact(&self.to_string(), words)
    }
}

impl From<std::process::Output> for Output {
    fn from(output: std::process::Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { stdout: text(output.stdout), stderr: text(output.stderr), status: output.status }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "--- stderr\n{}", self.stderr)?;
        }
        writeln!(f, "[exit {}]", self.code())
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Takes out what changes from run to run: object and lock ids, instants, and given words. A word of
/// digits only stands for itself as a whole: a process id is not part of a date.
pub fn redact(text: &str, words: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    let (numbers, words): (Vec<_>, Vec<_>) =
        words.iter().partition(|(word, _)| word.chars().all(|c| c.is_ascii_digit()));
    for (word, name) in words {
        text = text.replace(word, name);
    }
    let mut shown = String::new();
    let mut token = String::new();
    // An instant is followed by its age, which is now.
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_alphanumeric() || (c == '-' || c == ':') && looks_like_a_time(&token) {
            token.push(c);
            continue;
        }
        let named = numbers.iter().find(|(number, _)| *number == token);
        shown.push_str(&named.map_or_else(|| redact_token(&token), |(_, name)| (*name).to_owned()));
        token.clear();
        shown.push(c);
    }
    shown.pop();
    shown
}

fn looks_like_a_time(token: &str) -> bool {
    token.starts_with("20") && token.len() >= 4 && !token.chars().any(|c| c.is_ascii_lowercase())
}

fn redact_token(token: &str) -> String {
    let hex = token.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
    if hex && token.len() >= 32 {
        return "[id]".to_owned();
    }
    // Instants of now are written in UTC; those of a sample stay.
    if looks_like_a_time(token) && token.len() == 20 && token.ends_with('Z') {
        return "[time]".to_owned();
    }
    token.to_owned()
}
