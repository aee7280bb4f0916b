//! Revisions and ranges.

use git2::{ErrorCode, ObjectType, Sort};

use super::error::{GitError, cut};
use super::head::Head;
use super::objects::from_git2;
use super::repo::Repo;
use crate::domain::ids::CommitId;

/// Longest part of a revision that an error repeats, in characters.
const SHOWN: usize = 200;

impl Repo {
    /// The commit that `rev` names (tags are followed). The error names `rev`.
    pub fn resolve(&self, rev: &str) -> Result<CommitId, GitError> {
        if rev.is_empty() || rev.contains('\0') {
            return Err(self.unknown(rev));
        }
        let object = match self.inner.revparse_single(rev) {
            Ok(object) => object,
            Err(error) => return Err(self.resolve_error(rev, &error)),
        };
        match object.peel(ObjectType::Commit) {
            Ok(commit) => Ok(CommitId(from_git2(commit.id()))),
            Err(_) => {
                let kind = object.kind().map_or("object", |kind| kind.str());
                let message = format!("it is a {kind} ({})", object.id());
                Err(GitError::NotACommit { rev: cut(rev, SHOWN), message })
            }
        }
    }

    fn resolve_error(&self, rev: &str, error: &git2::Error) -> GitError {
        match self.head() {
            Ok(Head::Unborn { branch })
                if rev.starts_with("HEAD") || rev.starts_with('@') || rev == branch =>
            {
                return GitError::Unborn { rev: cut(rev, SHOWN), branch };
            }
            Ok(Head::Unborn { .. } | Head::Branch { .. } | Head::Detached { .. }) | Err(_) => {}
        }
        if error.code() == ErrorCode::Ambiguous {
            return GitError::NotACommit { rev: cut(rev, SHOWN), message: error.message().to_owned() };
        }
        self.unknown(rev)
    }

    fn unknown(&self, rev: &str) -> GitError {
        GitError::UnknownRevision { rev: cut(rev, SHOWN), shallow: self.is_shallow() }
    }

    /// The commits of `A..B` (in B, not in A), `A...B` (in either, not in both) or `REV` (all that it
    /// reaches), parents before children. An empty side is HEAD.
    pub fn range(&self, spec: &str) -> Result<Vec<CommitId>, GitError> {
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

    /// The commits that `tip` reaches and `base` does not, parents before children.
    pub fn range_between(&self, base: Option<CommitId>, tip: CommitId) -> Result<Vec<CommitId>, GitError> {
        let spec = base.map_or_else(|| tip.to_string(), |base| format!("{base}..{tip}"));
        self.walk(&spec, &[tip], base.as_slice())
    }

    fn walk(&self, spec: &str, from: &[CommitId], hide: &[CommitId]) -> Result<Vec<CommitId>, GitError> {
        let first = from.first().copied();
        let failed = |error: &git2::Error| match first {
            Some(tip) => self.object_error("history of commit", tip.0, error),
            None => self.unknown(spec),
        };
        let mut walk = self.inner.revwalk().map_err(|error| failed(&error))?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE).map_err(|error| failed(&error))?;
        for commit in from {
            walk.push(self.to_git2("commit", commit.0)?).map_err(|error| failed(&error))?;
        }
        for commit in hide {
            walk.hide(self.to_git2("commit", commit.0)?).map_err(|error| failed(&error))?;
        }
        let mut commits = Vec::new();
        for id in walk {
            commits.push(CommitId(from_git2(id.map_err(|error| failed(&error))?)));
        }
        if !hide.is_empty() {
            self.refuse_cut(spec, &commits)?;
        }
        Ok(commits)
    }

    /// In a shallow clone a range with a lower end must not reach the cut: commits would be missing unseen.
    fn refuse_cut(&self, spec: &str, commits: &[CommitId]) -> Result<(), GitError> {
        if !self.is_shallow() {
            return Ok(());
        }
        let path = self.common_dir().join("shallow");
        let text = std::fs::read_to_string(&path).map_err(|source| GitError::Io { path, source })?;
        let cuts: std::collections::BTreeSet<CommitId> =
            text.lines().filter_map(|line| line.parse().ok()).collect();
        match commits.iter().find(|commit| cuts.contains(commit)) {
            Some(commit) => Err(GitError::ShallowRange { spec: cut(spec, SHOWN), commit: *commit }),
            None => Ok(()),
        }
    }

    fn merge_bases(&self, one: CommitId, two: CommitId) -> Result<Vec<CommitId>, GitError> {
        let (left, right) = (self.to_git2("commit", one.0)?, self.to_git2("commit", two.0)?);
        match self.inner.merge_bases(left, right) {
            Ok(bases) => Ok(bases.iter().map(|base| CommitId(from_git2(*base))).collect()),
            Err(error) if error.code() == ErrorCode::NotFound => {
                self.find_commit(one)?;
                self.find_commit(two)?;
                Ok(Vec::new())
            }
            Err(error) => Err(self.object_error("history of commit", one.0, &error)),
        }
    }

    /// A best common ancestor; `None` for unrelated histories.
    pub fn merge_base(&self, one: CommitId, two: CommitId) -> Result<Option<CommitId>, GitError> {
        Ok(self.merge_bases(one, two)?.first().copied())
    }

    /// Whether `descendant` reaches `ancestor`; a commit reaches itself.
    pub fn is_ancestor(&self, ancestor: CommitId, descendant: CommitId) -> Result<bool, GitError> {
        if ancestor == descendant {
            return Ok(true);
        }
        let (below, above) = (self.to_git2("commit", ancestor.0)?, self.to_git2("commit", descendant.0)?);
        self.inner
            .graph_descendant_of(above, below)
            .map_err(|error| self.object_error("history of commit", descendant.0, &error))
    }
}
