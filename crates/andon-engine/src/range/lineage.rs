//! One fold for each line of first parents, over the commits of a range.
//!
//! A range lists the commits of parallel branches mixed. Folded as one line, work that was merged with
//! `--no-ff` alternates with the branch it was merged into (each merge has the tree of the work), and branches
//! that fail in the same way look like one that does. Hooks follow first parents; so does this.

use std::collections::BTreeMap;

use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Span;
use andon_core::history::Fold;

/// The open lines.
pub struct Lineages {
    session_gap: Span,
    /// How many commits of the range have this one as their first parent and were not yet taken.
    children: BTreeMap<CommitId, usize>,
    /// The fold up to a commit that still has such children.
    open: BTreeMap<CommitId, Fold>,
}

impl Lineages {
    /// The lines of commits with these first parents, where they have one.
    pub fn new(parents: impl Iterator<Item = CommitId>, session_gap: Span) -> Self {
        let mut children: BTreeMap<CommitId, usize> = BTreeMap::new();
        for parent in parents {
            *children.entry(parent).or_default() += 1;
        }
        Self { session_gap, children, open: BTreeMap::new() }
    }

    /// The fold before a commit: that of its first `parent`, or what `before` gives where the range begins.
    pub fn before(&mut self, parent: Option<CommitId>, before: impl FnOnce(Fold) -> Fold) -> Fold {
        let known = parent.and_then(|parent| {
            let left = self.children.get_mut(&parent)?;
            *left = left.saturating_sub(1);
            if *left == 0 { self.open.remove(&parent) } else { self.open.get(&parent).cloned() }
        });
        known.unwrap_or_else(|| before(Fold::new(self.session_gap)))
    }

    /// Keeps the fold after `commit` for its children.
    pub fn after(&mut self, commit: CommitId, fold: Fold) {
        if self.goes_on(commit) {
            self.open.insert(commit, fold);
        }
    }

    /// Whether the range has a commit on top of `commit` that was not yet taken.
    pub fn goes_on(&self, commit: CommitId) -> bool {
        self.children.get(&commit).is_some_and(|left| *left > 0)
    }
}
