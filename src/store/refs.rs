//! Reads and moves references of our own: in process through gix-ref, or, where they are kept as
//! reftables, which gix cannot read, through git.

use gix::ObjectId;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit};
use gix::refs::{FullName, Target};

use super::StoreError;
use crate::sys::failpoint;
use crate::sys::git::Git;
use crate::sys::repository::Repository;

/// What moving a reference came to.
#[derive(Debug)]
pub enum Moved {
    /// It stands where it should.
    Yes,
    /// It was not where it was expected to be.
    No,
    /// It is where it was expected to be, and could not be moved: somebody holds its lock.
    Locked(String),
}

/// The identity that a reflog entry names.
#[derive(Clone, Copy, Debug)]
pub struct Logger<'a> {
    /// Name.
    pub name: &'a str,
    /// Email.
    pub email: &'a str,
}

/// The commit that a reference names; `None` when it does not exist.
///
/// # Errors
/// The reference cannot be read.
pub fn read(repo: &Repository, git: &Git, name: &str) -> Result<Option<ObjectId>, StoreError> {
    if repo.reftable {
        let answer = git.resolve_ref(name).map_err(|error| StoreError::Unreadable(error.to_string()))?;
        return answer.map(|id| parse(&id)).transpose();
    }
    match repo.gix.try_find_reference(name) {
        Ok(None) => Ok(None),
        // A symbolic one is followed; else nothing but the reference itself is read.
        Ok(Some(mut reference)) => match reference.try_id().map(gix::Id::detach) {
            Some(id) => Ok(Some(id)),
            None => reference
                .peel_to_id()
                .map(|id| Some(id.detach()))
                .map_err(|error| StoreError::Unreadable(format!("{name} cannot be resolved: {error}"))),
        },
        Err(error) => Err(StoreError::Unreadable(format!("{name} cannot be read: {error}"))),
    }
}

/// Reads an object id as git prints it.
pub(super) fn parse(id: &str) -> Result<ObjectId, StoreError> {
    ObjectId::from_hex(id.trim().as_bytes())
        .map_err(|_| StoreError::Unreadable(format!("git printed {id:?} where an object id was expected")))
}

/// Moves a reference from `old` to `new` in one transaction; `old` none means that it must not exist.
///
/// # Errors
/// The reference cannot be written or read back.
pub fn swap(
    repo: &Repository,
    git: &Git,
    name: &str,
    old: Option<ObjectId>,
    new: ObjectId,
    log: (Logger<'_>, &str),
) -> Result<Moved, StoreError> {
    let failed = if repo.reftable {
        git.swap_ref(name, old.map(|id| id.to_string()).as_deref(), &new.to_string(), log.1)
            .map_err(|error| error.to_string())
    } else {
        through_gix(repo, name, old, new, log)
    };
    let Err(why) = failed else { return Ok(Moved::Yes) };
    // Look before speaking: the error alone does not tell a lost race from a stuck lock.
    let now = read(repo, git, name)?;
    if now == Some(new) {
        Ok(Moved::Yes)
    } else if now == old {
        Ok(Moved::Locked(why))
    } else {
        Ok(Moved::No)
    }
}

/// An error of gix in one line, with what caused it.
pub(super) fn words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.contains(&more) {
            words.push_str(": ");
            words.push_str(&more);
        }
        cause = error.source();
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn through_gix(
    repo: &Repository,
    name: &str,
    old: Option<ObjectId>,
    new: ObjectId,
    (logger, message): (Logger<'_>, &str),
) -> Result<(), String> {
    let expected = match old {
        _ if failpoint::is_planted("no-compare") => PreviousValue::Any,
        None => PreviousValue::MustNotExist,
        Some(old) => PreviousValue::MustExistAndMatch(Target::Object(old)),
    };
    let edit = RefEdit {
        change: Change::Update {
            log: LogChange { message: message.into(), ..LogChange::default() },
            expected,
            new: Target::Object(new),
        },
        name: FullName::try_from(name).map_err(|error| error.to_string())?,
        deref: false,
    };
    let time = gix::date::Time::now_utc().to_string();
    let signature =
        gix::actor::SignatureRef { name: logger.name.into(), email: logger.email.into(), time: &time };
    repo.gix.edit_references_as([edit], Some(signature)).map(drop).map_err(|error| words(&error))
}
