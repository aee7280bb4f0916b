//! A commit held against what it says it is: the tree that git makes of its parents, or of the commit it reverts or picks.
//!
//! A merge, revert or cherry-pick without manual changes is a function of existing commits, so it can be made again and
//! compared. Messages, reflogs and records are only claims. Nothing is written and no program is started: the merge is
//! one of paths ([`crate::diff::merge_paths`]), at the cost of what changed. Where that gives another tree, libgit2's
//! own merge, which follows renames, is tried in memory, if there is at most one merge base. git may know a way to
//! merge what neither does: such a commit counts as ordinary work, which needs tests like any other.

use std::collections::HashSet;

use crate::objects::{MODE_SUBMODULE, MODE_TREE, from_git2};
use crate::{CommitInfo, GitError, Repo, Result, diff::merge_paths::ExpectedMerge};
use andon_core::domain::{CommitId, CommitKind, Oid, TreeId};

/// Most entries of a tree for which libgit2's merge is tried: it looks at all of them.
const MAX_ENTRIES: usize = 100_000;
/// Most files whose contents libgit2 compares to find renames.
const RENAMES: u32 = 400;
/// Most merge bases that are tried.
const MAX_BASES: usize = 4;
/// Most directories above each other below which a merge is looked for.
const MAX_DEPTH: usize = 16;
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
    /// Commits applied once more, one after the other: a cherry-pick, or a step of a rebase with what it fixes up or squashes.
    Applied(Vec<CommitId>),
    /// The merge of its parent and that commit, without the second parent.
    Squash(CommitId),
}

impl MergeClaim {
    /// One commit applied once more.
    pub fn pick(source: CommitId) -> Self {
        Self::Applied(vec![source])
    }

    /// The commits that it was made of besides its parents, in the order in which they were applied.
    pub fn sources(&self) -> &[CommitId] {
        match self {
            Self::Revert(one) | Self::Squash(one) => std::slice::from_ref(one),
            Self::Applied(all) => all,
            Self::Merge => &[],
        }
    }
}

/// A step of a three-way merge: what leads from the base, or from nothing, to the other side is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeStep {
    pub base: Option<CommitId>,
    /// The other side.
    pub theirs: CommitId,
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
    pub fn is_made(&self, commit: &CommitInfo, claimed: &MergeClaim) -> Result<TreeVerdict> {
        match self.merge_steps(commit, claimed).and_then(|ways| self.is_made_by(commit, &ways)) {
            Err(GitError::Missing { .. } | GitError::UnknownRevision { .. }) => Ok(TreeVerdict::Unknown),
            other => other,
        }
    }

    /// The steps by which git makes `commit` of its first parent, as it claims; several rows where there are several bases.
    pub fn merge_steps(&self, commit: &CommitInfo, claimed: &MergeClaim) -> Result<Vec<Vec<MergeStep>>> {
        let step = |base, theirs| MergeStep { base, theirs };
        let into = |first: CommitId, theirs: CommitId| -> Result<Vec<Vec<MergeStep>>> {
            let bases = self.merge_bases(first, theirs)?;
            let ways = bases.iter().take(MAX_BASES).map(|base| vec![step(Some(*base), theirs)]);
            Ok(if bases.is_empty() { vec![vec![step(None, theirs)]] } else { ways.collect() })
        };
        match (claimed, &commit.parents[..]) {
            (MergeClaim::Merge, [first, theirs]) => into(*first, *theirs),
            (MergeClaim::Merge, [first, others @ ..]) if !others.is_empty() => {
                let one = |other: &CommitId| Ok(step(self.merge_base(*first, *other)?, *other));
                Ok(vec![others.iter().map(one).collect::<Result<_>>()?])
            }
            (MergeClaim::Squash(tip), [parent]) => into(*parent, *tip),
            // Any parent of a merge can be the base that it is compared with.
            (MergeClaim::Revert(source), [_]) => {
                let parents = self.commit(*source)?.parents;
                Ok(parents.into_iter().map(|before| vec![step(Some(*source), before)]).collect())
            }
            (MergeClaim::Applied(sources), [_]) => {
                if let [one] = sources[..] {
                    let parents = self.commit(one)?.parents;
                    let bases = parents.iter().copied().map(Some).chain(parents.is_empty().then_some(None));
                    return Ok(bases.map(|base| vec![step(base, one)]).collect());
                }
                let one = |id: &CommitId| Ok(step(self.commit(*id)?.parents.first().copied(), *id));
                Ok(vec![sources.iter().map(one).collect::<Result<_>>()?])
            }
            (
                MergeClaim::Merge | MergeClaim::Squash(_) | MergeClaim::Revert(_) | MergeClaim::Applied(_),
                _,
            ) => Ok(Vec::new()),
        }
    }

    /// The commits that a message names as reverted (`This reverts commit ID`), or as picked
    /// (`(cherry picked from commit ID)`), by `kind`; those that are here, the last one first. None for other kinds.
    pub fn named_sources(&self, commit: &CommitInfo, kind: CommitKind) -> Result<Vec<CommitId>> {
        let marker = match kind {
            CommitKind::Revert => "This reverts commit ",
            CommitKind::CherryPick => "cherry picked from commit ",
            CommitKind::Normal | CommitKind::Amend | CommitKind::Merge | CommitKind::Rebase => {
                return Ok(Vec::new());
            }
        };
        let message = self.message(commit.id)?;
        let mut rest: Vec<&str> = message.split(marker).skip(1).collect();
        rest.reverse();
        let ids = rest.iter().take(MAX_NAMED);
        let named = ids.map(|rest| rest.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default());
        let named = named.filter(|id| (MIN_DIGITS..=40).contains(&id.len()));
        Ok(named.filter_map(|id| self.resolve(id).ok()).collect())
    }

    /// True for a merge that a rebase would make another way: of histories that have no commit in common, or of a directory
    /// that is a repository of its own elsewhere.
    pub fn is_of_another_root(&self, merge: &CommitInfo) -> Result<bool> {
        let [first, second] = merge.parents[..] else { return Ok(false) };
        let Some(base) = self.merge_base(first, second)? else { return Ok(true) };
        let sides = Sides {
            base: Some(self.tree_of(base)?),
            ours: self.tree_of(first)?,
            theirs: self.tree_of(second)?,
        };
        Ok(!self.is_merge_of_paths(sides, merge.tree)? && self.is_merge_below(sides, merge.tree)?)
    }

    /// Judges if one of these rows of steps leads from the first parent of `commit` to its tree.
    fn is_made_by(&self, commit: &CommitInfo, ways: &[Vec<MergeStep>]) -> Result<TreeVerdict> {
        let Some(first) = commit.parents.first() else { return Ok(TreeVerdict::Other) };
        let ours = self.tree_of(*first)?;
        let mut single = Vec::new();
        for way in ways {
            let (mut expected, mut is_clean) = (ExpectedMerge::new(ours), true);
            for step in way {
                let base = step.base.map(|base| self.tree_of(base)).transpose()?;
                let sides = Sides { base, ours, theirs: self.tree_of(step.theirs)? };
                is_clean = is_clean && expected.merge(self, sides.base, sides.theirs)?;
                single.extend((way.len() == 1).then_some(sides));
            }
            if is_clean && expected.is(self, commit.tree)? {
                return Ok(TreeVerdict::Same);
            }
        }
        for sides in single {
            let below = commit.parents.len() > 1 && self.is_merge_below(sides, commit.tree)?;
            if below || self.merged_by_libgit2(sides) == Some(commit.tree) {
                return Ok(TreeVerdict::Same);
            }
        }
        Ok(TreeVerdict::Other)
    }

    /// Judges if `tree` is ours but for one directory, into which theirs was merged (`git subtree`, `-X subtree`).
    fn is_merge_below(&self, sides: Sides, tree: TreeId) -> Result<bool> {
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

    fn is_merge_of_paths(&self, sides: Sides, tree: TreeId) -> Result<bool> {
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
        let mut options = git2::MergeOptions::new();
        options.find_renames(true).fail_on_conflict(true).target_limit(RENAMES);
        let mut index = memory.merge_trees(&base, &ours, &theirs, Some(&options)).ok()?;
        if index.has_conflicts() || index.len() > MAX_ENTRIES {
            return None;
        }
        index.write_tree_to(&memory).ok().map(|id| TreeId(from_git2(id)))
    }

    /// Vets what libgit2 reads to merge: all trees, the files that differ, and what says how to merge them.
    fn vet_merge(&self, memory: &git2::Repository, sides: Sides) -> Result<()> {
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

/// The trees of a merge.
#[derive(Debug, Clone, Copy)]
struct Sides {
    base: Option<TreeId>,
    ours: TreeId,
    theirs: TreeId,
}

#[cfg(test)]
mod tests;
