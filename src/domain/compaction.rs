//! What the new root of a compacted branch says: which tip it replaces, and which commits led to that.
//!
//! A clone that knows a commit of the old line cannot ask for its history any more. So the root names the
//! newest commits of that line, and a clone that finds its own among them knows that the branch was not
//! rewritten. A clone that knows none but older ones cannot tell, and asks a person where a lock is gone.

/// How many commits a root names besides the tip: a bound on what it costs to fetch, some 17 kB.
pub const MOST_NAMED: usize = 1024;

/// How many digits of a commit's name are written: 64 bits, so that no two agree by chance.
const DIGITS: usize = 16;
const TIP: &str = "Lock-Compacts: ";
const EARLIER: &str = "Lock-Compacted: ";
const IN_A_LINE: usize = 4;

/// A compaction, as a root commit tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// The tip that the root replaces.
    pub replaces: String,
    /// The commits that led to it, newest first, shortened.
    earlier: Vec<String>,
}

/// What a compaction says of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// It is the tip that was replaced.
    Tip,
    /// It led to that tip.
    Earlier,
    /// Nothing.
    No,
}

impl Compaction {
    /// A compaction of the line that ends with `tip`; `earlier` are the commits before it, newest first.
    #[must_use]
    pub fn of(tip: String, earlier: impl IntoIterator<Item = String>) -> Self {
        let short = |mut id: String| {
            id.truncate(DIGITS);
            id
        };
        Self { replaces: tip, earlier: earlier.into_iter().take(MOST_NAMED).map(short).collect() }
    }

    /// Reads it out of the message of a commit without parents; what does not fit is nothing.
    #[must_use]
    pub fn read(message: &str) -> Option<Self> {
        let hex = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let mut tips = message.lines().skip(1).filter_map(|line| line.strip_prefix(TIP));
        let replaces = tips.next().map(str::trim).filter(|id| hex(id) && matches!(id.len(), 40 | 64))?;
        // Two tips are a riddle, not an answer.
        if tips.next().is_some() {
            return None;
        }
        let lines = message.lines().skip(1).filter_map(|line| line.strip_prefix(EARLIER));
        let ids = lines.flat_map(str::split_whitespace).take(MOST_NAMED);
        let earlier = ids.filter(|id| hex(id) && id.len() == DIGITS).map(str::to_owned).collect();
        Some(Self { replaces: replaces.to_owned(), earlier })
    }

    /// The trailers of the root's message.
    #[must_use]
    pub fn trailers(&self) -> String {
        let lines = self.earlier.chunks(IN_A_LINE).map(|ids| format!("{EARLIER}{}\n", ids.join(" ")));
        format!("{TIP}{}\n{}", self.replaces, lines.collect::<String>())
    }

    /// What it says of a commit.
    #[must_use]
    pub fn says_of(&self, commit: &str) -> Named {
        if commit == self.replaces {
            return Named::Tip;
        }
        let short = commit.get(..DIGITS).unwrap_or(commit);
        if self.earlier.iter().any(|id| id == short) { Named::Earlier } else { Named::No }
    }

    /// The commits that it names, shortened, newest first, beginning with the tip.
    pub fn names(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.replaces.clone()).chain(self.earlier.iter().cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> String {
        format!("{number:040x}").chars().rev().collect()
    }

    #[test]
    fn what_is_written_is_read_back() {
        for count in [0, 1, 4, 5, MOST_NAMED, MOST_NAMED + 9] {
            let compaction = Compaction::of(id(1), (2..count + 2).map(id));
            let message = format!("ait: Compact\n\n{}Lock-Attempt: x\n", compaction.trailers());
            assert_eq!(Compaction::read(&message).as_ref(), Some(&compaction), "{count}");
            assert_eq!(compaction.says_of(&id(1)), Named::Tip);
            for number in 2..count.min(MOST_NAMED) + 2 {
                assert_eq!(compaction.says_of(&id(number)), Named::Earlier, "{number} of {count}");
            }
            assert_eq!(compaction.says_of(&id(MOST_NAMED + 2)), Named::No);
            assert_eq!(compaction.says_of(&id(count + 12)), Named::No);
            assert_eq!(compaction.names().count(), 1 + count.min(MOST_NAMED));
        }
    }

    #[test]
    fn what_does_not_fit_is_nothing() {
        let tip = id(1);
        for message in [
            String::new(),
            format!("Lock-Compacts: {tip}"),
            format!("x\n\nLock-Compacts: {}\n", &tip[..39]),
            format!("x\n\nLock-Compacts: {}g\n", &tip[..39]),
            format!("x\n\n Lock-Compacts: {tip}\n"),
            format!("x\n\nLock-Compacts: {tip}\nLock-Compacts: {}\n", id(2)),
            format!("x\n\nLock-Compacted: {}\n", &tip[..16]),
        ] {
            assert_eq!(Compaction::read(&message), None, "{message:?}");
        }
        let odd = format!("x\n\nLock-Compacts: {tip}\nLock-Compacted: abc {} zz\n", &id(2)[..16]);
        let read = Compaction::read(&odd).unwrap();
        assert_eq!((read.says_of(&id(2)), read.says_of("abc")), (Named::Earlier, Named::No));
    }
}
