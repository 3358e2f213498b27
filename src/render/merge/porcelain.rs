//! `WORD:field:field|field|…`: the first fields of some words are parted by colons, as the shell
//! implementation does; the fields that came later are parted by bars.

use crate::domain::liveness::Liveness;
use crate::domain::merge::verdict::{Holder, MergeVerdict, Refusal, Standing, Undone};
use crate::render::escape::for_field;

/// Renders one outcome as its line, without the line break.
#[must_use]
pub fn porcelain(verdict: &MergeVerdict) -> String {
    let (head, more) = fields(verdict);
    let used = more.iter().rposition(|field| !field.encoded().is_empty()).map_or(0, |last| last + 1);
    let mut rest: Vec<String> = Vec::new();
    if !head.is_empty() {
        rest.push(
            head.iter().map(|field| for_field(field).replace(':', "%3A")).collect::<Vec<_>>().join(":"),
        );
    }
    rest.extend(more.iter().take(used).map(Field::encoded));
    let word = verdict.word();
    if rest.is_empty() { word.to_owned() } else { format!("{word}:{}", rest.join("|")) }
}

/// A field behind a bar.
enum Field {
    Text(String),
    /// Parted by commas.
    List(Vec<String>),
}

impl Field {
    fn encoded(&self) -> String {
        match self {
            Self::Text(text) => for_field(text),
            Self::List(texts) => {
                texts.iter().map(|text| for_field(text).replace(',', "%2C")).collect::<Vec<_>>().join(",")
            }
        }
    }
}

fn texts(fields: Vec<String>) -> Vec<Field> {
    fields.into_iter().map(Field::Text).collect()
}

/// The fields parted by colons, and those parted by bars.
fn fields(verdict: &MergeVerdict) -> (Vec<String>, Vec<Field>) {
    let bars = |fields: Vec<String>| (Vec::new(), texts(fields));
    match verdict {
        MergeVerdict::MergeClaimed(claimed) => bars(vec![
            claimed.task.to_string(),
            claimed.id.clone(),
            or_dash(claimed.output_branch.as_deref()),
            claimed.reclaimed_from.as_ref().map(|holder| holder.task_name().to_owned()).unwrap_or_default(),
            if claimed.again { "again" } else { "" }.to_owned(),
        ]),
        MergeVerdict::Busy(busy) => (
            vec![
                busy.holder.as_ref().map_or_else(|| "-".to_owned(), |holder| holder.task_name().to_owned()),
                busy.waited.to_string(),
            ],
            texts(vec![
                busy.why.word().to_owned(),
                pid(busy.holder.as_ref()),
                busy.holder.as_ref().map_or_else(|| "-".to_owned(), |holder| or_dash(holder.id.as_deref())),
                busy.guard.clone().unwrap_or_default(),
                busy.remove_guard.clone().unwrap_or_default(),
            ]),
        ),
        MergeVerdict::StaleMergeResidue(stale) => bars(vec![
            stale.residue.state().to_owned(),
            stale.remedy.word().to_owned(),
            stale.holder.as_ref().map_or_else(|| "-".to_owned(), |holder| holder.task_name().to_owned()),
            stale.task.to_string(),
        ]),
        MergeVerdict::Held(standing) => bars(held(standing)),
        MergeVerdict::Free(standing) => {
            bars(vec![standing.guard.as_ref().map(|_| "guard".to_owned()).unwrap_or_default()])
        }
        MergeVerdict::Released(released) => bars(vec![
            released.task.to_string(),
            released.id.clone(),
            released.findings.iter().map(|finding| finding.word).collect::<Vec<_>>().join(","),
        ]),
        MergeVerdict::Retained { task, because, .. } => bars(vec![because.clone(), task.to_string()]),
        MergeVerdict::NotHolder { task, holder } => {
            bars(vec![holder.task_name().to_owned(), task.to_string()])
        }
        MergeVerdict::NotOwnerSession { task, holder } => {
            (vec![task.to_string(), pid(Some(holder))], texts(vec![holder.liveness.word().to_owned()]))
        }
        MergeVerdict::HolderIncomplete { holder, .. } => {
            bars(vec![holder.damage.map(|damage| damage.word().to_owned()).unwrap_or_default()])
        }
        MergeVerdict::NotHeld { task } | MergeVerdict::CleanupRequiresCompletion { task } => {
            bars(vec![task.to_string()])
        }
        MergeVerdict::DirtyTree(refusal)
        | MergeVerdict::PreflightMissing(refusal)
        | MergeVerdict::PreflightForeignWorktree(refusal)
        | MergeVerdict::PreflightCheckoutFailed(refusal)
        | MergeVerdict::PreflightHeadMismatch(refusal)
        | MergeVerdict::UnsafeOutputBranch(refusal)
        | MergeVerdict::AbortFailed(refusal)
        | MergeVerdict::TargetMismatch(refusal) => bars(refused(refusal)),
        MergeVerdict::MergeOk(merged) => bars(vec![
            merged.oid.clone(),
            merged.task.to_string(),
            merged.output_branch.clone(),
            merged.task_branch.clone(),
            merged.how.clone(),
        ]),
        MergeVerdict::MergeConflict(conflict) => {
            (Vec::new(), vec![Field::List(conflict.paths.clone()), Field::Text(conflict.task.to_string())])
        }
        MergeVerdict::MergeFailed(failed) => bars(vec![
            failed.task.to_string(),
            failed.code.map_or_else(|| "-".to_owned(), |code| code.to_string()),
            failed.residue.state().to_owned(),
            failed.said.clone(),
        ]),
        MergeVerdict::MergeUnverified(unverified) => bars(vec![
            unverified.oid.clone(),
            unverified.task.to_string(),
            unverified.rescue.as_ref().map(|rescue| rescue.reference.clone()).unwrap_or_default(),
            if unverified.kept { "kept" } else { "released" }.to_owned(),
        ]),
        MergeVerdict::Aborted(undone) | MergeVerdict::ReleasedNoMerge(undone) => bars(undone_fields(undone)),
        MergeVerdict::AbortUnsafe { task, residue, remedy, .. } => {
            (vec![residue.state().to_owned(), remedy.word().to_owned()], texts(vec![task.to_string()]))
        }
        MergeVerdict::Cleaned(cleaned) => {
            (Vec::new(), vec![Field::Text(cleaned.task.to_string()), Field::List(cleaned.removed.clone())])
        }
        MergeVerdict::CleanedPartial(cleaned) => (
            Vec::new(),
            vec![
                Field::List(cleaned.stayed.clone()),
                Field::Text(cleaned.task.to_string()),
                Field::List(cleaned.removed.clone()),
            ],
        ),
        MergeVerdict::DryRun(dry) => bars(vec![
            dry.token.clone(),
            dry.remedy.option().unwrap_or("-").to_owned(),
            dry.holder.as_ref().map_or_else(|| "-".to_owned(), |holder| holder.task_name().to_owned()),
            pid(dry.holder.as_ref()),
            dry.holder.as_ref().map_or_else(|| "-".to_owned(), |holder| liveness(holder).to_owned()),
            dry.residue.state().to_owned(),
            dry.guard.as_ref().map(|_| "guard".to_owned()).unwrap_or_default(),
            dry.remove_guard.clone().unwrap_or_default(),
        ]),
        MergeVerdict::ForceReleased(released) => bars(vec![
            released.holder.task_name().to_owned(),
            released.remedy.word().to_owned(),
            released.rescue.as_ref().map(|rescue| rescue.reference.clone()).unwrap_or_default(),
        ]),
        MergeVerdict::RefusedLiveHolder { holder } => {
            (vec![holder.task_name().to_owned(), pid(Some(holder))], Vec::new())
        }
        MergeVerdict::HolderChanged { now, residue, .. } => bars(vec![
            now.as_ref().map_or_else(|| "-".to_owned(), |holder| holder.task_name().to_owned()),
            or_dash(now.as_ref().and_then(|holder| holder.owner.as_deref())),
            or_dash(now.as_ref().and_then(|holder| holder.id.as_deref())),
            if *residue { "residue" } else { "holder" }.to_owned(),
        ]),
        MergeVerdict::ResiduePresent(remedied) | MergeVerdict::WrongRemedy(remedied) => bars(vec![
            remedied.residue.state().to_owned(),
            remedied.needed.option().unwrap_or("-").to_owned(),
            remedied.holder.as_ref().map_or_else(|| "-".to_owned(), |holder| holder.task_name().to_owned()),
        ]),
        MergeVerdict::RecoveryFailed(failed) => bars(vec![
            failed.step.clone(),
            failed.holder.as_ref().map_or_else(|| "-".to_owned(), |holder| holder.task_name().to_owned()),
            failed.rescue.as_ref().map(|rescue| rescue.reference.clone()).unwrap_or_default(),
            failed.remove_guard.clone().unwrap_or_default(),
        ]),
    }
}

fn held(standing: &Standing) -> Vec<String> {
    let Some(holder) = &standing.holder else { return Vec::new() };
    vec![
        holder.task_name().to_owned(),
        pid(Some(holder)),
        liveness(holder).to_owned(),
        or_dash(holder.output_branch.as_deref()),
        or_dash(holder.taken_at.as_deref()),
        or_dash(holder.id.as_deref()),
        holder.damage.map_or(holder.liveness.reason(), |damage| damage.word()).to_owned(),
        or_dash(holder.owner.as_deref()),
        standing.queue.len().to_string(),
        if standing.mine { "mine" } else { "-" }.to_owned(),
        standing.guard.as_ref().map(|_| "guard".to_owned()).unwrap_or_default(),
    ]
}

fn liveness(holder: &Holder) -> &'static str {
    if holder.damage.is_some() { "unknown" } else { Liveness::word(holder.liveness) }
}

fn refused(refusal: &Refusal) -> Vec<String> {
    vec![
        refusal.about.clone(),
        refusal.task.to_string(),
        if refusal.kept { "kept" } else { "released" }.to_owned(),
        refusal.into.as_deref().unwrap_or_default().to_owned(),
    ]
}

fn undone_fields(undone: &Undone) -> Vec<String> {
    vec![
        undone.task.to_string(),
        undone.id.clone(),
        undone.rescue.as_ref().map(|rescue| rescue.reference.clone()).unwrap_or_default(),
    ]
}

fn pid(holder: Option<&Holder>) -> String {
    holder.and_then(|holder| holder.pid).map_or_else(|| "-".to_owned(), |pid| pid.to_string())
}

fn or_dash(text: Option<&str>) -> String {
    text.filter(|text| !text.is_empty()).unwrap_or("-").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::liveness::Liveness;
    use crate::domain::merge::reservation::Unreadable;
    use crate::domain::merge::residue::{Remedy, Residue};
    use crate::domain::merge::verdict::{Busy, BusyWhy, Conflict};
    use crate::domain::task_id::TaskId;

    fn task() -> TaskId {
        TaskId::parse("42").unwrap()
    }

    fn holder() -> Holder {
        Holder {
            task: Some(task()),
            pid: Some(7),
            liveness: Liveness::Alive,
            ..Holder::unreadable(Unreadable::Empty)
        }
    }

    #[test]
    fn the_lines_that_the_shell_implementation_shares() {
        let busy = Busy {
            task: task(),
            why: BusyWhy::Alive,
            waited: 3,
            holder: Some(holder()),
            guard: None,
            again: String::new(),
            remove_guard: None,
        };
        let unmerged = Residue { unmerged: vec!["f".to_owned()], ..Residue::default() };
        for (verdict, line) in [
            (MergeVerdict::Busy(busy), "BUSY:42:3|alive|7|-"),
            (MergeVerdict::RefusedLiveHolder { holder: holder() }, "REFUSED_LIVE_HOLDER:42:7"),
            (
                MergeVerdict::NotOwnerSession { task: task(), holder: holder() },
                "NOT_OWNER_SESSION:42:7|alive",
            ),
            (
                MergeVerdict::AbortUnsafe {
                    task: task(),
                    residue: unmerged,
                    remedy: Remedy::ResetHard,
                    next: Vec::new(),
                },
                "ABORT_UNSAFE:unmerged:reset-hard|42",
            ),
            (MergeVerdict::NotHeld { task: task() }, "NOT_HELD:42"),
        ] {
            assert_eq!(porcelain(&verdict), line);
        }
    }

    #[test]
    fn no_path_looks_like_two() {
        let paths = vec!["a,b".to_owned(), "c|d%\n".to_owned(), "e f".to_owned()];
        let conflict = MergeVerdict::MergeConflict(Conflict { task: task(), paths, root: String::new() });
        assert_eq!(porcelain(&conflict), "MERGE_CONFLICT:a%2Cb,c%7Cd%25%0A,e f|42");
    }
}
