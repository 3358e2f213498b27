//! Questions to a person at a real terminal: what is shown before, what each answer does, and that nothing
//! is changed by declining, or by leaving.

use crate::support::actors::wait_until;
use crate::support::planting::{plant_file, record};
use crate::support::terminal::Tmux;
use crate::support::{BRANCH, Lab, Repo, Session};

/// A person at a terminal in front of a lock of task 42.
struct Person<'lab> {
    tmux: Tmux<'lab>,
    repo: Repo<'lab>,
}

impl<'lab> Person<'lab> {
    /// None without tmux.
    fn sit_down(lab: &'lab Lab) -> Option<Self> {
        let repo = lab.alone("a");
        let tmux = Tmux::start(lab, &repo, 24)?;
        Some(Self { tmux, repo })
    }

    fn plant(&self, session: &Session, changes: &[(&str, &str)]) {
        plant_file(&self.repo, "t42_lock.yaml", &record("42", session, changes));
    }

    /// Types a command on an empty screen, so that nothing of an earlier one is taken for its answer.
    fn types(&self, command: &str) {
        self.tmux.keys(&["clear", "Enter"]);
        wait_until("the screen is empty", || self.tmux.screen().trim() == "ready:");
        self.tmux.keys(&[&format!("{command}; echo \"code:$?\""), "Enter"]);
    }

    /// Types `claim 42`, waits for the question, and answers it with a key that declines; nothing is changed.
    #[track_caller]
    fn declines(&self, question: &str, key: &str) -> String {
        let tip = self.repo.tip(BRANCH);
        self.types("git aitask-lock claim 42");
        self.tmux.shows(question);
        self.tmux.keys(&[key]);
        self.tmux.shows("\ncode:1\n");
        assert_eq!(self.repo.tip(BRANCH), tip, "{}", self.tmux.screen());
        self.tmux.screen()
    }

    /// Ctrl-C is no answer, and changes nothing. A key that comes before the program reads keys ends the
    /// shell's whole line.
    #[track_caller]
    fn leaves(&self, question: &str) {
        let tip = self.repo.tip(BRANCH);
        self.types("git aitask-lock claim 42");
        self.tmux.shows(question);
        self.tmux.keys(&["C-c"]);
        wait_until("the shell is back", || self.tmux.screen().trim_end().ends_with("\nready:"));
        let screen = self.tmux.screen();
        assert!(screen.contains("\ncode:130") || !screen.contains("\ncode:"), "{screen}");
        assert!(!screen.contains("yours now") && !screen.contains("was left"), "{screen}");
        assert_eq!(self.repo.tip(BRANCH), tip, "{screen}");
    }

    #[track_caller]
    fn agrees(&self, question: &str, says: &str) {
        let tip = self.repo.tip(BRANCH);
        self.types("git aitask-lock claim 42");
        self.tmux.shows(question);
        assert_eq!(self.repo.tip(BRANCH), tip, "it asks first");
        self.tmux.keys(&["y"]);
        self.tmux.shows("code:0");
        let screen = self.tmux.screen();
        assert!(screen.contains(says), "{screen}");
        assert_ne!(self.repo.tip(BRANCH), tip);
    }
}

#[test]
fn a_lost_session_is_shown_with_what_it_left() {
    let lab = Lab::empty();
    let Some(person) = Person::sit_down(&lab) else { return };
    person.repo.git(&["worktree", "add", "-q", "-b", "t42", "../t42"]);
    lab.at("t42").commit("parser", "half of it\n");
    std::fs::write(lab.path("t42/file"), "not committed\n").unwrap();
    let mut lost = Session::start();
    person.plant(&lost, &[]);
    lost.end();
    let question = "Take the task over?";
    let screen = person.declines(question, "n");
    for told in ["left behind: branch t42", "1 file uncommitted", "task 42 was left as it was"] {
        assert!(screen.replace('\n', "").contains(told), "{told}\n{screen}");
    }
    person.leaves(question);
    person.agrees(question, "Reclaimed. Task 42 is yours now");
}

#[test]
fn a_lock_from_another_host_and_one_without_a_process() {
    let other_host =
        [("hostname", "elsewhere"), ("boot_id", ""), ("pid_namespace", ""), ("time_namespace", "")];
    let no_process = [("pid", ""), ("pid_starttime", ""), ("pid_starttime_kind", "")];
    for (changes, question) in [(&other_host[..], "Take it over here?"), (&no_process, "Take it over?")] {
        let lab = Lab::empty();
        let Some(person) = Person::sit_down(&lab) else { return };
        person.plant(&Session::start(), changes);
        person.declines(question, "n");
        person.leaves(question);
        person.agrees(question, "Reclaimed.");
    }
}

#[test]
fn a_refusal_asks_whether_to_leave_it_alone() {
    let lab = Lab::empty();
    let Some(person) = Person::sit_down(&lab) else { return };
    let session = Session::start();
    let question = "Take it all the same?";
    for changes in [&[("locked_by", "bob@example.com")][..], &[]] {
        person.plant(&session, changes);
        // To leave it alone is what Enter means.
        let screen = person.declines(question, "Enter");
        assert_eq!(screen.matches("refused: task 42 is locked by").count(), 1, "{screen}");
        person.leaves(question);
    }
    person.agrees(question, "yours now");
}

/// What is agreed to is the lock that was shown.
#[test]
fn a_lock_that_changes_meanwhile_is_not_the_one_that_was_agreed_to() {
    let lab = Lab::empty();
    let Some(person) = Person::sit_down(&lab) else { return };
    let (first, second) = (Session::start(), Session::start());
    person.plant(&first, &[("locked_by", "bob@example.com")]);
    person.types("git aitask-lock claim 42");
    person.tmux.shows("locked by bob@example.com");
    person.plant(&second, &[("locked_by", "carol@example.com"), ("lock_id", &"f".repeat(32))]);
    let tip = person.repo.tip(BRANCH);
    person.tmux.keys(&["y"]);
    person.tmux.shows("code:27");
    let screen = person.tmux.screen();
    assert!(screen.replace('\n', "").contains("it is carol@example.com's"), "{screen}");
    assert_eq!(person.repo.tip(BRANCH), tip, "{screen}");
}

/// A program at the other end is not asked, even where its terminal is one.
#[test]
fn nobody_is_asked_for_machine_lines() {
    let lab = Lab::empty();
    let Some(person) = Person::sit_down(&lab) else { return };
    person.plant(&Session::start(), &[("locked_by", "bob@example.com")]);
    let tip = person.repo.tip(BRANCH);
    for options in ["42 --porcelain", "42 --json", "--first 42", "42 43"] {
        person.types(&format!("git aitask-lock claim {options}"));
        person.tmux.shows("code:1");
        let screen = person.tmux.screen();
        assert!(!screen.contains("Take it"), "{screen}");
    }
    person.types("git aitask-lock claim 42 </dev/null");
    person.tmux.shows("code:1");
    assert_eq!(person.repo.tip(BRANCH), tip);
}
