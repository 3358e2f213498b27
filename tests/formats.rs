//! Contracts with those who parse: porcelain lines and their order of fields, JSON documents, exit codes;
//! and what bad input is answered with.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use crate::support::planting::{hostname, plant_file, record};
use crate::support::{BRANCH, Lab, Output, Repo, Run, Session, snapshot};

/// A document of commands and what they said, with what changes from run to run taken out.
struct Document<'lab> {
    repo: Repo<'lab>,
    text: String,
    words: Vec<(String, &'static str)>,
}

impl<'lab> Document<'lab> {
    fn new(repo: Repo<'lab>, sessions: &[(&Session, &'static str)]) -> Self {
        let mut words = vec![
            (repo.lab.root().to_str().unwrap().to_owned(), "[lab]"),
            (format!("|{}", hostname()), "|[here]"),
            (format!("\"{}\"", hostname()), "\"[here]\""),
            (format!(" on {}", hostname()), " on [here]"),
            (format!("from {}", hostname()), "from [here]"),
        ];
        words.extend(sessions.iter().map(|(session, name)| (session.pid().to_string(), *name)));
        Self { repo, text: String::new(), words }
    }

    fn add(&mut self, adapt: &dyn Fn(Run) -> Run, args: &[&str]) {
        let output = adapt(self.repo.human(args)).go().no_panic();
        let words: Vec<(&str, &str)> = self.words.iter().map(|(word, name)| (word.as_str(), *name)).collect();
        // The lab's sessions are no ancestors of the commands; that is warned of, and not the matter here.
        let text = output.redacted(&words);
        let kept = text.lines().filter(|line| !line.starts_with("warning: AIT_AGENT_PID"));
        let kept: Vec<String> = kept.map(without_minutes).map(|line| as_table_row(&line)).collect();
        let kept = kept.join("\n").replace("--- stderr\n[exit", "[exit");
        self.text.push_str(&format!("$ {}\n{kept}\n\n", args.join(" ")));
    }
}

/// Takes the clock out of a sentence: `2026-12-01 04:05 UTC (just now)`.
fn without_minutes(line: &str) -> String {
    let Some(at) = line.find(" UTC (") else { return line.to_owned() };
    let end = line[at..].find(')').map_or(line.len(), |end| at + end + 1);
    let planted = line[..at].ends_with("2026-08-18 18:36");
    let shown = if planted { "2026-08-18 18:36 UTC ([age])" } else { "[now]" };
    format!("{}{shown}{}", &line[..at.saturating_sub(16)], without_minutes(&line[end..]))
}

/// Takes the widths and the ages out of a row of `list`, and this host's name.
fn as_table_row(line: &str) -> String {
    if !line.contains("  ") {
        return line.to_owned();
    }
    let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    let cells = cells.map(|cell| match cell {
        cell if cell == hostname() => "[here]",
        "just now" => "[age]",
        cell if cell.starts_with(|c: char| c.is_ascii_digit()) && cell.contains(' ') => "[age]",
        cell => cell,
    });
    cells.collect::<Vec<_>>().join("  ")
}

/// One command for each word of the table, in one rendering.
fn all_words(option: &[&str]) -> String {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let (mut first, second) = (Session::start(), Session::start());
    let mut document = Document::new(repo.clone(), &[(&first, "[first]"), (&second, "[second]")]);
    let (one, two) = (first.pid().to_string(), second.pid().to_string());
    let as_first = move |run: Run| run.env("AIT_AGENT_PID", &one);
    let as_second = move |run: Run| run.env("AIT_AGENT_PID", &two);
    let as_bob = |run: Run| run.email("bob@example.com");
    let mut add = |adapt: &dyn Fn(Run) -> Run, args: &[&str]| document.add(adapt, &[args, option].concat());
    add(&as_first, &["check", "42"]);
    add(&as_first, &["init"]);
    add(&as_first, &["list"]);
    add(&as_first, &["check", "42"]);
    add(&as_first, &["claim", "42", "--note", "a|b 100%"]);
    add(&as_first, &["claim", "42"]);
    add(&as_first, &["refresh", "42"]);
    add(&as_first, &["check", "42"]);
    add(&as_second, &["check", "42", "--mine"]);
    add(&as_second, &["claim", "42"]);
    add(&as_second, &["claim", "41", "42", "43"]);
    add(&as_second, &["release", "42"]);
    add(&as_second, &["refresh", "42", "43"]);
    add(&as_bob, &["claim", "42"]);
    add(&as_second, &["claim", "42", "--force", "--expect", "0123456789abcdef0123456789abcdef"]);
    let bare = record("7", &second, &[("pid_starttime", ""), ("pid_starttime_kind", "")]);
    plant_file(&repo, "t7_lock.yaml", &bare);
    add(&as_first, &["claim", "7"]);
    let elsewhere =
        "task_id: 8\nlocked_by: alice@example.com\nlocked_at: 2026-08-18 18:36\nhostname: laptop\n";
    plant_file(&repo, "t8_lock.yaml", elsewhere);
    add(&as_first, &["check", "8"]);
    add(&as_first, &["claim", "8"]);
    let no_process = elsewhere.replace("laptop", &hostname());
    plant_file(&repo, "t9_lock.yaml", &no_process);
    add(&as_first, &["claim", "9"]);
    plant_file(&repo, "t10_lock.yaml", "\0");
    add(&as_first, &["claim", "10"]);
    add(&as_second, &["claim", "42", "--force"]);
    add(&as_second, &["release", "42", "99"]);
    first.end();
    add(&as_second, &["list"]);
    add(&as_second, &["claim", "8"]);
    add(&as_second, &["cleanup", "--gone", "--dry-run"]);
    add(&as_second, &["cleanup", "--gone"]);
    add(&as_second, &["release", "7", "--force"]);
    add(&as_second, &["release", "10", "8"]);
    add(&as_second, &["list", "--mine"]);
    add(&as_second, &["claim", "../x"]);
    add(&as_second, &["claim", "1", "--remote", "nowhere"]);
    document.text
}

#[test]
fn porcelain_lines() {
    snapshot("porcelain", &all_words(&["--porcelain"]));
}

#[test]
fn json_documents() {
    let text = all_words(&["--json"]);
    for line in text.lines().filter(|line| line.starts_with('{')) {
        assert!(line.starts_with("{\"version\":1,\"results\":["), "{line}");
    }
    snapshot("json", &text);
}

#[test]
fn sentences() {
    snapshot("sentences", &all_words(&[]));
}

#[test]
fn the_words_that_a_command_can_answer_with() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    snapshot("verdicts", &repo.lock(&["verdicts"]).go().success("verdicts"));
}

/// Parses a JSON document with plain means of another program.
fn assert_one_document(output: &Output) {
    assert_eq!(output.stdout.lines().count(), 1, "{output}");
    let parsed: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(parsed["version"], 1, "{output}");
    assert!(parsed["results"].is_array(), "{output}");
}

#[test]
fn bad_task_ids_get_one_clear_line() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    let long = "x".repeat(300);
    let bad = [
        "../x",
        "a/b",
        ".git",
        ".",
        "..",
        "",
        " ",
        " 7",
        "7 ",
        "x\ny",
        "7\n",
        "-",
        "--",
        "-7",
        "*",
        "a?b",
        "a\\b",
        "a:b",
        "%2e%2e",
        "７",
        "tâche",
        "a\u{202e}b",
        "a\tb",
        "a\u{7f}",
        "$(x)",
        long.as_str(),
        "_7",
        ".7",
        "a\u{0}",
    ];
    for id in bad.iter().filter(|id| !id.contains('\0')) {
        for verb in ["claim", "release", "refresh", "check"] {
            let human = repo.human(&[verb, "--", id]).go().no_panic();
            // `--` alone counts as no task at all.
            assert_eq!(human.code(), 2, "{verb} {id:?}\n{human}");
            assert_eq!(human.stdout, "", "{verb} {id:?}\n{human}");
            assert!(human.stderr.starts_with("error: "), "{verb} {id:?}\n{human}");
            let control = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!human.stderr.chars().any(control), "{verb} {id:?}\n{human:?}");
            let json = repo.human(&[verb, "--json", "--", id]).go().no_panic();
            assert_eq!(json.code(), 2, "{verb} {id:?}\n{json}");
            assert_one_document(&json);
            let line = repo.human(&[verb, "--porcelain", "--", id]).go().no_panic();
            line.expect_line("LOCK_ERROR:usage", 2);
        }
    }
    assert_eq!(lab.server().tip(BRANCH), None, "nothing was written");
    for verb in ["claim", "release", "refresh", "check"] {
        let leading_dash = repo.human(&[verb, "--json", "-7x"]).go().no_panic();
        assert_eq!(leading_dash.code(), 2);
        assert_one_document(&leading_dash);
    }
}

#[test]
fn bytes_that_are_no_text_are_a_usage_error() {
    use std::os::unix::ffi::OsStrExt as _;
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let odd = std::ffi::OsStr::from_bytes(b"a\xffb");
    for option in ["--json", "--porcelain"] {
        let run = repo.human(&["claim", option]).arg(odd).go().no_panic();
        assert_eq!(run.code(), 2, "{run}");
    }
    let email = repo.lock(&["claim", "1", "--email"]).arg(odd).go().no_panic();
    assert_eq!(email.code(), 2, "{email}");
}

#[test]
fn every_failure_is_one_document_or_one_line() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let lines: [(&[&str], i32); 16] = [
        (&[], 2),
        (&["nonsense"], 2),
        (&["claim"], 2),
        (&["claim", "1", "--nonsense"], 2),
        (&["claim", "1", "--note", "two\nlines"], 2),
        (&["claim", "1", "2", "--expect", "x"], 2),
        (&["claim", "--first", "--force", "1"], 2),
        (&["claim", "1", "--timeout", "soon"], 2),
        (&["claim", "1", "--timeout", "-1s"], 2),
        (&["claim", "1", "--email", ""], 2),
        (&["claim", "1", "--email", "a\nb"], 2),
        (&["claim", "1", "--email", "\u{1b}[2J"], 2),
        (&["claim", "1", "--remote", "nowhere"], 2),
        (&["list", "-C", "/nonexistent"], 128),
        (&["check", "1"], 10),
        (&["exec", "--", "/nonexistent/program"], 127),
    ];
    for (args, code) in lines {
        let json = repo.human(&[args, &["--json"]].concat());
        // Options of ours come before a command to be run.
        let json =
            if args.first() == Some(&"exec") { repo.human(&[&["--json"], args].concat()) } else { json };
        let json = json.go().no_panic();
        assert_eq!(json.code(), code, "{args:?}\n{json}");
        assert_one_document(&json);
        let human = repo.human(args).go().no_panic();
        assert_eq!(human.code(), code, "{args:?}\n{human}");
        assert_eq!(human.stdout, "", "{args:?}: errors are no data\n{human}");
        assert!(!human.stderr.contains('\u{1b}'), "{human:?}");
    }
    assert_eq!(repo.tip(BRANCH), None);
}

#[test]
fn every_remedy_that_is_named_exists() {
    // Options that messages name, tried on the commands that they name them for.
    let lab = Lab::empty();
    let repo = lab.alone("a");
    for (args, code) in [
        (&["claim", "1", "--force", "--expect", "x", "--timeout", "2m"][..], 27),
        (&["claim", "1"], 0),
        (&["release", "1", "--force", "--expect", "x"], 27),
        (&["list", "--mine"], 0),
        (&["init"], 0),
    ] {
        let output = repo.human(args).go().no_panic();
        assert_eq!(output.code(), code, "{args:?}\n{output}");
    }
}

#[test]
fn quiet_says_nothing_that_was_not_asked_for() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    for (args, code) in
        [(&["claim", "1", "-q"][..], 0), (&["refresh", "1", "-q"], 0), (&["release", "1", "-q"], 0)]
    {
        let output = repo.human(args).session(&session).go();
        assert_eq!(
            (output.stdout.as_str(), output.stderr.as_str(), output.code()),
            ("", "", code),
            "{args:?}"
        );
    }
    let check = repo.human(&["check", "1", "-q"]).go();
    assert_eq!(check.code(), 1, "{check}");
}

#[test]
fn machine_lines_come_alone() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    for (args, code) in [(&["init"][..], 0), (&["list"], 0), (&["check", "2"], 1)] {
        for option in ["--porcelain", "--json"] {
            let output = repo.human(args).arg(option).go();
            assert_eq!((output.stderr.as_str(), output.code()), ("", code), "{args:?} {option}\n{output}");
        }
    }
}

#[test]
fn no_colour_off_a_terminal() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    for (name, value) in
        [("TERM", "xterm-256color"), ("TERM", "dumb"), ("NO_COLOR", "1"), ("LANG", "de_DE.UTF-8")]
    {
        for args in [&["claim", "1"][..], &["check", "1"], &["list"], &["claim", ".."], &["release", "1"]] {
            let output = repo.human(args).env(name, value).go();
            assert!(!output.to_string().contains('\u{1b}'), "{output:?}");
        }
    }
}

#[test]
fn a_reader_that_went_away_changes_nothing() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let session = Session::start();
    let run = |args: &[&str], stdout: Stdio| {
        let mut command: Command = repo.lock(args).session(&session).into_command();
        command.stdout(stdout).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (child.wait().unwrap().code(), stderr)
    };
    // A pipe whose reading end is closed already.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let (code, stderr) = run(&["claim", "42"], writer.into());
    assert_eq!(code, Some(0), "what is done is done\n{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(repo.lock_files(), ["t42_lock.yaml"]);
    // A full disk: the result could not be told.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (code, stderr) = run(&["check", "42"], full.into());
    assert_eq!(code, Some(128), "{stderr}");
    assert!(stderr.contains("cannot be written to standard output"), "{stderr}");
    // Closed from the start.
    let mut shell = lab.command("sh");
    shell.current_dir(&repo.path).env("AIT_AGENT_PID", session.pid().to_string());
    shell.args(["-c", "git-aitask-lock claim 43 --porcelain >&- 2>&- <&-"]);
    Output::of(shell).no_panic();
    assert_eq!(repo.lock_files(), ["t42_lock.yaml", "t43_lock.yaml"]);
    let leftovers = repo.git(&["status", "--porcelain"]);
    assert_eq!(leftovers, "");
}
