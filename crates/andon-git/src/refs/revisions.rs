//! Revisions and ranges.

use git2::ObjectType;

use crate::objects::{ancestry::Child, from_git2};
use crate::{GitError, Repo, Result, error::cut, refs::Head};
use andon_core::domain::{CommitId, Oid, TreeId};

/// Longest part of a revision that an error repeats, in characters.
const SHOWN: usize = 200;
/// Most tags that are followed, one to the next.
const MAX_TAGS: usize = 16;

impl Repo {
    /// The commit that `rev` names (tags are followed). The error names `rev`.
    pub fn resolve(&self, rev: &str) -> Result<CommitId> {
        if rev.is_empty() || rev.starts_with('-') || rev.contains('\0') {
            return Err(self.unknown(rev));
        }
        let found = match self.named(rev) {
            Some(id) => Ok(Some(id)),
            None => self.asked(rev),
        };
        match found {
            Ok(Some(id)) => self.commit_at(rev, id),
            Ok(None) | Err(GitError::Missing { .. }) => Err(self.unresolved(rev)),
            Err(error) => Err(error),
        }
    }

    /// The commit that object `id` is, or that the tags at it lead to.
    fn commit_at(&self, rev: &str, id: Oid) -> Result<CommitId> {
        match self.peeled(id) {
            Ok((peeled, ObjectType::Commit)) => Ok(CommitId(peeled)),
            Ok((peeled, kind)) => Err(GitError::NotACommit {
                rev: cut(rev, SHOWN),
                message: format!("it is a {kind} ({peeled})"),
            }),
            Err(GitError::Missing { .. }) => Err(self.unresolved(rev)),
            Err(error) => Err(error),
        }
    }

    /// The object that the tags at `id` lead to, and its type.
    fn peeled(&self, mut id: Oid) -> Result<(Oid, ObjectType)> {
        for _ in 0..MAX_TAGS {
            let wanted = self.vetted("object", id)?;
            let failed = |error: git2::Error| self.object_error("object", id, &error);
            let (_, kind) = self.inner.odb().and_then(|odb| odb.read_header(wanted)).map_err(failed)?;
            if kind != ObjectType::Tag {
                return Ok((id, kind));
            }
            id = from_git2(self.inner.find_tag(wanted).map_err(failed)?.target_id());
        }
        Ok((id, ObjectType::Tag))
    }

    /// The object that a whole id or the name of a ref means: a hook resolves no other form.
    fn named(&self, name: &str) -> Option<Oid> {
        if let Ok(id) = name.parse::<Oid>() {
            let id = self.to_git2("object", id).ok()?;
            return self.inner.odb().ok()?.exists(id).then(|| from_git2(id));
        }
        let name = if name == "@" { "HEAD" } else { name };
        self.inner.resolve_reference_from_short_name(name).ok()?.target().map(from_git2)
    }

    /// Asks the git program, which knows every form (`HEAD@{1}`, `:/text`, `HEAD:file`).
    fn asked(&self, rev: &str) -> Result<Option<Oid>> {
        match self.git(&["rev-parse", "--verify", "--quiet", "--end-of-options", rev], b"") {
            Ok(answer) => Ok(String::from_utf8_lossy(&answer.stdout).trim().parse().ok()),
            // A damaged object is no unknown revision.
            Err(GitError::Program { stderr, .. }) if !stderr.contains("corrupt") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the error that says why `rev` leads to nothing.
    fn unresolved(&self, rev: &str) -> GitError {
        match self.head() {
            Ok(Head::Unborn { branch })
                if rev.starts_with("HEAD") || rev.starts_with('@') || rev == branch =>
            {
                GitError::Unborn { rev: cut(rev, SHOWN), branch }
            }
            Ok(Head::Unborn { .. } | Head::Branch { .. } | Head::Detached { .. }) | Err(_) => {
                self.unknown(rev)
            }
        }
    }

    fn unknown(&self, rev: &str) -> GitError {
        let unknown = GitError::UnknownRevision { rev: cut(rev, SHOWN), shallow: self.is_shallow() };
        self.unreadable().unwrap_or(unknown)
    }

    /// The commits of `A..B` (in B, not in A), `A...B` (in either, not in both) or `REV` (all that it
    /// reaches), parents before children. An empty side is HEAD.
    pub fn range(&self, spec: &str) -> Result<Vec<CommitId>> {
        Ok(self.range_with_parents(spec)?.into_iter().map(|(commit, _)| commit).collect())
    }

    /// The same, each with its first parent.
    pub fn range_with_parents(&self, spec: &str) -> Result<Vec<Child>> {
        let side = |rev: &str| self.resolve(if rev.is_empty() { "HEAD" } else { rev });
        if let Some((left, right)) = spec.split_once("...") {
            let (left, right) = (side(left)?, side(right)?);
            let bases = self.merge_bases(left, right)?;
            return self.walk(spec, &[left, right], &bases);
        }
        match spec.split_once("..") {
            Some((left, right)) => {
                let (left, right) = (side(left)?, side(right)?);
                self.walk(spec, &[right], &[left])
            }
            None => self.walk(spec, &[self.resolve(spec)?], &[]),
        }
    }

    fn walk(&self, spec: &str, from: &[CommitId], hidden: &[CommitId]) -> Result<Vec<Child>> {
        let commits = self.reached_with_parents(from, hidden)?;
        let cuts = self.cuts()?;
        // In a shallow clone a range with a lower end must not reach the cut: commits would be missing unseen.
        match commits.iter().find(|(commit, _)| !hidden.is_empty() && cuts.contains(commit)) {
            Some((commit, _)) => Err(GitError::ShallowRange { spec: cut(spec, SHOWN), commit: *commit }),
            None => Ok(commits),
        }
    }

    /// True if a shallow clone was cut at `commit`: then its parents are not shown.
    pub fn is_cut_at(&self, commit: CommitId) -> Result<bool> {
        Ok(self.cuts()?.contains(&commit))
    }

    fn cuts(&self) -> Result<std::collections::BTreeSet<CommitId>> {
        if !self.is_shallow() {
            return Ok(std::collections::BTreeSet::new());
        }
        let path = self.common_dir().join("shallow");
        let text = std::fs::read_to_string(&path).map_err(|source| GitError::Io { path, source })?;
        Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
    }

    /// The tree that merging `theirs` into `ours` gives; `None` where they conflict, or git is older than 2.38. Only
    /// objects are written. By the git program: libgit2's merge would be a good part of the size of this one.
    pub fn merged_tree(&self, ours: CommitId, theirs: CommitId) -> Result<Option<TreeId>> {
        let (ours, theirs) = (ours.to_string(), theirs.to_string());
        let args = ["--no-replace-objects", "merge-tree", "--write-tree", "--no-messages", &ours, &theirs];
        match self.git(&args, b"") {
            Ok(answer) => Ok(String::from_utf8_lossy(&answer.stdout).trim().parse().ok().map(TreeId)),
            Err(GitError::Program { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testkit::{Scratch, git_in};
    use crate::{Repo, RepoEnv};

    /// A small history with a merge and a side branch.
    fn history() -> Scratch {
        let scratch = Scratch::new();
        scratch.commit("a", "1", "one");
        scratch.git(&["branch", "side"]);
        scratch.commit("a", "2", "two");
        scratch.git(&["checkout", "-q", "side"]);
        scratch.commit("b", "1", "side one");
        scratch.commit("b", "2", "side two");
        scratch.git(&["checkout", "-q", "main"]);
        scratch.git(&["merge", "-q", "--no-edit", "--no-ff", "side~1"]);
        scratch.commit("a", "3", "three");
        scratch.git(&["tag", "-a", "-m", "tagged", "v1", "HEAD~1"]);
        scratch
    }

    #[test]
    fn ranges_hold_what_git_says_parents_first() {
        let scratch = history();
        let repo = scratch.open();
        for spec in [
            "main",
            "HEAD",
            "side..main",
            "main..side",
            "main...side",
            "..side",
            "side..",
            "v1..",
            "main..main",
            "main~2",
        ] {
            let range = repo.range(spec).unwrap();
            let by_git: BTreeSet<CommitId> =
                scratch.git(&["rev-list", spec]).lines().map(|line| line.parse().unwrap()).collect();
            assert_eq!(range.iter().copied().collect::<BTreeSet<_>>(), by_git, "{spec}");
            assert_eq!(range.len(), by_git.len(), "{spec}");
            for (at, commit) in range.iter().enumerate() {
                for parent in repo.commit(*commit).unwrap().parents {
                    assert!(
                        range[at..].iter().all(|later| *later != parent),
                        "{spec}: a parent after its child"
                    );
                }
            }
        }
    }

    #[test]
    fn ancestry_is_reported() {
        let scratch = history();
        let repo = scratch.open();
        let (main, side) = (scratch.rev("main"), scratch.rev("side"));
        assert_eq!(repo.merge_base(main, side).unwrap(), Some(scratch.rev("side~1")));
        assert!(repo.is_ancestor(scratch.rev("side~1"), main).unwrap());
        assert!(repo.is_ancestor(main, main).unwrap());
        assert!(!repo.is_ancestor(main, side).unwrap());
        scratch.git(&["checkout", "-q", "--orphan", "alone"]);
        let alone = scratch.commit("z", "1", "alone");
        assert_eq!(repo.merge_base(alone, main).unwrap(), None);
        assert_eq!(repo.range("alone...main").unwrap().len(), repo.range("main").unwrap().len() + 1);
    }

    #[test]
    fn errors_name_the_revision() {
        let scratch = history();
        let repo = scratch.open();
        for rev in
            ["nope", "main~99", "deadbeef", "", "a\0b", "main^{nonsense}", "--all", ":/nothing like it"]
        {
            let error = repo.resolve(rev).unwrap_err();
            assert!(
                matches!(error, GitError::UnknownRevision { .. } | GitError::NotACommit { .. }),
                "{error}"
            );
            assert!(error.to_string().contains(&format!("{rev:?}")), "{error}");
        }
        let error = repo.range("side..nope").unwrap_err();
        insta::assert_snapshot!(error.to_string(), @r#"unknown revision "nope""#);
        let blob = repo.resolve("HEAD:a").unwrap_err();
        assert!(blob.to_string().contains("it is a blob"), "{blob}");
        assert_eq!(repo.resolve("v1").unwrap(), scratch.rev("v1^{commit}"));
        let long = "x".repeat(5_000);
        assert!(repo.resolve(&long).unwrap_err().to_string().len() < 400);
    }

    #[test]
    fn a_branch_without_commits_says_so() {
        let repo_dir = Scratch::new();
        for spec in ["HEAD", "@", "main", "HEAD~1..", "..HEAD"] {
            let error = repo_dir.open().range(spec).unwrap_err();
            assert!(matches!(error, GitError::Unborn { .. }), "{spec}: {error}");
        }
    }

    #[test]
    fn a_range_across_the_cut_of_a_shallow_clone_is_refused() {
        let scratch = Scratch::new();
        for number in 0..6 {
            scratch.commit("a", &number.to_string(), &format!("{number}"));
        }
        let shallow = scratch.beside("shallow");
        let url = format!("file://{}", scratch.path().display());
        git_in(&scratch.path(), &["clone", "-q", "--depth=3", &url, shallow.to_str().unwrap()]);
        let repo = Repo::open(&shallow, &RepoEnv::default()).unwrap();
        assert!(repo.is_shallow());
        assert_eq!(repo.range("HEAD").unwrap().len(), 3);
        assert_eq!(repo.range("HEAD~1..HEAD").unwrap().len(), 1);
        let error = repo.resolve("HEAD~4").unwrap_err();
        insta::assert_snapshot!(error.to_string(), @r#"unknown revision "HEAD~4" (this clone is shallow)"#);
        assert_eq!(error.help().as_deref(), Some("git fetch --unshallow"));
        git_in(&shallow, &["fetch", "-q", "--depth=1", "origin", &scratch.rev("HEAD~5").to_string()]);
        let base = scratch.rev("HEAD~5");
        let error = repo.range(&format!("{base}..HEAD")).unwrap_err();
        assert!(matches!(error, GitError::ShallowRange { .. }), "{error}");
    }

    #[test]
    fn a_damaged_history_names_the_missing_commit() {
        let scratch = history();
        let lost = scratch.rev("main~3").to_string();
        std::fs::remove_file(scratch.path().join(".git/objects").join(&lost[..2]).join(&lost[2..])).unwrap();
        let error = scratch.open().range("main").unwrap_err();
        assert!(matches!(error, GitError::Missing { .. }), "{error}");
    }
}
