//! Where a commit can be looked at: the forge whose CI runs the check.

use andon_core::domain::ids::CommitId;
use andon_engine::context::Context;

/// Longest address that is used.
const MAX_ADDRESS: usize = 500;

/// A forge that is known by the variables of its CI.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forge {
    /// The address of the repository, and what is between it and the id of a commit.
    repository: Option<(String, &'static str)>,
}

impl Forge {
    /// The forge whose CI this is.
    pub fn of(ctx: &Context) -> Self {
        let github = || {
            let (server, repository) = ctx.var("GITHUB_SERVER_URL").zip(ctx.var("GITHUB_REPOSITORY"))?;
            Some((format!("{server}/{repository}"), "/commit/"))
        };
        let gitlab = || Some((ctx.var("CI_PROJECT_URL")?.to_owned(), "/-/commit/"));
        Self { repository: github().or_else(gitlab).filter(|(address, _)| is_plain(address)) }
    }

    /// The address of the repository, where the forge is known.
    pub(super) fn repository(&self) -> Option<&str> {
        self.repository.as_ref().map(|(address, _)| address.as_str())
    }

    /// A commit in Markdown: a link where the forge is known.
    pub(super) fn commit(&self, commit: CommitId) -> String {
        let short = commit.short();
        match &self.repository {
            Some((address, commits)) => format!("[`{short}`]({address}{commits}{commit})"),
            None => format!("`{short}`"),
        }
    }
}

/// Whether nothing in an address ends a link of Markdown.
fn is_plain(address: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/%+@".contains(c);
    address.len() <= MAX_ADDRESS && address.starts_with("https://") && address.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::samples;

    #[test]
    fn a_commit_is_a_link_where_the_forge_is_known() {
        let known = Forge { repository: Some(("https://git.example/a/b".to_owned(), "/commit/")) };
        let commit = samples::commit(1);
        assert_eq!(
            known.commit(commit),
            format!("[`010101010101`](https://git.example/a/b/commit/{commit})")
        );
        assert_eq!(known.repository(), Some("https://git.example/a/b"));
        assert_eq!(Forge::default().commit(commit), "`010101010101`");
        assert!(is_plain("https://github.com/a/b"));
        for odd in ["http://x/", "https://x/)[y](z", "https://x/ y", "javascript:1", ""] {
            assert!(!is_plain(odd), "{odd}");
        }
    }
}
