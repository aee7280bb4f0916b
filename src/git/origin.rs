//! How HEAD's commit came to be, and which operation is under way.

use super::error::GitError;
use super::repo::Repo;
use crate::domain::facts::CommitKind;
use crate::domain::ids::CommitId;

/// An operation of git that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// None.
    None,
    /// A merge that waits for its commit.
    Merge,
    /// A cherry-pick.
    CherryPick,
    /// A revert.
    Revert,
    /// A rebase, or `git am`.
    Rebase,
}

impl Repo {
    /// The operation under way, from git's state files. Rebase wins: its picks leave `CHERRY_PICK_HEAD` too.
    pub fn operation(&self) -> Operation {
        let there = |name: &str| self.git_dir().join(name).exists();
        if there("rebase-merge") || there("rebase-apply") {
            Operation::Rebase
        } else if there("CHERRY_PICK_HEAD") {
            Operation::CherryPick
        } else if there("REVERT_HEAD") {
            Operation::Revert
        } else if there("MERGE_HEAD") {
            Operation::Merge
        } else {
            Operation::None
        }
    }

    /// How commit `head` came to be.
    pub fn commit_origin(&self, head: CommitId) -> Result<CommitKind, GitError> {
        if self.commit(head)?.parents.len() > 1 {
            return Ok(CommitKind::Merge);
        }
        Ok(CommitKind::Normal)
    }
}
