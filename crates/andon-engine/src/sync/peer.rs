//! The other side of a sync: a remote of git, which is remembered under names of its own, or an address (of a fork, a
//! bundle), which leaves nothing here but the records that were taken over.

use std::path::Path;

use crate::Result;
use andon_git::{GitError, RemoteError, Repo, is_bundle};
use andon_store::{ledger, notes, union};

/// The refs of an address while they are looked at: one folder a process.
const PASSING: &str = "refs/andon/passing/";

/// Who is synced with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// For people and for commands that they copy; without a password.
    pub label: String,
    /// The name or address that git is given.
    pub address: String,
    /// True for a remote that is configured here, false for an address.
    pub is_configured: bool,
    /// The ref under which its records are kept here.
    pub notes: String,
    /// The prefix of the refs under which its ledgers are kept here.
    pub(crate) ledgers: String,
    /// The prefix of the refs under which the records of its writers are kept here.
    pub records: String,
}

impl Peer {
    /// A remote by its name.
    pub fn remote(name: &str) -> Self {
        Self {
            label: name.to_owned(),
            address: name.to_owned(),
            is_configured: true,
            notes: format!("refs/notes/remotes/{name}/andon"),
            ledgers: format!("{}{name}/ledger/", ledger::REMOTE_PREFIX),
            records: format!("{}{name}/", union::REMOTE_PREFIX),
        }
    }

    /// Whatever git finds at `address`.
    pub fn passing(address: &str, label: &str) -> Self {
        let space = format!("{PASSING}{}/", std::process::id());
        Self {
            label: without_password(label),
            address: address.to_owned(),
            is_configured: false,
            notes: format!("{space}notes/andon"),
            ledgers: format!("{space}ledger/"),
            records: format!("{space}records/"),
        }
    }

    /// A bundle, whether or not it is there.
    pub fn bundle(file: &Path) -> Self {
        let path = file.display().to_string();
        Self::passing(&path, &path)
    }

    /// Returns the refspecs to fetch, with their destinations. They are patterns even where one ref is meant, because git
    /// refuses the whole fetch when a plainly named ref is missing on the other side.
    pub(crate) fn fetch_specs(&self) -> Vec<String> {
        vec![
            format!("+{}*:{}*", notes::REF, self.notes),
            format!("+{}*:{}*", ledger::REF_PREFIX, self.ledgers),
            format!("+{}*:{}*", union::PREFIX, self.records),
        ]
    }

    /// Forgets what was only passing through; also what a process that was killed left.
    pub fn forget(&self, repo: &Repo) -> Result<(), GitError> {
        if self.is_configured { Ok(()) } else { repo.drop_passing(PASSING) }
    }
}

/// The peer that was asked for; without a name the remote that the branch follows, `origin`, or the only one.
pub fn choose(repo: &Repo, asked: Option<&str>) -> Result<Peer> {
    let known = repo.remotes()?;
    let has = |name: &str| known.iter().any(|one| one == name);
    let chosen = match asked {
        Some(name) => Some(name.to_owned()),
        None => repo
            .upstream_remote()
            .or_else(|| has("origin").then(|| "origin".to_owned()))
            .or_else(|| known.first().filter(|_| known.len() == 1).cloned()),
    };
    match chosen {
        Some(name) if has(&name) => Ok(Peer::remote(&name)),
        // As git distinguishes an address from a name.
        Some(address) if address.contains([':', '/']) => Ok(Peer::passing(&address, &address)),
        _ => Err(RemoteError::Unknown { remote: asked.unwrap_or("origin").to_owned(), known }.into()),
    }
}

/// The remote `name` where a push to it goes to `url`; else the address itself (a push URL, or a push by URL).
pub(crate) fn pushed_to(repo: &Repo, name: &str, url: &str) -> Peer {
    let fetched = repo.config_string(&format!("remote.{name}.url"));
    if fetched.as_deref() == Some(url) {
        return Peer::remote(name);
    }
    Peer::passing(url, if fetched.is_some() { name } else { url })
}

/// A bundle at `file`, which has to be there when it is only read.
pub fn bundle(file: &Path, way: super::SyncDirection) -> Result<(Peer, bool)> {
    let there = is_bundle(file)?;
    if !there && way == super::SyncDirection::FetchOnly {
        let path = file.display().to_string();
        return Err(RemoteError::Bundle { path, why: "there is no such file".to_owned() }.into());
    }
    Ok((Peer::bundle(file), there))
}

/// `https://user:secret@host/x` without the part before the `@`.
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let host = rest.split('/').next().unwrap_or_default();
    match host.rsplit_once('@') {
        Some((who, _)) if who.contains(':') || scheme.starts_with("http") => {
            format!("{scheme}://{}", &rest[who.len() + 1..])
        }
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (address, shown) in [
            ("https://me:secret@example.org/x.git", "https://example.org/x.git"),
            ("https://token@example.org/x@y.git", "https://example.org/x@y.git"),
            ("https://example.org/x@y.git", "https://example.org/x@y.git"),
            ("ssh://git@example.org/x.git", "ssh://git@example.org/x.git"),
            ("git@example.org:x.git", "git@example.org:x.git"),
            ("/srv/x.git", "/srv/x.git"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
