//! Which address decides who holds a lock: exactly one, or a refusal that names them.

use crate::support::answers::all_answer;
use crate::support::{BRANCH, Lab, Session};

#[test]
fn two_places_that_could_decide_are_refused_by_name() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    lab.bare("other.git", &[]);
    let other = lab.path("other.git");
    let other = other.to_str().unwrap();
    let settings: [&[&str]; 3] = [
        &["remote.origin.pushurl", other],
        &["--add", "remote.origin.url", other],
        &["url.file:///elsewhere/.pushInsteadOf", "file:///"],
    ];
    for setting in &settings {
        repo.git(&[&["config"], *setting].concat());
        all_answer(&repo, "LOCK_ERROR:ambiguous_remote|split_remote", 2, |run| run);
        // The setting settles it.
        let session = Session::start();
        let run = repo.lock(&["claim", "42", "--remote", lab.path("server.git").to_str().unwrap()]);
        let word = run.session(&session).go();
        assert_eq!(word.code(), 0, "{word}");
        let run = repo.lock(&["release", "42", "--remote", lab.path("server.git").to_str().unwrap()]);
        run.session(&session).go().expect("RELEASED", 0);
        let key = setting.iter().find(|word| word.contains('.') && !word.starts_with('/')).unwrap();
        if *key == "remote.origin.url" {
            repo.git(&["config", "--unset", key, "other.git"]);
        } else {
            repo.git(&["config", "--unset", key]);
        }
    }
    repo.lock(&["list"]).go().expect_all(&[], 0);
    assert_eq!(lab.at("other.git").tip(BRANCH), None);
}

#[test]
fn a_mirror_is_pushed_to_like_any_other() {
    let lab = Lab::new();
    let repo = lab.clone("a");
    repo.git(&["config", "remote.origin.mirror", "true"]);
    repo.git(&["branch", "private"]);
    let session = Session::start();
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    repo.lock(&["release", "42"]).session(&session).go().expect("RELEASED", 0);
    assert_eq!(lab.server().tip("refs/heads/private"), None, "only the lock branch was pushed");
    assert!(lab.server().tip("refs/heads/main").is_some());
}

#[test]
fn several_remotes_need_a_word() {
    let lab = Lab::new();
    let session = Session::start();
    // The only remote decides, whatever it is called.
    let repo = lab.clone_with("a", &["-o", "gitlab"]);
    repo.lock(&["claim", "42"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_files(), ["t42_lock.yaml"]);
    lab.bare("upstream.git", &[]);
    repo.git(&["remote", "add", "upstream", lab.path("upstream.git").to_str().unwrap()]);
    repo.git(&["config", "remote.pushDefault", "upstream"]);
    all_answer(&repo, "LOCK_ERROR:ambiguous_remote|several_remotes", 2, |run| run.session(&session));
    let named = repo.lock(&["check", "42", "--remote", "gitlab"]).session(&session).go();
    named.expect("LOCKED", 0);
    repo.git(&["config", "aitask-lock.remote", "upstream"]);
    repo.lock(&["claim", "43"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(lab.at("upstream.git").lock_files(), ["t43_lock.yaml"]);
    repo.git(&["config", "aitask-lock.remote", "nowhere"]);
    all_answer(&repo, "LOCK_ERROR:ambiguous_remote|no_such_remote", 2, |run| run.session(&session));
    // `.` means this repository.
    repo.git(&["config", "aitask-lock.remote", "."]);
    repo.lock(&["claim", "44"]).session(&session).go().expect("CLAIMED", 0);
    assert_eq!(repo.lock_files(), ["t44_lock.yaml"]);
}

#[test]
fn locks_of_the_time_before_the_remote_are_published() {
    let lab = Lab::new();
    let repo = lab.alone("a");
    let (first, second) = (Session::start(), Session::start());
    repo.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
    let local = repo.tip(BRANCH);
    repo.git(&["remote", "add", "origin", lab.path("server.git").to_str().unwrap()]);
    repo.lock(&["claim", "42"]).session(&second).go().expect("LOCK_LIVE_HOLDER", 13);
    assert_eq!(lab.server().tip(BRANCH), None, "a refusal publishes nothing");
    repo.lock(&["claim", "43"]).session(&second).go().expect("CLAIMED", 0);
    assert_eq!(lab.server().lock_files(), ["t42_lock.yaml", "t43_lock.yaml"]);
    assert_eq!(lab.server().git(&["rev-parse", &format!("{BRANCH}^")]), local.unwrap());
    repo.lock(&["release", "42"]).session(&first).go().expect("RELEASED", 0);
    assert_eq!(lab.server().lock_files(), ["t43_lock.yaml"]);
}
