//! Attempts that HEAD was moved away from, from what the repository remembers (`history::aside`).

use std::cell::LazyCell;
use std::collections::BTreeSet;

use super::error::OpsError;
use super::workspace::Workspace;
use crate::domain::attempt::Attempt;
use crate::domain::facts::{CommitFact, CommitKind};
use crate::domain::ids::CommitId;
use crate::git::CommitInfo;
use crate::history::{self, Aside, Attempted, LineOfWork, MAX_REWRITTEN, Outcome, outcome};
use crate::platform::test_seam::stop_point;
use crate::store::journal::{Journal, JournalLine};
use crate::store::notes::NotesStore;
use crate::store::window::Window;

/// Remembers a commit that was recorded here, for all worktrees.
pub fn remember(ws: &Workspace, commit: &CommitInfo) -> Result<(), OpsError> {
    let worktree = ws.repo.worktree_mark();
    let beside = ws.repo.worktrees_beside();
    let made = Attempt { commit: commit.id, parent: commit.parents.first().copied(), worktree, beside };
    Journal::of_attempts(ws.repo.common_dir()).append(&JournalLine::Attempt(Box::new(made)))?;
    stop_point("post-commit:attempted");
    Ok(())
}

/// The attempts that count beside the commits of `window`, which lies behind `head`; the newest, at most
/// [`MAX_REWRITTEN`], oldest first.
pub fn aside(
    ws: &Workspace,
    store: &NotesStore<'_>,
    head: Option<CommitId>,
    window: &Window,
) -> Vec<Attempted> {
    let Some(head) = head else { return Vec::new() };
    let attempts = Journal::of_attempts(ws.repo.common_dir()).attempts();
    let commits: Vec<CommitId> = window.facts.iter().filter_map(|fact| fact.id).collect();
    let base = window.facts.first().map_or(Some(head), |oldest| oldest.record.parent);
    let here = ws.repo.worktree_mark();
    let mut line = LineOfWork { commits: &commits, base, merged: &[], here: &here };
    let mut found = history::aside(&attempts, &line);
    // The common case: nothing was given up.
    if found.is_empty() {
        return Vec::new();
    }
    let merged = merged(ws, window);
    if !merged.is_empty() {
        line.merged = &merged;
        found = history::aside(&attempts, &line);
    }
    found.drain(..found.len().saturating_sub(MAX_REWRITTEN));
    let read = found.iter().filter_map(|one| Some((*one, recorded(ws, store, one.commit)?)));
    let read: Vec<(Aside, CommitFact)> = read.collect();
    // Branches may be many: they are listed only where it depends on them.
    let tips = LazyCell::new(|| branch_tips(ws));
    let counts = |(one, _): &&(Aside, CommitFact)| {
        let made_here = attempts.iter().any(|made| made.commit == one.commit && made.worktree == here);
        let Some(done) = ended_well(&read, one.group) else { return true };
        made_here && !tips.contains(&done)
    };
    let counted = read.iter().filter(counts);
    counted.map(|(one, fact)| Attempted { after: one.after, fact: fact.clone() }).collect()
}

/// The newest of a group, where it passed its tests: in a worktree of its own, or on a branch that is kept, that is a task
/// done, not one given up.
fn ended_well(read: &[(Aside, CommitFact)], group: CommitId) -> Option<CommitId> {
    let (newest, fact) = read.iter().rev().find(|(one, _)| one.group == group)?;
    let tests = fact.record.tests.as_ref().filter(|tests| tests.code == fact.record.code)?;
    (outcome(tests) == Outcome::Green).then_some(newest.commit)
}

/// The commits at which branches of this clone end. While a rebase goes on, the branch still ends at what it replaces.
fn branch_tips(ws: &Workspace) -> BTreeSet<CommitId> {
    if !ws.repo.head().is_ok_and(|head| head.branch().is_some()) {
        return BTreeSet::new();
    }
    let tips = ws.repo.refs_with_prefix("refs/heads/").unwrap_or_default();
    tips.into_iter().map(|(_, tip)| CommitId(tip)).collect()
}

/// What the merges of the window brought in.
fn merged(ws: &Workspace, window: &Window) -> Vec<CommitId> {
    let merges = window.facts.iter().filter(|fact| fact.record.kind == CommitKind::Merge);
    let parents = merges.filter_map(|fact| Some(ws.repo.commit(fact.id?).ok()?.parents));
    parents.flat_map(|parents| parents.into_iter().skip(1)).collect()
}

/// The record, with what its commit says while that is still there.
fn recorded(ws: &Workspace, store: &NotesStore<'_>, id: CommitId) -> Option<CommitFact> {
    let record = store.get(id).ok()??.record;
    Some(ws.repo.fact(id, record))
}
