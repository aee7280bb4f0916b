//! What a repository remembers of a commit that was made here, wherever HEAD has gone since.

use super::ids::CommitId;

/// A commit that was recorded in one of the repository's worktrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The commit as it was recorded; a reset may have left it unreachable.
    pub commit: CommitId,
    /// Its first parent; `None` for a root commit.
    pub parent: Option<CommitId>,
    /// The worktree in which it was made. A worktree that is removed and added again is another one.
    pub worktree: String,
    /// The other linked worktrees that there were then.
    pub beside: Vec<String>,
}

impl Attempt {
    /// The main worktree, which is always there.
    pub const MAIN: &'static str = "main";
    /// Bound of [`Self::beside`].
    pub const MAX_BESIDE: usize = 256;
    /// The entry of [`Self::beside`] that marks a longer list.
    pub const MANY: &'static str = "*";

    /// Whether the worktree `here` is another one and was there when this commit was made: then both go their own ways.
    pub fn is_beside(&self, here: &str) -> bool {
        self.worktree != here
            && (here == Self::MAIN || self.beside.iter().any(|other| other == here || other == Self::MANY))
    }
}
