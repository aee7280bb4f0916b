//! The operation in which git made a commit: a cherry-pick, a revert or a squash, by git's own state files.
//!
//! git removes `CHERRY_PICK_HEAD`, `REVERT_HEAD` and `SQUASH_MSG` before post-commit, and the rest (the reflog's
//! action, the message) can be set by anyone. So prepare-commit-msg, which sees the files, leaves a note for
//! post-commit. It holds for one commit: it names the parent and the git processes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{GitProcess, RecordError, Result, file};
use andon_core::domain::{CommitId, CommitKind};

const MAX_BYTES: u64 = 4096;

/// An operation of git that asked for a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationInProgress {
    /// The kind of its commit.
    pub kind: CommitKind,
    /// The commits that it squashes, or the one that it picks or reverts.
    #[serde(default, rename = "squashed", skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<CommitId>,
    /// HEAD then.
    pub head: CommitId,
    /// The git processes above the hook; empty where the system does not tell.
    #[serde(default, rename = "by")]
    pub asked_by: Vec<GitProcess>,
}

fn path(git_dir: &Path) -> PathBuf {
    git_dir.join("andon").join("underway")
}

/// Leaves the word in the git directory of the worktree.
///
/// # Errors
/// [`RecordError::Io`] naming the file.
pub fn write(git_dir: &Path, underway: &OperationInProgress) -> Result<()> {
    let path = path(git_dir);
    let text = serde_json::to_vec(underway).unwrap_or_default();
    file::replace(&path, &text).map_err(|source| RecordError::Io { doing: "write", path, source })
}

/// The note for a commit on `parent` that the git processes `now` make; it is removed.
pub fn take(git_dir: &Path, parent: Option<CommitId>, now: &[GitProcess]) -> Option<OperationInProgress> {
    let path = path(git_dir);
    let bytes = file::read(&path, MAX_BYTES).ok()??;
    // A file that cannot be removed names a commit that nothing is made on again by the same process.
    let _ = std::fs::remove_file(&path);
    let left: OperationInProgress = serde_json::from_slice(&bytes).ok()?;
    let of_them = now.is_empty() || now.iter().any(|one| left.asked_by.contains(one));
    Some(left).filter(|left| of_them && Some(left.head) == parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Oid;

    #[test]
    fn a_word_holds_for_one_commit_of_one_process() {
        let dir = tempfile::tempdir().unwrap();
        let id = |byte: u8| CommitId(Oid::from_bytes(&[byte; 20]).unwrap());
        let git = |pid| GitProcess { pid, started: 7 };
        let sources = vec![id(8), id(9)];
        let left = OperationInProgress {
            kind: CommitKind::Revert,
            sources,
            head: id(1),
            asked_by: vec![git(5), git(4)],
        };
        let taken = |parent: u8, now: &[GitProcess]| {
            write(dir.path(), &left).unwrap();
            take(dir.path(), Some(id(parent)), now)
        };
        assert_eq!(take(dir.path(), Some(id(1)), &[git(5)]), None);
        assert_eq!(taken(1, &[git(5)]), Some(left.clone()));
        assert_eq!(take(dir.path(), Some(id(1)), &[git(5)]), None, "it is taken away");
        assert_eq!(taken(1, &[git(9), git(4)]), Some(left.clone()));
        assert_eq!(taken(1, &[]), Some(left.clone()));
        assert_eq!(taken(2, &[git(5)]), None);
        assert_eq!(taken(1, &[git(6)]), None);
        for bytes in [&b""[..], b"{", b"\xff", b"{\"head\":\"x\",\"kind\":\"revert\"}"] {
            std::fs::write(path(dir.path()), bytes).unwrap();
            assert_eq!(take(dir.path(), None, &[]), None);
        }
    }
}
