//! What every merge command works with: the session that asks, the mutex, the shared root.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::guard;
use crate::commands::Answer;
use crate::context::{Context, duration_setting};
use crate::domain::anchor::{Anchor, Here, SessionProcess, TokenKind};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::liveness::Liveness;
use crate::domain::merge::reservation::Reservation;
use crate::domain::merge::residue::{self, Operation, Residue};
use crate::domain::merge::rules::{self, Seen};
use crate::domain::merge::verdict::{Holder, MergeVerdict, Refusal, StaleResidue};
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;
use crate::store::mutex::{self, Held, Look, Mutex, MutexError};
use crate::store::queue;
use crate::sys::anchor::Resolution;
use crate::sys::files::{self, FileError};
use crate::sys::git::GitFailure;
use crate::sys::git::lockfile::{self, LockFile};
use crate::sys::git::worktree::{MergeRoot, NoMergeRoot};
use crate::sys::{clock, process, shell};

/// The session that asks, and the mutex of its repository.
pub struct Desk<'a> {
    /// The command's settings.
    pub context: &'a Context,
    /// The session, with the doubts about it.
    pub resolution: Resolution,
    /// The session's anchor.
    pub mine: Anchor,
    /// The mutex.
    pub mutex: Mutex,
    /// How long git and the mutex's lock may take, for each use of them; waiting for one's turn does
    /// not count.
    budget: Duration,
    /// What was done to the shared root on the way, for people.
    remarks: RefCell<Vec<String>>,
    /// What people may want to know besides.
    notes: RefCell<Vec<String>>,
}

impl<'a> Desk<'a> {
    /// The desk of this command.
    #[must_use]
    pub fn open(context: &'a Context) -> Self {
        let resolution = context.session();
        Self {
            context,
            mine: resolution.session.anchor(),
            resolution,
            mutex: Mutex::new(&context.repo.common_dir),
            budget: clock::remaining(context.deadline()),
            remarks: RefCell::default(),
            notes: RefCell::default(),
        }
    }

    /// The place from which we judge.
    #[must_use]
    pub fn here(&self) -> &Here {
        &self.resolution.session.here
    }

    /// The session's process, recognizable for sure.
    ///
    /// # Errors
    /// There is none: a reservation taken now could not be told from that of a lost session.
    pub fn process(&self) -> Result<&SessionProcess, Box<Verdict>> {
        let strong = |process: &&SessionProcess| {
            process.token.as_ref().is_some_and(|token| token.kind == TokenKind::Proc)
        };
        let named = self.resolution.session.process.as_ref().filter(|_| self.here().table.is_some());
        named.filter(strong).ok_or_else(|| {
            let tried = self.resolution.candidates.iter().map(ToString::to_string).collect();
            Box::new(Verdict::NoSessionAnchor { tried })
        })
    }

    /// What may go wrong with the session, and what was done on the way, for people.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.resolution.warnings.iter().map(ToString::to_string).chain(self.remarks()).collect()
    }

    /// What was done on the way, whatever it came to.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.borrow().clone()
    }

    /// Keeps in mind what was done.
    pub fn remark(&self, what: Option<String>) {
        self.remarks.borrow_mut().extend(what);
    }

    /// What people may want to know besides.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.notes.borrow().clone()
    }

    /// Keeps in mind what people may want to know.
    pub fn note(&self, what: String) {
        self.notes.borrow_mut().push(what);
    }

    /// When something that begins now has to be done.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        clock::deadline_in(self.budget)
    }

    /// Takes the mutex's lock for one change. A guard that was provably left behind is taken down on the way.
    ///
    /// # Errors
    /// It cannot be had.
    pub fn hold(&self) -> Result<Held<'_>, Failure> {
        self.hold_until(self.deadline())
    }

    /// The same, with another time limit.
    ///
    /// # Errors
    /// It cannot be had.
    pub fn hold_until(&self, deadline: Instant) -> Result<Held<'_>, Failure> {
        let held = self.mutex.hold(deadline).map_err(|error| mutex_failure(&error))?;
        if held.heal(self.here()) {
            self.remark(Some(guard::TAKEN_DOWN.to_owned()));
        }
        Ok(held)
    }

    /// What stands there now, and whether its session is still there.
    ///
    /// # Errors
    /// It may not be looked at.
    pub fn look(&self) -> Result<(Look, Liveness), Failure> {
        let look = self.mutex.look().map_err(|error| unreadable(&error))?;
        let liveness = mutex::liveness(&look.seen, self.here());
        Ok((look, liveness))
    }

    /// The reservation, if this very session holds it for this task.
    ///
    /// # Errors
    /// It may not be looked at.
    pub fn holding(&self, task: &TaskId) -> Result<Result<Reservation, MergeVerdict>, Failure> {
        let (look, liveness) = self.look()?;
        Ok(rules::holding(&look.seen, task, &self.mine, self.here(), liveness).map_err(|refusal| *refusal))
    }

    /// Gives the reservation back, if this very session holds it for this task; with an ID, only that
    /// very reservation.
    ///
    /// # Errors
    /// It cannot be looked at, or is still there.
    pub fn give_back(
        &self,
        task: &TaskId,
        id: Option<&str>,
    ) -> Result<Result<Reservation, MergeVerdict>, Failure> {
        if !self.mutex.was_used() {
            return Ok(Err(MergeVerdict::NotHeld { task: task.clone() }));
        }
        let held = self.hold()?;
        let look = held.look().map_err(|error| unreadable(&error))?;
        let liveness = mutex::liveness(&look.seen, self.here());
        let reservation = match rules::holding(&look.seen, task, &self.mine, self.here(), liveness) {
            Ok(reservation) => reservation,
            Err(refusal) => return Ok(Err(*refusal)),
        };
        if id.is_some_and(|id| id != reservation.id) {
            let holder = Holder::of(&reservation, liveness);
            return Ok(Err(MergeVerdict::NotOwnerSession { task: task.clone(), holder }));
        }
        held.remove().map_err(|error| not_writable(&error))?;
        Ok(Ok(reservation))
    }

    /// Writes a changed reservation over this session's own.
    ///
    /// # Errors
    /// It cannot be written, or is not this session's any more.
    pub fn rewrite(&self, reservation: &Reservation) -> Result<(), Failure> {
        // Whatever else was left is for a command that says so.
        let held = self.mutex.hold(self.deadline()).map_err(|error| mutex_failure(&error))?;
        let look = held.look().map_err(|error| unreadable(&error))?;
        match look.seen {
            Seen::Taken(there) if there.id == reservation.id => {
                held.rewrite(reservation).map_err(|error| mutex_failure(&error))
            }
            _ => Err(Failure::new(
                FailureKind::Fatal,
                "the reservation was taken away while this command ran: somebody cleared it",
            )
            .detail("reservation_lost")
            .hint("git aitask-lock merge status")),
        }
    }

    /// The worktree in which merges run, with a fresh time limit.
    ///
    /// # Errors
    /// There is none.
    pub fn root(&self) -> Result<MergeRoot, NoMergeRoot> {
        let root = MergeRoot::find(&self.context.repo, self.deadline())?;
        // What makes no sense was refused at the start.
        let wait = index_wait(self.context).unwrap_or(lockfile::WAIT);
        Ok(MergeRoot { git: root.git.waiting(wait), ..root })
    }

    /// The command `git aitask-lock merge <rest>` that reaches the same repository from here.
    #[must_use]
    pub fn command(&self, rest: &str) -> String {
        match &self.context.global.directory {
            None => format!("git aitask-lock merge {rest}"),
            Some(dir) => format!("git aitask-lock -C {} merge {rest}", shell::quote(dir)),
        }
    }
}

/// What a shared root that is not clean comes to for a task that asked; `holder` is the lost session
/// that holds the reservation.
#[must_use]
pub fn not_clean(
    desk: &Desk<'_>,
    task: &TaskId,
    root: &MergeRoot,
    residue: Residue,
    holder: Option<Holder>,
) -> MergeVerdict {
    let quoted = shell::quote(&root.path);
    let under_way = residue.merge_head.is_some() || !residue.operations.is_empty();
    if under_way || !residue.unmerged.is_empty() || residue.dirty.is_empty() || holder.is_some() {
        let next = match &holder {
            Some(_) => vec![desk.command("force-release")],
            None => by_hand(&residue, root),
        };
        return MergeVerdict::StaleMergeResidue(StaleResidue {
            task: task.clone(),
            remedy: residue::remedy_for(&residue),
            root: quoted,
            residue,
            holder,
            next,
        });
    }
    MergeVerdict::DirtyTree(Refusal {
        task: task.clone(),
        about: residue.dirty.join(","),
        why: format!("the shared root {} has {residue}: {}", root.path.display(), some(&residue.dirty)),
        hints: vec![
            format!("git -C {quoted} status"),
            format!("commit them there, or put them aside: git -C {quoted} stash push"),
        ],
        kept: false,
        into: None,
    })
}

/// The first few of a list.
#[must_use]
pub fn some(paths: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = paths.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match paths.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{shown} and {more} more"),
        _ => shown,
    }
}

/// How a person ends by hand what is under way, where no reservation says whose it is.
#[must_use]
pub fn by_hand(residue: &Residue, root: &MergeRoot) -> Vec<String> {
    let mut ends: Vec<String> = Vec::new();
    let path = shell::quote(&root.path);
    let mut git = |command: &str| ends.push(format!("git -C {path} {command}"));
    git("status");
    if residue.merge_head.is_some() {
        git("merge --abort");
    }
    for operation in &residue.operations {
        match operation {
            Operation::Bisect => git("bisect reset"),
            other => git(&format!("{} --abort", other.word())),
        }
    }
    if residue.index_locked {
        ends.push(unlock(root));
    }
    ends
}

/// How a locked index becomes free: whoever has it open is named; where nobody is seen, whether a git
/// command still runs there is for people to see before they remove it.
#[must_use]
pub fn unlock(root: &MergeRoot) -> String {
    let path = root.git.index_lock();
    let lock = LockFile::at(&path);
    match lock.holder() {
        Some(pid) => format!("{lock}; wait for its end, or see what it does: ps -fp {pid}"),
        None => format!("{lock}; if no git command is running there: rm {}", shell::quote(&path)),
    }
}

/// How long a lock file of git's is waited for.
///
/// # Errors
/// The setting is no duration.
pub fn index_wait(context: &Context) -> Result<Duration, Failure> {
    duration_setting(&context.repo, "aitask-lock.indexWait", lockfile::WAIT)
}

/// The mutex cannot be changed.
#[must_use]
pub fn mutex_failure(error: &MutexError) -> Failure {
    match error {
        MutexError::File(error) => not_writable(error),
        MutexError::Contended { pid, .. } => {
            let failure = Failure::new(FailureKind::RaceExhaustion, error.to_string()).detail("mutex");
            match *pid {
                Some(pid) if process::is_stopped(pid) == Some(true) => {
                    failure.hint(format!("it is stopped; to let it go on: kill -CONT {pid}"))
                }
                Some(pid) => failure.hint(format!("see what it does: ps -fp {pid}")),
                None => failure.hint("a recovery may be under way: git aitask-lock merge status"),
            }
        }
        MutexError::TooLong => Failure::new(FailureKind::Usage, error.to_string()),
    }
}

/// A file of the mutex cannot be written.
#[must_use]
pub fn not_writable(error: &FileError) -> Failure {
    no_folder(
        error,
        Failure::new(FailureKind::NotWritable, format!("the merge mutex cannot be changed: {error}")),
    )
}

/// The mutex may not be looked at, which is never "free".
#[must_use]
pub fn unreadable(error: &FileError) -> Failure {
    let message = format!("nothing can be said of the merge mutex: {error}");
    no_folder(error, Failure::new(FailureKind::Unreadable, message))
}

/// Adds what to do where something else stands in the place of one of our folders.
fn no_folder(error: &FileError, failure: Failure) -> Failure {
    let ours = |path: &&std::path::Path| {
        let name = path.file_name();
        name.is_some_and(|name| name == queue::FOLDER || name == "aitask-lock")
            && path.symlink_metadata().is_ok_and(|data| data.is_file())
    };
    match error.path.ancestors().find(ours) {
        None => failure,
        Some(path) => {
            let (path, away) = (shell::quote(path), shell::quote(&files::free_name(path)));
            failure.hint(format!("a file stands where a folder belongs; to move it away: mv {path} {away}"))
        }
    }
}

/// git could not say how the shared root stands.
#[must_use]
pub fn git_failure(error: &GitFailure) -> Failure {
    Failure::new(FailureKind::Fatal, format!("the shared root cannot be looked at: {error}"))
        .detail(error.cause.word())
}

/// The reservation that a command works under; where this session has none, the refusal.
///
/// # Errors
/// The mutex may not be looked at.
pub fn working_under(desk: &Desk<'_>, task: &TaskId) -> Result<Result<Reservation, Answer>, Failure> {
    if let Err(refusal) = desk.process() {
        return Ok(Err(Answer::of(vec![*refusal])));
    }
    Ok(desk.holding(task)?.map_err(|refusal| Answer::of(vec![refusal.into()])))
}
