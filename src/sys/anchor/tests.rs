use std::process::{Child, Command, Stdio};

use super::*;
use crate::sys::host;

fn env(agent_pid: &str) -> AnchorEnv {
    AnchorEnv { agent_pid: Some(agent_pid.into()), ..AnchorEnv::default() }
}

fn resolved(env: &AnchorEnv) -> Resolution {
    resolve(host::here(None), env)
}

fn sleeping() -> Child {
    Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap()
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_agent_pid_is_plain_digits_above_one() {
    assert_eq!(parse_agent_pid(OsStr::new("2")), Some(2));
    assert_eq!(parse_agent_pid(OsStr::new("2147483647")), Some(2_147_483_647));
    for bad in
        ["", "0", "1", "-2", "+2", " 2", "2 ", "2\n", "0x2", "2.0", "2147483648", "99999999999", "٢", "$$"]
    {
        assert_eq!(parse_agent_pid(OsStr::new(bad)), None, "{bad:?}");
    }
}

#[test]
fn without_variables_there_is_no_anchor() {
    let found = resolved(&AnchorEnv::default());
    assert_eq!(found.session.process, None);
    assert!(found.warnings.is_empty() && found.notes.is_empty());
    let said: Vec<String> = found.candidates.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["AIT_AGENT_PID: not set", "tmux pane: not set"]);
}

#[test]
fn what_names_no_living_process_is_ignored_with_a_warning() {
    let child = sleeping();
    let gone = child.id().to_string();
    end(child);
    for (value, expected) in [
        ("none", "`none` is no process id"),
        ("1", "`1` is no process id"),
        ("\u{1b}[31m", "`\\u{1b}[31m` is no process id"),
        (gone.as_str(), "any more"),
        ("2147483647", "any more"),
    ] {
        let found = resolved(&env(value));
        assert_eq!(found.session.process, None, "{value:?}");
        let [warning] = &found.warnings[..] else { panic!("{value:?}: {:?}", found.warnings) };
        assert!(warning.to_string().contains(expected), "{value:?}: {warning}");
        assert_eq!(warning.source(), Some(AnchorSource::AgentPid));
        assert!(matches!(found.candidates[0].outcome, Outcome::Refused { .. }));
    }
}

#[test]
fn a_zombie_is_ignored() {
    if process::end_watch(std::process::id()).is_none() {
        println!("skipped: this kernel cannot tell a zombie from a process");
        return;
    }
    let mut child = sleeping();
    child.kill().unwrap();
    while process::observe(child.id()) != Observed::Ended {
        std::thread::yield_now();
    }
    let found = resolved(&env(&child.id().to_string()));
    assert!(matches!(found.warnings[..], [AnchorWarning::AgentPidGone { .. }]), "{:?}", found.warnings);
    child.wait().unwrap();
}

#[test]
fn a_stranger_is_used_with_a_warning() {
    let child = sleeping();
    let found = resolved(&env(&child.id().to_string()));
    let process = found.session.process.clone().unwrap();
    assert_eq!((process.pid, process.source), (child.id(), AnchorSource::AgentPid));
    assert_eq!(process.token, process::start_token(child.id()));
    if process::proc_is_ours() {
        assert!(process.token.is_some());
        assert!(
            matches!(found.warnings[..], [AnchorWarning::AgentPidNotAncestor { pid, .. }] if pid == child.id()),
            "{:?}",
            found.warnings
        );
    }
    assert_eq!(found.candidates[1].outcome, Outcome::NotNeeded);
    end(child);
}

#[test]
fn this_very_command_is_used_with_a_warning() {
    let me = std::process::id();
    let found = resolved(&env(&me.to_string()));
    assert_eq!(found.session.process.map(|process| process.pid), Some(me));
    assert!(
        matches!(found.warnings[..], [AnchorWarning::AgentPidIsThisCommand { pid }] if pid == me),
        "{:?}",
        found.warnings
    );
}

#[test]
fn an_ancestor_is_used_without_a_word_but_a_shell_is_noted() {
    let Some(&parent) = process::ancestors(std::process::id()).pids.first().filter(|&&pid| pid > 1) else {
        println!("skipped: no parent process is visible here");
        return;
    };
    let found = resolved(&env(&parent.to_string()));
    assert_eq!(found.session.process.map(|process| process.pid), Some(parent));
    // It may be somebody else's, where these tests were started as another user.
    let others = process::uid(parent) != Some(rustix::process::getuid().as_raw());
    assert_eq!(found.warnings.is_empty(), !others, "{:?}", found.warnings);
    let shell = process::comm(parent).is_some_and(|name| is_shell(&name));
    assert_eq!(found.notes.len(), usize::from(shell));
    assert!(is_shell("bash") && is_shell("-zsh") && !is_shell("claude") && !is_shell("bash2"));
}

#[test]
fn another_users_process_is_used_with_a_warning() {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::getuid().is_root() || !process::proc_is_ours() {
        println!("skipped: only root can start a process of another user");
        return;
    }
    let child = Command::new("sleep").arg("600").uid(65534).gid(65534).spawn().unwrap();
    let found = resolved(&env(&child.id().to_string()));
    assert_eq!(found.session.process.as_ref().map(|process| process.pid), Some(child.id()));
    assert!(
        found
            .warnings
            .iter()
            .any(|warning| matches!(warning, AnchorWarning::AgentPidOtherUser { uid: 65534, .. })),
        "{:?}",
        found.warnings
    );
    end(child);
}

#[test]
fn an_ignored_agent_pid_leaves_the_way_to_tmux_open() {
    let env = AnchorEnv { agent_pid: Some("x".into()), tmux: Some("nonsense".into()), tmux_pane: None };
    let found = resolved(&env);
    assert_eq!(found.session.process, None);
    assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
    assert_eq!(found.warnings[1].source(), Some(AnchorSource::Tmux));
}

#[test]
fn a_whole_sentence_says_what_to_do() {
    let warnings = [
        AnchorWarning::AgentPidMalformed { value: "x".to_owned() },
        AnchorWarning::AgentPidGone { pid: 2 },
        AnchorWarning::AgentPidNotSeen { pid: 2 },
        AnchorWarning::AgentPidIsThisCommand { pid: 2 },
        AnchorWarning::AgentPidNotAncestor { pid: 2, name: Some("x".to_owned()) },
        AnchorWarning::AgentPidAncestryUnknown { pid: 2 },
        AnchorWarning::AgentPidOtherUser { pid: 2, uid: 3 },
        AnchorWarning::AgentPidIsTmuxServer { pid: 2 },
        AnchorWarning::NotInspectable { pid: 2 },
        AnchorWarning::Tmux(TmuxError::Garbled),
        AnchorWarning::PaneNotAncestor { pane: "%1".to_owned(), pid: 2 },
        AnchorWarning::PaneAncestryUnknown { pane: "%1".to_owned(), pid: 2 },
    ];
    for warning in warnings {
        let text = warning.to_string();
        assert!(
            text.ends_with('.') && !text.contains("  ") && text.contains('`') | text.contains("nset "),
            "{text}"
        );
    }
}
