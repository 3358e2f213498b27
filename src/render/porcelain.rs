//! `WORD:field|field|…`, one line for each task, stable forever. New fields come at the end.

use super::escape::for_field;
use crate::domain::lock::LockView;
use crate::domain::verdict::{Released, Retaken, Taken, Verdict};

/// Renders all outcomes, a line each.
#[must_use]
pub fn render(verdicts: &[Verdict]) -> String {
    verdicts.iter().flat_map(lines).map(|line| line + "\n").collect()
}

/// The lines of one outcome: one, or for a failure one for each task it was about.
fn lines(verdict: &Verdict) -> Vec<String> {
    let failure = match verdict {
        Verdict::LockError(failure) => failure,
        Verdict::Merge(verdict) => return vec![super::merge::porcelain(verdict)],
        Verdict::Hook(verdict) => return vec![super::hook::porcelain(verdict)],
        _ => return vec![line(verdict.word(), &fields(verdict))],
    };
    let tasks: Vec<&str> = failure.tasks.iter().map(super::super::domain::task_id::TaskId::as_str).collect();
    let tasks = if tasks.is_empty() { vec![""] } else { tasks };
    let fields = |task| vec![failure.kind.word().to_owned(), failure.detail.clone(), task];
    tasks.into_iter().map(|task| line("LOCK_ERROR", &fields(task.to_owned()))).collect()
}

/// Empty fields at the end are left out, so that `LOCK_ERROR:fetch_failed` is all there is to say.
fn line(word: &str, fields: &[String]) -> String {
    let used = fields.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1);
    let fields: Vec<String> = fields.iter().take(used).map(|field| for_field(field)).collect();
    if fields.is_empty() { word.to_owned() } else { format!("{word}:{}", fields.join("|")) }
}

fn fields(verdict: &Verdict) -> Vec<String> {
    match verdict {
        Verdict::Claimed(taken) | Verdict::Refreshed(taken) => taken_fields(taken),
        Verdict::ReclaimCrash(retaken) | Verdict::ReclaimStatus(retaken) => {
            let mut fields = vec![
                or_unknown(retaken.previous.locked_at.as_deref()),
                or_unknown(retaken.previous.hostname.as_deref()),
                pid(retaken.previous.pid),
            ];
            fields.extend(retaken_fields(retaken));
            fields
        }
        Verdict::LockReclaim(retaken) => {
            let mut fields = vec![
                or_unknown(retaken.previous.hostname.as_deref()),
                or_unknown(retaken.previous.locked_at.as_deref()),
                or_unknown(retaken.this_host.as_deref()),
            ];
            fields.extend(retaken_fields(retaken));
            fields
        }
        Verdict::ForceUnlocked(forced) => vec![
            or_unknown(forced.previous.owner.as_deref()),
            forced.task.to_string(),
            forced.lock_id.clone().unwrap_or_else(|| "-".to_owned()),
            forced.previous.lock_id.clone(),
        ],
        Verdict::LockFailed(refused) => {
            let holder = &refused.holder;
            let mut fields = holder_fields(holder);
            fields.extend([
                holder.task.to_string(),
                holder.lock_id.clone(),
                holder.state.word().to_owned(),
                holder.damage.map(|damage| damage.word().to_owned()).unwrap_or_default(),
            ]);
            fields
        }
        Verdict::LockLiveHolder(refused) | Verdict::LockUnverifiableHolder(refused) => {
            let holder = &refused.holder;
            let mut fields = holder_fields(holder);
            fields.extend([
                pid(holder.pid),
                holder.task.to_string(),
                holder.lock_id.clone(),
                holder.liveness.reason().to_owned(),
            ]);
            fields
        }
        Verdict::HolderChanged(changed) => {
            let now = changed.now.as_ref();
            vec![
                changed.task.to_string(),
                now.map_or_else(|| "-".to_owned(), |now| or_unknown(now.owner.as_deref())),
                now.map_or_else(|| "-".to_owned(), |now| now.lock_id.clone()),
            ]
        }
        Verdict::NotClaimed(held_back) | Verdict::NotReleased(held_back) => {
            vec![held_back.task.to_string(), held_back.because_of.to_string()]
        }
        Verdict::Released(released) | Verdict::WouldRelease(released) => released_fields(released),
        Verdict::NotHeld(not_held) => vec![
            not_held.task.to_string(),
            not_held.holder.as_ref().map(|holder| holder.lock_id.clone()).unwrap_or_default(),
        ],
        Verdict::Locked(lock) => {
            let mut fields = holder_fields(lock);
            fields.extend([
                pid(lock.pid),
                lock.task.to_string(),
                lock.lock_id.clone(),
                lock.state.word().to_owned(),
                lock.liveness.reason().to_owned(),
                lock.refreshed_at.clone().unwrap_or_else(|| "-".to_owned()),
                lock.note.clone().unwrap_or_default(),
            ]);
            fields
        }
        Verdict::Free { task } | Verdict::Declined { task } => vec![task.to_string()],
        Verdict::Initialized { branch, remote, created, replaced, lost } => vec![
            branch.clone(),
            remote.clone().unwrap_or_else(|| ".".to_owned()),
            match replaced {
                Some(_) => "compacted",
                None if *created => "created",
                None => "present",
            }
            .to_owned(),
            lost.iter().map(super::super::domain::task_id::TaskId::as_str).collect::<Vec<_>>().join(","),
        ],
        Verdict::Anchor(anchor) => vec![
            anchor.pid.to_string(),
            anchor.source.as_str().to_owned(),
            if anchor.strong { "proc" } else { "-" }.to_owned(),
            or_unknown(anchor.hostname.as_deref()),
        ],
        Verdict::NoSessionAnchor { .. } | Verdict::Merge(_) | Verdict::Hook(_) => Vec::new(),
        Verdict::Event(event) => vec![
            event.time.clone(),
            event.action.word().to_owned(),
            event.task.to_string(),
            or_unknown(event.owner.as_deref()),
            event.previous_owner.clone().unwrap_or_else(|| "-".to_owned()),
            event.lock_id.clone().unwrap_or_else(|| "-".to_owned()),
            event.commit.clone(),
        ],
        Verdict::Tally(sum) => {
            let numbers =
                [sum.claims, sum.releases, sum.crashes, sum.lost_by_force, sum.held_seconds, sum.held_now];
            std::iter::once(or_unknown(sum.owner.as_deref()))
                .chain(numbers.map(|number| number.to_string()))
                .collect()
        }
        Verdict::Finding(finding) => vec![
            finding.level.word().to_owned(),
            finding.check.to_owned(),
            finding.text.clone(),
            finding.remedy.clone().unwrap_or_default(),
        ],
        Verdict::Manual { folder, pages, installed, found } => vec![
            folder.clone(),
            pages.to_string(),
            if *installed { "installed" } else { "present" }.to_owned(),
            if *found { "found" } else { "hidden" }.to_owned(),
        ],
        Verdict::Text { text } => vec![text.clone()],
        Verdict::Word(word) => vec![word.word.to_owned(), word.exit.to_owned()],
        Verdict::LockError(failure) => vec![failure.kind.word().to_owned(), failure.detail.clone()],
    }
}

/// The three fields that begin every word about a holder.
fn holder_fields(lock: &LockView) -> Vec<String> {
    vec![
        or_unknown(lock.owner.as_deref()),
        or_unknown(lock.locked_at.as_deref()),
        or_unknown(lock.hostname.as_deref()),
    ]
}

fn taken_fields(taken: &Taken) -> Vec<String> {
    vec![taken.task.to_string(), taken.owner.clone(), taken.lock_id.clone(), pid(taken.pid)]
}

fn retaken_fields(retaken: &Retaken) -> [String; 3] {
    [retaken.task.to_string(), retaken.lock_id.clone(), retaken.previous.lock_id.clone()]
}

fn released_fields(released: &Released) -> Vec<String> {
    vec![
        released.previous.task.to_string(),
        released.previous.lock_id.clone(),
        or_unknown(released.previous.owner.as_deref()),
        released.reason.word().to_owned(),
    ]
}

fn or_unknown(text: Option<&str>) -> String {
    text.filter(|text| !text.is_empty()).unwrap_or("unknown").to_owned()
}

fn pid(pid: Option<u32>) -> String {
    pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string())
}
