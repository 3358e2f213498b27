//! `log`: the story of a task or of the repository, out of the lock branch's history.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::locks::Store;
use super::{Answer, explain};
use crate::context::{Context, Layout, task_id};
use crate::domain::failure::{Failure, FailureKind};
use crate::domain::moment::{self, Moment};
use crate::domain::record::Reading;
use crate::domain::tally;
use crate::domain::task_id::TaskId;
use crate::domain::verdict::Verdict;
use crate::owner;
use crate::store::history::{self, Wanted};
use crate::store::tree;
use crate::sys::clock;

/// Arguments of `log`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Only what happened to these tasks
    #[arg(value_name = "TASK", value_parser = task_id)]
    pub tasks: Vec<TaskId>,
    /// At most this many events
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    pub limit: Option<usize>,
    /// Nothing older: a time (2026-11-30 14:30), a date, or an age such as 2h or 3 days
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Add it up instead: claims, releases, lost sessions and time held, for each owner
    #[arg(long, conflicts_with = "limit")]
    pub stat: bool,
}

/// Runs `log`.
///
/// # Errors
/// The branch cannot be read.
pub fn run(context: &Context, args: &Args) -> Result<Answer, Failure> {
    let since = match &args.since {
        None => None,
        Some(text) => Some(since(text, clock::now(), &clock::zone()).ok_or_else(|| bad_since(text))?),
    };
    let asker = context.owner(None).ok();
    let (name, email) = owner::committer(&context.repo, asker.as_deref().unwrap_or("nobody"));
    let mut store = Store::open(context, (&name, &email))?;
    let failed = |error| explain::store_error(context, &error, &args.tasks);
    let snapshot = store.read().map_err(failed)?;
    let wanted =
        Wanted { tasks: args.tasks.clone(), limit: args.limit, since: since.map(Timestamp::as_second) };
    let walked = match &snapshot.base {
        Some(base) => history::walk(store.as_dyn().objects(), base.commit, &wanted).map_err(failed)?,
        None => history::Story::default(),
    };
    let remark = walked.cut_at.map(|commit| {
        format!("what happened before commit {commit} is not in this shallow clone: git fetch --unshallow")
    });
    let compacted = walked.compacted.map(|(commit, time)| {
        format!("the history was compacted at {time}, in commit {commit}: what happened before is not on the branch any more")
    });
    let remark = remark.or(compacted);
    let names: Vec<&str> = args.tasks.iter().map(TaskId::as_str).collect();
    let none = match (names.as_slice(), &args.since) {
        ([], None) => "Nothing has been locked yet.".to_owned(),
        ([], Some(_)) => "Nothing has happened since then.".to_owned(),
        (names, None) => format!("Nothing has happened to {} yet.", names.join(", ")),
        (names, Some(_)) => format!("Nothing has happened to {} since then.", names.join(", ")),
    };
    if args.stat {
        let mut held = Vec::new();
        for entry in &snapshot.entries() {
            if args.tasks.is_empty() || args.tasks.contains(&entry.task) {
                let owner = match tree::read(store.as_dyn().objects(), entry) {
                    Reading::Whole(record) => record.owner,
                    Reading::Damaged { .. } => None,
                };
                held.push((entry.task.clone(), owner));
            }
        }
        let sums = tally::tally(&walked.events, &held, since, clock::now());
        let sums = sums.into_iter().map(Verdict::Tally).collect();
        return Ok(Answer::with_exit(sums, 0).note(remark).laid_out(Layout::Table { none }));
    }
    let events = walked.events.into_iter().map(Verdict::Event).collect();
    Ok(Answer::with_exit(events, 0).note(remark).laid_out(Layout::Story { none }))
}

fn bad_since(text: &str) -> Failure {
    let message = format!("--since {text:?} is no time: write 2026-11-30, 2026-11-30 14:30, 2h or 3 days");
    Failure::new(FailureKind::Usage, message)
}

/// Reads a time, a date (its first moment here), or an age.
fn since(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    if let Moment::Instant(time) = moment::read(text, zone) {
        return Some(time);
    }
    if let Ok(date) = text.parse::<jiff::civil::Date>() {
        let midnight = date.at(0, 0, 0, 0);
        return zone.to_ambiguous_timestamp(midnight).compatible().ok();
    }
    let span: Span = text.parse().ok()?;
    now.to_zoned_datetime(zone.clone()).checked_sub(span.abs()).ok().map(|time| time.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spellings_of_since() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        for (text, time) in [
            ("2026-11-30T10:00:00Z", Some("2026-11-30T10:00:00Z")),
            ("2026-11-30 14:30", Some("2026-11-30T12:30:00Z")),
            ("2026-11-30", Some("2026-11-29T22:00:00Z")),
            ("2h", Some("2026-12-01T10:00:00Z")),
            ("90 minutes", Some("2026-12-01T10:30:00Z")),
            ("3 days", Some("2026-11-28T12:00:00Z")),
            ("2 weeks ago", Some("2026-11-17T12:00:00Z")),
            ("1 month", Some("2026-11-01T12:00:00Z")),
            ("soon", None),
            ("", None),
            ("99999999999 years", None),
        ] {
            let expected = time.map(|time| time.parse().unwrap());
            assert_eq!(since(text, now, &zone), expected, "{text}");
        }
    }
}
