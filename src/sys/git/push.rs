//! Reads what `git push --porcelain` says about one ref.

/// What a push of one ref came to, as far as this push can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushAnswer {
    /// The server moved the ref to our commit in this push: the only proof of winning.
    Moved,
    /// Our commit was the tip already; the lease was not looked at.
    UpToDate,
    /// Rejected on our side: the lease did not hold.
    Stale,
    /// The server did not move the ref. A lost race, a hook, a colliding name or a stuck lock
    /// file: only a look at the branch tells which.
    Rejected {
        /// The server's reason; untrusted text.
        reason: String,
    },
    /// git ended without a word on the ref.
    Silent,
}

/// Reads the line of `git push --porcelain` that speaks of `destination`:
/// `<flag>\t<from>:<to>\t<summary>`.
#[must_use]
pub fn parse(stdout: &[u8], destination: &str) -> PushAnswer {
    let text = String::from_utf8_lossy(stdout);
    for line in text.lines() {
        let mut fields = line.splitn(3, '\t');
        let (Some(flag), Some(refs), Some(summary)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        if refs.rsplit_once(':').map(|(_, to)| to) != Some(destination) {
            continue;
        }
        return match flag {
            "*" | "+" | " " => PushAnswer::Moved,
            "=" => PushAnswer::UpToDate,
            "!" => rejection(summary),
            _ => PushAnswer::Silent,
        };
    }
    PushAnswer::Silent
}

fn rejection(summary: &str) -> PushAnswer {
    let reason = match (summary.find('('), summary.rfind(')')) {
        (Some(open), Some(close)) if open < close => summary.get(open + 1..close).unwrap_or_default(),
        _ => summary,
    };
    if summary.starts_with("[rejected]") && reason == "stale info" {
        return PushAnswer::Stale;
    }
    PushAnswer::Rejected { reason: reason.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_answers_of_git() {
        let to = "refs/heads/aitask-locks";
        let line = |flag: &str, summary: &str| format!("To /x.git\n{flag}\tabc123:{to}\t{summary}\nDone\n");
        let rejected = |reason: &str| PushAnswer::Rejected { reason: reason.to_owned() };
        for (said, answer) in [
            (line("*", "[new branch]"), PushAnswer::Moved),
            (line("+", "1111111...2222222 (forced update)"), PushAnswer::Moved),
            (line(" ", "1111111..2222222"), PushAnswer::Moved),
            (line("=", "[up to date]"), PushAnswer::UpToDate),
            (line("!", "[rejected] (stale info)"), PushAnswer::Stale),
            (line("!", "[remote rejected] (failed to update ref)"), rejected("failed to update ref")),
            (
                line("!", "[remote rejected] (pre-receive hook declined)"),
                rejected("pre-receive hook declined"),
            ),
            (line("!", "[remote rejected] (say (no) now)"), rejected("say (no) now")),
            (
                line("!", "[remote failure] (remote failed to report status)"),
                rejected("remote failed to report status"),
            ),
            (line("?", "what"), PushAnswer::Silent),
            (String::new(), PushAnswer::Silent),
            ("To /x.git\nDone\n".to_owned(), PushAnswer::Silent),
            ("*\tabc:refs/heads/other\t[new branch]\n".to_owned(), PushAnswer::Silent),
            ("*\tabc".to_owned(), PushAnswer::Silent),
        ] {
            assert_eq!(parse(said.as_bytes(), to), answer, "{said:?}");
        }
    }
}
