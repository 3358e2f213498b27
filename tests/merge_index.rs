//! Another git command at the index for a moment, and a lock file that stays.

use std::time::Duration;

use crate::support::Lab;
use crate::support::merging::{Scene, run_printed};

/// Holds the index's lock for a moment while `run` works; it is there when `run` begins.
fn flickering<T>(scene: &Scene<'_>, run: impl FnOnce() -> T) -> T {
    let lock = scene.root.git_dir().join("index.lock");
    std::fs::write(&lock, "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            std::fs::remove_file(&lock).unwrap();
        });
        run()
    })
}

#[test]
fn a_moment_of_another_git_is_waited_for() {
    for round in 0..2 {
        let lab = Lab::empty();
        let scene = Scene::apart(&lab);
        scene.root.git(&["config", "aitask-lock.indexWait", "60s"]);
        if round % 2 == 1 {
            scene.root.git(&["branch", "away"]);
            scene.root.git(&["switch", "-q", "away"]);
        }
        let merged =
            flickering(&scene, || scene.merge(&["begin", "42", "--into", "main", "--timeout", "5m"]));
        merged.expect("MERGE_OK", 0);
        assert_eq!(scene.changes(), "");
        flickering(&scene, || scene.merge(&["cleanup", "42", "--task-complete"])).expect("CLEANED", 0);
        flickering(&scene, || scene.merge(&["release", "42"])).expect("RELEASED", 0);
    }
}

#[test]
fn a_merge_is_undone_past_another_git() {
    for _ in 0..2 {
        let lab = Lab::empty();
        let scene = Scene::conflicting(&lab);
        scene.root.git(&["config", "aitask-lock.indexWait", "60s"]);
        scene.merge(&["begin", "42"]).expect("MERGE_CONFLICT", 23);
        flickering(&scene, || scene.merge(&["abort", "42", "--timeout", "5m"])).expect("ABORTED", 0);
        assert_eq!((scene.changes().as_str(), scene.status().as_str()), ("", "FREE"));
    }
}

#[test]
fn a_lock_that_stays_is_named_with_its_age_and_its_holder() {
    let lab = Lab::empty();
    let scene = Scene::apart(&lab);
    scene.root.git(&["config", "aitask-lock.indexWait", "100ms"]);
    let path = scene.root.git_dir().join("index.lock");
    let mut sleeper = lab.command("sleep");
    sleeper.arg("60").stdout(std::fs::File::create(&path).unwrap()).stderr(std::process::Stdio::null());
    let mut child = sleeper.spawn().unwrap();
    // It has the file open as well.
    drop(sleeper);
    let begin = || scene.root.human(&["merge", "begin", "42"]).session(&scene.session).go();
    let held = begin();
    let pid = child.id();
    let named = format!(
        " s old, and process {pid} (sleep) has it open; wait for its end, or see what it does: ps -fp {pid}"
    );
    assert!(
        held.code() == 22 && held.stderr.contains("index.lock is ") && held.stderr.contains(&named),
        "{held}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let left = begin();
    let remove = left.stderr.lines().find_map(|line| line.split_once("running there: ")).unwrap().1;
    assert!(left.stderr.contains("no process is seen that has it open"), "{left}");
    run_printed(&lab, remove);
    scene.merge(&["begin", "42"]).expect("MERGE_OK", 0);
    // What makes no sense is refused.
    scene.root.git(&["config", "aitask-lock.indexWait", "soon"]);
    scene.merge(&["release", "42"]).expect("LOCK_ERROR", 2);
}
