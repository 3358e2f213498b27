//! The two forms of a branch's name.

/// How the full name of a branch begins.
pub const HEADS: &str = "refs/heads/";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_two_forms() {
        assert_eq!(full_name("a/b"), "refs/heads/a/b");
        assert_eq!(full_name("refs/heads/a"), "refs/heads/a");
        assert_eq!(short_name("refs/heads/a/b"), "a/b");
        assert_eq!(short_name("refs/tags/a"), "refs/tags/a");
    }
}
