//! The printed way out of what a server, the connection to it, or the clone's own store can do.

use crate::remedies::{paste, printed};
use crate::remedies_here::resolves_everywhere;
use crate::support::net::{Daemon, answering};
use crate::support::printed::ran;
use crate::support::{BRANCH, Lab, Output, Repo, Session};
use crate::writes::KILL_THE_PUSH;

/// Runs a command that comes to `code`.
#[track_caller]
fn refused(repo: &Repo<'_>, session: &Session, args: &[&str], code: i32) -> Output {
    let output = repo.human(args).session(session).go().no_panic();
    assert_eq!(output.code(), code, "{args:?}\n{output}");
    output
}

/// The last printed command with the reader's own word in the place of its placeholder, run.
#[track_caller]
pub fn paste_filled(repo: &Repo<'_>, session: &Session, output: &Output, word: &str) -> Output {
    let command = printed(output).pop().unwrap();
    let (before, rest) = command.split_once("'<").unwrap_or_else(|| panic!("no placeholder: {command}"));
    let (_, after) = rest.split_once(">'").unwrap();
    ran(&*command);
    paste(repo, session, &format!("{before}{word}{after}"))
}

#[test]
pub fn of_a_server_that_refuses() {
    let session = Session::start();
    let claim = ["claim", "42"];
    // Its policy wants another committer.
    let lab = Lab::new();
    let repo = lab.clone("a b");
    let script = "while read -r _ new _; do case $(git log -1 --format=%ce $new) in \
                  bot@corp.example) ;; *) echo 'wrong author' >&2; exit 1;; esac; done";
    lab.script("server.git/hooks/pre-receive", script);
    let told = refused(&repo, &session, &claim, 15);
    let command = printed(&told).pop().unwrap();
    ran(&*command);
    let filled = command.replace("Name <email>", "Bot <bot@corp.example>");
    assert_eq!(paste(&repo, &session, &filled).code(), 0, "{filled}");
    refused(&repo, &session, &claim, 0);
    // A branch stands in the way: it is shown.
    let lab = Lab::new();
    let repo = lab.clone("a b");
    lab.server().git(&["update-ref", "refs/heads/aitask-locks/x", "refs/heads/main"]);
    let told = refused(&repo, &session, &claim, 15);
    let shown = paste(&repo, &session, &printed(&told).pop().unwrap());
    assert!(shown.stdout.contains("refs/heads/aitask-locks/x"), "{told}{shown}");
    lab.server().git(&["update-ref", "-d", "refs/heads/aitask-locks/x"]);
    refused(&repo, &session, &claim, 0);
    // It may be read and not be written: another remote takes its place.
    let lab = Lab::new();
    let repo = lab.clone("a b");
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    let url = repo.git(&["config", "remote.origin.url"]);
    repo.git(&["remote", "add", "mine", &url]);
    let daemon = Daemon::start(&lab, false);
    repo.git(&["config", "remote.origin.url", &format!("git://127.0.0.1:{}/server.git", daemon.port)]);
    let told = refused(&repo, &session, &claim, 15);
    assert_eq!(paste_filled(&repo, &session, &told, "mine").code(), 0);
    refused(&repo, &session, &claim, 0);
}

#[test]
pub fn of_credentials_that_are_missing() {
    let lab = Lab::new();
    let repo = lab.clone("a b");
    let url = repo.git(&["config", "remote.origin.url"]);
    let port = answering("401 Unauthorized");
    repo.git(&["config", "remote.origin.url", &format!("http://127.0.0.1:{port}/server.git")]);
    let session = Session::start();
    let told = refused(&repo, &session, &["check", "42"], 11);
    // Asks what a person has to be asked; here is nobody.
    let shown = paste(&repo, &session, &printed(&told).pop().unwrap());
    assert!(shown.stderr.contains("could not read Username"), "{told}{shown}");
    repo.git(&["config", "remote.origin.url", &url]);
    refused(&repo, &session, &["claim", "42"], 0);
}

#[test]
pub fn of_an_outcome_that_is_not_known() {
    let lab = Lab::new();
    let repo = lab.clone("a b");
    let session = Session::start();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    lab.script("server.git/hooks/pre-receive", &format!("{KILL_THE_PUSH}\nexit 1"));
    let told = refused(&repo, &session, &["claim", "42"], 16);
    let shown = paste(&repo, &session, &printed(&told).pop().unwrap());
    assert!(shown.code() == 0 && shown.stderr.contains("holds no locks"), "{shown}");
    std::fs::remove_file(lab.path("server.git/hooks/pre-receive")).unwrap();
    refused(&repo, &session, &["claim", "42"], 0);
}

#[test]
pub fn of_a_reference_that_stays_locked() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    repo.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    std::fs::write(repo.git_dir().join(format!("{BRANCH}.lock")), "").unwrap();
    let told = refused(&repo, &session, &["claim", "2", "--timeout", "1s"], 128);
    let found = paste(&repo, &session, &printed(&told).pop().unwrap());
    let remedy = found.stdout.lines().find_map(|line| line.split_once("→ rm ")).unwrap().1;
    assert_eq!(paste(&repo, &session, &format!("rm {remedy}")).code(), 0, "{found}");
    refused(&repo, &session, &["claim", "2"], 0);
}

#[test]
pub fn of_a_store_that_is_damaged() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    repo.lock(&["claim", "1"]).session(&session).go().expect("CLAIMED", 0);
    let tree = repo.git(&["rev-parse", &format!("{BRANCH}^{{tree}}")]);
    let object = repo.git_dir().join("objects").join(&tree[..2]).join(&tree[2..]);
    let content = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    let told = refused(&repo, &session, &["claim", "2"], 11);
    let shown = paste(&repo, &session, &printed(&told).pop().unwrap());
    assert!(shown.stdout.contains(&format!("missing tree {tree}")), "{told}{shown}");
    std::fs::write(&object, content).unwrap();
    refused(&repo, &session, &["claim", "2"], 0);
}

#[test]
pub fn of_a_folder_that_git_does_not_trust() {
    let lab = Lab::new();
    let repo = lab.clone("a b");
    let session = Session::start();
    let distrusted = |args: &[&str], from: &Repo<'_>| {
        from.human(args).session(&session).env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1").go()
    };
    let told = distrusted(&["anchor"], &repo);
    assert_eq!(told.code(), 0, "only the repository is not trusted\n{told}");
    // First the clone, then the server's folder: each is named.
    for code in [128, 11] {
        let told = distrusted(&["list"], &repo);
        assert_eq!(told.code(), code, "{told}");
        assert_eq!(paste(&repo, &session, &printed(&told).pop().unwrap()).code(), 0, "{told}");
    }
    // There is no branch yet.
    assert_eq!(distrusted(&["list"], &repo).code(), 10);
}

#[test]
pub fn of_what_doctor_finds_in_the_repository() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    let remedy = |check: &str| {
        let told = repo.human(&["doctor", "--json"]).session(&session).go().no_panic();
        crate::remedies_here::found(&told, check)
    };
    let resolves = |check: &str| {
        let command = remedy(check).unwrap_or_else(|| panic!("{check} is in order"));
        assert_eq!(paste(&repo, &session, &command).code(), 0, "{command}");
        assert_eq!(remedy(check), None, "{command}");
    };
    resolves("branch");
    // A worktree that was never on another branch, one that is gone, and the main one.
    repo.git(&["worktree", "add", "-q", "../its tree", "aitask-locks"]);
    resolves("worktree");
    repo.git(&["-C", "../its tree", "switch", "-q", "aitask-locks"]);
    std::fs::remove_dir_all(lab.path("its tree")).unwrap();
    resolves("worktree");
    repo.git(&["switch", "-q", "aitask-locks"]);
    resolves("worktree");
    // What stands in the place of ours.
    let folder = repo.git_dir().join("aitask-lock");
    _ = std::fs::remove_dir_all(&folder);
    std::fs::write(&folder, "").unwrap();
    resolves("leftovers");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("queue"), "").unwrap();
    resolves("leftovers");
    // A reservation that cannot be read: the printed dry run prints the command that removes it.
    std::fs::write(folder.join("merge.yaml"), "not yaml: [").unwrap();
    let shown = paste(&repo, &session, &remedy("leftovers").unwrap());
    let armed = crate::merge_ladder::commands(&shown).remove(0);
    assert_eq!(paste(&repo, &session, &armed).code(), 0, "{armed}");
    assert_eq!(remedy("leftovers"), None);
    // A branch whose name leaves no place for the lock branch.
    let fresh = lab.alone("fresh");
    fresh.git(&["branch", "aitask-locks/x"]);
    refused(&fresh, &session, &["claim", "1", "--timeout", "1s"], 128);
    let told = fresh.human(&["doctor", "--json"]).session(&session).go();
    let rename = crate::remedies_here::found(&told, "references").unwrap();
    assert_eq!(paste(&fresh, &session, &rename).code(), 0, "{rename}");
    refused(&fresh, &session, &["claim", "1"], 0);
}

#[test]
pub fn of_a_machine_without_a_name() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    let doctor = || {
        let mut command = lab.command("unshare");
        let script = "echo '(none)' > /proc/sys/kernel/hostname && git aitask-lock doctor --json";
        command.args(["-u", "sh", "-c", script]).current_dir(&repo.path);
        Output::of(command)
    };
    if doctor().stdout.is_empty() {
        println!("skipped: unshare -u is refused here");
        ran("git config --global aitask-lock.hostname '<name>'");
        return;
    }
    let remedy = crate::remedies_here::found(&doctor(), "host").unwrap();
    ran(&*remedy);
    let named = remedy.replace("'<name>'", "laptop");
    assert_eq!(paste(&repo, &session, &named).code(), 0, "{named}");
    assert_eq!(crate::remedies_here::found(&doctor(), "host"), None);
}

#[test]
pub fn of_a_repository_that_cannot_be_written() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let mut command = lab.command("unshare");
    let script = "mount --bind . . && mount -o remount,bind,ro . && cd . && git aitask-lock doctor --json";
    command.args(["-m", "sh", "-c", script]).current_dir(&repo.path);
    let told = Output::of(command);
    if told.stdout.is_empty() {
        println!("skipped: unshare -m is refused here");
        ran("ls -ld .git");
        return;
    }
    // Whose it is, is for people to settle.
    let shown = crate::remedies_here::found(&told, "writable").unwrap();
    let shown = paste(&repo, &Session::start(), &shown);
    assert!(shown.code() == 0 && shown.stdout.contains(".git"), "{told}{shown}");
}

#[test]
pub fn of_words_that_are_no_command() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    repo.lock(&["init"]).go().expect("INITIALIZED", 0);
    // What is printed is another command, that works.
    for args in [&["frobnicate"][..], &["list", "--watch"], &["merge", "run", "42", "--", "--abort"]] {
        let told = refused(&repo, &session, args, 2);
        let shown = paste(&repo, &session, &printed(&told).pop().unwrap());
        assert_eq!(shown.code(), 0, "{told}{shown}");
    }
}

#[test]
pub fn of_a_file_in_the_place_of_a_folder() {
    let lab = Lab::empty();
    let repo = lab.alone("a b");
    let session = Session::start();
    let ours = repo.git_dir().join("aitask-lock");
    resolves_everywhere(&repo, &session, &["merge", "claim", "42"], 11, || {
        _ = std::fs::remove_dir_all(&ours);
        std::fs::write(&ours, "").unwrap();
    });
}
