//! Which address decides who holds a lock: exactly one, or none for a repository without a remote.

use crate::domain::failure::{Failure, FailureKind};
use crate::sys::git::failure::redact;
use crate::sys::git::remote::{Arbiter, CONNECTION_KEYS};
use crate::sys::repository::Repository;

/// Resolves the arbiter: `--remote`, else `aitask-lock.remote`, else `origin`, else the only remote, else
/// none. Several remotes of which none is called `origin` are refused: a local lock would be taken
/// for one that everybody sees.
///
/// # Errors
/// Several addresses could be meant, or the named remote does not exist.
pub fn resolve(repo: &Repository, option: Option<&str>) -> Result<Option<Arbiter>, Failure> {
    let remotes: Vec<RemoteConfig> = repo
        .config_subsections("remote")
        .into_iter()
        .filter_map(|name| RemoteConfig::read(repo, name))
        .collect();
    let setting = repo.config("aitask-lock.remote");
    let rewrites = Rewrites::read(repo);
    let chosen = choose(option.or(setting.as_deref()), &remotes, &rewrites).map_err(|failure| {
        match (failure.detail.as_str(), option) {
            // The remotes that there are stand in the message.
            ("no_such_remote", None) => {
                Failure { hints: vec![repo.set_right("aitask-lock.remote")], ..failure }
            }
            _ => failure,
        }
    })?;
    Ok(chosen.map(|(name, address)| {
        let resolved = rewritten(&address, &rewrites.both).unwrap_or_else(|| address.clone());
        let connection = name.as_deref().map(|name| connection(repo, name)).unwrap_or_default();
        let own_ssh = repo.config("core.sshCommand").is_some();
        Arbiter { name, address, resolved, connection, own_ssh }
    }))
}

fn connection(repo: &Repository, name: &str) -> Vec<(&'static str, String)> {
    let values = |key: &'static str| {
        repo.config_values("remote", name, key).into_iter().map(move |value| (key, value))
    };
    CONNECTION_KEYS.into_iter().flat_map(values).collect()
}

/// A remote as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RemoteConfig {
    name: String,
    urls: Vec<String>,
    push_urls: Vec<String>,
}

impl RemoteConfig {
    /// A section without an address (`remote.pushDefault` and the like) is no remote.
    fn read(repo: &Repository, name: String) -> Option<Self> {
        let urls = repo.config_values("remote", &name, "url");
        let push_urls = repo.config_values("remote", &name, "pushurl");
        (!urls.is_empty() || !push_urls.is_empty()).then_some(Self { name, urls, push_urls })
    }
}

/// `url.<base>.insteadOf` and `pushInsteadOf`, as (base, prefix) pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rewrites {
    both: Vec<(String, String)>,
    push: Vec<(String, String)>,
}

impl Rewrites {
    fn read(repo: &Repository) -> Self {
        let mut rewrites = Self::default();
        for base in repo.config_subsections("url") {
            let pairs =
                |key| repo.config_values("url", &base, key).into_iter().map(|prefix| (base.clone(), prefix));
            rewrites.both.extend(pairs("insteadOf"));
            rewrites.push.extend(pairs("pushInsteadOf"));
        }
        rewrites
    }
}

/// The longest prefix that fits wins, as in git.
fn rewritten(address: &str, rules: &[(String, String)]) -> Option<String> {
    let fits = rules.iter().filter(|(_, prefix)| address.starts_with(prefix.as_str()));
    let (base, prefix) = fits.max_by_key(|(_, prefix)| prefix.len())?;
    Some(format!("{base}{}", &address[prefix.len()..]))
}

type Chosen = Option<(Option<String>, String)>;

fn choose(wanted: Option<&str>, remotes: &[RemoteConfig], rewrites: &Rewrites) -> Result<Chosen, Failure> {
    let named = |name: &str| remotes.iter().find(|remote| remote.name == name);
    let remote = match wanted {
        Some(".") => return Ok(None),
        Some(wanted) => match named(wanted) {
            Some(remote) => remote,
            None if looks_like_an_address(wanted) => return Ok(Some((None, wanted.to_owned()))),
            None => return Err(no_such_remote(wanted, remotes)),
        },
        None => match (named("origin"), remotes) {
            (Some(origin), _) => origin,
            (None, []) => return Ok(None),
            (None, [only]) => only,
            (None, _) => return Err(several(remotes)),
        },
    };
    let Some(fetch) = remote.urls.first() else { return Err(split(remote, None, &remote.push_urls)) };
    let read_from = rewritten(fetch, &rewrites.both).unwrap_or_else(|| fetch.clone());
    let write_to: Vec<String> = if remote.push_urls.is_empty() {
        remote
            .urls
            .iter()
            .map(|url| {
                rewritten(url, &rewrites.push)
                    .or_else(|| rewritten(url, &rewrites.both))
                    .unwrap_or_else(|| url.clone())
            })
            .collect()
    } else {
        let both = &rewrites.both;
        remote.push_urls.iter().map(|url| rewritten(url, both).unwrap_or_else(|| url.clone())).collect()
    };
    if write_to != [read_from.clone()] {
        return Err(split(remote, Some(&read_from), &write_to));
    }
    Ok(Some((Some(remote.name.clone()), fetch.clone())))
}

fn looks_like_an_address(text: &str) -> bool {
    text.contains(['/', ':']) && !text.starts_with('-')
}

fn names(remotes: &[RemoteConfig]) -> String {
    remotes.iter().map(|remote| remote.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn no_such_remote(wanted: &str, remotes: &[RemoteConfig]) -> Failure {
    let known = if remotes.is_empty() { "there is none".to_owned() } else { names(remotes) };
    Failure::new(FailureKind::AmbiguousRemote, format!("no remote is called '{wanted}' (remotes: {known})"))
        .detail("no_such_remote")
        .hint("git remote -v")
}

fn several(remotes: &[RemoteConfig]) -> Failure {
    let message = format!(
        "this repository has several remotes ({}) and none is called origin: which one decides who holds a lock?",
        names(remotes)
    );
    let failure = Failure::new(FailureKind::AmbiguousRemote, message).detail("several_remotes");
    remotes.iter().fold(failure, |failure, remote| {
        let name = crate::sys::shell::quote(std::path::Path::new(&remote.name));
        failure.hint(format!(
            "a person has to choose, and the same server in every clone: git config aitask-lock.remote {name}"
        ))
    })
}

fn split(remote: &RemoteConfig, read_from: Option<&str>, write_to: &[String]) -> Failure {
    let write_to: Vec<String> = write_to.iter().map(|url| redact(url)).collect();
    let read_from = read_from.map_or_else(|| "nowhere".to_owned(), redact);
    let message = format!(
        "the remote '{}' is read from {read_from} and written to {}: a lock needs one place that decides",
        remote.name,
        write_to.join(" and ")
    );
    let failure = Failure::new(FailureKind::AmbiguousRemote, message).detail("split_remote");
    let address = write_to.first().map_or("<address>", String::as_str);
    let quoted =
        shlex::try_quote(address).map_or_else(|_| "'<address>'".into(), std::borrow::Cow::into_owned);
    failure.hint(format!("git config aitask-lock.remote {quoted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(name: &str, urls: &[&str], push_urls: &[&str]) -> RemoteConfig {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        RemoteConfig { name: name.to_owned(), urls: owned(urls), push_urls: owned(push_urls) }
    }

    fn chosen(wanted: Option<&str>, remotes: &[RemoteConfig], rewrites: &Rewrites) -> Result<String, String> {
        match choose(wanted, remotes, rewrites) {
            Ok(None) => Ok("none".to_owned()),
            Ok(Some((name, address))) => Ok(format!("{} {address}", name.unwrap_or_default())),
            Err(failure) => Err(failure.detail),
        }
    }

    #[test]
    fn one_arbiter_or_a_refusal_by_name() {
        let plain = Rewrites::default();
        let origin = remote("origin", &["/a"], &[]);
        let gitlab = remote("gitlab", &["/g"], &[]);
        let upstream = remote("upstream", &["/u"], &[]);
        let ok = |text: &str| Ok(text.to_owned());
        let no = |text: &str| Err(text.to_owned());
        for (wanted, remotes, answer) in [
            (None, vec![], ok("none")),
            (Some("."), vec![origin.clone()], ok("none")),
            (None, vec![origin.clone(), upstream.clone()], ok("origin /a")),
            (None, vec![gitlab.clone()], ok("gitlab /g")),
            (None, vec![gitlab.clone(), upstream.clone()], no("several_remotes")),
            (Some("upstream"), vec![gitlab.clone(), upstream.clone()], ok("upstream /u")),
            (Some("nope"), vec![gitlab.clone()], no("no_such_remote")),
            (Some("/srv/x.git"), vec![gitlab], ok(" /srv/x.git")),
            (Some("--upload-pack=x/y"), vec![], no("no_such_remote")),
            (None, vec![remote("origin", &["/a"], &["/b"])], no("split_remote")),
            (None, vec![remote("origin", &["/a"], &["/a"])], ok("origin /a")),
            (None, vec![remote("origin", &["/a"], &["/a", "/b"])], no("split_remote")),
            (None, vec![remote("origin", &["/a", "/b"], &[])], no("split_remote")),
            (None, vec![remote("origin", &[], &["/b"])], no("split_remote")),
        ] {
            assert_eq!(chosen(wanted, &remotes, &plain), answer, "{wanted:?} {remotes:?}");
        }
    }

    #[test]
    fn rewritten_addresses_count() {
        let pair = |base: &str, prefix: &str| (base.to_owned(), prefix.to_owned());
        let https = remote("origin", &["https://h/x.git"], &[]);
        let push = Rewrites { both: vec![], push: vec![pair("git@h:", "https://h/")] };
        assert_eq!(chosen(None, std::slice::from_ref(&https), &push), Err("split_remote".to_owned()));
        let both = Rewrites { both: vec![pair("git@h:", "https://h/")], push: vec![] };
        assert_eq!(
            chosen(None, &[https], &both),
            Ok("origin https://h/x.git".to_owned()),
            "git rewrites it itself"
        );
        let rules = [pair("A", "https://"), pair("B", "https://h/")];
        assert_eq!(rewritten("https://h/x", &rules).as_deref(), Some("Bx"), "the longest prefix wins");
    }
}
