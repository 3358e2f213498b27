//! Which branches belong to a task: a name that says so in one of its parts.

use super::task_id::TaskId;

/// Whether a branch (`aitask/t42_fix_it`, `t42`, `task-42`, `task/42`) names the task in one of its parts:
/// `t`, `task-` or `task_` and the ID in any spelling, alone or followed by a separator; a bare ID
/// only as a whole part.
#[must_use]
pub fn names_task(branch: &str, task: &TaskId) -> bool {
    branch.split('/').any(|part| part_names(part, task))
}

/// The numbered tasks (`42`, `16_2`) that a branch names. Of other IDs any branch could be one, `main` too, so
/// they count only where a task of that ID is known.
#[must_use]
pub fn numbered_tasks(branch: &str) -> Vec<TaskId> {
    let mut tasks = Vec::new();
    for part in branch.split('/') {
        let name = part.strip_prefix("task-").or_else(|| part.strip_prefix("task_")).unwrap_or(part);
        let ends = name.char_indices().map(|(at, c)| at + c.len_utf8());
        for task in ends.filter_map(|end| TaskId::parse(name.get(..end)?).ok()) {
            let numbered = task.as_str().bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
            if numbered && part_names(part, &task) && !tasks.contains(&task) {
                tasks.push(task);
            }
        }
    }
    tasks
}

fn part_names(part: &str, task: &TaskId) -> bool {
    if let Some(named) = part.strip_prefix("task-").or_else(|| part.strip_prefix("task_")) {
        return part_names(&format!("t{named}"), task);
    }
    if TaskId::parse(part).as_ref() == Ok(task) {
        return true;
    }
    if !part.starts_with(['t', 'T']) {
        return false;
    }
    // Each prefix that ends before a separator: `t16_2_more` is 16_2's, not 16's.
    let ends = part.char_indices().filter(|(_, c)| matches!(c, '_' | '-' | '.')).map(|(at, _)| at);
    let named = ends.filter_map(|end| {
        let child = part.get(end + 1..).is_some_and(|rest| {
            let digits = rest.split(['_', '-', '.']).next().unwrap_or_default();
            part.get(end..=end) == Some("_")
                && !digits.is_empty()
                && digits.bytes().all(|b| b.is_ascii_digit())
        });
        let id = TaskId::parse(part.get(..end)?).ok()?;
        let decimal = id.as_str().bytes().all(|b| b.is_ascii_digit());
        (!(child && decimal)).then_some(id)
    });
    named.into_iter().any(|id| id == *task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_names_its_task() {
        for (branch, task, named) in [
            ("t42", "42", true),
            ("T042", "42", true),
            ("42", "42", true),
            ("aitask/t42_fix_it", "42", true),
            ("task/42", "42", true),
            ("t42-fix", "42", true),
            ("t421", "42", false),
            ("t16_2_more", "16_2", true),
            ("t16_2_more", "16", false),
            ("t16_2", "16", false),
            ("t16_fast", "16", true),
            ("task-42", "42", true),
            ("task_16_2-more", "16_2", true),
            ("task-421", "42", false),
            ("taskforce-42", "42", false),
            ("release-42", "42", false),
            ("42-fix", "42", false),
            ("main", "42", false),
            ("tREFACTOR-x", "REFACTOR", false),
            ("REFACTOR", "REFACTOR", true),
        ] {
            assert_eq!(names_task(branch, &TaskId::parse(task).unwrap()), named, "{branch} for {task}");
        }
    }

    #[test]
    fn the_numbered_tasks_of_a_branch() {
        for (branch, tasks) in [
            ("t42", "42"),
            ("T042", "42"),
            ("42", "42"),
            ("aitask/t42_fix_it", "42"),
            ("task/42", "42"),
            ("task-16_2-more", "16_2"),
            ("t16_2_more", "16_2"),
            ("t16_fast", "16"),
            ("t1/t2", "1 2"),
            ("main", ""),
            ("REFACTOR", ""),
            ("taskforce-42", ""),
            ("release-42", ""),
            ("42-fix", ""),
            ("tüt", ""),
            ("", ""),
        ] {
            let found: Vec<String> = numbered_tasks(branch).iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), tasks, "{branch}");
        }
    }
}
