//! Names of branches: by full name, and the one that belongs to a task.

use crate::domain::task_id::TaskId;

/// How the full name of a branch begins.
pub const HEADS: &str = "refs/heads/";

/// Folders of branches in which a bare number names a task.
const TASK_FOLDERS: [&str; 4] = ["task", "tasks", "aitask", "aitasks"];

/// The full name of a branch that was given in either form.
#[must_use]
pub fn full_name(name: &str) -> String {
    if name.starts_with("refs/") { name.to_owned() } else { format!("{HEADS}{name}") }
}

/// The name that people use.
#[must_use]
pub fn short_name(name: &str) -> &str {
    name.strip_prefix(HEADS).unwrap_or(name)
}

/// Whether a branch, given by full name, is named after a task: `t42`, `task/42`, `aitask/t42_words`.
/// `t16_2_words` is named after task `16_2`, not after `16`.
#[must_use]
pub fn names_task(branch: &str, task: &TaskId) -> bool {
    let name = short_name(branch);
    let (folder, last) = name.rsplit_once('/').unwrap_or(("", name));
    let folder = folder.rsplit('/').next().unwrap_or_default();
    let marked = last.strip_prefix(['t', 'T']).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let bare = TASK_FOLDERS.contains(&folder).then_some(last);
    let number = marked.or(bare).map(leading_number).filter(|number| !number.is_empty());
    match number {
        Some(number) => TaskId::parse(number).as_ref() == Ok(task),
        // An ID that is no number has to be there in full.
        None => TaskId::parse(last).as_ref() == Ok(task),
    }
}

/// The number at the beginning, with its children (`16_2`), as far as each part ends at a boundary.
fn leading_number(text: &str) -> &str {
    let mut end = 0;
    let mut from = 0;
    loop {
        let rest = text.get(from..).unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = rest.get(digits..).unwrap_or_default();
        let bounded = after.is_empty() || after.starts_with(['_', '-', '.']);
        if digits == 0 || !bounded {
            return text.get(..end).unwrap_or_default();
        }
        end = from + digits;
        if !after.starts_with('_') {
            return text.get(..end).unwrap_or_default();
        }
        from = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_matched_to_tasks() {
        for (branch, task, matches) in [
            ("t42", "42", true),
            ("T042", "42", true),
            ("task/42", "42", true),
            ("task/t42", "42", true),
            ("aitask/t42_fix_the_door", "42", true),
            ("aitask/t42-fix", "42", true),
            ("x/aitask/42_fix", "42", true),
            ("aitask/t16_2_fix", "16_2", true),
            ("aitask/t16_2_fix", "16", false),
            ("aitask/t16_2nd_try", "16", true),
            ("t421", "42", false),
            ("t4", "42", false),
            ("t42x", "42", false),
            ("release/42", "42", false),
            ("42", "42", true),
            ("fix-login", "fix-login", true),
            ("task/fix-login", "fix-login", true),
            ("fix-login-2", "fix-login", false),
            ("main", "42", false),
        ] {
            let task = TaskId::parse(task).unwrap();
            assert_eq!(names_task(&full_name(branch), &task), matches, "{branch} {task}");
        }
    }

    #[test]
    fn names_have_two_forms() {
        assert_eq!(full_name("a/b"), "refs/heads/a/b");
        assert_eq!(full_name("refs/heads/a"), "refs/heads/a");
        assert_eq!(short_name("refs/heads/a/b"), "a/b");
        assert_eq!(short_name("refs/tags/a"), "refs/tags/a");
    }
}
