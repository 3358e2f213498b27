//! The TAB key, in real shells, with the scripts that the program prints. A shell that is not
//! installed is skipped, and that is printed.

use std::path::Path;

use crate::support::{Lab, Output, Repo, Session};

/// A clone that has seen the locks of tasks 42, 43 and `7_1`, with a remote that is gone since.
fn clone_of_three<'lab>(lab: &'lab Lab, session: &Session) -> Repo<'lab> {
    let clone = lab.clone("clone");
    clone.lock(&["claim", "42", "43", "7_1"]).session(session).go().expect_all(&["CLAIMED"; 3], 0);
    clone.git(&["branch", "topic"]);
    clone.git(&["branch", "$(touch${IFS}pwned)"]);
    clone.git(&["config", "remote.$(touch pwned).url", "/nowhere"]);
    // TAB needs no connection: whatever is shown is what this clone knows.
    std::fs::rename(lab.path("server.git"), lab.path("gone.git")).unwrap();
    clone
}

fn installed(lab: &Lab, shell: &str) -> bool {
    let mut command = lab.command("sh");
    command.args(["-c", &format!("command -v {shell}")]);
    let found = Output::of(command).status.success();
    if !found {
        println!("skipped: {shell} is not installed");
    }
    found
}

/// Runs a script in a shell, in the clone.
fn run(clone: &Repo<'_>, shell: &[&str], script: &str) -> String {
    let mut command = clone.lab.command(shell[0]);
    command.current_dir(&clone.path).args(&shell[1..]).arg(script).env("TERM", "xterm");
    let output = Output::of(command);
    assert!(output.status.success(), "{output}");
    output.stdout
}

#[test]
fn candidates_come_from_the_last_known_state() {
    let (lab, session) = (Lab::new(), Session::start());
    let clone = clone_of_three(&lab, &session);
    let ask = |words: &[&str]| {
        let answer = clone.human(&[&["__complete", "--"], words].concat()).go();
        answer.success("__complete")
    };
    assert_eq!(ask(&["release", ""]), "7_1\n42\n43");
    assert_eq!(ask(&["release", "4"]), "42\n43");
    assert_eq!(ask(&["release", "42", ""]), "7_1\n43", "what is named already is not offered again");
    assert_eq!(ask(&["check", "43"]), "43");
    assert_eq!(ask(&["claim", ""]), "");
    assert_eq!(ask(&["--remote", ""]), "origin");
    assert_eq!(ask(&["list", "--remote=o"]), "--remote=origin");
    let lock_id = ask(&["release", "42", "--expect", ""]);
    assert_eq!(lock_id.split('\t').nth(1), Some("task 42"));
    assert_eq!(ask(&["-C", "/nowhere", "release", ""]), "", "no repository, nothing to offer");
}

#[test]
fn a_branch_without_a_remote_is_read_as_well() {
    let (lab, session) = (Lab::empty(), Session::start());
    for (name, options) in [("files", &[][..]), ("reftable", &["--ref-format=reftable"][..])] {
        let mut probe = lab.command("git");
        probe.args(["init", "-q"]).args(options).arg(lab.path("probe"));
        if !Output::of(probe).status.success() {
            println!("skipped: this git knows no {name}");
            continue;
        }
        let alone = lab.alone_with(name, options);
        alone.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
        let answer = alone.human(&["__complete", "--", "release", ""]).go();
        assert_eq!(answer.success("__complete"), "42", "{name}");
    }
}

const BASH: &str = r#"
complete_line () {
    local line="$1"
    COMP_LINE="$line" COMP_POINT=${#line}
    eval "COMP_WORDS=($line)"
    case "$line" in *' ') COMP_WORDS+=('') ;; esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    "$2"
    printf '[%s]' "${COMPREPLY[@]}"
    printf '\n'
}
"#;

#[test]
fn bash_completes() {
    let (lab, session) = (Lab::new(), Session::start());
    if !installed(&lab, "bash") {
        return;
    }
    let clone = clone_of_three(&lab, &session);
    let own = format!(
        "{BASH} source <(git aitask-lock completions bash)
         complete_line 'git-aitask-lock release 4' __git_aitask_lock_main
         complete_line 'git-aitask-lock rel' __git_aitask_lock_main
         complete_line 'git-aitask-lock release ' __git_aitask_lock_main"
    );
    let said = run(&clone, &["bash", "--norc", "--noprofile", "-c"], &own);
    assert_eq!(said, "[42 ][43 ]\n[release ]\n[7_1 ][42 ][43 ]\n");
    let places = ["/usr/share/bash-completion/completions/git", "/etc/bash_completion.d/git"];
    let Some(gits) = places.into_iter().find(|place| Path::new(place).exists()) else {
        println!("skipped: git's own completion for bash is not installed");
        return;
    };
    let through_git = format!(
        "{BASH} source {gits}; source <(git aitask-lock completions bash)
         complete_line 'git aitask-lock release 4' __git_wrap__git_main
         complete_line 'git -C . aitask-lock check 43' __git_wrap__git_main
         complete_line 'git aitask-lock release 42 --fo' __git_wrap__git_main"
    );
    let said = run(&clone, &["bash", "--norc", "--noprofile", "-c"], &through_git);
    assert_eq!(said, "[42 ][43 ]\n[43 ]\n[--force ]\n");
    assert!(!clone.path.join("pwned").exists(), "a branch's name is never run");
}

#[test]
fn fish_completes() {
    let (lab, session) = (Lab::new(), Session::start());
    if !installed(&lab, "fish") {
        return;
    }
    let clone = clone_of_three(&lab, &session);
    let script = "git aitask-lock completions fish | source
                  complete -C 'git aitask-lock release 4'
                  complete -C 'git -C . aitask-lock check 7'
                  complete -C 'git-aitask-lock release 42 4'
                  complete -C 'git-aitask-lock rel'";
    let said = run(&clone, &["fish", "--no-config", "-c"], script);
    assert_eq!(said, "42\n43\n7_1\n43\nrelease\tGive tasks back\n");
}

#[test]
fn zsh_completes() {
    let (lab, session) = (Lab::new(), Session::start());
    if !installed(&lab, "zsh") {
        return;
    }
    let clone = clone_of_three(&lab, &session);
    // A shell in a terminal of its own, which writes down what TAB made of its line.
    let script = r#"
        zmodload zsh/zpty
        zpty shell zsh -f -i
        until_there () {
            local -i left=300
            until [[ -s $1 ]] || (( left-- == 0 )); do
                zpty -r -t shell ignored
                sleep 0.1
            done
        }
        # Keys count from the moment when the line is being edited: before, the terminal would eat some.
        press () {
            zpty -w shell "file=$1"
            until_there $1.ready
            zpty -w -n shell $2
            until_there $1
            cat $1
        }
        zpty -w shell 'PS1=; autoload -U compinit; compinit -u -D; source <(git aitask-lock completions zsh)'
        zpty -w shell 'note () { print -r -- "$BUFFER" > $file }; zle -N note; bindkey "^X^R" note'
        zpty -w shell 'zle-line-init () { [[ -n $file ]] && print ready > $file.ready }; zle -N zle-line-init'
        press first $'git aitask-lock release 7\t\x18\x12\x15'
        press second $'git-aitask-lock check 43 --mi\t\x18\x12\x15'
        zpty -d shell
    "#;
    let said = run(&clone, &["timeout", "100", "zsh", "-f", "-c"], script);
    assert_eq!(said, "git aitask-lock release 7_1 \ngit-aitask-lock check 43 --mine \n");
}
