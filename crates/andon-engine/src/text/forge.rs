//! Links to commits and files at a forge: the one whose CI this is, or the one that the repository is pushed to.

use std::collections::BTreeSet;

use crate::Context;
use andon_core::domain::CommitId;
use andon_git::Repo;

/// Longest address that is used.
const MAX_ADDRESS: usize = 500;

/// The addresses of a commit and a file at a kind of forge: with the address of the repository before it, the commit in
/// place of `{}`, and before the number of a line.
#[derive(Debug, PartialEq, Eq)]
struct Kind {
    /// Names of its hosts: the whole name, or one label of it.
    hosts: &'static [&'static str],
    commit: &'static str,
    file: &'static str,
    line: &'static str,
}

const GITHUB: Kind = Kind { hosts: &["github"], commit: "/commit/", file: "/blob/{}/", line: "#L" };
const GITLAB: Kind = Kind { hosts: &["gitlab"], commit: "/-/commit/", file: "/-/blob/{}/", line: "#L" };
const GITEA: Kind = Kind {
    hosts: &["gitea", "forgejo", "codeberg"],
    commit: "/commit/",
    file: "/src/commit/{}/",
    line: "#L",
};
const BITBUCKET: Kind =
    Kind { hosts: &["bitbucket"], commit: "/commits/", file: "/src/{}/", line: "#lines-" };
const SOURCEHUT: Kind =
    Kind { hosts: &["git.sr.ht"], commit: "/commit/", file: "/tree/{}/item/", line: "#L" };
const KINDS: [&Kind; 5] = [&GITHUB, &GITLAB, &GITEA, &BITBUCKET, &SOURCEHUT];

/// A forge, with what it does not have yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forge {
    /// The address of the repository, and the kind.
    site: Option<(String, &'static Kind)>,
    /// Commits that were not pushed: a link to them would lead nowhere.
    unpushed: BTreeSet<CommitId>,
}

impl Forge {
    /// The forge whose CI this is: it has what is checked here. Without one, as [`Forge::of_remote`].
    pub fn detect(ctx: &Context, repo: &Repo, commits: &[CommitId]) -> Self {
        let github = || {
            let (server, repository) = ctx.var("GITHUB_SERVER_URL").zip(ctx.var("GITHUB_REPOSITORY"))?;
            // The runners of Gitea and Forgejo set the same variables.
            let kind = if ctx.var("GITEA_ACTIONS").is_some() { &GITEA } else { &GITHUB };
            Some((format!("{server}/{repository}"), kind))
        };
        let gitlab = || Some((ctx.var("CI_PROJECT_URL")?.to_owned(), &GITLAB));
        match github().or_else(gitlab).filter(|(address, _)| is_plain(address)) {
            Some(site) => Self { site: Some(site), unpushed: BTreeSet::new() },
            None => Self::of_remote(repo, commits),
        }
    }

    /// The forge of the remote that the branch follows, else of `origin`, for `commits` and those below them.
    pub fn of_remote(repo: &Repo, commits: &[CommitId]) -> Self {
        let remote = repo.upstream_remote().unwrap_or_else(|| "origin".to_owned());
        let found = || {
            let site = site(&repo.config_string(&format!("remote.{remote}.url"))?)?;
            let branches = repo.refs_with_prefix(&format!("refs/remotes/{remote}/")).ok()?;
            let tips: Vec<CommitId> =
                branches.iter().filter_map(|(name, _)| repo.ref_commit(name).ok().flatten()).collect();
            // If nothing is known to be pushed, nothing is linked, and no history is walked.
            tips.first()?;
            let unpushed = repo.reached(commits, &tips).ok()?.into_iter().collect();
            Some(Self { site: Some(site), unpushed })
        };
        found().unwrap_or_default()
    }

    /// The address of the repository, where the forge is known.
    pub fn repository(&self) -> Option<&str> {
        self.site.as_ref().map(|(address, _)| address.as_str())
    }

    /// The page of a commit.
    pub fn commit(&self, commit: CommitId) -> Option<String> {
        let (address, kind) = self.site_of(commit)?;
        Some(format!("{address}{}{commit}", kind.commit))
    }

    /// The page of a file as it is in a commit, at a line.
    pub fn file(&self, commit: CommitId, path: &str, line: Option<usize>) -> Option<String> {
        let (address, kind) = self.site_of(commit)?;
        let file = kind.file.replace("{}", &commit.to_string());
        let line = line.map_or_else(String::new, |line| format!("{}{line}", kind.line));
        Some(format!("{address}{file}{}{line}", encoded(path)))
    }

    /// A commit in Markdown: a link where it has a page.
    pub fn in_markdown(&self, commit: CommitId) -> String {
        let short = commit.short();
        match self.commit(commit) {
            Some(page) => format!("[`{short}`]({page})"),
            None => format!("`{short}`"),
        }
    }

    fn site_of(&self, commit: CommitId) -> Option<&(String, &'static Kind)> {
        self.site.as_ref().filter(|_| !self.unpushed.contains(&commit))
    }
}

/// The address of a repository on the web, by the URL that git uses, without user and password; `None` for an
/// unknown kind of host.
fn site(url: &str) -> Option<(String, &'static Kind)> {
    let (host, path) = match url.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => {
            let (authority, path) = rest.split_once('/')?;
            let host = authority.rsplit('@').next()?;
            // The port of another protocol is not that of the web.
            let host = if url.starts_with("https:") { host } else { host.split(':').next()? };
            (host, path)
        }
        Some(_) => return None,
        // `git@host:path`, and no path of Windows.
        None => {
            let (authority, path) = url.split_once(':').filter(|(authority, _)| authority.len() > 1)?;
            (authority.rsplit('@').next()?, path)
        }
    };
    let named = |name: &&str| host == *name || host.split('.').any(|label| label == *name);
    let kind = KINDS.into_iter().find(|kind| kind.hosts.iter().any(named))?;
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let address = format!("https://{host}/{path}");
    is_plain(&address).then_some((address, kind))
}

/// True if nothing in an address ends a link of Markdown.
fn is_plain(address: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/%+@".contains(c);
    address.len() <= MAX_ADDRESS && address.starts_with("https://") && address.chars().all(plain)
}

/// A path as part of an address.
fn encoded(path: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    path.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::samples;

    fn known(url: &str) -> Option<Forge> {
        Some(Forge { site: Some(site(url)?), unpushed: BTreeSet::from([samples::commit(9)]) })
    }

    #[test]
    fn commits_files_and_lines_are_linked_where_the_forge_has_them() {
        let commit = samples::commit(1);
        let pages = |url: &str| {
            let forge = known(url)?;
            let site = format!("{}/", forge.repository()?);
            let short = |page: String| page.replace(&site, "").replace(&commit.to_string(), "ID");
            Some((short(forge.commit(commit)?), short(forge.file(commit, "a b/ü?.rs", Some(7))?)))
        };
        for (url, commit, file) in [
            ("git@github.com:a/b.git", "commit/ID", "blob/ID/a%20b/%C3%BC%3F.rs#L7"),
            (
                "https://user:secret@gitlab.example.org/g/s/b.git/",
                "-/commit/ID",
                "-/blob/ID/a%20b/%C3%BC%3F.rs#L7",
            ),
            ("ssh://git@codeberg.org:2222/a/b", "commit/ID", "src/commit/ID/a%20b/%C3%BC%3F.rs#L7"),
            ("https://bitbucket.org/a/b", "commits/ID", "src/ID/a%20b/%C3%BC%3F.rs#lines-7"),
            ("https://git.sr.ht/~a/b", "commit/ID", "tree/ID/item/a%20b/%C3%BC%3F.rs#L7"),
        ] {
            assert_eq!(pages(url), Some((commit.to_owned(), file.to_owned())), "{url}");
        }
        let forge = known("https://me:secret@gitlab.example.org:8443/g/s/b.git").unwrap();
        assert_eq!(forge.repository(), Some("https://gitlab.example.org:8443/g/s/b"));
        assert_eq!(forge.in_markdown(samples::commit(9)), "`090909090909`", "it was not pushed");
        assert_eq!(
            forge.in_markdown(commit),
            format!("[`010101010101`](https://gitlab.example.org:8443/g/s/b/-/commit/{commit})")
        );
    }

    #[test]
    fn what_is_no_forge_has_no_links() {
        for url in [
            "/srv/github/b.git",
            "../github",
            "file:///github.com/a",
            "https://example.org/a/b",
            "C:\\github.com",
        ] {
            assert!(site(url).is_none(), "{url}");
        }
        assert!(site("git@github.com:a/b)[x](y").is_none(), "it would end the link");
        assert_eq!(Forge::default().in_markdown(samples::commit(1)), "`010101010101`");
        for odd in ["http://x/", "https://x/)[y](z", "https://x/ y", "javascript:1", ""] {
            assert!(!is_plain(odd), "{odd}");
        }
    }
}
