//! Before a merge, a session learns that it was displaced.

use crate::support::{Lab, Session};

#[test]
fn a_displaced_session_learns_it_before_a_merge() {
    let lab = Lab::empty();
    let repo = lab.alone("a");
    let (first, second) = (Session::start(), Session::start());
    repo.lock(&["claim", "42"]).session(&first).go().expect("CLAIMED", 0);
    let claim = ["merge", "claim", "42", "--wait", "0"];
    let told = |session: &Session| {
        let said = repo.lock(&claim).session(session).go();
        let told = said.stderr.contains("task 42 is locked by alice@example.com");
        repo.lock(&["merge", "release", "42"]).session(session).go().expect("RELEASED", 0);
        told
    };
    assert!(!told(&first), "it is its own");
    repo.lock(&["claim", "42", "--force"]).session(&second).go().expect("FORCE_UNLOCKED", 0);
    assert!(told(&first), "it was displaced");
    assert!(!told(&second), "it is its own now");
}
