//! What cannot be looked at is not clean: nothing is given back on a look that was none.

use crate::merge_ladder::paste;
use crate::merge_mutex::{merge, reservation, root};
use crate::support::{Lab, Output, Session};

/// The first hint that has these words, as the command in it.
fn hint(output: &Output, words: &str) -> String {
    let line = output.stderr.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{output}"));
    line.rsplit_once(": ").unwrap().1.to_owned()
}

#[test]
fn a_damaged_index_keeps_the_reservation_until_it_is_mended() {
    for damage in [&b""[..], b"x", b"DIRC garbage"] {
        let lab = Lab::empty();
        let repo = root(&lab, "a b");
        let session = Session::start();
        merge(&repo, &["begin", "42", "t42"]).session(&session).go().expect("MERGE_CONFLICT", 23);
        let file = std::fs::read(repo.path.join("file")).unwrap();
        std::fs::write(repo.path.join(".git/index"), damage).unwrap();
        merge(&repo, &["release", "42"]).session(&session).go().expect_line("RETAINED:UNSEEN|42", 29);
        assert!(reservation(&repo).exists());
        let told = repo.human(&["merge", "release", "42"]).session(&session).go();
        paste(&repo, &hint(&told, "read-tree HEAD")).success("a new index");
        assert_eq!(std::fs::read(repo.path.join("file")).unwrap(), file);
        let line = "RETAINED:STALE_MERGE_RESIDUE|42";
        merge(&repo, &["release", "42"]).session(&session).go().expect_line(line, 29);
        merge(&repo, &["abort", "42"]).session(&session).go().expect("ABORTED", 0);
        assert_eq!(repo.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    }
}

#[test]
fn a_root_that_is_not_found_keeps_the_reservation() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    let session = Session::start();
    merge(&repo, &["begin", "42", "t42"]).session(&session).go().expect("MERGE_CONFLICT", 23);
    repo.git(&["config", "aitask-lock.mergeWorktree", "../nowhere"]);
    merge(&repo, &["release", "42"]).session(&session).go().expect_line("RETAINED:UNSEEN|42", 29);
    assert!(reservation(&repo).exists());
    repo.git(&["config", "--unset", "aitask-lock.mergeWorktree"]);
    merge(&repo, &["release", "42"]).session(&session).go().expect_line("RETAINED:MERGE_CONFLICT|42", 29);
}

#[test]
fn a_todo_list_that_cannot_be_read_is_the_mark_of_something() {
    let lab = Lab::empty();
    let repo = root(&lab, "a");
    std::fs::create_dir_all(repo.path.join(".git/sequencer/todo")).unwrap();
    let session = Session::start();
    merge(&repo, &["begin", "42", "t42"]).session(&session).go().expect("STALE_MERGE_RESIDUE", 22);
}
