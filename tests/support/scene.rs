//! Two places to work in, on a remote and without one.

use super::fingerprint::Fingerprint;
use super::{BRANCH, Lab, Output, Repo, Run};

/// Where the lock branch lives.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// On a server; the two repositories are clones of it.
    Remote,
    /// In the repository; the second one is a linked worktree.
    Local,
}

/// Two places to work in, and the repository that decides.
pub struct Scene<'lab> {
    pub a: Repo<'lab>,
    pub b: Repo<'lab>,
    pub arbiter: Repo<'lab>,
}

pub fn scene(lab: &Lab, place: Place) -> Scene<'_> {
    let scene = match place {
        Place::Remote => Scene { a: lab.clone("a"), b: lab.clone("b"), arbiter: lab.server() },
        Place::Local => {
            let a = lab.alone("a");
            Scene { b: a.worktree("b"), arbiter: a.clone(), a }
        }
    };
    // Something staged, something changed, something new, something ignored: all of it stays.
    std::fs::write(scene.b.path.join("staged"), "staged\n").unwrap();
    scene.b.git(&["add", "staged"]);
    std::fs::write(scene.b.path.join("file"), "changed\n").unwrap();
    std::fs::write(scene.b.path.join(".gitignore"), "ignored\n").unwrap();
    std::fs::write(scene.b.path.join("ignored"), "ignored\n").unwrap();
    scene
}

/// Runs a test in both places.
pub fn everywhere(test: impl Fn(&Scene<'_>)) {
    for place in [Place::Remote, Place::Local] {
        let lab = Lab::new();
        println!("{place:?}");
        test(&scene(&lab, place));
    }
}

impl Scene<'_> {
    /// Runs a command in `b` that has to be refused, and to change nothing.
    #[track_caller]
    pub fn refused(&self, run: Run, words: &[&str], code: i32) -> Output {
        let before = (Fingerprint::of(&self.b), Fingerprint::of(&self.arbiter));
        let output = run.go().expect_all(words, code);
        Fingerprint::of(&self.b).assert_same(&before.0, "a refusal in the clone");
        Fingerprint::of(&self.arbiter).assert_same(&before.1, "a refusal on the lock branch");
        output
    }

    pub fn tip(&self) -> String {
        self.arbiter.tip(BRANCH).unwrap()
    }
}
