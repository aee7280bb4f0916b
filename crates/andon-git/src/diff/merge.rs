//! Whether a commit is what it says: the tree that git makes of its parents, or of the commit it reverts or picks.
//!
//! A merge, revert or cherry-pick without manual changes is a function of existing commits, so it can be made again and
//! compared. Messages, reflogs and records are only claims. Nothing is written and no program is started: the merge is
//! one of paths ([`crate::diff::merge_paths`]), at the cost of what changed. Where that gives another tree, libgit2's
//! own merge, which follows renames, is tried in memory, if there is at most one merge base. git may know a way to
//! merge what neither does: such a commit counts as ordinary work, which needs tests like any other.

use std::collections::HashSet;

use crate::diff::merge_paths::ExpectedMerge;
use crate::error::GitError;
use crate::objects::{MODE_SUBMODULE, MODE_TREE, commits::CommitInfo, from_git2};
use crate::open::repo::Repo;
use andon_core::domain::facts::CommitKind;
use andon_core::domain::ids::{CommitId, Oid, TreeId};

/// Most entries of a tree for which libgit2's merge is tried: it looks at all of them.
const MAX_ENTRIES: usize = 100_000;
/// Most files whose contents libgit2 compares to find renames.
const RENAMES: u32 = 400;
/// Most merge bases that are tried.
const MAX_BASES: usize = 4;
/// Most directories above each other below which a merge is looked for.
const MAX_DEPTH: usize = 16;
/// Most of a message that is searched for the commits it names, in bytes.
const MAX_MESSAGE: usize = 64 * 1024;
/// Most commits that are taken from a message.
const MAX_NAMED: usize = 8;
/// Fewest digits of an id in a message.
const MIN_DIGITS: usize = 7;

/// The claim of a commit about what it is, with the commit it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeClaim {
    /// The merge of its parents.
    Merge,
    /// The revert of a commit.
    Revert(CommitId),
    /// A commit applied once more: a cherry-pick, or a step of a rebase.
    Pick(CommitId),
    /// The merge of its parent and that commit, without the second parent.
    Squash(CommitId),
    /// Commits applied one after the other, as a rebase does with what it fixes up or squashes.
    Joined(Vec<CommitId>),
}

impl MergeClaim {
    /// The commits whose changes were applied, in their order; none of what was merged or taken back.
    pub fn applied(&self) -> &[CommitId] {
        match self {
            Self::Pick(one) => std::slice::from_ref(one),
            Self::Joined(all) => all,
            Self::Merge | Self::Revert(_) | Self::Squash(_) => &[],
        }
    }
}

/// The verdict on whether a tree is what git makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeVerdict {
    /// It is: nothing in it was made by hand.
    Same,
    /// git makes another tree, or none without a conflict.
    Other,
    /// Commits or files that it would be made of are not here.
    Unknown,
}

impl Repo {
    /// Judges if the tree of `commit` is what git makes of the commits that it was made of.
    pub fn is_made(&self, commit: &CommitInfo, claimed: &MergeClaim) -> Result<TreeVerdict, GitError> {
        let made = match claimed {
            MergeClaim::Merge => self.is_merged(&commit.parents, commit.tree),
            MergeClaim::Squash(tip) => match commit.parents[..] {
                [parent] => self.is_merged(&[parent, *tip], commit.tree),
                _ => Ok(TreeVerdict::Other),
            },
            MergeClaim::Revert(reverted) => self.is_applied(commit, *reverted, Direction::Back),
            MergeClaim::Pick(picked) => self.is_applied(commit, *picked, Direction::Forth),
            MergeClaim::Joined(picked) => self.is_joined(commit, picked),
        };
        match made {
            Err(GitError::Missing { .. } | GitError::UnknownRevision { .. }) => Ok(TreeVerdict::Unknown),
            other => other,
        }
    }

    /// The commits that a message names as reverted (`This reverts commit ID`), or as picked
    /// (`(cherry picked from commit ID)`), by `kind`; those that are here, the last one first. None for other kinds.
    pub fn named_sources(&self, commit: &CommitInfo, kind: CommitKind) -> Result<Vec<CommitId>, GitError> {
        let marker = match kind {
            CommitKind::Revert => "This reverts commit ",
            CommitKind::CherryPick => "cherry picked from commit ",
            CommitKind::Normal | CommitKind::Amend | CommitKind::Merge | CommitKind::Rebase => {
                return Ok(Vec::new());
            }
        };
        let found = self.find_commit(commit.id)?;
        let bytes = found.message_bytes();
        let message = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(MAX_MESSAGE)..]).into_owned();
        let mut rest: Vec<&str> = message.split(marker).skip(1).collect();
        rest.reverse();
        let ids = rest.iter().take(MAX_NAMED);
        let named = ids.map(|rest| rest.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default());
        let named = named.filter(|id| (MIN_DIGITS..=40).contains(&id.len()));
        Ok(named.filter_map(|id| self.resolve(id).ok()).collect())
    }

    /// True for a merge that a rebase would make another way: of histories that have no commit in common, or of a directory
    /// that is a repository of its own elsewhere.
    pub fn is_of_another_root(&self, merge: &CommitInfo) -> Result<bool, GitError> {
        let [first, second] = merge.parents[..] else { return Ok(false) };
        let Some(base) = self.merge_base(first, second)? else { return Ok(true) };
        let sides = Sides {
            base: Some(self.tree_of(base)?),
            ours: self.tree_of(first)?,
            theirs: self.tree_of(second)?,
        };
        Ok(!self.is_merge_of_paths(sides, merge.tree)? && self.is_merge_below(sides, merge.tree)?)
    }

    fn is_merged(&self, parents: &[CommitId], tree: TreeId) -> Result<TreeVerdict, GitError> {
        let Some((first, others)) = parents.split_first() else { return Ok(TreeVerdict::Other) };
        if others.is_empty() {
            return Ok(TreeVerdict::Other);
        }
        let ours = self.tree_of(*first)?;
        if let [theirs] = others {
            let bases = self.merge_bases(*first, *theirs)?;
            for base in bases.iter().copied().take(MAX_BASES) {
                let sides = Sides { base: Some(self.tree_of(base)?), ours, theirs: self.tree_of(*theirs)? };
                if self.is_merge_of_paths(sides, tree)? {
                    return Ok(TreeVerdict::Same);
                }
            }
            if bases.len() > 1 {
                return Ok(TreeVerdict::Other);
            }
            let base = bases.first().map(|base| self.tree_of(*base)).transpose()?;
            let sides = Sides { base, ours, theirs: self.tree_of(*theirs)? };
            let same = self.merged_by_libgit2(sides) == Some(tree) || self.is_merge_below(sides, tree)?;
            return Ok(TreeVerdict::from(same));
        }
        let mut expected = ExpectedMerge::new(ours);
        for theirs in others {
            let base = self.merge_base(*first, *theirs)?.map(|base| self.tree_of(base)).transpose()?;
            if !expected.merge(self, base, self.tree_of(*theirs)?)? {
                return Ok(TreeVerdict::Other);
            }
        }
        Ok(TreeVerdict::from(expected.is(self, tree)?))
    }

    /// Judges if `commit` is its first parent with `source` applied, or taken back.
    fn is_applied(
        &self,
        commit: &CommitInfo,
        source: CommitId,
        direction: Direction,
    ) -> Result<TreeVerdict, GitError> {
        let [parent] = commit.parents[..] else { return Ok(TreeVerdict::Other) };
        let (ours, source) = (self.tree_of(parent)?, self.commit(source)?);
        // Any parent of a merge can be the base that it is compared with.
        let mut verdict = TreeVerdict::Other;
        for before in &source.parents {
            let before = self.tree_of(*before)?;
            let sides = match direction {
                Direction::Forth => Sides { base: Some(before), ours, theirs: source.tree },
                Direction::Back => Sides { base: Some(source.tree), ours, theirs: before },
            };
            if self.is_merge_of_paths(sides, commit.tree)? {
                return Ok(TreeVerdict::Same);
            }
            verdict = TreeVerdict::from(self.merged_by_libgit2(sides) == Some(commit.tree));
            if verdict == TreeVerdict::Same {
                break;
            }
        }
        if source.parents.is_empty() && direction == Direction::Forth {
            let sides = Sides { base: None, ours, theirs: source.tree };
            verdict = TreeVerdict::from(self.is_merge_of_paths(sides, commit.tree)?);
        }
        Ok(verdict)
    }

    /// Judges if `commit` is its parent with `picked` applied one after the other.
    fn is_joined(&self, commit: &CommitInfo, picked: &[CommitId]) -> Result<TreeVerdict, GitError> {
        let [parent] = commit.parents[..] else { return Ok(TreeVerdict::Other) };
        let mut expected = ExpectedMerge::new(self.tree_of(parent)?);
        for source in picked {
            let source = self.commit(*source)?;
            let before = source.parents.first().map(|before| self.tree_of(*before)).transpose()?;
            if !expected.merge(self, before, source.tree)? {
                return Ok(TreeVerdict::Other);
            }
        }
        Ok(TreeVerdict::from(expected.is(self, commit.tree)?))
    }

    /// Judges if `tree` is ours but for one directory, into which theirs was merged (`git subtree`, `-X subtree`).
    fn is_merge_below(&self, sides: Sides, tree: TreeId) -> Result<bool, GitError> {
        let changed = self.changed_paths(Some(sides.ours), tree)?;
        let Some(first) = changed.first() else { return Ok(false) };
        let dirs = first.path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for dir in dirs.take(MAX_DEPTH) {
            let (dir, below) = (&first.path[..dir], &first.path[..=dir]);
            if !changed.iter().all(|change| change.path.starts_with(below)) {
                break;
            }
            let is_dir = |found: &(u32, Oid)| found.0 == MODE_TREE;
            let at =
                |tree| self.entry_at(tree, dir).map(|found| found.filter(is_dir).map(|(_, id)| TreeId(id)));
            let Some(now) = at(tree)? else { break };
            let merged = match at(sides.ours)? {
                Some(ours) => self.is_merge_of_paths(Sides { ours, ..sides }, now)?,
                None => now == sides.theirs,
            };
            if merged {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_merge_of_paths(&self, sides: Sides, tree: TreeId) -> Result<bool, GitError> {
        let mut expected = ExpectedMerge::new(sides.ours);
        Ok(expected.merge(self, sides.base, sides.theirs)? && expected.is(self, tree)?)
    }

    /// The tree that libgit2 merges, in memory; `None` where it cannot.
    fn merged_by_libgit2(&self, sides: Sides) -> Option<TreeId> {
        // The same repository once more, with a store that takes what is written above the one on disk.
        let memory = git2::Repository::open(&self.git_dir).ok()?;
        let odb = memory.odb().ok()?;
        odb.add_new_mempack_backend(1_000).ok()?;
        self.vet_merge(&memory, sides).ok()?;
        let base = match sides.base {
            Some(base) => git2::Oid::from_bytes(base.0.as_bytes()).ok()?,
            None => memory.treebuilder(None).ok()?.write().ok()?,
        };
        let tree = |id: TreeId| memory.find_tree(git2::Oid::from_bytes(id.0.as_bytes()).ok()?).ok();
        let (base, ours, theirs) = (memory.find_tree(base).ok()?, tree(sides.ours)?, tree(sides.theirs)?);
        let mut index = memory.merge_trees(&base, &ours, &theirs, Some(&options())).ok()?;
        if index.has_conflicts() || index.len() > MAX_ENTRIES {
            return None;
        }
        index.write_tree_to(&memory).ok().map(|id| TreeId(from_git2(id)))
    }

    /// Vets what libgit2 reads to merge: all trees, the files that differ, and what says how to merge them.
    fn vet_merge(&self, memory: &git2::Repository, sides: Sides) -> Result<(), GitError> {
        let index = memory.index().map_err(|error| self.ref_error("index", &error))?;
        let mut vetted = HashSet::new();
        for tree in [sides.base, Some(sides.ours), Some(sides.theirs)].into_iter().flatten() {
            self.vet_trees(tree, &mut vetted)?;
        }
        for side in [sides.ours, sides.theirs] {
            for change in self.changed_paths(sides.base, side)? {
                let files = [change.old, change.new].into_iter().flatten();
                for (_, id) in files.filter(|(mode, _)| *mode != MODE_SUBMODULE) {
                    self.vetted("blob", id)?;
                }
                self.vet_attributes(&index, &change.path)?;
            }
        }
        Ok(())
    }
}

impl From<bool> for TreeVerdict {
    fn from(is_same: bool) -> Self {
        if is_same { Self::Same } else { Self::Other }
    }
}

/// The direction in which a commit is used: applied or taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forth,
    Back,
}

/// The trees of a merge.
#[derive(Debug, Clone, Copy)]
struct Sides {
    base: Option<TreeId>,
    ours: TreeId,
    theirs: TreeId,
}

fn options() -> git2::MergeOptions {
    let mut options = git2::MergeOptions::new();
    options.find_renames(true).fail_on_conflict(true).target_limit(RENAMES);
    options
}

#[cfg(test)]
mod tests;
