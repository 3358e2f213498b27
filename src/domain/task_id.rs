//! Task IDs: one canonical form, checked at the boundary.

use std::fmt;

use serde::Serialize;

/// Longest task ID, in bytes.
pub const MAX_BYTES: usize = 100;

/// A task ID in its canonical form: `42`, `16_2`, or any `[A-Za-z0-9][A-Za-z0-9._-]*` up to
/// [`MAX_BYTES`] bytes.
///
/// Two spellings of one task are one `TaskId`: `T042` is `42`, `16_02` is `16_2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TaskId(String);

/// Why a text is not a task ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTaskId {
    /// Nothing at all.
    Empty,
    /// More than [`MAX_BYTES`] bytes.
    TooLong,
    /// The first character is no ASCII letter or digit.
    Start,
    /// A character outside `[A-Za-z0-9._-]`.
    Character,
}

impl fmt::Display for BadTaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "a task ID must not be empty",
            Self::TooLong => "a task ID has at most 100 bytes",
            Self::Start => "a task ID starts with a letter or a digit",
            Self::Character => "a task ID holds only letters, digits, '.', '_' and '-'",
        })
    }
}

impl std::error::Error for BadTaskId {}

impl TaskId {
    /// Reads any accepted spelling of a task ID.
    ///
    /// A leading `t` or `T` before a digit is dropped, and so are leading zeros in each part of a
    /// decimal ID; nothing else is changed.
    ///
    /// # Errors
    /// Says which rule the text breaks.
    pub fn parse(text: &str) -> Result<Self, BadTaskId> {
        if text.is_empty() {
            return Err(BadTaskId::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(BadTaskId::TooLong);
        }
        if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Err(BadTaskId::Start);
        }
        if !text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')) {
            return Err(BadTaskId::Character);
        }
        let bare = match text.strip_prefix(['t', 'T']) {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
            _ => text,
        };
        let decimal =
            bare.split('_').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        if !decimal {
            return Ok(Self(bare.to_owned()));
        }
        let parts: Vec<&str> = bare
            .split('_')
            .map(|part| match part.trim_start_matches('0') {
                "" => "0",
                significant => significant,
            })
            .collect();
        Ok(Self(parts.join("_")))
    }

    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of this task's file on the lock branch.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("t{}_lock.yaml", self.0)
    }

    /// The task whose lock a file of this name is, under whatever spelling; `None` for a file
    /// that is no lock.
    #[must_use]
    pub fn of_file_name(name: &str) -> Option<Self> {
        let spelling = name.strip_suffix("_lock.yaml")?.strip_prefix(['t', 'T'])?;
        Self::parse(spelling).ok()
    }

    /// Sort key that puts `2` before `10`, and `16_2` after `16`.
    #[must_use]
    pub fn sort_key(&self) -> (Vec<u128>, &str) {
        let numbers = self.0.split('_').map_while(|part| part.parse().ok()).collect::<Vec<u128>>();
        let numbers = if numbers.is_empty() { vec![u128::MAX] } else { numbers };
        (numbers, &self.0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_task_is_one_task() {
        for (text, canonical) in [
            ("42", "42"),
            ("t42", "42"),
            ("T042", "42"),
            ("16_02", "16_2"),
            ("t016_002", "16_2"),
            ("0", "0"),
            ("000", "0"),
            ("t00_00", "0_0"),
            ("7.1", "7.1"),
            ("07.1", "07.1"),
            ("7_", "7_"),
            ("t7a", "7a"),
            ("07a", "07a"),
            ("task-9", "task-9"),
            ("tt7", "tt7"),
            ("Foo", "Foo"),
            ("a..b", "a..b"),
            ("99999999999999999999999999999999999999999999", "99999999999999999999999999999999999999999999"),
        ] {
            let parsed = TaskId::parse(text).expect(text);
            assert_eq!(parsed.as_str(), canonical, "canonical form of {text:?}");
            assert_eq!(TaskId::parse(canonical).as_ref(), Ok(&parsed), "the canonical form is stable");
            assert_eq!(
                TaskId::of_file_name(&parsed.file_name()).as_ref(),
                Some(&parsed),
                "the file name leads back to the task"
            );
        }
    }

    #[test]
    fn what_is_no_task_id_is_named() {
        let long = "9".repeat(101);
        for (text, why) in [
            ("", BadTaskId::Empty),
            (long.as_str(), BadTaskId::TooLong),
            ("../x", BadTaskId::Start),
            ("-x", BadTaskId::Start),
            (".git", BadTaskId::Start),
            ("_1", BadTaskId::Start),
            (" 7", BadTaskId::Start),
            ("７", BadTaskId::Start),
            ("a/b", BadTaskId::Character),
            ("7\n", BadTaskId::Character),
            ("7\0", BadTaskId::Character),
            ("a*", BadTaskId::Character),
            ("%2e", BadTaskId::Start),
            ("a%2e", BadTaskId::Character),
            ("7\u{202e}", BadTaskId::Character),
        ] {
            assert_eq!(TaskId::parse(text), Err(why), "{text:?}");
        }
        assert!(TaskId::parse(&"9".repeat(100)).is_ok(), "100 bytes are allowed");
    }

    #[test]
    fn a_file_under_another_spelling_is_the_same_tasks_lock() {
        for name in ["t7_lock.yaml", "t07_lock.yaml", "T7_lock.yaml", "tt7_lock.yaml"] {
            let task = TaskId::of_file_name(name);
            assert_eq!(task.as_ref().map(TaskId::as_str), Some("7"), "{name}");
        }
        for name in
            ["README.md", "t7_lock.yml", "7_lock.yaml", "t_lock.yaml", "t../x_lock.yaml", "t7_lock.yaml~"]
        {
            assert_eq!(TaskId::of_file_name(name), None, "{name}");
        }
    }

    #[test]
    fn tasks_sort_as_people_count() {
        let mut ids: Vec<TaskId> =
            ["10", "2", "foo", "16_10", "16", "16_2"].iter().filter_map(|t| TaskId::parse(t).ok()).collect();
        ids.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let sorted: Vec<&str> = ids.iter().map(TaskId::as_str).collect();
        assert_eq!(sorted, ["2", "10", "16", "16_2", "16_10", "foo"]);
    }
}
