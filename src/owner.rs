//! Who owns the locks that are taken here: an email, from the first place that names one.

use std::path::{Path, PathBuf};

use crate::domain::failure::{Failure, FailureKind};
use crate::domain::record::plain;
use crate::sys::files;
use crate::sys::repository::Repository;

/// Most bytes of an email.
const MAX_BYTES: usize = 254;
const VARIABLE: &str = "GIT_AITASK_LOCK_EMAIL";
const SETTING: &str = "aitask-lock.email";
/// What comes before all that follows it.
const NAME_ONE: &str = "git config aitask-lock.email you@example.com";

/// The owner: `--email`, else `GIT_AITASK_LOCK_EMAIL`, else `aitask-lock.email`, else `email:` in
/// `aitasks/metadata/userconfig.yaml`, else the first line of `aitasks/metadata/emails.txt`, else
/// `user.email`.
///
/// # Errors
/// Nobody is named, or the first place that names somebody names no email.
pub fn resolve(repo: &Repository, option: Option<&str>) -> Result<String, Failure> {
    let variable = || std::env::var(VARIABLE).ok();
    let sources: [(&str, &dyn Fn() -> Option<String>); 6] = [
        ("--email", &|| option.map(str::to_owned)),
        (VARIABLE, &variable),
        (SETTING, &|| repo.config(SETTING)),
        ("aitasks/metadata/userconfig.yaml", &|| user_config(repo)),
        ("aitasks/metadata/emails.txt", &|| first_email(repo)),
        ("user.email", &|| committer_email(repo)),
    ];
    for (source, read) in sources {
        let Some(email) = read() else { continue };
        let email = email.trim();
        if email.is_empty() && source != "--email" {
            continue;
        }
        return check(email).map(|()| email.to_owned()).map_err(|why| {
            let failure = Failure::new(FailureKind::Usage, format!("{source} names no owner: {why}"));
            match source {
                "--email" => failure,
                VARIABLE => failure.hint(format!("unset {VARIABLE}")),
                SETTING => failure.hint(repo.set_right(SETTING)),
                _ => failure.hint(NAME_ONE),
            }
        });
    }
    let message = "nobody is named as the owner of locks: there is no --email, GIT_AITASK_LOCK_EMAIL, \
                   aitask-lock.email, email: in aitasks/metadata/userconfig.yaml, line in \
                   aitasks/metadata/emails.txt, or user.email";
    Err(Failure::new(FailureKind::Usage, message).hint(NAME_ONE))
}

/// A record that two readers read differently would have two owners, so this is where it is refused.
fn check(email: &str) -> Result<(), String> {
    if email.len() > MAX_BYTES {
        return Err("it is longer than 254 bytes".to_owned());
    }
    plain(email).map_err(|why| why.to_string())
}

/// The places of a worktree's files: this worktree, then the main one, where files that git does
/// not track have stayed.
fn places(repo: &Repository, file: &str) -> Vec<PathBuf> {
    let main = repo.common_dir.parent().filter(|_| repo.common_dir.ends_with(".git"));
    let mut places: Vec<PathBuf> = Vec::new();
    for top in repo.work_dir.as_deref().into_iter().chain(main.map(Path::new)) {
        let place = top.join(file);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn first_text(repo: &Repository, file: &str) -> Option<String> {
    let text = |place: PathBuf| files::read_bounded(&place, 64 * 1024).ok().flatten();
    let bytes = places(repo, file).into_iter().find_map(text)?;
    String::from_utf8(bytes).ok()
}

fn user_config(repo: &Repository) -> Option<String> {
    let text = first_text(repo, "aitasks/metadata/userconfig.yaml")?;
    let config: serde_yaml::Value = serde_yaml::from_str(&text).ok()?;
    config.get("email")?.as_str().map(str::to_owned)
}

fn first_email(repo: &Repository) -> Option<String> {
    let text = first_text(repo, "aitasks/metadata/emails.txt")?;
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

fn committer_email(repo: &Repository) -> Option<String> {
    repo.config("user.email")
}

/// Name and email that sign lock commits: `aitask-lock.committer` (`Name <email>`), else git's own, else
/// the owner's.
#[must_use]
pub fn committer(repo: &Repository, owner: &str) -> (String, String) {
    if let Some(setting) = repo.config("aitask-lock.committer") {
        if let Some((name, email)) = setting.trim_end_matches('>').rsplit_once('<') {
            let name = if name.trim().is_empty() { email } else { name };
            return (name.trim().to_owned(), email.trim().to_owned());
        }
        return (setting.clone(), setting);
    }
    // gix could tell, but looks up the local time zone for it, by walking the zone database.
    let first = |variable: &str, keys: [&str; 2]| {
        let set = std::env::var(variable).ok().into_iter();
        let mut values = set.chain(keys.into_iter().filter_map(|key| repo.config(key)));
        values.find(|value| !value.trim().is_empty())
    };
    let name = first("GIT_COMMITTER_NAME", ["committer.name", "user.name"]);
    let email = first("GIT_COMMITTER_EMAIL", ["committer.email", "user.email"]);
    if let (Some(name), Some(email)) = (name, email) {
        return (name, email);
    }
    (owner.to_owned(), owner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_an_owner() {
        for good in ["alice@example.com", "Ann Example", "no", "1e5", "jösé@example.com"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "a\nb",
            "a\u{1b}[2J",
            &"x".repeat(255),
            "Ann: lead",
            "Ann #1",
            "@ann",
            "\"Ann\"",
            "-",
            "~",
            "null",
        ] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
