//! Which branch a merge goes into. The branch that the shared root happens to stand on says nothing where
//! anything else names one: somebody may have left it there.

use crate::domain::merge::branch::short_name;

/// What names a branch to merge into, the strongest first. Branches are full names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// `--into`, or what a reservation has settled.
    pub asked: Option<String>,
    /// `aitask-lock.mergeInto`.
    pub setting: Option<String>,
    /// A remote, and the branch that its HEAD names.
    pub remote_head: Option<(String, String)>,
    /// `init.defaultBranch`, where there is such a branch.
    pub default_branch: Option<String>,
    /// Those of git's own defaults, `main` and `master`, that exist.
    pub usual: Vec<String>,
    /// The branch that HEAD of the shared root names; none when it is detached.
    pub head: Option<String>,
}

/// What named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The command line, or the reservation.
    Asked,
    /// The setting.
    Setting,
    /// The HEAD of this remote.
    RemoteHead(String),
    /// `init.defaultBranch`.
    DefaultBranch,
    /// git's own default.
    Usual,
    /// Nothing: it is what the shared root stands on.
    OnlyHead,
}

impl Why {
    /// In words, as the end of "it is the branch that …".
    #[must_use]
    pub fn phrase(&self) -> String {
        match self {
            Self::Asked => "was asked for".to_owned(),
            Self::Setting => "aitask-lock.mergeInto names".to_owned(),
            Self::RemoteHead(remote) => format!("the HEAD of the remote {remote} names"),
            Self::DefaultBranch => "init.defaultBranch names".to_owned(),
            Self::Usual => "git begins a repository with".to_owned(),
            Self::OnlyHead => "the shared root is on, and nothing else names one".to_owned(),
        }
    }
}

/// A branch, and what named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The branch; none where HEAD is detached and nobody asked for one.
    pub branch: Option<String>,
    /// What named it.
    pub why: Why,
}

/// The shared root stands on another branch than the one that is named, and nobody asked for it by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// What it stands on.
    pub head: String,
    /// What is named.
    pub wanted: String,
    /// What named it.
    pub why: Why,
}

impl Elsewhere {
    /// In a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (head, wanted) = (short_name(&self.head), short_name(&self.wanted));
        let why = self.why.phrase();
        format!("the shared root is on {head}, and merges go into {wanted}, the branch that {why}")
    }
}

/// The branch that is named, whatever the shared root stands on; none where nothing names one.
#[must_use]
pub fn named(named: &Named) -> Option<(&str, Why)> {
    let remote_head = named.remote_head.as_ref();
    let usual = named.usual.iter().find(|name| Some(*name) == named.head.as_ref());
    let strongest = [
        named.asked.as_deref().map(|name| (name, Why::Asked)),
        named.setting.as_deref().map(|name| (name, Why::Setting)),
        remote_head.map(|(remote, name)| (name.as_str(), Why::RemoteHead(remote.clone()))),
        named.default_branch.as_deref().map(|name| (name, Why::DefaultBranch)),
        usual.or(named.usual.first()).map(|name| (name.as_str(), Why::Usual)),
    ];
    strongest.into_iter().flatten().next()
}

/// Decides. What was asked for by name may be checked out; for anything else the shared root has to stand
/// there already.
///
/// # Errors
/// It stands on another branch.
pub fn choose(all: &Named) -> Result<Chosen, Elsewhere> {
    match (named(all), &all.head) {
        (Some((name, Why::Asked)), _) => Ok(Chosen { branch: Some(name.to_owned()), why: Why::Asked }),
        (Some((name, why)), Some(head)) if head != name => {
            Err(Elsewhere { head: head.clone(), wanted: name.to_owned(), why })
        }
        (Some((_, why)), head) => Ok(Chosen { branch: head.clone(), why }),
        (None, head) => Ok(Chosen { branch: head.clone(), why: Why::OnlyHead }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(head: &str) -> Named {
        Named {
            asked: Some("asked".into()),
            setting: Some("setting".into()),
            remote_head: Some(("origin".into(), "remote".into())),
            default_branch: Some("default".into()),
            usual: vec!["main".into(), "master".into()],
            head: Some(head.into()),
        }
    }

    #[test]
    fn the_strongest_name_wins_and_the_root_has_to_stand_there() {
        let origin = || Why::RemoteHead("origin".to_owned());
        // How many of the names are taken away, where HEAD is, what is named, and why; then whether it may.
        for (without, head, wanted, why, may) in [
            (0, "feature", "asked", Why::Asked, true),
            (0, "asked", "asked", Why::Asked, true),
            (1, "setting", "setting", Why::Setting, true),
            (1, "feature", "setting", Why::Setting, false),
            (1, "remote", "setting", Why::Setting, false),
            (2, "remote", "remote", origin(), true),
            (2, "feature", "remote", origin(), false),
            (3, "default", "default", Why::DefaultBranch, true),
            (3, "main", "default", Why::DefaultBranch, false),
            (4, "main", "main", Why::Usual, true),
            (4, "master", "master", Why::Usual, true),
            (4, "feature", "main", Why::Usual, false),
            (5, "feature", "feature", Why::OnlyHead, true),
        ] {
            let mut names = all(head);
            for gone in 0..without {
                match gone {
                    0 => names.asked = None,
                    1 => names.setting = None,
                    2 => names.remote_head = None,
                    3 => names.default_branch = None,
                    _ => names.usual.clear(),
                }
            }
            let expected = if may {
                Ok(Chosen { branch: Some(wanted.to_owned()), why })
            } else {
                Err(Elsewhere { head: head.to_owned(), wanted: wanted.to_owned(), why })
            };
            assert_eq!(choose(&names), expected, "{without} {head}");
        }
    }

    #[test]
    fn a_detached_head_is_on_no_branch() {
        let detached = Named { head: None, ..all("") };
        assert_eq!(choose(&detached).unwrap().branch.as_deref(), Some("asked"));
        let named = Named { asked: None, ..detached };
        assert_eq!(choose(&named), Ok(Chosen { branch: None, why: Why::Setting }));
        assert_eq!(choose(&Named::default()), Ok(Chosen { branch: None, why: Why::OnlyHead }));
    }
}
