//! HEAD: a branch, a branch without commits, or a commit.

use git2::ErrorCode;

use crate::error::GitError;
use crate::objects::from_git2;
use crate::open::repo::Repo;
use andon_core::domain::ids::CommitId;

/// What HEAD points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch that has no commit yet.
    Unborn {
        /// Its name without `refs/heads/`.
        branch: String,
    },
    /// On a branch.
    Branch {
        /// Its name without `refs/heads/`.
        name: String,
        /// The commit that the branch points to.
        commit: CommitId,
    },
    /// On a commit.
    Detached {
        /// The commit that HEAD names directly.
        commit: CommitId,
    },
}

impl Head {
    /// The commit, unless there is none yet.
    pub fn commit(&self) -> Option<CommitId> {
        match self {
            Self::Unborn { .. } => None,
            Self::Branch { commit, .. } | Self::Detached { commit } => Some(*commit),
        }
    }

    /// The branch without `refs/heads/`, unless detached.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Unborn { branch } => Some(branch),
            Self::Branch { name, .. } => Some(name),
            Self::Detached { .. } => None,
        }
    }
}

impl Repo {
    /// Reads HEAD.
    pub fn head(&self) -> Result<Head, GitError> {
        let head = self.inner.find_reference("HEAD").map_err(|error| self.ref_error("HEAD", &error))?;
        let Some(target) = head.symbolic_target_bytes() else {
            let id = head.target().ok_or_else(|| self.ref_message("HEAD", "has no target"))?;
            return Ok(Head::Detached { commit: CommitId(from_git2(id)) });
        };
        let target = String::from_utf8_lossy(target).into_owned();
        let name = target.strip_prefix("refs/heads/").unwrap_or(&target).to_owned();
        match head.resolve() {
            Ok(tip) => {
                let id = tip.target().ok_or_else(|| self.ref_message(&target, "has no target"))?;
                Ok(Head::Branch { name, commit: CommitId(from_git2(id)) })
            }
            Err(error) if error.code() == ErrorCode::NotFound => Ok(Head::Unborn { branch: name }),
            Err(error) => Err(self.ref_error(&target, &error)),
        }
    }
}
