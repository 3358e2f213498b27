use super::*;
use crate::domain::merge::residue::Operation;

fn task() -> TaskId {
    TaskId::parse("42").unwrap()
}

fn asked(name: &str, there: bool) -> Asked {
    Asked { name: full_name(name), tip: there.then(|| "1".repeat(40)), leads_elsewhere: false }
}

fn facts() -> Facts {
    Facts {
        residue: Residue::default(),
        head: Some("refs/heads/main".to_owned()),
        output: Some(asked("main", true)),
        task_branch: None,
        branches: ["main", "t42", "t43", "aitask-locks"].map(full_name).to_vec(),
        lock_branch: "aitask-locks".to_owned(),
        elsewhere: vec![(full_name("t42"), "/w/t42".to_owned(), true)],
    }
}

fn plan(output: &str, task_branch: &str, checkout: bool) -> Plan {
    Plan {
        output: full_name(output),
        task_branch: full_name(task_branch),
        checkout,
        past_stale_entries: false,
    }
}

#[track_caller]
fn assert_refused(change: impl FnOnce(&mut Facts), refused: &Refused) {
    let mut facts = facts();
    change(&mut facts);
    assert_eq!(decide(&task(), &facts).as_ref(), Err(refused));
}

#[test]
fn a_clean_root_merges() {
    assert_eq!(decide(&task(), &facts()), Ok(plan("main", "t42", false)));
    // Another branch, or none, is checked out.
    for head in [Some(full_name("other")), None] {
        assert_eq!(decide(&task(), &Facts { head, ..facts() }), Ok(plan("main", "t42", true)));
    }
    let named = Facts { task_branch: Some(asked("t43", true)), ..facts() };
    assert_eq!(decide(&task(), &named), Ok(plan("main", "t43", false)));
}

#[test]
fn what_stands_in_the_root_is_refused_first() {
    for residue in [
        Residue { merge_head: Some("1".repeat(40)), ..Residue::default() },
        Residue { operations: vec![Operation::Rebase], ..Residue::default() },
        Residue { operations: vec![Operation::Bisect], ..Residue::default() },
        Residue { unmerged: vec!["a".to_owned()], ..Residue::default() },
        Residue { index_locked: true, ..Residue::default() },
        Residue { merge_head: Some("1".repeat(40)), dirty: vec!["a".to_owned()], ..Residue::default() },
    ] {
        assert_refused(
            |facts| {
                facts.residue = residue;
                facts.output = None;
            },
            &Refused::Residue,
        );
    }
    let dirty = Residue { dirty: vec!["a".to_owned()], ..Residue::default() };
    assert_refused(|facts| facts.residue = dirty, &Refused::Dirty);
}

#[test]
fn unsafe_output_branches() {
    let refused = |branch: &str, why| Refused::Unsafe { branch: branch.to_owned(), why };
    assert_refused(|facts| facts.output = None, &refused("HEAD", Unsafe::Detached));
    assert_refused(
        |facts| facts.output = Some(asked("aitask-locks", true)),
        &refused("aitask-locks", Unsafe::LockBranch),
    );
    assert_refused(|facts| facts.output = Some(asked("t42", true)), &Refused::WhichTaskBranch(Vec::new()));
    assert_refused(
        |facts| {
            facts.output = Some(asked("t42", true));
            facts.task_branch = Some(asked("t42", true));
        },
        &refused("t42", Unsafe::TaskBranch),
    );
    assert_refused(
        |facts| facts.output = Some(Asked { leads_elsewhere: true, ..asked("v1", false) }),
        &refused("v1", Unsafe::NoBranch),
    );
    assert_refused(
        |facts| facts.output = Some(asked("refs/remotes/origin/main", true)),
        &refused("refs/remotes/origin/main", Unsafe::NoBranch),
    );
}

#[test]
fn missing_branches() {
    assert_refused(
        |facts| facts.output = Some(asked("gone", false)),
        &Refused::NoOutputBranch("gone".to_owned()),
    );
    assert_refused(
        |facts| facts.task_branch = Some(asked("gone", false)),
        &Refused::NoTaskBranch("gone".to_owned()),
    );
    assert_refused(
        |facts| facts.task_branch = Some(asked("aitask-locks", true)),
        &Refused::NoTaskBranch("aitask-locks".to_owned()),
    );
    assert_refused(|facts| facts.branches.clear(), &Refused::WhichTaskBranch(Vec::new()));
    assert_refused(
        |facts| facts.branches.push(full_name("task/42")),
        &Refused::WhichTaskBranch(vec!["t42".to_owned(), "task/42".to_owned()]),
    );
}

#[test]
fn a_worktree_that_is_there_keeps_its_branch() {
    let main = full_name("main");
    let foreign = Refused::Foreign { branch: "main".to_owned(), folder: "/w/a".to_owned() };
    assert_refused(|facts| facts.elsewhere.push((main.clone(), "/w/a".to_owned(), true)), &foreign);
    let mut stale = facts();
    stale.elsewhere.push((main, "/w/a".to_owned(), false));
    let expected = Plan { past_stale_entries: true, ..plan("main", "t42", false) };
    assert_eq!(decide(&task(), &stale), Ok(expected));
}
