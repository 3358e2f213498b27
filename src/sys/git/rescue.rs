//! Saves the tracked state of a worktree as a commit, a half-resolved conflict included, without
//! touching it: the index is worked on in a copy, and the files are only read.
//!
//! The commit's tree is what the files hold. Its parents are HEAD, `MERGE_HEAD` while there is one, and,
//! where something was staged that the files do not hold, a commit of what was staged.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{Answer, Cause, Git, GitFailure, Hooks};
use crate::domain::merge::verdict::Rescued;
use crate::domain::moment;
use crate::sys::{clock, random, shell};

/// Where rescued work is kept. Nothing removes it by itself.
pub const NAMESPACE: &str = "refs/aitask-lock/rescued/";

/// As many files are named in a printed command.
const LISTED: usize = 20;

impl Git {
    /// Saves the tracked state of this worktree under [`NAMESPACE`]; `label` is the task it belongs
    /// to, as far as that is known.
    ///
    /// # Errors
    /// It is not saved, or not all of it: nothing may be discarded then.
    pub fn rescue(&self, label: &str) -> Result<Rescued, GitFailure> {
        let folder = tempfile::Builder::new()
            .prefix("aitask-lock-rescue-")
            .tempdir_in(self.git_dir())
            .map_err(|error| not_saved(&format!("no file can be made in the git directory: {error}")))?;
        let head = self.oid("HEAD")?;
        // Garbage, or the name of an object that is not there, can be no parent.
        let named = self.pseudo_ref("MERGE_HEAD")?.filter(|oid| is_object_id(oid));
        let merge_head = named.map(|oid| self.oid(&oid)).transpose()?.flatten();

        let mut staged = Copy::of(self, folder.path().join("staged"))?;
        staged.drop_unmerged()?;
        let staged_tree = staged.tree()?;
        let mut files = Copy::of(self, folder.path().join("files"))?;
        files.take_files()?;
        let tree = files.tree()?;

        let mut parents: Vec<String> = head.iter().cloned().chain(merge_head).collect();
        let head_tree = match &head {
            Some(head) => self.rev(&format!("{head}^{{tree}}"))?,
            None => None,
        };
        if staged_tree != tree && Some(&staged_tree) != head_tree.as_ref() {
            let of: Vec<String> = head.clone().into_iter().collect();
            let subject = format!("What task {label} had staged");
            parents.push(self.commit_tree(&staged_tree, &of, &subject)?);
        }
        let commit = self.commit_tree(&tree, &parents, &format!("Rescued work of task {label}"))?;
        let reference = reference(label)?;
        self.swap_ref(&reference, None, &commit, "aitask-lock: rescue")?;
        let restore = self.restore_command(&commit, head.as_deref())?;
        Ok(Rescued { reference, commit, restore, kept: None })
    }

    /// Saves the commit of a detached HEAD under [`NAMESPACE`], where no reference has it: HEAD is about to
    /// leave it.
    ///
    /// # Errors
    /// It is not saved: HEAD may not leave it then.
    pub fn keep_head(&self, label: &str) -> Result<Option<Rescued>, GitFailure> {
        if self.head_branch()?.is_some() {
            return Ok(None);
        }
        let Some(commit) = self.oid("HEAD")? else { return Ok(None) };
        if self.is_kept(&commit, &["refs/heads", "refs/remotes", "refs/tags", NAMESPACE])? {
            return Ok(None);
        }
        let reference = reference(label)?;
        self.swap_ref(&reference, None, &commit, "aitask-lock: rescue")?;
        let name = commit.get(..12).unwrap_or(&commit);
        let restore = format!("git -C {} branch kept-{name} {commit}", shell::quote(self.work_dir()));
        Ok(Some(Rescued { reference, commit, restore, kept: None }))
    }

    /// The command that brings rescued files back. It deletes nothing, and it names the files, so that
    /// what was merged since stays as it is.
    fn restore_command(&self, commit: &str, head: Option<&str>) -> Result<String, GitFailure> {
        let paths = match head {
            Some(head) => {
                let args =
                    ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=d", head, commit];
                let changed = self.run(Hooks::Off, &args)?;
                records(&changed.stdout).map(<[u8]>::to_vec).collect()
            }
            None => Vec::new(),
        };
        let few = (1..=LISTED).contains(&paths.len());
        let mut what: Vec<String> =
            paths.iter().map(|path| shell::quote(Path::new(OsStr::from_bytes(path)))).collect();
        if !few {
            what = vec![".".to_owned()];
        }
        let odd = few && paths.iter().flatten().any(|byte| b"*?[\\:".contains(byte));
        let literal = if odd { " --literal-pathspecs" } else { "" };
        Ok(format!(
            "git -C {}{literal} restore --source={commit} --overlay --worktree -- {}",
            shell::quote(self.work_dir()),
            what.join(" ")
        ))
    }

    /// Files that differ from what is staged although their index entries say not to look at them
    /// (`git update-index --assume-unchanged`): a reset writes over them. Those that a sparse tree
    /// leaves out are none of them.
    pub(super) fn assumed_changes(&self) -> Result<Vec<Vec<u8>>, GitFailure> {
        let assumed = assumed(&self.run(Hooks::Off, &["ls-files", "-v", "-z"])?)?;
        if assumed.is_empty() {
            return Ok(Vec::new());
        }
        // Not in the git directory: a look works where nothing may be written, too.
        let Ok(folder) = tempfile::Builder::new().prefix("aitask-lock-look-").tempdir() else {
            return Ok(assumed);
        };
        let copy = Copy::of(self, folder.path().join("index"))?;
        copy.look_at(&assumed)?;
        _ = copy.run(&["update-index", "-q", "--refresh"], None)?;
        let changed = copy.must(&["diff-files", "-z", "--name-only", "--ignore-submodules=all"], None)?;
        Ok(records(&changed).map(<[u8]>::to_vec).filter(|path| assumed.contains(path)).collect())
    }

    /// The commits whose files the end of what is under way writes: HEAD, and where a rebase or a
    /// bisection began.
    fn written_back(&self) -> Result<Vec<String>, GitFailure> {
        let mut commits: Vec<String> = self.oid("HEAD")?.into_iter().collect();
        for name in ["rebase-merge/orig-head", "rebase-apply/orig-head", "BISECT_START"] {
            if let Ok(text) = fs::read_to_string(self.git_dir().join(name))
                && let Some(commit) = self.oid(text.trim())?
                && !commits.contains(&commit)
            {
                commits.push(commit);
            }
        }
        Ok(commits)
    }

    fn commit_tree(&self, tree: &str, parents: &[String], subject: &str) -> Result<String, GitFailure> {
        let mut args = vec!["commit-tree", tree];
        for parent in parents {
            args.extend(["-p", parent]);
        }
        args.extend(["-m", subject]);
        // Work is saved for people who never configured who they are as well.
        let env = ["AUTHOR", "COMMITTER"].into_iter().flat_map(|role| {
            [("NAME", "git-aitask-lock"), ("EMAIL", "git-aitask-lock@localhost")]
                .map(|(part, value)| (format!("GIT_{role}_{part}").into(), value.into()))
        });
        let env: Vec<(OsString, OsString)> = env.collect();
        let answer = self.run_with(Hooks::Off, &args, &env, None)?;
        if answer.ok() {
            Ok(answer.line())
        } else {
            Err(GitFailure::of_exit("commit-tree", answer.code, &answer.stderr))
        }
    }
}

/// The paths that an answer of `ls-files -v -z` marks as assumed to be unchanged.
fn assumed(answer: &Answer) -> Result<Vec<Vec<u8>>, GitFailure> {
    if !answer.ok() {
        return Err(GitFailure::of_exit("ls-files", answer.code, &answer.stderr));
    }
    let marked = records(&answer.stdout).filter(|entry| entry.starts_with(b"h "));
    Ok(marked.filter_map(|entry| entry.get(2..)).map(<[u8]>::to_vec).collect())
}

/// Whether a text is the whole name of an object, and nothing that git could take for something else.
fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn not_saved(why: &str) -> GitFailure {
    GitFailure::new("rescue", Cause::Other, why.as_bytes())
}

/// `<task>-<time>-<random>`: no two are alike, and they sort by task and time.
fn reference(label: &str) -> Result<String, GitFailure> {
    let random = random::hex128().map_err(|error| not_saved(&error.to_string()))?;
    let random = random.get(..8).unwrap_or_default();
    let time = moment::stamp(clock::now()).replace([':', '-'], "");
    // Two dots in a row are no part of a reference's name.
    let label = label.replace("..", "--");
    Ok(format!("{NAMESPACE}{label}-{time}-{random}"))
}

/// A copy of the index that is worked on in place of the real one.
pub(super) struct Copy<'a> {
    git: &'a Git,
    path: PathBuf,
}

impl<'a> Copy<'a> {
    /// A copy at `path`. Where the index cannot be read, one that is made anew from HEAD.
    pub(super) fn of(git: &'a Git, path: PathBuf) -> Result<Self, GitFailure> {
        if git.index_is_damaged()? {
            let copy = Self { git, path };
            let from = if git.oid("HEAD")?.is_some() { "HEAD" } else { "--empty" };
            copy.must(&["read-tree", from], None)?;
            return Ok(copy);
        }
        let index = git.git_dir().join("index");
        let failed = |error: std::io::Error| not_saved(&format!("the index cannot be copied: {error}"));
        match fs::metadata(&index) {
            Ok(data) => {
                fs::copy(&index, &path).map_err(failed)?;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
                // git takes a file that is as old as the index for possibly changed. A copy that looks
                // younger would let such a change slip through.
                let copy = fs::File::options().write(true).open(&path).map_err(failed)?;
                copy.set_modified(data.modified().map_err(failed)?).map_err(failed)?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        Ok(Self { git, path })
    }

    pub(super) fn run(&self, args: &[&str], stdin: Option<Vec<u8>>) -> Result<Answer, GitFailure> {
        let env = [("GIT_INDEX_FILE".into(), self.path.clone().into_os_string())];
        self.git.run_with(Hooks::Off, args, &env, stdin)
    }

    fn must(&self, args: &[&str], stdin: Option<Vec<u8>>) -> Result<Vec<u8>, GitFailure> {
        let answer = self.run(args, stdin)?;
        let verb = args.first().copied().unwrap_or_default();
        if answer.ok() {
            Ok(answer.stdout)
        } else {
            Err(GitFailure::of_exit(verb, answer.code, &answer.stderr))
        }
    }

    fn tree(&self) -> Result<String, GitFailure> {
        let tree = self.must(&["write-tree"], None)?;
        Ok(String::from_utf8_lossy(&tree).trim_end().to_owned())
    }

    /// Takes unmerged entries out: what is staged of them is in the commits that are being merged.
    fn drop_unmerged(&mut self) -> Result<(), GitFailure> {
        let unmerged = self.unmerged()?;
        if unmerged.is_empty() {
            return Ok(());
        }
        let zero = self.git.oid("HEAD")?.map_or(40, |head| head.len());
        let mut input = Vec::new();
        for path in unmerged {
            input.extend_from_slice(format!("0 {}\t", "0".repeat(zero)).as_bytes());
            input.extend_from_slice(&path);
            input.push(0);
        }
        self.must(&["update-index", "-z", "--index-info"], Some(input)).map(drop)
    }

    fn unmerged(&self) -> Result<Vec<Vec<u8>>, GitFailure> {
        let listing = self.must(&["ls-files", "--unmerged", "-z"], None)?;
        let paths = records(&listing).filter_map(|entry| entry.splitn(2, |&byte| byte == b'\t').nth(1));
        let mut paths: Vec<Vec<u8>> = paths.map(<[u8]>::to_vec).collect();
        paths.dedup();
        Ok(paths)
    }

    /// Stages what the tracked files hold, and what stands where HEAD has a file that the index does
    /// not know any more: `reset --hard` would write over it.
    fn take_files(&mut self) -> Result<(), GitFailure> {
        let assumed = assumed(&self.run(&["ls-files", "-v", "-z"], None)?)?;
        if !assumed.is_empty() {
            self.look_at(&assumed)?;
        }
        let in_the_way = self.in_the_way()?;
        self.run(&["-c", "core.safecrlf=false", "add", "--update", "--ignore-errors"], None)?;
        if !in_the_way.is_empty() {
            self.add(&in_the_way)?;
        }
        // Whatever git would not take by itself (a filter that fails, an odd path) is taken as it is.
        let mut left = self.unmerged()?;
        left.retain(|path| !in_the_way.contains(path));
        let changed = self.must(&["diff-files", "-z", "--name-only", "--ignore-submodules=all"], None)?;
        left.extend(records(&changed).map(<[u8]>::to_vec));
        for path in left {
            self.take_as_it_is(&path)?;
        }
        self.has_all_below(&in_the_way)
    }

    /// Makes git look at files that it was told to take for unchanged.
    fn look_at(&self, paths: &[Vec<u8>]) -> Result<(), GitFailure> {
        let input = paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
        self.must(&["update-index", "--no-assume-unchanged", "-z", "--stdin"], Some(input)).map(drop)
    }

    fn in_the_way(&self) -> Result<Vec<Vec<u8>>, GitFailure> {
        let mut found: Vec<Vec<u8>> = Vec::new();
        let mut find = |path: &[u8], any: bool| {
            if let Some(there) = self.git.standing_at(path, any)
                && !found.contains(&there)
            {
                found.push(there);
            }
        };
        for commit in self.git.written_back()? {
            let removed = self.must(
                &["diff-index", "--cached", "--no-renames", "--diff-filter=D", "-z", "--name-only", &commit],
                None,
            )?;
            records(&removed).for_each(|path| find(path, true));
        }
        let missing = self
            .must(&["diff-files", "-z", "--name-only", "--diff-filter=D", "--ignore-submodules=all"], None)?;
        records(&missing).for_each(|path| find(path, false));
        self.unmerged()?.iter().for_each(|path| find(path, false));
        // The folder of a submodule stays, whatever is done to the tree around it.
        let mut ours = Vec::new();
        for path in found {
            if !self.is_submodule(&path)? {
                ours.push(path);
            }
        }
        Ok(ours)
    }

    fn is_submodule(&self, path: &[u8]) -> Result<bool, GitFailure> {
        let shown = [OsStr::new("--literal-pathspecs"), OsStr::new("ls-files"), OsStr::new("--stage")];
        let mut args: Vec<OsString> = shown.into_iter().map(OsString::from).collect();
        args.extend([OsString::from("--"), OsString::from_vec(path.to_vec())]);
        let env = [("GIT_INDEX_FILE".into(), self.path.clone().into_os_string())];
        let staged = self.git.run_with(Hooks::Off, &args, &env, None)?;
        if staged.stdout.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"160000 ")) {
            return Ok(true);
        }
        if self.git.oid("HEAD")?.is_none() {
            return Ok(false);
        }
        let shown = ["--literal-pathspecs", "ls-tree", "HEAD", "--"];
        let mut args: Vec<OsString> = shown.into_iter().map(OsString::from).collect();
        args.push(OsString::from_vec(path.to_vec()));
        Ok(self.git.run_with(Hooks::Off, &args, &[], None)?.stdout.starts_with(b"160000 "))
    }

    /// Makes sure that all that stands below some paths is staged: what git does not take, such as
    /// a repository within, would be lost.
    fn has_all_below(&self, paths: &[Vec<u8>]) -> Result<(), GitFailure> {
        if paths.is_empty() {
            return Ok(());
        }
        let listing = self.must(&["ls-files", "-z"], None)?;
        let staged: std::collections::HashSet<&[u8]> = records(&listing).collect();
        for path in paths {
            let unread = |error: std::io::Error| {
                not_saved(&format!("{} cannot be read: {error}", String::from_utf8_lossy(path)))
            };
            let below = self.git.files_below(path).map_err(unread)?;
            let mut left = below.iter().filter(|file| !staged.contains(file.as_slice()));
            if let Some(file) = left.next() {
                let more = left.count();
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                return Err(not_saved(&format!(
                    "{}{more} would be lost: it stands where a tracked file was; move it away",
                    String::from_utf8_lossy(file)
                )));
            }
        }
        Ok(())
    }

    fn add(&self, paths: &[Vec<u8>]) -> Result<(), GitFailure> {
        let mut args: Vec<OsString> =
            ["--literal-pathspecs", "add", "--force", "--"].into_iter().map(OsString::from).collect();
        args.extend(paths.iter().map(|path| OsString::from_vec(path.clone())));
        let env = [("GIT_INDEX_FILE".into(), self.path.clone().into_os_string())];
        let answer = self.git.run_with(Hooks::Off, &args, &env, None)?;
        if answer.ok() { Ok(()) } else { Err(GitFailure::of_exit("add", answer.code, &answer.stderr)) }
    }

    fn take_as_it_is(&self, path: &[u8]) -> Result<(), GitFailure> {
        let file = self.git.work_dir().join(Path::new(OsStr::from_bytes(path)));
        let shown = String::from_utf8_lossy(path).into_owned();
        let failed = |error: std::io::Error| not_saved(&format!("{shown} cannot be read: {error}"));
        let (mode, content) = match file.symlink_metadata() {
            Ok(data) if data.is_file() => {
                let executable = data.permissions().mode() & 0o100 != 0;
                (if executable { "100755" } else { "100644" }, fs::read(&file).map_err(failed)?)
            }
            Ok(data) if data.is_symlink() => {
                ("120000", fs::read_link(&file).map_err(failed)?.into_os_string().into_vec())
            }
            // A submodule keeps its own files, and nothing of them is ever discarded; what is no
            // file at all is not tracked.
            Ok(_) | Err(_) => ("0", Vec::new()),
        };
        let oid = if mode == "0" {
            "0".repeat(self.git.oid("HEAD")?.map_or(40, |head| head.len()))
        } else {
            let made = self.must(&["hash-object", "-w", "--no-filters", "--stdin"], Some(content))?;
            String::from_utf8_lossy(&made).trim_end().to_owned()
        };
        let mut input = format!("{mode} {oid}\t").into_bytes();
        input.extend_from_slice(path);
        input.push(0);
        self.must(&["update-index", "-z", "--index-info"], Some(input)).map(drop)
    }
}

fn records(listing: &[u8]) -> impl Iterator<Item = &[u8]> {
    listing.split(|&byte| byte == 0).filter(|entry| !entry.is_empty())
}
