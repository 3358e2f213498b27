//! The exit codes, which are promises: the table of the manual.

/// Every exit code and what it says.
pub const CODES: [(u8, &str); 20] = [
    (0, "done, or yes"),
    (1, "refused, or no: somebody else holds it; check: it is free; doctor: something would fail"),
    (2, "the command line, or a setting that it stands on, makes no sense"),
    (10, "the lock branch is missing and is not made by this command"),
    (11, "the state of the locks cannot be read; nothing is known of any lock"),
    (12, "others kept changing the branch until the time was used up"),
    (13, "refused: another session of yours on this host holds it and is alive"),
    (14, "refused: whether your other session on this host is still there cannot be told"),
    (15, "the server was reached and refused the change"),
    (16, "whether the change landed cannot be told; running the same command again is safe"),
    (20, "no process stands for this session"),
    (21, "the merge is busy: another task holds it, or may hold it"),
    (22, "refused before the merge; nothing was merged"),
    (23, "the merge stopped at conflicts; the reservation is kept"),
    (24, "the merge failed; the reservation is kept"),
    (25, "this session does not hold the merge reservation for this task"),
    (26, "refused: the holder of the merge reservation is alive"),
    (27, "refused: the holder is not the one that was looked at"),
    (28, "the wrong remedy, or none, for what lies in the tree"),
    (29, "kept: the recovery failed"),
];

/// Not a repository, or anything else that went wrong: git's own code for it.
pub const FATAL: (u8, &str) = (128, "not a repository, and other fatal errors");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::words;

    #[test]
    fn every_code_of_a_word_is_in_the_table() {
        for word in words::all() {
            for code in word.exit.split(", ").filter(|code| !code.is_empty()) {
                let code: u8 = code.parse().unwrap();
                let known = code == FATAL.0 || CODES.iter().any(|(known, _)| *known == code);
                assert!(known, "{} answers with exit code {code}", word.word);
            }
        }
    }
}
