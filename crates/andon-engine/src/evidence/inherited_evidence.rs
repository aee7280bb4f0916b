//! The evidence for code that has no test run of its own: tests at another commit, or tested commits that git alone
//! combined.
//!
//! Only trees are believed ([`andon_git::TreeVerdict`]). A commit that merely says that it is a merge, a revert, a pick or a
//! step of a rebase is ordinary work.

use std::collections::BTreeMap;

use super::release;
use crate::error::OpsError;
use andon_core::domain::facts::{CommitKind, CommitRecord, Gate, Recording};
use andon_core::domain::ids::CommitId;
use andon_core::domain::paths::PathRules;
use andon_git::{CommitInfo, MergeClaim, Repo, TreeVerdict};
use andon_store::notes::NotesStore;
use andon_store::results::ResultIndex;

/// Most trees that are made again in one go: a range may have any number of merges.
const DERIVED: usize = 512;
/// Most commits that are tried as squashes in one go.
const SQUASHES: usize = 16;
/// Most commits that one commit is compared with as its squash: the newest ones.
const SQUASHED: usize = 16;

/// The evidence for the code of a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum Backing {
    /// The record of another commit, of the same tree or of the same code.
    Elsewhere(CommitId, Box<CommitRecord>),
    /// git made it of commits whose code was tested.
    Made(MergeClaim),
    /// Only the project's own version and changelogs differ from this commit, whose code was tested.
    Released(CommitId),
    /// git made it, and this commit that it was made of was not tested.
    Untested(CommitId),
    /// Nothing does.
    Missing,
}

/// The commit in question.
pub struct Inquiry<'a> {
    /// The commit as git has it.
    pub commit: &'a CommitInfo,
    /// Its facts: what was recorded, or derived.
    pub record: &'a CommitRecord,
    /// The way git made it, as its record says; without a record, a forge's button may have made it.
    pub recorded: Option<CommitKind>,
    /// The code changed against the first parent.
    pub changed: bool,
    /// The verdict on earlier commits: true if their code was tested. `None` where nothing is known.
    pub judged: &'a dyn Fn(CommitId) -> Option<bool>,
}

/// Looks for the evidence for commits.
pub struct Origins {
    /// Read when it is first asked for.
    known: Option<ResultIndex>,
    /// Trees that may still be made again.
    left: usize,
    /// Commits that may still be looked at as squashes: each is compared with several.
    squashes: usize,
}

impl Default for Origins {
    fn default() -> Self {
        Self { known: None, left: DERIVED, squashes: SQUASHES }
    }
}

/// The repository and records that are searched.
#[derive(Clone, Copy)]
pub struct Archive<'a> {
    /// The repository of the commits.
    pub repo: &'a Repo,
    /// Their records.
    pub store: &'a NotesStore<'a>,
    /// The rules that tell which paths are code.
    pub rules: &'a PathRules,
}

impl Origins {
    /// The evidence for the code of a commit.
    pub fn backing(&mut self, archive: Archive<'_>, asked: &Inquiry<'_>) -> Result<Backing, OpsError> {
        let known = match self.known.take() {
            Some(known) => known,
            None => ResultIndex::of_records(archive.repo, archive.store)?,
        };
        let found = self.search(archive, &known, asked);
        self.known = Some(known);
        found
    }

    fn search(
        &mut self,
        archive: Archive<'_>,
        known: &ResultIndex,
        asked: &Inquiry<'_>,
    ) -> Result<Backing, OpsError> {
        if let Some(found) = elsewhere(archive, known, asked) {
            return Ok(found);
        }
        let mut untested = None;
        let mut claims = claims(archive, known, asked)?;
        if asked.recorded.is_none() && asked.changed && asked.commit.parents.len() == 1 && self.squashes > 0 {
            self.squashes -= 1;
            claims.extend(squashes(archive, known, asked.commit));
        }
        for claimed in claims {
            if !self.is_made(archive, asked, claimed)? {
                continue;
            }
            match of_untested(archive, asked, claimed) {
                None => return Ok(Backing::Made(claimed)),
                Some(commit) => untested = Some(commit),
            }
        }
        if let [parent] = asked.commit.parents[..]
            && asked.changed
            && release::is_release(
                archive.repo,
                archive.rules,
                archive.repo.tree_of(parent)?,
                asked.commit.tree,
            )?
        {
            return Ok(if is_judged_sound(archive, asked, parent) {
                Backing::Released(parent)
            } else {
                Backing::Untested(parent)
            });
        }
        Ok(untested.map_or(Backing::Missing, Backing::Untested))
    }

    fn is_made(
        &mut self,
        archive: Archive<'_>,
        asked: &Inquiry<'_>,
        claimed: MergeClaim,
    ) -> Result<bool, OpsError> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(false) };
        self.left = left;
        Ok(match archive.repo.is_made(asked.commit, claimed)? {
            TreeVerdict::Same => true,
            TreeVerdict::Other => false,
            TreeVerdict::Unknown => is_same_change(archive, asked, claimed),
        })
    }
}

/// The commit that was picked is not in this clone, as after a rebase elsewhere: then its record has to tell the same
/// change, line by line.
fn is_same_change(archive: Archive<'_>, asked: &Inquiry<'_>, claimed: MergeClaim) -> bool {
    let MergeClaim::Pick(source) = claimed else { return false };
    let stored = archive.store.readable(source);
    stored.is_some_and(|stored| stored.diff == asked.record.diff && !stored.diff.truncated)
}

/// The record of another commit that is evidence for this one too.
fn elsewhere(archive: Archive<'_>, known: &ResultIndex, asked: &Inquiry<'_>) -> Option<Backing> {
    let parent = asked.commit.parents.first();
    let other = |id: &&CommitId| **id != asked.commit.id && Some(*id) != parent;
    let of_code = if asked.changed { known.records(asked.record.code) } else { Vec::new() };
    let of_tree = if asked.recorded.is_none() { known.of_tree(asked.record.tree) } else { Vec::new() };
    let read = |id: &CommitId| {
        let stored = archive.store.readable(*id)?;
        if !of_tree.contains(id) && stored.tests.as_ref().is_none_or(|tests| tests.code != stored.code) {
            return None;
        }
        // A commit that is here has to match its record.
        let holds = archive.repo.tree_of(*id).map_or(true, |tree| tree == stored.tree);
        holds.then(|| Backing::Elsewhere(*id, Box::new(stored)))
    };
    let of_code = of_code.iter().filter(|id| **id != asked.commit.id);
    of_code.chain(of_tree.iter().filter(other)).find_map(read)
}

/// Possible origins of a commit, the likeliest first.
fn claims(
    archive: Archive<'_>,
    known: &ResultIndex,
    asked: &Inquiry<'_>,
) -> Result<Vec<MergeClaim>, OpsError> {
    let Inquiry { commit, record, recorded, .. } = asked;
    if commit.parents.len() > 1 {
        return Ok(vec![MergeClaim::Merge]);
    }
    let named = |kind, made: fn(CommitId) -> MergeClaim| -> Result<Vec<MergeClaim>, OpsError> {
        Ok(archive.repo.named_sources(commit, kind)?.into_iter().map(made).collect())
    };
    let mut all = Vec::new();
    if matches!(recorded, None | Some(CommitKind::Revert)) {
        all.extend(named(CommitKind::Revert, MergeClaim::Revert)?);
    }
    if matches!(recorded, None | Some(CommitKind::CherryPick | CommitKind::Rebase)) {
        all.extend(named(CommitKind::CherryPick, MergeClaim::Pick)?);
    }
    // Also a rebased commit whose message was amended, a patch that was applied: what git made of what was tested.
    if !matches!(recorded, Some(CommitKind::Merge | CommitKind::Revert)) {
        let same = known.of_diff(record.diff.hash).into_iter().filter(|id| *id != commit.id);
        all.extend(same.map(MergeClaim::Pick));
    }
    Ok(all)
}

/// The newest commits with records that may have been squashed: those that the parent does not have.
fn squashes(archive: Archive<'_>, known: &ResultIndex, commit: &CommitInfo) -> Vec<MergeClaim> {
    let Some(parent) = commit.parents.first() else { return Vec::new() };
    let above = |id: &CommitId| {
        *id != commit.id && archive.repo.is_ancestor(*id, *parent).is_ok_and(|ancestor| !ancestor)
    };
    let newest = known.newest(4 * SQUASHED).into_iter().filter(above).take(SQUASHED);
    newest.map(MergeClaim::Squash).collect()
}

/// The commit that `claimed` was made of and that was not tested. Parents that nothing is known of lie below what is
/// judged; a commit that was picked, reverted or squashed must have a record that holds.
fn of_untested(archive: Archive<'_>, asked: &Inquiry<'_>, claimed: MergeClaim) -> Option<CommitId> {
    let parents = asked.commit.parents.iter().copied();
    let parent = parents.into_iter().find(|parent| (asked.judged)(*parent) == Some(false));
    let source = match claimed {
        MergeClaim::Merge => None,
        MergeClaim::Revert(source) | MergeClaim::Pick(source) | MergeClaim::Squash(source) => Some(source),
    };
    parent.or_else(|| source.filter(|source| !is_judged_sound(archive, asked, *source)))
}

/// The verdict on an earlier commit, else what its record says of itself.
fn is_judged_sound(archive: Archive<'_>, asked: &Inquiry<'_>, commit: CommitId) -> bool {
    let recorded = || archive.store.readable(commit).is_some_and(|record| is_sound(&record));
    (asked.judged)(commit).unwrap_or_else(recorded)
}

/// Most commits below a tip that are looked at.
const BELOW: usize = 128;

/// True if git made a tip of tested commits, directly or in steps; pre-push and `complete` ask this. Commits without a
/// record lie below what is known here, and are not held against it.
pub(crate) fn is_of_tested(
    archive: Archive<'_>,
    index: ResultIndex,
    tip: CommitId,
) -> Result<bool, OpsError> {
    let Archive { repo, store, .. } = archive;
    let (mut open, mut below) = (vec![tip], Vec::new());
    while let Some(id) = open.pop().filter(|_| below.len() < BELOW) {
        let Some(record) = store.readable(id) else { continue };
        let commit = repo.commit(id)?;
        if !is_sound(&record) {
            open.extend(&commit.parents);
        }
        below.push((commit, record));
    }
    let mut judged: BTreeMap<CommitId, bool> = BTreeMap::new();
    let mut origins = Origins { known: Some(index), ..Origins::default() };
    // Parents come after their children.
    for (commit, record) in below.iter().rev() {
        let parent = commit.parents.first().copied();
        let known = |id: CommitId| judged.get(&id).copied();
        let unchanged =
            parent.and_then(|parent| store.readable(parent)).is_some_and(|parent| parent.code == record.code);
        let holds = if is_sound(record) {
            true
        } else if unchanged {
            parent.and_then(known).unwrap_or(true)
        } else {
            let asked =
                Inquiry { commit, record, recorded: Some(record.kind), changed: true, judged: &known };
            let backing = origins.backing(archive, &asked)?;
            matches!(backing, Backing::Made(_) | Backing::Released(_) | Backing::Elsewhere(..))
        };
        judged.insert(commit.id, holds);
    }
    Ok(judged.get(&tip).copied().unwrap_or(false))
}

/// True if a record shows that its code was tested, or needed no tests, and passed the gate where git asks one.
pub fn is_sound(record: &CommitRecord) -> bool {
    let tested = record.tests.as_ref().is_some_and(|tests| tests.code == record.code);
    let observed = match (record.gate, record.recording) {
        (_, Recording::Backfilled | Recording::Derived)
        | (Gate::Bypassed, _)
        | (Gate::NotRun, Recording::CaughtUp) => false,
        (Gate::NotRun | Gate::Passed, Recording::AtCommit | Recording::CaughtUp | Recording::Patched) => true,
    };
    // The gate lets code without tests pass only where none are required, or where the rule was skipped.
    observed && (tested || (record.gate == Gate::Passed && record.skipped.is_empty()))
}
